"""The chart of dots with intervals: what is drawn of a value, and that the same dots give the same bytes."""

from __future__ import annotations

from typing import Any

from rushes.core import Definition, Interval, Measurement
from rushes.present.charts.dot_chart import Dot, dot, dot_chart, looks_of
from rushes.present.charts.style import WIDE, drawn

D = Definition(name="x", unit="1", lowest=None, highest=None, better="neither", summary="s", formula="f")


def marks(chart: Any) -> list[str]:
    return [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]


def test_a_measurement_brings_its_interval_and_its_limit() -> None:
    ends = Interval(low=1.0, high=3.0, level=0.95, method="m")
    made = dot(
        Measurement(definition=D, value=2, count=4, interval=ends), "a", text="2", limit=Measurement.missing(D, "n")
    )
    assert made == Dot(row="a", value=2.0, low=1.0, high=3.0, text="2")
    beyond = Measurement(definition=D, value=1.5, count=4)
    assert dot(Measurement(definition=D, value=2, count=4), "a", limit=beyond) == Dot(row="a", value=2.0, limit=1.5)


def test_only_what_there_is_has_a_layer() -> None:
    plain = [Dot(row="a", value=1.0), Dot(row="b", value=2.0, low=1.0, high=3.0)]
    assert marks(dot_chart(plain, "x", WIDE)) == ["rule", "point"]
    full = [Dot(row="a", value=1.0, text="1", limit=0.5)]
    assert marks(dot_chart(full, "x", WIDE, rule=0.0)) == ["rule", "rule", "point", "text", "point"]


def test_kinds_of_one_row_are_told_apart_with_a_legend() -> None:
    dots = [Dot(row=row, value=1.0, kind=kind) for row in "ab" for kind in ("one", "other")]
    found = dot_chart(dots, "x", WIDE, looks=looks_of(["one", "other"])).to_dict()["layer"][1]["encoding"]
    assert found["yOffset"]["sort"] == ["one", "other"] and found["color"]["legend"] is not None
    alone = dot_chart(dots[::3], "x", WIDE, looks=looks_of(["one", "other"])).to_dict()["layer"][1]["encoding"]
    assert "yOffset" not in alone and alone["color"]["legend"] is None


def test_a_frame_has_its_ends_and_ticks_inside_alone() -> None:
    chart = dot_chart([Dot(row="a", value=1.0, low=-9.0, high=9.0)], None, WIDE, frame=(-2.15, 2.15)).to_dict()
    x = chart["layer"][1]["encoding"]["x"]
    assert x["scale"]["domain"] == [-2.15, 2.15] and x["axis"]["values"] == [-2, -1, 0, 1, 2]
    assert x["axis"]["labels"] is False and chart["layer"][0]["mark"]["clip"] is True


def test_the_same_dots_give_the_same_bytes() -> None:
    first, second = (drawn("t", "c", lambda room: dot_chart([Dot(row="a", value=1.0)], "x", room)) for _ in range(2))
    assert first == second and first.svg != first.narrow
