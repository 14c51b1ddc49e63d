"""The shared look of charts: honest ticks, labels with room, dark colours; measured in a browser where there is one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from rushes.present.charts.dot_chart import Dot, dot_chart, looks_of
from rushes.present.charts.figure import Figure
from rushes.present.charts.style import (
    DARK,
    NARROW,
    WIDE,
    Room,
    drawn,
    number_axis,
    row_axis,
    row_height,
    ticks,
    wrapped,
)

LONG = "a-video-model-with-a-name-that-goes-on-and-on-v2.1-final"


def points(room: Room) -> Any:
    """Three systems, one with a long name, values far apart, an interval that reaches below 0."""
    import altair

    rows = [
        {"row": "amber", "value": 0.7108, "low": 0.6, "high": 0.9},
        {"row": LONG, "value": -0.2, "low": -0.31, "high": 0.1},
        {"row": "cedar", "value": 0.0004, "low": 0.0, "high": 0.001},
    ]
    names = [str(row["row"]) for row in rows]
    x = number_axis([float(row[key]) for row in rows for key in ("low", "high")], "score", most=room.ticks)
    base = altair.Chart(altair.Data(values=rows), width=room.width, height=row_height(names, room))
    y = row_axis(names, room)
    return base.mark_point().encode(x=x, y=y) + base.mark_rule().encode(x="low:Q", x2="high:Q", y=y)


@pytest.fixture(scope="module")
def figure() -> Figure:
    return drawn("Score", "A caption.", points)


def test_ticks_are_round_hold_every_value_and_start_at_0() -> None:
    assert ticks(0, 0.7108) == [0.0, 0.2, 0.4, 0.6, 0.8], "KVD 0.7108 never stands at a tick 1"
    assert ticks(0, 25.67)[0] == 0 and ticks(0, 25.67)[-1] >= 25.67, "an FVD axis starts at 0"
    assert ticks(-0.31, 0.9) == [-0.4, -0.2, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0] or ticks(-0.31, 0.9)[0] <= -0.31
    assert ticks(0, 0) == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0] and ticks(0, 1e-7)[-1] >= 1e-7
    for low, high in ((3, 3), (0, 4064.33), (-5, -4), (470.2, 1430.9), (0, 7e9)):
        found = ticks(low, high)
        assert 2 <= len(found) <= 8 and found[0] <= low and found[-1] >= high, (low, high, found)
        assert len(set(found)) == len(found)


def test_long_names_wrap_and_say_that_something_is_left_out() -> None:
    assert wrapped(LONG, 30) == ["a-video-model-with-a-name-", "that-goes-on-and-on-v2.1-final"]
    assert wrapped(LONG, 13)[-1].endswith(" …") and all(len(line) <= 13 for line in wrapped(LONG, 13))
    assert wrapped("", 9) == [""]


def test_a_chart_has_a_narrow_and_a_dark_form_and_the_same_bytes_twice(figure: Figure) -> None:
    again = drawn("Score", "A caption.", points)
    assert (again.svg, again.narrow) == (figure.svg, figure.narrow) and figure.svg != figure.narrow
    for svg in (figure.svg, figure.narrow):
        assert "prefers-color-scheme:dark" in svg and all(dark in svg for dark in DARK.values())
        colours = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]+)"', svg.partition("</style>")[2]))
        assert colours - {"#4c78a8"} <= set(DARK), "every colour has a dark one"
    assert width(figure.narrow) <= 330 < width(figure.svg) <= 740


def width(svg: str) -> float:
    found = re.search(r'<svg[^>]*\swidth="([\d.]+)"', svg)
    assert found is not None
    return float(found[1])


BOXES = """(host) => [...host.querySelectorAll("svg")].map((svg) => {
  const view = svg.getBoundingClientRect();
  const box = (node) => { const b = node.getBoundingClientRect();
    return { text: node.textContent, left: b.left - view.left, right: b.right - view.left,
             top: b.top - view.top, bottom: b.bottom - view.top, size: parseFloat(getComputedStyle(node).fontSize) }; };
  const ticks = [...svg.querySelectorAll("g.role-axis")].map((axis) =>
    [...axis.querySelectorAll("g.role-axis-label text")].map(box));
  const texts = [...svg.querySelectorAll("text")].filter((t) => t.textContent.trim()).map(box);
  return { width: view.width, height: view.height, texts, ticks };
})"""


def test_no_text_is_cut_or_overlaps_and_ticks_lie_where_they_say(figure: Figure, browser: Any, sweep_run: Path) -> None:
    """In the browser's own font, which is wider than the one the charts were measured with."""
    from rushes.instruments.robustness.show.charts import charts as sweep_charts
    from rushes.storage.runs import read_run

    every = [figure, *sweep_charts(read_run(sweep_run)), *study_figures()]
    svgs = [svg for one in every for svg in (one.svg, one.narrow) if svg]
    tab = browser.new_page()
    tab.set_content("<div id=host>" + "".join(f"<p>{svg}</p>" for svg in svgs) + "</div>")
    found = tab.evaluate_handle("document.getElementById('host')").evaluate(BOXES)
    assert len(found) == len(svgs)
    for chart in found:
        texts = chart["texts"]
        for one in texts:
            assert one["left"] >= -1 and one["right"] <= chart["width"] + 1, one
            assert one["top"] >= -1 and one["bottom"] <= chart["height"] + 1, one
            assert one["size"] >= 10
        for n, one in enumerate(texts):
            for other in texts[n + 1 :]:
                across = min(one["right"], other["right"]) - max(one["left"], other["left"])
                down = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
                assert across <= 1 or down <= 4, (one, other)
        for labels in chart["ticks"]:
            assert_linear(labels)


def assert_linear(labels: list[dict[str, Any]]) -> None:
    """Labels that are numbers lie at a straight line's places: a tick says where it is."""
    numbers = [(label, _number(label["text"])) for label in labels]
    if len(numbers) < 3 or any(value is None for _, value in numbers):
        return
    level = max(label["top"] for label, _ in numbers) - min(label["top"] for label, _ in numbers) < 1
    at = [
        (label["left"] + label["right"]) / 2 if level else (label["top"] + label["bottom"]) / 2 for label, _ in numbers
    ]
    values = [float(value) for _, value in numbers if value is not None]
    slope = (at[-1] - at[0]) / (values[-1] - values[0])
    assert all(abs(at[0] + slope * (v - values[0]) - a) < 2.5 for a, v in zip(at, values, strict=True)), labels


def _number(text: str) -> float | None:
    try:
        return float(text.replace("−", "-").replace(",", ""))
    except ValueError:
        return None


def study_figures() -> list[Figure]:
    """A study's charts with intervals that reach below 0 and a system with a long name."""
    dots = [
        Dot(row=family, kind=kind, value=value, low=value - 0.6, high=min(value + 0.2, 1.0))
        for family in ("all families", "T1 multi-constraint adherence", LONG)
        for kind, value in (("agreement", 0.8), ("Krippendorff α", 0.1), ("Gwet AC1", 0.7))
    ]
    looks = looks_of(["agreement", "Krippendorff α", "Gwet AC1"])

    def draw(room: Room) -> Any:
        return dot_chart(dots, "agreement", room, looks=looks, most=1.0)

    assert WIDE.width > NARROW.width
    return [drawn("Agreement", "A caption.", draw)]
