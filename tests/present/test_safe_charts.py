"""Texts from outside in charts: what XML cannot hold must not end the process."""

from __future__ import annotations

import pytest

from rushes.present.charts.figure import chart_svg, printable


def test_a_control_character_in_a_name_is_drawn_as_a_sign() -> None:
    altair = pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    rows = [{"system": "amber\x1b[31m", "value": 1}, {"system": "birch\x00\ud800", "value": 2}]
    chart = altair.Chart(altair.Data(values=rows)).mark_bar().encode(x="value:Q", y="system:N")
    svg = chart_svg(chart)
    assert "amber\ufffd" in svg and "\x1b" not in svg


def test_what_is_fine_stays_as_it_is() -> None:
    data = {"a": ["tab\t", "ä → 漢 🙂"], "b": 1.5, "c": None}
    assert printable(data) == data
