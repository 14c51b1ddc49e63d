"""The pose report's figures: PCK of each joint on the body, PCK against k under every normalisation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from rushes.core import Measurement
from rushes.core.selection import select
from rushes.errors import MissingDependency
from rushes.pose.pck import CURVE_SERIES
from rushes.pose.skeletons import SKELETONS, Skeleton
from rushes.pose.tables import joint_table, k_of, norm_of, pcks
from rushes.report.figure import Figure, chart_svg
from rushes.runs import Run, Subject

MOST_CLIPS = 8
"""A set of more clips has its tables; two figures of each clip would bury them."""

Scores: TypeAlias = Mapping[str, float]
"""PCK by joint; those that were never scored are absent."""

# Told apart by every common kind of colour blindness, and by dash as well.
_COLOURS = ("#0b6fa4", "#c2571a", "#6b4c9a", "#4d7c0f", "#555555")
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 4])
_HEAT = ["#a50026", "#f5d76e", "#9fd3e8", "#1a6fa8"]
_SMALL = ("nose", "eye", "ear", "mouth", "pinky", "index", "thumb", "heel", "toe")
"""Parts of joint names of face, hands and feet: too close together for numbers, so colour alone."""


def charts(run: Run) -> tuple[Figure, ...]:
    """Per pair of pose files: the curves, then the body."""
    figures: list[Figure] = []
    clips = [entry for entry in run.entries if entry.subject.kind == "pose" and "error" not in entry.subject.facts]
    if len(clips) <= MOST_CLIPS:
        for entry in clips:
            figures += _curve_figures(run, entry.subject, entry.measurements)
            figures += _body_figures(entry.subject, entry.measurements)
    return tuple(figures)


def _altair() -> Any:
    """Altair without its types: its generated signatures are too narrow for values that are computed."""
    try:
        import altair
    except ImportError:
        raise MissingDependency("charts need altair; run: pip install 'rushes[report]'") from None
    return altair


def _curve_figures(run: Run, subject: Subject, measurements: Sequence[Measurement]) -> Iterator[Figure]:
    series = run.series(subject.id)
    found = pcks(measurements)
    # In the order of the measurements, which is the order asked for.
    curves = {norm: series[key] for norm in map(norm_of, found) if (key := f"{CURVE_SERIES}{norm}") in series}
    if not curves:
        return
    areas = [f"{norm_of(m)} {m.value:.3f}" for m in select(measurements, "pck_auc") if m.value is not None]
    yield Figure(
        f"{subject.id}: PCK against k",
        "The same predictions under each normalisation; only points on one line compare. "
        "An absolute threshold ignores k, so its line is flat."
        + (f" Area under the curve: {', '.join(areas)}." if areas else ""),
        chart_svg(_curve_chart(curves, found)),
    )


def _curve_chart(curves: Mapping[str, np.ndarray[Any, Any]], asked: Sequence[Measurement]) -> Any:
    altair = _altair()
    lines = [
        {"k": k, "PCK": round(float(value), 8), "normalisation": norm}
        for norm, values in curves.items()
        for k, value in enumerate(values)
    ]
    dots: list[dict[str, Any]] = [
        {"k": k_of(m), "PCK": m.stored_value, "normalisation": norm_of(m)} for m in asked if m.count
    ]
    order = list(curves)
    colours, dashes = list(_COLOURS[: len(order)]), list(_DASHES[: len(order)])
    colour = altair.Color(
        "normalisation:N",
        scale=altair.Scale(domain=order, range=colours),
        legend=altair.Legend(title=None, orient="top", labelLimit=300, symbolType="stroke", symbolSize=400),
    )
    x = altair.X("k:Q", title="k, % of the reference length", scale=altair.Scale(domain=[0, 50]))
    y = altair.Y("PCK:Q", title="PCK, 0 to 1", scale=altair.Scale(domain=[0, 1]))
    dash = altair.StrokeDash("normalisation:N", scale=altair.Scale(domain=order, range=dashes), legend=None)
    base = altair.Chart(altair.Data(values=lines), width=520, height=280)
    points = altair.Chart(altair.Data(values=[dot for dot in dots if dot["k"] <= 50]))
    return base.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, strokeDash=dash) + points.mark_circle(
        size=60, opacity=1
    ).encode(x=x, y=y, color=colour)


def _body_figures(subject: Subject, measurements: Sequence[Measurement]) -> Iterator[Figure]:
    table = joint_table(measurements)
    if not table.rows:
        return
    altair = _altair()
    skeleton = SKELETONS.get(str(subject.facts.get("skeleton")))
    scores: dict[str, Scores] = {
        norm: {row[0].text: value for row in table.rows if isinstance(value := row[column].value, float)}
        for column, norm in enumerate(table.header[1:], 1)
    }
    panels = [
        _bars(joints, norm) if skeleton is None else _figure(skeleton, joints, norm) for norm, joints in scores.items()
    ]
    chart = altair.concat(*panels, columns=3) if len(panels) > 1 else panels[0]
    yield Figure(
        f"{subject.id}: {table.title}",
        f"{_worst(*next(iter(scores.items())))} The person's left is on the right, as they face you; "
        "grey joints were never scored.",
        chart_svg(chart),
    )


def _worst(norm: str, joints: Scores) -> str:
    if not joints:
        return "No joint could be scored."
    worst = min(joints, key=lambda name: joints[name])
    return f"Lowest under {norm}: {worst.replace('_', ' ')}, {joints[worst]:.2f}."


def _figure(skeleton: Skeleton, joints: Scores, norm: str) -> Any:
    altair = _altair()
    places = dict(zip(skeleton.joints, skeleton.layout, strict=True))
    bones = [
        {"x": places[a][0], "y": -places[a][1], "x2": places[b][0], "y2": -places[b][1]}
        for a, b in ((skeleton.joints[i], skeleton.joints[j]) for i, j in skeleton.bones)
    ]
    dots = [
        {"x": x, "y": -y, "PCK": joints.get(name), "size": 45 if _small(name) else 150}
        for name, (x, y) in places.items()
    ]
    numbers: list[dict[str, Any]] = [
        {"x": x, "y": -y, "text": f"{value:.2f}"}
        for name, (x, y) in places.items()
        if (value := joints.get(name)) is not None and not _small(name)
    ]
    x = altair.X("x:Q", axis=None, scale=altair.Scale(domain=[-0.85, 0.85]))
    y = altair.Y("y:Q", axis=None, scale=altair.Scale(domain=[-2.08, 0.08]))
    frame = altair.Chart(altair.Data(values=bones), width=210, height=270, title=norm)
    scale = altair.Scale(domain=[0, 0.5, 0.8, 1], range=_HEAT, interpolate="rgb")
    legend = altair.Legend(title="PCK", gradientLength=120)
    colour = altair.condition(
        "isValid(datum.PCK)", altair.Color("PCK:Q", scale=scale, legend=legend), altair.value("#bbbbbb")
    )
    layers = [
        frame.mark_rule(strokeWidth=3, color="#d0d0d0").encode(x=x, y=y, x2="x2:Q", y2="y2:Q"),
        altair.Chart(altair.Data(values=dots))
        .mark_circle(opacity=1, stroke="#444444", strokeWidth=0.6)
        .encode(x=x, y=y, color=colour, size=altair.Size("size:Q", scale=None, legend=None)),
    ]
    for side, align, shift in ((1, "left", 9), (-1, "right", -9)):
        beside = [number for number in numbers if (number["x"] >= 0) == (side > 0)]
        text = altair.Chart(altair.Data(values=beside)).mark_text(align=align, dx=shift, fontSize=10, color="#222222")
        layers.append(text.encode(x=x, y=y, text="text:N"))
    return altair.layer(*layers)


def _small(joint: str) -> bool:
    return any(part in joint for part in _SMALL)


def _bars(joints: Scores, norm: str) -> Any:
    altair = _altair()
    rows = [{"joint": name, "PCK": value} for name, value in joints.items()]
    return (
        altair.Chart(altair.Data(values=rows), title=norm, width=210)
        .mark_bar(color=_COLOURS[0])
        .encode(
            x=altair.X("PCK:Q", scale=altair.Scale(domain=[0, 1]), title="PCK, 0 to 1"),
            y=altair.Y("joint:N", sort=[str(row["joint"]) for row in rows], title=None),
        )
    )
