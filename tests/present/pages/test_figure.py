"""Charts: the same bytes each time, names that do not clash on one page."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("vl_convert")
altair = pytest.importorskip("altair")

from rushes.present.charts.figure import Figure, chart_svg, own_ids  # noqa: E402


def line_chart(height: int):
    rows = [{"x": x, "y": x * height} for x in range(3)]
    return altair.Chart(altair.Data(values=rows)).mark_line(clip=True).encode(x="x:Q", y="y:Q")


def ids(svg: str) -> set[str]:
    return set(re.findall(r'id="([^"]+)"', svg))


def test_the_same_chart_drawn_twice_gives_the_same_bytes():
    assert chart_svg(line_chart(1)) == chart_svg(line_chart(1))


def test_two_charts_share_no_id():
    one, other = chart_svg(line_chart(1)), chart_svg(line_chart(2))
    assert ids(one) and ids(other)
    assert not ids(one) & ids(other)


def test_every_reference_points_at_an_id_of_the_chart():
    svg = chart_svg(line_chart(1))
    assert set(re.findall(r"url\(#([^)]+)\)", svg)) <= ids(svg)


def test_own_ids_leaves_references_to_elsewhere_alone():
    assert 'href="#elsewhere"' in own_ids('<g id="a"/><use href="#elsewhere"/>')


def test_a_figure_is_frozen():
    with pytest.raises(AttributeError):
        Figure("title", "caption", "<svg/>").title = "other"  # type: ignore[misc]
