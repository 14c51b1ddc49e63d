"""What a run's page shows besides its rows: the contact sheet's tiles, the ranges, the page numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rushes.core.table import ARROWS
from rushes.report.verdict import SIGNALS, WORST, Verdict, signal_sentence, take_of, worst_of
from rushes.web.reasons import words_of
from rushes.web.rows import rows_of
from rushes.web.run_cache import OpenRun, Row, RunCache
from rushes.web.run_data import column_label, subject_data, take_page
from rushes.web.run_query import RunQuery
from rushes.web.run_rows import Histogram, RunRows
from rushes.web.take_files import take_address, take_file
from rushes.web.thumbnails import thumbnail_address
from rushes.web.triage import NOTHING, Mark

SHEET_SIZE = 60
"""Tiles of one piece of the sheet: the page has 2, 3, 4, 5 or 6 columns, and each divides it."""
_TAIL = 14
"""Last characters of a name that are always shown: names of one prompt differ at their end."""


def tile_data(name: str, opened: OpenRun, row: Row, *, run_cache: RunCache, mark: Mark) -> dict[str, object]:
    """One clip of the contact sheet: its picture, where it plays from, and its reasons in words."""
    subject = row.entry.subject
    file = take_file(opened.run, subject)
    return {
        **subject_data(name, subject),
        "words": [words_of(reason) for reason in subject.reasons],
        "start": subject.id[:-_TAIL],
        "end": subject.id[-_TAIL:],
        "thumbnail": "" if file is None else thumbnail_address(name, subject.id, version=opened.stamp),
        "video": "" if file is None else take_address(run_cache.token(opened.run.path, subject.id), file),
        "mark": mark.as_dict(),
    }


def tiles(
    name: str, opened: OpenRun, rows: Sequence[Row], *, run_cache: RunCache, marks: Mapping[str, Mark]
) -> list[dict[str, object]]:
    found = ((row, marks.get(row.entry.subject.id, NOTHING)) for row in rows)
    return [tile_data(name, opened, row, run_cache=run_cache, mark=mark) for row, mark in found]


def range_data(rows: RunRows, keys: Sequence[str], query: RunQuery) -> list[dict[str, object]]:
    """A histogram with two handles per reading; those whose values are all alike are left out."""
    asked = [key for key in (one.key for one in query.ranges) if key not in keys]
    found = ((key, rows.histogram(key)) for key in (*keys, *asked))
    return [_range(key, rows, histogram, query) for key, histogram in found if histogram is not None]


def _range(key: str, rows: RunRows, histogram: Histogram, query: RunQuery) -> dict[str, object]:
    reading, asked = rows.readings[key], query.range_of(key)
    digits = max(0, len(f"{histogram.step:.10f}".rstrip("0").partition(".")[2]))
    return {
        "key": key,
        "label": column_label(key) or reading.label,
        "arrow": ARROWS[reading.definition.better],
        "unit": reading.definition.unit,
        "signature": reading.definition.signature,
        "summary": reading.definition.summary,
        "edges": list(histogram.edges),
        "counts": list(histogram.counts),
        "missing": histogram.missing,
        "tallest": histogram.tallest,
        "step": f"{histogram.step:.{digits}f}",
        "low": f"{histogram.low:.{digits}f}",
        "high": f"{histogram.high:.{digits}f}",
        "min": "" if asked.low is None else f"{asked.low:g}",
        "max": "" if asked.high is None else f"{asked.high:g}",
    }


def signal_strip(name: str, opened: OpenRun, *, noun: str, pictures: bool) -> Verdict:
    """What the review signals say. A contact sheet begins with the worst clips; a table shows them here."""
    rows = rows_of(opened)
    counts = tuple((signal, rows.badge_counts.get(signal, 0)) for signal in SIGNALS)
    first = [row.entry.subject for row in rows.page(RunQuery(), 0, 10 * WORST).rows] if pictures else []
    takes = [
        take_of(
            subject,
            picture=""
            if take_file(opened.run, subject) is None
            else thumbnail_address(name, subject.id, version=opened.stamp),
            link=take_page(name, subject.id),
        )
        for subject in worst_of(first)
    ]
    return Verdict(
        headline=signal_sentence(counts, noun=noun, total=rows.total),
        counts=counts,
        noun=noun,
        sure="A review signal is a reason to look, not a verdict. People decide preference.",
        takes=takes,
    )


def page_numbers(page: int, pages: int) -> list[int]:
    """The pages to link to; 0 stands for those left out.

    >>> page_numbers(1, 3), page_numbers(6, 12), page_numbers(2, 9)
    ([1, 2, 3], [1, 0, 4, 5, 6, 7, 8, 0, 12], [1, 2, 3, 4, 0, 9])
    """
    shown = sorted({1, pages, *range(max(1, page - 2), min(pages, page + 2) + 1)})
    numbers: list[int] = []
    for number in shown:
        if numbers and number > numbers[-1] + 1:
            numbers.append(number - 1 if number == numbers[-1] + 2 else 0)
        numbers.append(number)
    return numbers
