"""Figures of estimates: mean ratings, strengths with rank ranges, differences from one system, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rushes.compare.board.model import Contrast
from rushes.compare.board.reference_differences import DIFF
from rushes.compare.figures.figure import PaperFigure, Value, rounded
from rushes.compare.paper.evaluation import ELO, Evaluation, Pick
from rushes.compare.paper.suite_columns import picked
from rushes.core import Interval, Measurement
from rushes.core.errors import InputError
from rushes.core.table import ARROWS
from rushes.core.words.options import option
from rushes.core.words.suggest import did_you_mean
from rushes.present.charts.dot_panels import Panel, PanelDot, panels_svg
from rushes.present.charts.paper import looks
from rushes.present.tables.fitting import Width
from rushes.stats.families import possible_ranks

MOST = 6
"""Panels of a figure that nobody chose columns for."""
_HEADER = ("panel", "system", "value", "low", "high", "level", "method", "n", "note", "signature")


def ratings(evaluation: Evaluation, columns: Sequence[str] | None, width: Width) -> PaperFigure:
    """Mean rating per system and question with its interval, on the whole scale; shares of votes where people voted."""
    picks = picked(evaluation, columns or [name for name in evaluation.names if name.startswith(("rating:", "wins:"))])
    if not picks:
        raise InputError(f"{evaluation.source} has no ratings; add [ratings] to the suite file and run the suite again")
    rows = evaluation.data.names
    shown = [(pick, {name: evaluation.whole(pick, name) for name in rows}) for pick in picks]
    made = [_panel(pick, found, _frame(pick)) for pick, found in shown]
    used = [name for name in rows if any(one.row == name for panel in made for one in panel.dots)]
    numbers = [_row(pick.name, name, m) for pick, found in shown for name, m in found.items() if m is not None]
    return PaperFigure(
        kind="ratings",
        caption=f"Mean per system with its 95 % interval ({_methods(m for _, f in shown for m in f.values())}). "
        f"{evaluation.too_few(picks)}".strip(),
        svg=panels_svg(made, used, looks(used, reference=evaluation.data.reference), width),
        header=_HEADER,
        rows=tuple(numbers),
    )


def ranking(evaluation: Evaluation, columns: Sequence[str] | None, width: Width) -> PaperFigure:
    """Systems from strongest to weakest: Elo from votes, or the mean where there are none, and the ranks left open."""
    names = columns or [f"{ELO}:{question}" for question in evaluation.strengths]
    picks = picked(evaluation, names or [f"rating:{question}" for question in evaluation.questions])
    if not picks:
        raise InputError(
            f"{evaluation.source} has nothing to rank by; add [votes] or [ratings], or give {option('--columns NAMES')}"
        )
    every, numbers, panels = evaluation.systems, [], []
    for pick in picks:
        ranks = _ranks(evaluation, pick)
        found = {name: evaluation.whole(pick, name) for name in every}
        panel = _panel(pick, found, None)
        dots = [replace(one, text=_span(ranks.get(one.row))) for one in panel.dots]
        panels.append(replace(panel, dots=dots, axis="Elo" if pick.strengths else ""))
        numbers += [
            (*_row(pick.name, name, m), *(ranks.get(name) or (None, None)))
            for name, m in found.items()
            if m is not None
        ]
    used = _order(panels[0], [name for name in every if any(one.row == name for panel in panels for one in panel.dots)])
    return PaperFigure(
        kind="ranking",
        caption="Strength with its 95 % interval; at the right, the ranks that the data leave open.",
        svg=panels_svg(panels, used, looks(every), width),
        header=(*_HEADER, "rank_best", "rank_worst"),
        rows=tuple(numbers),
        notes=tuple(dict.fromkeys(str(row[8]) for row in numbers if row[8])),
    )


def forest(evaluation: Evaluation, columns: Sequence[str] | None, width: Width, versus: str) -> PaperFigure:
    """Differences from one system with their intervals, a panel per metric; filled where significant on the board."""
    against = versus or _usual(evaluation, columns)
    if against not in evaluation.data.names:
        hint = did_you_mean(against, evaluation.data.names, otherwise=f"; it has {', '.join(evaluation.data.names)}")
        raise InputError(f"no system is called {against!r}{hint}")
    picks = picked(evaluation, columns or _comparable(evaluation, against))
    panels, numbers, notes = [], [], []
    for pick in (pick for pick in picks if pick.reading is not None):
        dots = []
        for contrast in _contrasts(evaluation, pick, against):
            name = contrast.second if contrast.first == against else contrast.first
            m = _turned(contrast.difference) if contrast.second == against else contrast.difference
            if m.value is None:
                continue
            low, high = (None, None) if m.interval is None else (m.interval.low, m.interval.high)
            sure = contrast.outcome.is_change
            dots.append(PanelDot(row=name, value=float(m.value), low=low, high=high, filled=sure))
            p = contrast.adjusted_p.value
            numbers.append((*_row(pick.name, name, m), against, rounded(None if p is None else float(p)), sure))
            notes += _how_made(evaluation, pick, contrast, name, against)
        if dots:
            panels.append(Panel(title=f"{pick.title} {ARROWS[pick.better]}".strip(), dots=dots, rule=0.0))
    if not panels:
        if undeclared := [pick.name for pick in picks if pick.name.startswith(f"{DIFF}:")]:
            raise InputError(
                f"{undeclared[0]} is not tested; add it to differences under [reference] in the suite file"
            )
        raise InputError(
            f"no column compares with {against}; give {option('--columns NAMES')} or another {option('--versus')}"
        )
    rows = [name for name in evaluation.data.names if any(one.row == name for panel in panels for one in panel.dots)]
    return PaperFigure(
        kind="forest",
        caption=f"Difference from {against} with its 95 % interval; filled: significant after Holm's correction over "
        f"the tests of its family on the board. {evaluation.too_few(picks)}".strip(),
        svg=panels_svg(panels, rows, looks(evaluation.data.names, reference=evaluation.data.reference), width),
        header=(*_HEADER, "versus", "adjusted_p", "significant"),
        rows=tuple(numbers),
        notes=tuple(dict.fromkeys(notes)),
    )


def _usual(evaluation: Evaluation, columns: Sequence[str] | None) -> str:
    """The reference where a column compares with it, which has no PSNR and no difference from itself; else a system."""
    reference = evaluation.data.reference
    if reference and columns:
        picks = picked(evaluation, columns)
        values = (c.difference.value for pick in picks for c in _contrasts(evaluation, pick, reference))
        return reference if any(value is not None for value in values) else evaluation.systems[0]
    return reference or evaluation.data.names[0]


def _comparable(evaluation: Evaluation, against: str) -> list[str]:
    """People's questions, then metrics with a direction that have a difference from this system."""
    names = [name for name in evaluation.names if not name.startswith(ELO) and name != "signals"]
    found = []
    for name in names:
        pick = evaluation.pick(name)[0]
        values = (c.difference.value for c in _contrasts(evaluation, pick, against))
        if pick.better != "neither" and any(values):  # a panel of zeros shows nothing
            found.append(name)
    return found[:MOST]


