"""The pose report's figures: PCK of each joint on the body, PCK against k under every normalisation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from rushes.core import Measurement
from rushes.core.selection import select
from rushes.core.words.definition_text import value_text
from rushes.core.words.number_text import number_text
from rushes.instruments.pose.files.skeletons import SKELETONS, Skeleton
from rushes.instruments.pose.scores.pck import CURVE_SERIES
from rushes.instruments.pose.show.tables import joint_table, k_of, norm_of, pcks
from rushes.present.charts import style
from rushes.present.charts.figure import Figure
from rushes.storage.runs import Run, Subject

MOST_CLIPS = 8
"""A set of more clips has its tables; two figures of each clip would bury them."""

Scores: TypeAlias = Mapping[str, float]
"""PCK by joint; those that were never scored are absent."""

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


def _curve_figures(run: Run, subject: Subject, measurements: Sequence[Measurement]) -> Iterator[Figure]:
    series = run.series(subject.id)
    found = pcks(measurements)
    # In the order of the measurements, which is the order asked for.
    curves = {norm: series[key] for norm in map(norm_of, found) if (key := f"{CURVE_SERIES}{norm}") in series}
    if not curves:
        return
    areas = [f"{norm_of(m)} {value_text(m)}" for m in select(measurements, "pck_auc") if m.value is not None]
    yield style.drawn(
        f"{subject.id}: PCK against k",
        "The same predictions under each normalisation; compare points of one line only. "
        "An absolute threshold ignores k, so its line is flat."
        + (f" Area under the curve: {', '.join(areas)}." if areas else ""),
        partial(_curve_chart, curves, found),
    )


def _curve_chart(curves: Mapping[str, np.ndarray[Any, Any]], asked: Sequence[Measurement], room: style.Room) -> Any:
    altair = style.load_altair()
    lines = [
        {"k": k, "PCK": round(float(value), 8), "normalisation": norm}
        for norm, values in curves.items()
        for k, value in enumerate(values)
    ]
    dots: list[dict[str, Any]] = [
        {"k": k_of(m), "PCK": m.stored_value, "normalisation": norm_of(m)} for m in asked if m.count
    ]
    order = list(curves)
    colours, dashes = list(style.KINDS[: len(order)]), list(style.DASHES[: len(order)])
    colour = altair.Color(
        "normalisation:N",
        scale=altair.Scale(domain=order, range=colours),
        legend=style.kind_legend(altair),
    )
    x = style.number_axis([50], "k, % of the reference length", field="k:Q", most=5)
    y = style.number_axis([1], "PCK, 0 to 1", field="PCK:Q", vertical=True, most=5)
    dash = altair.StrokeDash("normalisation:N", scale=altair.Scale(domain=order, range=dashes), legend=None)
    base = altair.Chart(altair.Data(values=lines), width=max(room.width, 235), height=260)
    points = altair.Chart(altair.Data(values=[dot for dot in dots if dot["k"] <= 50]))
    return base.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, strokeDash=dash) + points.mark_circle(
        size=60, opacity=1
    ).encode(x=x, y=y, color=colour)


def _body_figures(subject: Subject, measurements: Sequence[Measurement]) -> Iterator[Figure]:
    table = joint_table(measurements)
    if not table.rows:
        return
    skeleton = SKELETONS.get(str(subject.facts.get("skeleton")))
    scores: dict[str, Scores] = {
        norm: {row[0].text: value for row in table.rows if isinstance(value := row[column].value, float)}
        for column, norm in enumerate(table.header[1:], 1)
    }
    yield style.drawn(
        f"{subject.id}: {table.title}",
        f"{_worst(*next(iter(scores.items())))} The person's left is on the right, as they face you; "
        "grey joints were never scored.",
        partial(_body_chart, scores, skeleton),
    )


def _body_chart(scores: Mapping[str, Scores], skeleton: Skeleton | None, room: style.Room) -> Any:
    panels = [
        _bars(joints, norm, room) if skeleton is None else _figure(skeleton, joints, norm)
        for norm, joints in scores.items()
    ]
    return style.side_by_side(panels, room)


def _worst(norm: str, joints: Scores) -> str:
    if not joints:
        return "No joint could be scored."
    worst = min(joints, key=lambda name: joints[name])
    return f"Lowest under {norm}: {worst.replace('_', ' ')}, {number_text(joints[worst])}."


def _figure(skeleton: Skeleton, joints: Scores, norm: str) -> Any:
    altair = style.load_altair()
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
    frame = altair.Chart(altair.Data(values=bones), width=250, height=280, title=norm)
    scale = altair.Scale(domain=[0, 0.5, 0.8, 1], range=_HEAT, interpolate="rgb")
    legend = altair.Legend(title="PCK", gradientLength=160, direction="horizontal")
    colour = altair.condition(
        "isValid(datum.PCK)", altair.Color("PCK:Q", scale=scale, legend=legend), altair.value(style.GREY)
    )
    layers = [
        frame.mark_rule(strokeWidth=3, color=style.LINE).encode(x=x, y=y, x2="x2:Q", y2="y2:Q"),
        altair.Chart(altair.Data(values=dots))
        .mark_circle(opacity=1, stroke=style.GREY, strokeWidth=0.6)
        .encode(x=x, y=y, color=colour, size=altair.Size("size:Q", scale=None, legend=None)),
    ]
    for side, align, shift in ((1, "left", 9), (-1, "right", -9)):
        beside = [number for number in numbers if (number["x"] >= 0) == (side > 0)]
        text = altair.Chart(altair.Data(values=beside)).mark_text(align=align, dx=shift, fontSize=11, color=style.INK)
        layers.append(text.encode(x=x, y=y, text="text:N"))
    return altair.layer(*layers)


def _small(joint: str) -> bool:
    return any(part in joint for part in _SMALL)


def _bars(joints: Scores, norm: str, room: style.Room) -> Any:
    altair = style.load_altair()
    rows = [{"joint": name, "PCK": value} for name, value in joints.items()]
    return (
        altair.Chart(altair.Data(values=rows), title=norm, width=room.panel)
        .mark_bar(color=style.BLUE)
        .encode(
            x=style.number_axis([1], "PCK, 0 to 1", field="PCK:Q", most=5),
            y=altair.Y("joint:N", sort=[str(row["joint"]) for row in rows], title=None),
        )
    )
