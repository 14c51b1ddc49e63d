"""The tables on a run's page: from the part its instrument names, or from its section; a bug there is an error."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rushes.core.instrument import Instrument
from rushes.core.registry import load
from rushes.core.table import Column, Table
from rushes.instruments.catalogue import INSTRUMENTS
from rushes.present.pages.section import ReportOptions, Section
from rushes.storage.runs import Entry, Run, RunWriter, Subject, read_run
from rushes.web.runs import cache as module
from rushes.web.runs.cache import report_tables

GRID = Table(title="Of the section", columns=(Column("a"),), rows=[])


def section(run: Run, anchor: str, options: ReportOptions) -> Section:
    return Section(anchor=anchor, title="", question="", run=run, notice="", summary="Words.", grids=[GRID])


def broken(run: Run) -> tuple[str, tuple[Table, ...]]:
    raise KeyError("a bug")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    with RunWriter(tmp_path / "run", instrument="pose", settings={}) as writer:
        for name in ("one", "two"):
            writer.add(Entry(subject=Subject(id=name, kind="pose", path=name, sha256=""), measurements=()))
        writer.finish(["one", "two"])
    return read_run(tmp_path / "run")


def instrument(monkeypatch: pytest.MonkeyPatch, **parts: str) -> None:
    changed = replace(INSTRUMENTS["pose"], **parts)
    monkeypatch.setattr(module, "instrument_of", lambda run: changed)
    monkeypatch.setattr(module, "load", lambda name: globals()[name])


@pytest.mark.parametrize("name", list(INSTRUMENTS))
def test_every_built_in_instrument_names_its_tables(name: str) -> None:
    found: Instrument = INSTRUMENTS[name]
    assert callable(load(found.tables))


def test_a_bug_in_a_table_is_an_error_and_no_empty_page(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    instrument(monkeypatch, tables="broken")
    with pytest.raises(KeyError, match="a bug"):
        report_tables(run)


def test_without_such_a_part_the_section_is_asked_unless_it_is_large(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    instrument(monkeypatch, tables="", section="section")
    assert report_tables(run) == ("Words.", [GRID])
    monkeypatch.setattr(module, "_MOST_SECTIONS", 1)
    assert report_tables(run) == ("", ())


def test_an_instrument_that_is_not_installed_has_none(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "instrument_of", lambda run: None)
    assert report_tables(run) == ("", ())
