"""Texts from outside in charts: what XML cannot hold must not end the process."""

from __future__ import annotations

import subprocess
import sys

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


def test_under_a_limit_on_addresses_pages_have_no_charts_and_say_so() -> None:
    """V8 aborted the whole process: a C stack trace, and no page."""
    resource = pytest.importorskip("resource")
    code = (
        "import sys; from rushes.present.charts.figure import spec_svg\n"
        "from rushes.core.errors import MissingDependency\n"
        "try: spec_svg({'mark': 'point', 'data': {'values': [{'a': 1}]}, 'encoding': {'x': {'field': 'a'}}})\n"
        "except MissingDependency as error: print(error)"
    )

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, preexec_fn=limited)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip().endswith("under a limit on address space; raise it with: ulimit -v unlimited")
