"""What the first page of a run would wait for, made ready before anybody opens one."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module

from rushes.core.errors import RushesError
from rushes.core.registry import load
from rushes.instruments.catalogue import INSTRUMENTS
from rushes.instruments.clip.metrics import METRICS, known
from rushes.web.http.pages import compile_template
from rushes.web.workbench import Workbench

_LAZY = ("numpy.ma",)
"""Imported by NumPy itself when it first looks for distinct values."""


def prepare(bench: Workbench) -> None:
    """Compile the templates, and import what makes the tables of these runs and knows their metrics."""
    compile_template("run/table.html")
    for name in _LAZY:
        import_module(name)
    with suppress(RushesError):  # a page says what is wrong with its run
        for name in {bench.summaries.head(folder).instrument for folder in bench.runs.values()} & set(INSTRUMENTS):
            for reference in filter(None, (INSTRUMENTS[name].tables, INSTRUMENTS[name].section)):
                load(reference)
    for key in METRICS:
        known(key)
