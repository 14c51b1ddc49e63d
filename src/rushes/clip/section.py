"""The section of a clip run: review signals first, then every clip."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rushes.clip.bundle import by_bundle_key
from rushes.clip.strips import Strip, film_strips
from rushes.clip.table import CLIP_COLUMNS, worst_first
from rushes.clip.timeline import clip_timeline, kept_series
from rushes.core import Definition, Measurement
from rushes.core.table import Cell
from rushes.report.script_json import embedded_json
from rushes.report.section import (
    DIRECTIONS,
    ClipTable,
    Column,
    FirstRow,
    ReportOptions,
    Section,
    compact_text,
    notice,
    settings_text,
    unit_text,
    varying_params,
)
from rushes.runs import Entry, Run

BADGES = ("reject", "flagged", "pass")
FIRST_ROWS = 50
"""Rows that stand in the page before any script runs."""
_FACE_COLUMNS = (
    ("face", "face_present_ratio"),
    ("jitter", "landmark_jitter"),
    ("mouth", "mouth_open_energy"),
    ("corr", "mouth_audio_corr"),
    ("lse_c", "lse_c"),
)
_MINOR = ("av_duration_delta_ms", "scene_cut_count", "frame_diff_spike_count")
_METRIC = re.compile(r"[a-z][a-z0-9_]*(?==)")
NO_STRIP = (
    "No film strip was asked for this clip; rushes report --strips N makes them for the first N clips, worst first."
)


def section(run: Run, anchor: str, options: ReportOptions) -> Section:
    """Everything the page says about one clip run."""
    entries = worst_first(run)
    strips = film_strips(run, entries[: options.strips], options)
    definitions = list({m.signature: m.definition for entry in run.entries for m in entry.measurements}.values())
    table = _table(run, entries, definitions, strips)
    return Section(
        anchor=anchor,
        title="Clips",
        question="Is this take technically sound and alive?",
        run=run,
        notice=notice(run),
        found=clips_sentence([table]),
        facts=_facts(run),
        clips=table,
        definitions=definitions,
    )


def reason_metric(reason: str) -> str:
    """The metric a reason is about.

    >>> reason_metric("freeze_frame_ratio=0.46 > 0.3"), reason_metric("crashed")
    ('freeze_frame_ratio', 'crashed')
    """
    found = _METRIC.match(reason)
    return found[0] if found else reason


def _table(
    run: Run, entries: Sequence[Entry], definitions: Sequence[Definition], strips: Mapping[str, Strip]
) -> ClipTable:
    columns = _columns(entries, definitions)
    position = {definition.signature: n for n, definition in enumerate(definitions)}
    data = {
        "metrics": _metrics(definitions),
        "columns": [column.index for column in columns],
        "rows": [_row(entry, position) for entry in entries],
    }
    counts = Counter(entry.subject.badge for entry in entries)
    return ClipTable(
        counts=[(badge, counts[badge]) for badge in BADGES],
        reasons=_tally(reason_metric(reason) for entry in entries for reason in entry.subject.reasons),
        not_judged=_tally(name for entry in entries for name in not_judged(entry)),
        columns=columns,
        first=[_first_row(entry, columns) for entry in entries[:FIRST_ROWS]],
        total=len(entries),
        data=embedded_json(data),
        extras=[_extra(run, entry, strips.get(entry.subject.id, Strip(missing=NO_STRIP))) for entry in entries],
    )


def _tally(names: Iterable[str]) -> list[tuple[str, int]]:
    """Most frequent first, by name among equals."""
    return sorted(Counter(names).items(), key=lambda pair: (-pair[1], pair[0]))


def not_judged(entry: Entry) -> list[str]:
    """Metrics with a rule but without a value, as the run recorded them."""
    listed = entry.subject.facts.get("not_judged")
    return [str(name) for name in listed] if isinstance(listed, list) else []


def _columns(entries: Sequence[Entry], definitions: Sequence[Definition]) -> list[Column]:
    """The metrics a table has room for: those of the terminal's table, and those of faces where there are any."""
    position = {definition.signature: n for n, definition in enumerate(definitions)}
    chosen: dict[str, Measurement] = {}
    for entry in entries:
        for name, measurement in by_bundle_key(entry.measurements).items():
            if name not in chosen or chosen[name].value is None:
                chosen[name] = measurement
    return [
        Column(
            index=position[chosen[name].signature],
            label=label,
            definition=chosen[name].definition,
            minor=name in _MINOR,
        )
        for label, name in (*CLIP_COLUMNS, *_FACE_COLUMNS)
        if name in chosen and (chosen[name].value is not None or (label, name) in CLIP_COLUMNS)
    ]


