"""The robustness report's figures: ESI and drift along each axis, over two axes at once, and the worst runs' words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rushes.core import Measurement
from rushes.errors import MissingDependency
from rushes.report.figure import Figure, chart_svg
from rushes.robustness.measurements import NOTHING
from rushes.robustness.word_diff_svg import diff_svg
from rushes.runs import Run, Subject

_NAMES = {"esi": "ESI (higher is steadier)", "justification_drift": "drift (lower is steadier)"}
_COLOURS = ("#0b6fa4", "#c2571a")  # told apart by every common kind of colour blindness, and by shape and dash as well
_MOST_LABELLED_CELLS = 64


def charts(run: Run) -> tuple[Figure, ...]:
    """Per sweep: a line chart per axis, a heat chart per two axes, and the changed words of the worst runs."""
    figures: list[Figure] = []
    for entry in run.entries:
        if entry.subject.kind == "sweep":
            figures += _line_figures(entry.subject, entry.measurements)
            figures += _heat_figures(entry.subject, entry.measurements)
            figures += _worst_figures(entry.subject, entry.measurements)
    return tuple(figures)


def _altair() -> Any:
    """Altair without its types: its generated signatures are too narrow for values that are computed."""
    try:
        import altair
    except ImportError:
        raise MissingDependency("charts need altair; run: pip install 'rushes[report]'") from None
    return altair


def _line_figures(subject: Subject, measurements: Sequence[Measurement]) -> Iterator[Figure]:
    altair = _altair()
    rows = [row for row in _rows(subject, measurements) if "," not in row["axis"]]
    axes = list(dict.fromkeys(row["axis"] for row in rows))
    if not axes:
        return
    panels = [_axis_panel([row for row in rows if row["axis"] == axis], subject.facts, axis) for axis in axes]
    chart = altair.hconcat(*panels) if len(panels) <= 3 else altair.concat(*panels, columns=3)
    baseline = _baseline(subject)
    yield Figure(
        f"{subject.id}: stability along each axis",
        f"At each value: the share of runs that answer as the baseline ({baseline}) does, and how far their reasons "
        "moved from its reasons. A steady judge keeps ESI at 1 and drift at 0.",
        chart_svg(chart),
    )


def _axis_panel(rows: Sequence[Mapping[str, Any]], facts: Mapping[str, Any], axis: str) -> Any:
    altair = _altair()
    kinds = [_NAMES[name] for name in _NAMES if any(row["kind"] == _NAMES[name] for row in rows)]
    scale = altair.Scale(domain=kinds, range=list(_COLOURS[: len(kinds)]))
    legend = altair.Legend(title=None, orient="top", direction="vertical")
    return (
        altair.Chart(altair.Data(values=list(rows)), width=230, height=200)
        .mark_line(point={"size": 60, "filled": True})
        .encode(
            x=altair.X("label:N", sort=_labels(facts, axis), title=axis, axis=_upright(altair)),
            y=altair.Y("score:Q", scale=altair.Scale(domain=[0, 1]), title="score, 0 to 1"),
            color=altair.Color("kind:N", scale=scale, legend=legend),
            strokeDash=altair.StrokeDash("kind:N", scale=altair.Scale(domain=kinds, range=[[1, 0], [5, 3]])),
            shape=altair.Shape("kind:N", scale=altair.Scale(domain=kinds, range=["circle", "square"])),
        )
    )


def _upright(altair: Any) -> Any:
    """Labels that stay level; where there are too many, some are left out rather than drawn over each other."""
    return altair.Axis(labelAngle=0, labelOverlap="greedy")


def _heat_figures(subject: Subject, measurements: Sequence[Measurement]) -> Iterator[Figure]:
    altair = _altair()
    rows = [row for row in _rows(subject, measurements) if row["axis"].count(",") == 1]
    for pair in dict.fromkeys(row["axis"] for row in rows):
        panels = [
            _heat_panel([row for row in rows if row["axis"] == pair and row["kind"] == kind], subject.facts, pair, kind)
            for kind in _NAMES.values()
        ]
        one, other = pair.split(",")
        yield Figure(
            f"{subject.id}: {one} and {other} together",
            f"Each cell is one pair of values, pooled over other axes and seeds; baseline {_baseline(subject)}. "
            "Dark on the left: answers as the baseline does. Dark on the right: argues differently.",
            chart_svg(altair.hconcat(*panels).resolve_scale(color="independent")),
        )


def _heat_panel(rows: Sequence[Mapping[str, Any]], facts: Mapping[str, Any], pair: str, kind: str) -> Any:
    altair = _altair()
    one, other = pair.split(",")
    scheme = "blues" if kind == _NAMES["esi"] else "oranges"
    base = altair.Chart(altair.Data(values=list(rows)), width=240, height=200, title=kind).encode(
        x=altair.X("label_1:N", sort=_labels(facts, one), title=one, axis=_upright(altair)),
        y=altair.Y("label_2:N", sort=_labels(facts, other), title=other, axis=_upright(altair)),
    )
    scale = altair.Scale(domain=[0, 1], scheme=scheme)
    cells = base.mark_rect(stroke="white").encode(color=altair.Color("score:Q", scale=scale, legend=None))
    if len(rows) > _MOST_LABELLED_CELLS:
        return cells
    numbers = base.mark_text(fontSize=12).encode(
        text=altair.Text("score:Q", format=".2f"),
        color=altair.condition("datum.score > 0.6", altair.value("white"), altair.value("#222")),
    )
    return cells + numbers


def _worst_figures(subject: Subject, measurements: Sequence[Measurement]) -> Iterator[Figure]:
    worst: Any = subject.facts.get("worst") or []
    drifts = {dict(m.definition.params).get("run"): m.value for m in measurements}
    if not worst:
        return
    answer = subject.facts["baseline"]["answer"]  # type: ignore[index]
    blocks = []
    for run in worst:
        verdict = "same answer" if run["matches"] else f"answers “{run['answer']}”, baseline “{answer}”"
        blocks.append((f"{run['run']}: {verdict}, drift {drifts.get(run['run'], 0.0):.4f}", run["diff"]))
    yield Figure(
        f"{subject.id}: the runs that moved furthest",
        "Words that left the baseline's justification are struck through; words that came are underlined.",
        diff_svg(blocks),
    )


def _rows(subject: Subject, measurements: Sequence[Measurement]) -> list[dict[str, Any]]:
    """Value scores with the labels people know: the values as declared, not as encoded."""
    rows = []
    for m in measurements:
        params = dict(m.definition.params)
        if m.definition.name in _NAMES and "value" in params:
            axes, codes = params["axis"].split(","), params["value"].split(",")
            labels = [_label(subject.facts, axis, code) for axis, code in zip(axes, codes, strict=True)]
            named = {f"label_{number}": label for number, label in enumerate(labels, 1)}
            rows.append(
                {
                    "axis": params["axis"],
                    "kind": _NAMES[m.definition.name],
                    "score": m.value,
                    "label": labels[0],
                    **named,
                }
            )
    return rows


def _label(facts: Mapping[str, Any], axis: str, code: str) -> str:
    """The declared value behind a signature's `value`; one that encodes to nothing is called "(empty)" there."""
    return dict(facts["axes"][axis]).get("" if code == NOTHING else code) or code


def _labels(facts: Mapping[str, Any], axis: str) -> list[str]:
    """The axis's values from small to large where they are numbers, else as declared."""
    labels = [label or code for code, label in facts["axes"][axis]]
    try:
        return sorted(labels, key=float)
    except ValueError:
        return labels


def _baseline(subject: Subject) -> str:
    return str(subject.facts["baseline"]["run"])  # type: ignore[index]
