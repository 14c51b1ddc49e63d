"""A comparison in words: one sentence per metric and run, and the paragraph that opens the page."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from rushes.core import Measurement
from rushes.report.section import unit_text
from rushes.runs import Run
from rushes.suite.compare_data import QUIET, direction
from rushes.suite.compare_many import Judged, RunsComparison

_SHOWN = 4
"""Metrics that the opening names before it counts the rest."""
_CAUSES = 3


def sentence(one: Judged, runs: Sequence[Run]) -> str:
    """What happened to one metric in one run, in words a reader needs nothing else for."""
    run = f"{one.letter} ({run_name(runs[one.run])})"
    statistics = one.metric.statistics
    amount, clips = f"{_amount(statistics.mean)} on average", _clips(statistics.mean.count)
    match one.verdict:
        case "better" | "worse":
            return f"{run} is {one.verdict}: {amount} over {clips}."
        case "moved":
            return f"{run} is {direction(one.metric)}: {amount} over {clips}. {why_only_moved(one)}"
        case "not comparable":
            return f"{run} is not comparable with A: {own_letter(one.metric.why_unlike, one.letter)}."
        case "same":
            return f"{run} is the same on every clip."
        case "no pair":
            return f"{run}: no clip has a value in both runs."
    if one.alone:
        return f"{run} may be {direction(one.metric)} ({amount}), but among so many comparisons chance does that."
    return f"{run} cannot be told from A: {amount} over {clips}{_no_interval(statistics.mean)}."


def why_only_moved(one: Judged) -> str:
    """Why a change of this metric to this side is no verdict."""
    metric, rose = one.metric.statistics.metric, direction(one.metric) == "higher"
    causes = metric.raised_by if rose else metric.lowered_by
    if not causes:
        return "Neither direction is better."
    named = ", ".join(causes[:_CAUSES]) + (" and more" if len(causes) > _CAUSES else "")
    return f"That is no verdict, for other things do so too: {named}."


def opening(found: RunsComparison) -> str:
    """The page's first paragraph: per run what is better, worse, moved, and what cannot be told."""
    return " ".join(_opening(found, place) for place in range(1, len(found.runs)))


def _opening(found: RunsComparison, place: int) -> str:
    comparison = found.comparisons[place - 1]
    against = f"{run_name(found.runs[place])} against {run_name(found.runs[0])}"
    if comparison.distances:
        many = len(comparison.distances)
        return f"{against}: {many} distance{'s' * (many != 1)} between sets of clips, side by side."
    mine = [one for one in found.judged if one.run == place]
    parts = [_part(word, [one.name for one in mine if one.verdict == word]) for word in ("worse", "better", "moved")]
    told = "; ".join(part for part in parts if part) or "nothing can be told apart"
    unclear, unlike = (sum(one.verdict == word for one in mine) for word in ("unclear", "not comparable"))
    rest = [f"{unclear} unclear" if unclear else "", f"{unlike} not comparable" if unlike else ""]
    left = f" ({', '.join(part for part in rest if part)})" if any(rest) else ""
    return f"{against}, {_clips(len(comparison.paired))} in both: {told}{left}."


def _part(word: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    listed = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    if word == "moved":
        return f"{listed} moved, which does not tell better from worse"
    return f"{word} in {listed}"


def quiet_lines(found: RunsComparison) -> list[tuple[str, list[str]]]:
    """Metrics that need no row of their own: (what is said of them, their names with the run's letter)."""
    lines = []
    for word, said in QUIET.items():
        rows = [one for one in found.judged if one.verdict == word]
        names = dict.fromkeys(one.name for one in rows)
        if word != "not comparable" and names:
            lines.append((said, [_with_letters(name, rows, found) for name in names]))
    return lines


def _with_letters(name: str, rows: Iterable[Judged], found: RunsComparison) -> str:
    letters = [one.letter for one in rows if one.name == name]
    everywhere = len(letters) == len(found.runs) - 1
    return name if everywhere else f"{name} ({', '.join(letters)})"


def run_name(run: Run) -> str:
    """The run's folder; the one it lies in where the run itself is just called "run"."""
    path = run.path if not run.url else None
    if path is None:
        return run.url.rstrip("/").rpartition("/")[2] or run.url
    path = path.resolve() if path.name in ("", ".", "..") else path
    return path.parent.name if path.name == "run" and path.parent.name else path.name


def _amount(mean: Measurement) -> str:
    if mean.value is None:
        return "no value"
    unit = unit_text(mean.definition)
    return f"{signed(float(mean.value))}{'' if unit == 'no unit' else f' {unit}'}"


def _clips(count: int) -> str:
    return "1 clip" if count == 1 else f"{count} clips"


def _no_interval(mean: Measurement) -> str:
    return f" ({mean.note})" if mean.interval is None and mean.note else ""


def signed(value: float) -> str:
    """A difference with four digits that count, no power of ten and a proper minus.

    >>> signed(-480.0), signed(0.018707), signed(-348.6416), signed(0.0), signed(12345.6), signed(-0.0000123)
    ('−480', '+0.01871', '−348.6', '0', '+12346', '−0.0000123')
    """
    if value == 0:
        return "0"
    digits = max(3 - math.floor(math.log10(abs(value))), 0)
    text = f"{abs(value):.{digits}f}"
    return ("−" if value < 0 else "+") + (text.rstrip("0").rstrip(".") if "." in text else text)


def own_letter(why: str, letter: str) -> str:
    """Words about two runs, A and B, where the second one is called otherwise.

    >>> own_letter("frame size 640×360 in A, 320×180 in B on 2 of them, other differences on the rest", "C")
    'frame size 640×360 in A, 320×180 in C on 2 of them, other differences on the rest'
    """
    return re.sub(r" in B(?=;|$| on \d)", f" in {letter}", why)
