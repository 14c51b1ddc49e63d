"""The numbers a run is opened for, where its subjects are not judged one by one: FVD, mean PSNR, PCK, Elo.

They are the first table with numbers of the run's section in a report. A row is an answer; its first words say what it
is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rushes.core import Measurement
from rushes.core.table import ARROWS, Table
from rushes.storage.runs import Run, Subject
from rushes.web.runs.cache import OpenRun
from rushes.web.runs.data import value_data

MOST = 4
_ARROWS = " " + "".join(ARROWS.values())
_SIDES = {"ground truth": "reference", "ground_truth": "reference"}
_PLAIN = ("value", "metric")
"""Heads that say nothing about a number beyond its row."""


def answers_data(opened: OpenRun) -> list[dict[str, object]]:
    """Up to four, each with its value, interval and signature; [] for a run of clips with review signals."""
    found = next(filter(None, (list(_answers(table)) for table in opened.tables[1])), [])[:MOST]
    return [value_data(m, reading=words) for words, m in found]


def coverage_of(run: Run, subject: Subject | None = None) -> list[dict[str, object]]:
    """What a pass of a run of clips, or of one clip of it, covers, for `run/covers.html`; [] for another instrument."""
    from rushes.instruments.clip.signals.coverage import coverage_data

    found = coverage_data(run.info.get("settings")) if run.instrument == "clip" else []
    chosen = None if subject is None else subject.facts.get("chosen_profile")
    return [one for one in found if chosen in (None, one["profile"])]


def _answers(table: Table) -> Iterable[tuple[str, Measurement]]:
    for row in table.rows:
        cells = list(zip(row, table.columns, strict=True))
        first = next((n for n, (cell, _) in enumerate(cells) if cell.measurement is None and cell.text), len(cells))
        place = next((n for n in range(first, len(cells)) if cells[n][0].measurement is not None), None)
        m = None if place is None else cells[place][0].measurement
        if place is not None and m is not None and m.value is not None:
            yield _words([cell.text for cell, _ in cells[first:place]], cells[place][1].head), m


def _words(about: Sequence[str], head: str) -> str:
    """What a number is about: its row, and its column where that has a name of its own.

    >>> _words(["PSNR ↑"], "value"), _words(["fvd", "genhoi"], "value ↓"), _words(["amber"], "Elo ↑")
    ('PSNR', 'FVD, genhoi', 'amber, Elo')
    """
    names = [text.strip(_ARROWS) for text in (*about, head)]
    first = names[0].upper() if names[-1] in _PLAIN and names[0].islower() else names[0]
    return ", ".join([first, *(name for name in names[1:] if name not in _PLAIN)])


def sets_data(run: Run) -> list[dict[str, object]]:
    """The sets that a distance is between: which side, where it lies, how many clips, how many were left out."""
    found = [(subject, subject.facts) for subject in run.subjects if subject.kind == "set"]
    return [
        {
            "side": _SIDES.get(side := str(facts.get("side", subject.id)), side),
            "path": subject.path,
            "clips": facts.get("clips"),
            "left_out": len(excluded) if isinstance(excluded := facts.get("excluded"), dict) else 0,
        }
        for subject, facts in found
    ]
