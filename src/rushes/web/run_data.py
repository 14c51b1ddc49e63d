"""A run and its takes as plain data: what the run pages and their `.json` twins show."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlencode

from rushes.clip.metrics import known
from rushes.core import Definition, Measurement
from rushes.core.registry import load
from rushes.core.table import ARROWS
from rushes.core.text import direction_text, range_text, value_text
from rushes.instruments import INSTRUMENTS
from rushes.runs import Subject
from rushes.web.rows import rows_of
from rushes.web.run_cache import OpenRun, Reading, Row, RunCache, run_status
from rushes.web.run_query import RunQuery
from rushes.web.run_rows import RunRows
from rushes.web.take_files import take_address, take_file
from rushes.web.triage import NOTHING, read_marks

_MOST_COLUMNS = 6
"""Of a run whose metrics have no columns of their own."""
_SAFE_ID = re.compile(r"[^/\\\0]{1,200}")


def run_head(name: str, folder: Path, opened: OpenRun) -> dict[str, object]:
    """What stands on top of every page of a run."""
    run, rows = opened.run, rows_of(opened)
    settings, words = run.info.get("settings"), rows.reason_words
    return {
        "name": name,
        **run_status(folder),
        "settings": settings if isinstance(settings, dict) else {},
        "subjects": rows.total,
        "asked": len(run.info["inputs"]) if isinstance(run.info.get("inputs"), list) else 0,
        "badges": dict(rows.badge_counts),
        "reasons": [
            {"metric": metric, "count": count, "words": words.get(metric, metric)} for metric, count in rows.reasons
        ],
        "stamp": opened.stamp,
    }


def column_keys(opened: OpenRun, query: RunQuery) -> list[str]:
    """Which readings the table shows: the chosen or the usual ones, and those being filtered or sorted by."""
    keys = [key for key in query.columns if key in opened.readings] or usual_keys(rows_of(opened))
    asked = [key for key in (*(one.key for one in query.ranges), query.sort) if key in opened.readings]
    return list(dict.fromkeys([*keys, *asked]))


def usual_keys(rows: RunRows) -> list[str]:
    """The columns that the command line and the report have; those of a higher tier only where a clip has a value."""
    usual = [key for key in rows.readings if _is_usual(key, rows)]
    if usual:
        return usual
    have = [key for key in rows.readings if rows.has_values(key)]  # a run of before these readings shows what it has
    return (have or list(rows.readings))[:_MOST_COLUMNS]


def _is_usual(key: str, rows: RunRows) -> bool:
    metric = known(key)
    if metric is None or not metric.label or metric.room == "page":
        return False
    return metric.tier == 0 or rows.has_values(key)


def column_label(key: str) -> str:
    """The head of a metric's column; "" where it has none of its own."""
    metric = known(key)
    return "" if metric is None else metric.label.removesuffix(" ms")


def column_data(key: str, reading: Reading) -> dict[str, object]:
    return {
        "key": key,
        "label": column_label(key) or reading.label,
        "arrow": ARROWS[reading.definition.better],
        "reading": reading.label,
        **definition_data(reading.definition),
    }


def definition_data(definition: Definition) -> dict[str, object]:
    return {
        "name": definition.name,
        "unit": definition.unit,
        "direction": direction_text(definition),
        "range": range_text(definition),
        "summary": definition.summary,
        "formula": definition.formula,
        "signature": definition.signature,
    }


def row_data(name: str, row: Row, keys: list[str]) -> dict[str, object]:
    """One line of the table."""
    return {
        **subject_data(name, row.entry.subject),
        "values": {key: value_data(row.values[key]) if key in row.values else None for key in keys},
    }


def subject_data(name: str, subject: Subject) -> dict[str, object]:
    return {
        "id": subject.id,
        "kind": subject.kind,
        "path": subject.path,
        "sha256": subject.sha256,
        "badge": subject.badge,
        "reasons": list(subject.reasons),
        "address": take_page(name, subject.id),
    }


def take_page(name: str, subject: str) -> str:
    return f"/runs/{name}/take?{urlencode({'id': subject})}"


