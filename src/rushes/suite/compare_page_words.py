"""A comparison in words: one sentence per metric and run, and the paragraph that opens the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rushes.paired.sign_flip import fewest_prompts
from rushes.runs import Run
from rushes.suite.compare_data import QUIET, SURE, direction
from rushes.suite.compare_many import Judged, RunsComparison

_SHOWN = 4
"""Metrics that the opening names before it counts the rest."""
_CAUSES = 3


def sentence(one: Judged) -> str:
    """What happened to one metric in one run, in words; the numbers stand beside it."""
    run, moved = one.letter, direction(one.metric)
    match one.verdict:
        case "better" | "worse":
            return f"{run} is {one.verdict} than A{_alike(one)}."
        case "moved":
            return f"{run} is {moved} than A{_alike(one)}. {why_only_moved(one)}"
        case "not comparable":
            return f"{run} is not comparable with A: {own_letter(one.metric.why_unlike, run)}."
        case "same":
            return f"{run} is the same as A on every clip."
        case "no pair":
            return f"No clip has a value in A and in {run}."
    if one.alone:
        return f"{run} may be {moved} than A; among this many comparisons, chance does that."
    note = one.metric.statistics.mean.note
    return f"{run} cannot be told from A{f' ({note})' if note and one.metric.statistics.mean.interval is None else ''}."


def _alike(one: Judged) -> str:
    """Why a change that is clear has no interval."""
    return ", by the same on every clip" if one.metric.statistics.mean.interval is None else ""


def why_only_moved(one: Judged) -> str:
    """Why a change of this metric to this side is no verdict."""
    metric, rose = one.metric.statistics.metric, direction(one.metric) == "higher"
    causes = metric.raised_by if rose else metric.lowered_by
    if not causes:
        return "Neither direction is better."
    named = ", ".join(causes[:_CAUSES]) + (" and more" if len(causes) > _CAUSES else "")
    return f"That is no verdict, for other things do so too: {named}."


def opening(found: RunsComparison) -> str:
    """The page's first paragraph: what is better, worse, moved, and what cannot be told."""
    return " ".join(opening_lines(found))


def opening_lines(found: RunsComparison) -> list[str]:
    """The opening, run by run."""
    return [_opening(found, place) for place in range(1, len(found.runs))]


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
    lines: list[tuple[str, list[str]]] = []
    for word in ("same", "no pair"):
        rows = [one for one in found.judged if one.verdict == word]
        if names := [_with_letters(name, rows, found) for name in dict.fromkeys(one.name for one in rows)]:
            lines.append((QUIET[word], names))
    told = {one.key for one in found.judged if one.verdict not in QUIET}
    reasons: dict[str, list[str]] = {}
    for one in found.judged:
        if one.verdict == "not comparable" and one.key not in told:
            why = f"{one.letter} not comparable with A ({own_letter(one.metric.why_unlike, one.letter)})"
            reasons.setdefault(why, []).append(one.name)
    return [*lines, *reasons.items()]


def holm_lines(found: RunsComparison) -> list[str]:
    """What Holm's rule leaves unclear, and whether so few clips could tell anything."""
    return [line for line in (_alone_line(found), _too_few_line(found)) if line]


def _alone_line(found: RunsComparison) -> str:
    """Which changes would be clear if they were the only one that is shown; "" where there is none."""
    names = list(dict.fromkeys(one.name for one in found.judged if one.alone))
    return f"With {found.family} comparisons at once (Holm), no longer clear: {', '.join(names)}" if names else ""


def _too_few_line(found: RunsComparison) -> str:
    """That no change at all could stand out on so few clips, and how many it takes; "" where one could."""
    clips = max((one.p.count for one in found.judged), default=0)
    needed = fewest_prompts(found.family, SURE)
    if not found.family or clips >= needed:
        return ""
    return (
        f"At most {_clips(clips)} changed: chance alone moves so few to one side, so nothing can be told here. To "
        f"stand out among {found.family} comparison{'s' * (found.family != 1)} takes {needed} clips or more."
    )


def _with_letters(name: str, rows: Iterable[Judged], found: RunsComparison) -> str:
    letters = [one.letter for one in rows if one.name == name]
    everywhere = len(letters) == len(found.runs) - 1
    return name if everywhere else f"{name} ({', '.join(letters)})"


def run_name(run: Run) -> str:
    """The run's folder; the one it lies in where the run is called "run" or like its instrument, as in a suite."""
    path = run.path if not run.url else None
    if path is None:
        return run.url.rstrip("/").rpartition("/")[2] or run.url
    path = path.resolve() if path.name in ("", ".", "..") else path
    return path.parent.name if path.name in ("run", run.instrument) and path.parent.name else path.name


def _clips(count: int) -> str:
    return "1 clip" if count == 1 else f"{count} clips"


def own_letter(why: str, letter: str) -> str:
    """Words about two runs, A and B, where the second one is called otherwise.

    >>> own_letter("frame size 640×360 in A, 320×180 in B on 2 of them, other differences on the rest", "C")
    'frame size 640×360 in A, 320×180 in C on 2 of them, other differences on the rest'
    """
    return re.sub(r" in B(?=;|$| on \d)", f" in {letter}", why)
