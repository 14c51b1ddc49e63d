"""Puts a benchmark's figures into its own section of RESULTS.md, with machine and date."""

from __future__ import annotations

import datetime
import os
import platform
import re
from collections.abc import Sequence
from pathlib import Path

_HEAD = "# Measured figures\n\nRatios within one run, medians of several; `make bench` makes them.\n"
RESULTS = Path(__file__).with_name("RESULTS.md")


def record(section: str, title: str, rows: Sequence[Sequence[str]], *, how: str, machine: str = "") -> None:
    """Write one section: a table of (what, asked, measured), how it was measured, machine and date.

    A section is found by its marker and replaced whole, so benchmarks can run one at a time in any order.
    """
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    where = machine or _machine()
    date = datetime.date.today().isoformat()
    body = (
        f"<!-- section:{section} -->\n## {title}\n\n{how}\nMachine: {where}. Date: {date}.\n\n"
        f"| what | asked | measured |\n|---|---|---|\n{table}\n<!-- end:{section} -->\n"
    )
    text = RESULTS.read_text() if RESULTS.exists() else _HEAD
    pattern = re.compile(rf"<!-- section:{section} -->.*?<!-- end:{section} -->\n", re.DOTALL)
    text = pattern.sub(lambda _: body, text) if pattern.search(text) else f"{text.rstrip()}\n\n{body}"
    RESULTS.write_text(text)
    print(body)


def _machine() -> str:
    model = platform.processor() or platform.machine()
    try:
        names = re.findall(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text())
        model = names[0] if names else model
    except OSError:
        pass
    return f"{os.cpu_count()} cores, {model}, Python {platform.python_version()}"