def _metrics(definitions: Sequence[Definition]) -> list[dict[str, str]]:
    varying = varying_params(definitions)
    return [
        {
            "name": definition.name,
            "settings": settings_text(definition, varying),
            "unit": unit_text(definition),
            "better": DIRECTIONS[definition.better],
            "signature": definition.signature,
            "summary": definition.summary,
        }
        for definition in definitions
    ]


def _row(entry: Entry, position: Mapping[str, int]) -> dict[str, object]:
    """One clip: values and counts by metric ("" where the clip has no such number), notes by metric number."""
    values: list[object] = [""] * len(position)
    counts = [0] * len(position)
    notes: dict[str, str] = {}
    for m in entry.measurements:
        place = position[m.signature]
        values[place], counts[place] = m.stored_value, m.count
        if m.note:
            notes[str(place)] = m.note
    subject = entry.subject
    return {
        "id": subject.id,
        "path": subject.path,
        "badge": subject.badge or "",
        "reasons": list(subject.reasons),
        "not_judged": not_judged(entry),
        "media": media_text(subject.facts),
        "values": values,
        "counts": counts,
        "notes": notes,
    }


def media_text(facts: Mapping[str, Any]) -> str:
    """What kind of file it is, in a few words; "" where it could not be opened."""
    media = facts.get("media")
    video = media.get("video") if isinstance(media, Mapping) else None
    if not isinstance(media, Mapping) or not isinstance(video, Mapping):
        return ""
    sound = media.get("audio")
    parts = [f"{video.get('width')}×{video.get('height')}", f"{video.get('codec')}", f"{video.get('pix_fmt')}"]
    heard = f"sound {sound.get('codec')} {sound.get('rate')} Hz" if isinstance(sound, Mapping) else "no sound"
    return " · ".join([*parts, heard])


def _first_row(entry: Entry, columns: Sequence[Column]) -> FirstRow:
    values = {m.signature: m for m in entry.measurements}
    cells = [_compact(values.get(column.definition.signature)) for column in columns]
    return FirstRow(entry.subject.id, entry.subject.badge or "", "; ".join(entry.subject.reasons), cells)


def _compact(measurement: Measurement | None) -> Cell:
    return Cell("–") if measurement is None else Cell(compact_text(measurement), measurement)


def _extra(run: Run, entry: Entry, strip: Strip) -> str:
    """What a row shows when it is opened."""
    data = {
        "timeline": clip_timeline(entry.measurements, kept_series(run, entry.subject.id)),
        "strip": [[frame.frame, frame.time_ms, frame.jpeg] for frame in strip.frames],
        "no_strip": strip.missing,
    }
    return embedded_json(data)


def clips_sentence(tables: Sequence[ClipTable]) -> str:
    """How many clips, which review signals, and the reasons that came up most, over one run or several."""
    total = sum(table.total for table in tables)
    if not total:
        return "No clip is in this run yet."
    badges, reasons = _summed(table.counts for table in tables), _summed(table.reasons for table in tables)
    counts = ", ".join(f"{badges[badge]:,} {badge}" for badge in BADGES)
    frequent = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    named = ", ".join(f"{name} ({count:,})" for name, count in frequent[:3])
    why = f"; the reasons that came up most are {named}." if named else "; no rule fired."
    return f"{total:,} {'clip was' if total == 1 else 'clips were'} measured. Review signals: {counts}{why}"


def _summed(tallies: Iterable[Sequence[tuple[str, int]]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for tally in tallies:
        total.update(dict(tally))
    return total


def _facts(run: Run) -> list[tuple[str, str]]:
    settings = run.info.get("settings") or {}
    shown = {"tier": "Tier", "profile": "Profile of thresholds"}
    return [(label, str(settings[key])) for key, label in shown.items() if key in settings]
