"""The cards of the contact sheet: a clip's picture and prompt, its worst reason with the value beside its limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rushes.core.reason import Reason, by_severity, severity_text
from rushes.web.clips.files import clip_address, file_of, picture_size
from rushes.web.clips.thumbnails import thumbnail_address
from rushes.web.clips.triage import NOTHING, Mark
from rushes.web.runs.cache import OpenRun, Row, RunCache
from rushes.web.runs.data import column_label, subject_data, usual_keys, value_data
from rushes.web.runs.prompts import prompt_of
from rushes.web.runs.query import RunQuery
from rushes.web.runs.rows import rows_of

SHEET_SIZE = 60
"""Tiles of one piece of the sheet: 1 to 6, 10 and 12 columns divide it."""
_ON_A_CARD = 3
"""Values on a card of a run without review signals."""
_TAIL = 14
"""Last characters of a name that are always shown: names of one prompt differ at their end."""


def tiles(
    name: str,
    opened: OpenRun,
    rows: Sequence[Row],
    *,
    query: RunQuery,
    run_cache: RunCache,
    marks: Mapping[str, Mark],
) -> list[dict[str, object]]:
    """Clips of the contact sheet: each its picture, its prompt, and its worst reason with the value and the limit."""
    found = [(row, file_of(opened.run, row.entry.subject)) for row in rows]
    keys = _on_cards(opened, query)
    return [
        {
            **subject_data(name, row.entry.subject),
            "prompt": prompt_of(opened.run, row.entry.subject),
            "worst": worst_data(row.entry.subject.why),
            "remark": "; ".join(reason.brief for reason in row.entry.subject.remarks),
            "numbers": [value_data(row.values[key], reading=label) for key, label in keys if key in row.values],
            "picture": picture_size(row.entry.subject),
            "start": row.entry.subject.id[:-_TAIL],
            "end": row.entry.subject.id[-_TAIL:],
            "thumbnail": "" if file is None else thumbnail_address(name, row.entry.subject.id, version=opened.stamp),
            "video": "" if file is None else clip_address(run_cache.token(opened.run.path, row.entry.subject.id), file),
            "mark": marks.get(row.entry.subject.id, NOTHING).as_dict(),
        }
        for row, file in found
    ]


def _on_cards(opened: OpenRun, query: RunQuery) -> list[tuple[str, str]]:
    """The metrics whose values a card shows: the one it is sorted by; of a run without review signals, the first."""
    if query.sort in opened.readings:
        keys = [query.sort]
    else:
        rows = rows_of(opened)
        keys = [] if any(rows.badge_counts.values()) else usual_keys(rows)[:_ON_A_CARD]
    return [(key, column_label(key, opened.readings[key]) or opened.readings[key].label) for key in keys]


def worst_data(why: Sequence[Reason]) -> dict[str, object] | None:
    """The worst reason of a review signal for a card; None where nothing fired.

    `over` is where the threshold lies on a bar from zero to the value, or to the threshold where the value is below
    it, and `reach` where the value does; both in percent.
    """
    if not why:
        return None
    first = by_severity(why)[0]
    share = 100 / first.severity
    above = first.comparison != "below"
    return {
        **reason_data(first),
        "more": len(why) - 1,
        "over": round(share, 1) if above else 100.0,
        "reach": 100.0 if above else round(share, 1),
    }


def reason_data(reason: Reason) -> dict[str, object]:
    """One reason: its words, the value with its limit where a rule has one, and where in the clip it is."""
    known = reason.amount if reason.signature else ""
    return {
        "words": (reason.brief if reason.words else reason.metric) if known else reason.text,
        "kind": reason.kind,
        "text": reason.text,
        "value": known,
        "limit": reason.limit if known else "",
        "signature": reason.signature,
        "metric": reason.metric,
        "level": reason.level or "",
        "times": severity_text(reason.severity),
        "span": None if reason.span is None else [reason.span.start_ms, reason.span.end_ms],
        "at": "" if reason.span is None else reason.span.text(),
    }
