"""The robustness report's figures: ESI and drift along each axis, over two axes at once, and the worst runs' words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from rushes.core import Measurement
from rushes.instruments.robustness.seed.sweep_dir import ONE_AT_A_TIME
from rushes.instruments.robustness.show.remarks import headline
from rushes.instruments.robustness.show.tables import Readings, along_axes, over_two_axes
from rushes.instruments.robustness.show.word_diff_svg import diff_svg
from rushes.present.charts import style
from rushes.present.charts.figure import Figure
from rushes.storage.runs import Run, Subject

_KINDS = {"esi": "ESI (higher is steadier)", "justification_drift": "drift (lower is steadier)"}
_COLOURS = (style.BLUE, style.ORANGE)  # told apart by every common kind of colour blindness, and by shape and dash
_MOST_LABELLED_CELLS = 64
_NARROW_DIFF = 40
"""Letters of a line on a phone."""


def charts(run: Run) -> tuple[Figure, ...]:
    """Per sweep: a line chart per axis, a heat chart per two axes, and the changed words of the worst runs."""
    figures: list[Figure] = []
    for entry in run.entries:
        if entry.subject.kind == "sweep":
            figures += _line_figures(entry.subject, entry.measurements)
            figures += _heat_figures(entry.subject, entry.measurements)
            figures += _worst_figures(entry.subject, entry.measurements)
    return tuple(figures)


def _line_figures(subject: Subject, measurements: Sequence[Measurement]) -> Iterator[Figure]:
    points: dict[str, list[dict[str, Any]]] = {}
    alone = subject.facts.get("design") == ONE_AT_A_TIME
    for (axis, value), readings in along_axes(measurements).items():
        if value is not None:
            points.setdefault(axis, []).extend({"value": value} | score for score in _scores(readings, alone=alone))
    points = {axis: rows for axis, rows in points.items() if rows}
    if not points:
        return
    kept = {axis: rows for axis, rows in points.items() if len({row["value"] for row in rows}) > 1}
    if not kept:
        return  # one value of each axis is a table, not a line

    def draw(room: style.Room) -> Any:
        panels = [_axis_panel(rows, _ordered(subject.facts, axis), axis, room) for axis, rows in kept.items()]
        return style.side_by_side(panels, room)

    yield style.drawn(
        f"{subject.id}: stability along each axis",
        f"At each value: the share of runs that answer as the baseline ({_baseline(subject)}) does, and how far their "
        "reasons drifted from its own. A steady judge keeps ESI (the share of equal answers) at 1 and drift at 0.",
        draw,
    )


def _scores(readings: Readings, *, alone: bool = False) -> list[dict[str, Any]]:
    """A point for each metric that has a value here: a value at which every run failed has none.

    `alone`: of an axis by itself. Where one axis moves at a time, the first value of each pools the runs of all others.
    """
    names = {name + "_one_axis" * alone: kind for name, kind in _KINDS.items()}
    found = ((kind, readings[name].value) for name, kind in names.items() if name in readings)
    return [{"kind": kind, "score": value} for kind, value in found if value is not None]


def _axis_panel(rows: Sequence[Mapping[str, Any]], order: Sequence[str], axis: str, room: style.Room) -> Any:
    altair = style.load_altair()
    kinds = [kind for kind in _KINDS.values() if any(row["kind"] == kind for row in rows)]
    scale = altair.Scale(domain=kinds, range=list(_COLOURS[: len(kinds)]))
    legend = style.kind_legend(altair)
    return (
        altair.Chart(altair.Data(values=list(rows)), width=room.panel, height=200)
        .mark_line(point={"size": 60, "filled": True})
        .encode(
            x=altair.X("value:N", sort=order, title=axis, axis=_upright(altair)),
            y=style.number_axis([1], "score, 0 to 1", field="score:Q", vertical=True, most=5),
            color=altair.Color("kind:N", scale=scale, legend=legend),
            strokeDash=altair.StrokeDash("kind:N", scale=altair.Scale(domain=kinds, range=[[1, 0], [5, 3]])),
            shape=altair.Shape("kind:N", scale=altair.Scale(domain=kinds, range=["circle", "square"])),
        )
    )


def _upright(altair: Any) -> Any:
    """Labels that stay level; where there are too many, some are left out rather than drawn over each other."""
    return altair.Axis(labelAngle=0, labelOverlap="greedy")


def _heat_figures(subject: Subject, measurements: Sequence[Measurement]) -> Iterator[Figure]:
    for (one, other), cells in over_two_axes(measurements).items():
        rows = [
            {"value_1": value, "value_2": other_value} | score
            for (value, other_value), readings in cells.items()
            for score in _scores(readings)
        ]
        if len(cells) < 2:
            continue
        yield style.drawn(
            f"{subject.id}: {one} and {other} together",
            f"Each cell is one pair of values, pooled over other axes and seeds; baseline {_baseline(subject)}. "
            "Full blue: answers as the baseline does. Full orange: argues differently.",
            partial(_heat_chart, rows, subject.facts, one, other),
        )


def _heat_chart(
    rows: Sequence[Mapping[str, Any]], facts: Mapping[str, Any], one: str, other: str, room: style.Room
) -> Any:
    panels = [
        _heat_panel([row for row in rows if row["kind"] == kind], facts, one, other, kind, room)
        for kind in _KINDS.values()
    ]
    return style.side_by_side(panels, room).resolve_scale(color="independent")


def _heat_panel(
    rows: Sequence[Mapping[str, Any]], facts: Mapping[str, Any], one: str, other: str, kind: str, room: style.Room
) -> Any:
    altair = style.load_altair()
    width = min(room.panel, 190) if room.columns == 1 else room.panel
    scheme = "blues" if kind == _KINDS["esi"] else "oranges"
    base = altair.Chart(
        altair.Data(values=list(rows)),
        width=width,
        height=200,
        title=kind,
    ).encode(
        x=altair.X("value_1:N", sort=_ordered(facts, one), title=one, axis=_upright(altair)),
        y=altair.Y("value_2:N", sort=_ordered(facts, other), title=other, axis=_upright(altair)),
    )
    scale = altair.Scale(domain=[0, 1], scheme=scheme)
    cells = base.mark_rect(stroke=style.CARD).encode(color=altair.Color("score:Q", scale=scale, legend=None))
    if len(rows) > _MOST_LABELLED_CELLS:
        return cells
    numbers = base.mark_text(fontSize=12).encode(
        text=altair.Text("score:Q", format=".2f"),
        color=altair.condition("datum.score > 0.6", altair.value("#fefefe"), altair.value("#222222")),
    )
    return cells + numbers


def _worst_figures(subject: Subject, measurements: Sequence[Measurement]) -> Iterator[Figure]:
    worst: Any = subject.facts.get("worst") or []
    if not worst:
        return
    answer = subject.facts["baseline"]["answer"]  # type: ignore[index]
    drifts = {m.place["run"]: float(m.value or 0) for m in measurements if "run" in m.place}
    blocks = [(headline(run, drifts[run["run"]], answer), run["diff"]) for run in worst]
    yield Figure(
        f"{subject.id}: the runs that drifted furthest",
        "Words that left the baseline's justification are struck through; new words are underlined.",
        style.themed(diff_svg(blocks)),
        style.themed(diff_svg(blocks, width=_NARROW_DIFF)),
    )


def _ordered(facts: Mapping[str, Any], axis: str) -> list[str]:
    """The axis's values from small to large where they are numbers, else as declared."""
    values = [value for _, value in facts["axes"][axis]]
    try:
        return sorted(values, key=float)
    except ValueError:
        return values


def _baseline(subject: Subject) -> str:
    return str(subject.facts["baseline"]["run"])  # type: ignore[index]