def _contrasts(evaluation: Evaluation, pick: Pick, against: str) -> list[Contrast]:
    verdict = evaluation.verdict(pick)
    return [] if verdict is None else [c for c in verdict.contrasts if against in (c.first, c.second)]


def _turned(m: Measurement) -> Measurement:
    """The difference with its sign changed."""
    if m.value is None:
        return m
    interval = m.interval and replace(m.interval, low=-m.interval.high, high=-m.interval.low)
    return replace(m, value=-float(m.value), interval=interval)


def _how_made(evaluation: Evaluation, pick: Pick, contrast: Contrast, name: str, against: str) -> list[str]:
    """Why a difference of distances is not the difference of the two values beside it."""
    bias = contrast.difference.definition.param("bias")
    if pick.per_clip or bias in (None, "none"):
        return []
    one, other = (evaluation.whole(pick, system) for system in (name, against))
    if one is None or other is None or one.value is None or other.value is None:
        return []
    plain_text = f"{float(one.value) - float(other.value):.4g}".replace("-", "−")
    return [
        f"{pick.title}: the difference of {name} from {against} has the bias of few clips removed ({bias}); the two "
        f"values differ by {plain_text}"
    ]


def _panel(pick: Pick, found: dict[str, Measurement | None], frame: tuple[float, float] | None) -> Panel:
    dots = []
    for name, m in found.items():
        if m is None or m.value is None:
            continue
        low, high = (None, None) if m.interval is None else (m.interval.low, m.interval.high)
        dots.append(PanelDot(row=name, value=float(m.value), low=low, high=high))
    title = pick.title.removesuffix(" (Elo)") if pick.strengths is not None else pick.title
    return Panel(title=f"{title} {ARROWS[pick.better]}".strip(), dots=dots, frame=frame)


def _frame(pick: Pick) -> tuple[float, float] | None:
    """The ends of the scale, so that 3.4 of 5 looks like 3.4 of 5."""
    if pick.reading is None or pick.reading.definition.lowest is None or pick.reading.definition.highest is None:
        return None
    return float(pick.reading.definition.lowest), float(pick.reading.definition.highest)


def _ranks(evaluation: Evaluation, pick: Pick) -> dict[str, tuple[int, int]]:
    if pick.strengths is not None:
        return dict(pick.strengths.ranks)
    verdict = evaluation.verdict(pick)
    if verdict is None or not verdict.ranks:
        return {}
    names = [name for name in evaluation.systems if name in verdict.ranks]
    return possible_ranks(names, [pair for pair in verdict.ranked if set(pair) <= set(names)])


def _span(ends: tuple[int, int] | None) -> str:
    return "" if ends is None else str(ends[0]) if ends[0] == ends[1] else f"{ends[0]}–{ends[1]}"


def _order(panel: Panel, names: Sequence[str]) -> list[str]:
    """From the highest value of the first panel to the lowest."""
    values = {one.row: one.value for one in panel.dots}
    return sorted(names, key=lambda name: -values.get(name, float("-inf")))


def _row(column: str, system: str, m: Measurement) -> tuple[Value, ...]:
    ends: Interval | None = m.interval
    low, high, level, method = (
        (None,) * 4 if ends is None else (rounded(ends.low), rounded(ends.high), ends.level, ends.method)
    )
    value = None if m.value is None else rounded(float(m.value))
    return (column, system, value, low, high, level, method, m.count, m.note, m.signature)


def _methods(found: object) -> str:
    names = dict.fromkeys(m.interval.method for m in found if m is not None and m.interval is not None)  # type: ignore[attr-defined]
    return ", ".join(names) or "none"