def value_data(m: Measurement, *, reading: str = "") -> dict[str, object]:
    """A number for people and programs; `reading` is what its run calls it."""
    return {
        "text": value_text(m),
        "interval_text": "" if m.interval is None else m.interval.text(),
        "arrow": ARROWS[m.definition.better],
        "reading": reading or m.name,
        **definition_data(m.definition),
        **m.as_dict(),
    }


def take_data(name: str, opened: OpenRun, row: Row, *, run_cache: RunCache) -> dict[str, object]:
    """Everything about one take: the file, the badge, every number."""
    subject = row.entry.subject
    file = take_file(opened.run, subject)
    error = subject.facts.get("error")
    listed = subject.facts.get("not_judged")
    return {
        **subject_data(name, subject),
        "run": name,
        "video": None if file is None else take_address(run_cache.token(opened.run.path, subject.id), file),
        "size": frame_size(subject),
        "missing": subject.kind == "clip" and file is None,
        "error": str(error) if error else "",
        "not_judged": [str(item) for item in listed] if isinstance(listed, list) else [],
        "film": film_data(subject),
        "measurements": [
            value_data(m, reading=opened.readings[opened.key_of(m)].label) for m in row.entry.measurements
        ],
        "timeline": f"/runs/{name}/timeline.json?{urlencode({'id': subject.id})}",
        "frame_ms": _frame_ms(row),
        "mark": read_marks(opened.run.path).marks.get(subject.id, NOTHING).as_dict(),
    }


def timeline_data(opened: OpenRun, row: Row) -> dict[str, object] | None:
    """The data under the player; None where the run kept no series."""
    subject = row.entry.subject
    # An id is a file name's stem when a run was written by rushes; a hand-made one must not reach other folders.
    if not _SAFE_ID.fullmatch(subject.id) or subject.id.startswith("."):
        return None
    known = opened.run.instrument in INSTRUMENTS
    lines = INSTRUMENTS[opened.run.instrument].timeline if known else ""
    if not lines:
        return None
    series, settings = opened.run.series(subject.id), opened.run.info.get("settings")
    found: dict[str, object] | None = load(lines)(row.entry.measurements, series, settings)
    return found


def frame_size(subject: Subject) -> tuple[int, int] | None:
    """Width and height of the picture as it is shown, upright; None where the run did not record them.

    A page gives them to the player, which then keeps its room before the clip has loaded.
    """
    media = subject.facts.get("media")
    video = media.get("video") if isinstance(media, dict) else None
    if not isinstance(video, dict):
        return None
    width, height = video.get("width"), video.get("height")
    if not isinstance(width, int) or not isinstance(height, int) or width < 1 or height < 1:
        return None
    return (height, width) if video.get("rotation") in (90, 270) else (width, height)


def _frame_ms(row: Row) -> float:
    found = row.values.get("fps")
    return 1000 / float(found.value) if found is not None and found.value else 40.0


def film_data(subject: Subject) -> list[tuple[str, str]]:
    """What the file is, in words; only what the run recorded."""
    media = subject.facts.get("media")
    facts: list[tuple[str, str]] = []
    if isinstance(media, dict):
        video, audio = media.get("video"), media.get("audio")
        if isinstance(video, dict):
            turned = f", turned {video['rotation']}°" if video.get("rotation") else ""
            facts.append(("Picture", f"{video.get('width')} × {video.get('height')}{turned}"))
            facts.append(
                (
                    "Video",
                    f"{video.get('codec')}, {video.get('pix_fmt')}, {video.get('bits')} bit, "
                    f"{video.get('color_range')} range{'' if video.get('range_tagged') else ' (assumed)'}",
                )
            )
        if isinstance(audio, dict):
            facts.append(("Sound", f"{audio.get('codec')}, {audio.get('rate')} Hz, {audio.get('channels')} ch"))
        else:
            facts.append(("Sound", "none"))
        facts.append(("Container", str(media.get("container"))))
    reference = subject.facts.get("reference")
    if isinstance(reference, dict):
        facts.append(("Reference", str(reference.get("path"))))
    if subject.facts.get("audio"):
        facts.append(("Held against", str(subject.facts["audio"])))
    facts.append(("File", subject.path))
    if subject.sha256:
        facts.append(("sha256", subject.sha256[:16] + "…"))
    return facts
