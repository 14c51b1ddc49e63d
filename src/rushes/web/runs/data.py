"""A run and its clips as plain data: what the run pages and their JSON views show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode

from rushes.core import Definition, Measurement, Reading
from rushes.core.reason import Reason, by_severity, severity_of, severity_text
from rushes.core.registry import load
from rushes.core.table import ARROWS
from rushes.core.words.definition_text import direction_text, ends_text, range_text, value_text
from rushes.core.words.number_text import with_minus
from rushes.instruments.catalogue import instrument_of
from rushes.instruments.clip.metrics import known
from rushes.instruments.clip.signals.profile import Rule, rule_text
from rushes.instruments.fidelity.readings import head_of
from rushes.present.verdict.verdict import signal_sentence
from rushes.storage.runs import Subject
from rushes.web.clips.files import clip_address, file_of, frame_size
from rushes.web.clips.triage import NOTHING, read_marks
from rushes.web.runs.cache import OpenRun, Row, RunCache
from rushes.web.runs.limits import rules_of
from rushes.web.runs.query import RunQuery
from rushes.web.runs.rows import rows_of
from rushes.web.runs.run_rows import Histogram, RunRows
from rushes.web.runs.summary import run_status

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


def column_label(key: str, reading: Reading | None = None) -> str:
    """The head of a metric's column, as boards and reports have it; "" where it has none of its own."""
    metric = known(key)
    if metric is not None:
        return metric.label.removesuffix(" ms")
    return head_of(reading.definition) if reading is not None and reading.instrument == "fidelity" else ""


def column_data(key: str, reading: Reading) -> dict[str, object]:
    return {
        "key": key,
        "label": column_label(key, reading) or reading.label,
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
        "severity": severity_of(subject.why),
        "times": severity_text(severity_of(subject.why)),
        "reasons": list(subject.reasons),
        "remarks": [reason.text for reason in subject.remarks],
        "address": clip_page(name, subject.id),
    }


def clip_page(name: str, subject: str) -> str:
    return f"/runs/{name}/clip?{urlencode({'id': subject})}"


def value_data(m: Measurement, *, reading: str = "") -> dict[str, object]:
    """A number for people and programs; `reading` is what its run calls it."""
    return {
        "text": with_minus(value_text(m)),
        "interval_text": "" if m.interval is None else with_minus(ends_text(m)),
        "arrow": ARROWS[m.definition.better],
        "reading": reading or m.name,
        **definition_data(m.definition),
        **m.as_dict(),
    }


def subject_page_data(name: str, opened: OpenRun, row: Row, *, run_cache: RunCache) -> dict[str, object]:
    """Everything about one clip: the file, the review signal, every number."""
    from rushes.instruments.clip.signals.gate import skipped_rules

    subject = row.entry.subject
    file = file_of(opened.run, subject)
    error = subject.facts.get("error")
    return {
        **subject_data(name, subject),
        "run": name,
        "video": None if file is None else clip_address(run_cache.token(opened.run.path, subject.id), file),
        "size": frame_size(subject),
        "missing": subject.kind == "clip" and file is None,
        "error": str(error) if error else "",
        "not_judged": skipped_rules(opened.run)(row.entry),
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
    instrument = instrument_of(opened.run)
    if instrument is None or not instrument.timeline:
        return None
    series, settings = opened.run.series(subject.id), opened.run.info.get("settings")
    found: dict[str, object] | None = load(instrument.timeline)(row.entry.measurements, series, settings)
    return None if found is None else found | {"fired": fired_spans(subject.why)}


def fired_spans(why: Sequence[Reason]) -> list[dict[str, object]]:
    """A bar on the timeline for each reason of a review signal, worst first; `span` is null for the whole clip."""
    return [
        {
            "word": reason.kind,
            "tone": "bad" if reason.level == "reject" else "warn",
            "span": None if reason.span is None else [reason.span.start_ms, reason.span.end_ms],
        }
        for reason in by_severity(why)
    ]


def asked_data(opened: OpenRun, row: Row) -> dict[str, object] | None:
    """What a judge was asked about the clip and answered; None where nobody was."""
    instrument = instrument_of(opened.run)
    if instrument is None or not instrument.asked:
        return None
    found: dict[str, object] | None = load(instrument.asked)(opened.run, row.entry)
    return found


def _frame_ms(row: Row) -> float:
    found = row.values.get("fps")
    return 1000 / float(found.value) if found is not None and found.value else 40.0


def film_data(subject: Subject) -> list[tuple[str, str]]:
    """What the file is, in words; only what the run recorded."""
    media = subject.media
    facts: list[tuple[str, str]] = []
    if media is not None:
        video, audio = media.video, media.audio
        if video is not None:
            turned = f", turned {video.rotation}°" if video.rotation else ""
            facts.append(("Picture", f"{video.width} × {video.height}{turned}"))
            range_text = f"{video.color_range} range{'' if video.range_tagged else ' (assumed)'}"
            facts.append(("Video", f"{video.codec}, {video.pix_fmt}, {video.bits} bit, {range_text}"))
        heard = "none" if audio is None else f"{audio.codec}, {audio.rate} Hz, {audio.channels} ch"
        facts += [("Sound", heard), ("Container", _container(str(media.container), subject.path))]
    reference = subject.facts.get("reference")
    if isinstance(reference, dict):
        facts.append(("Reference", str(reference.get("path"))))
    if subject.facts.get("audio"):
        facts.append(("Sound compared with", str(subject.facts["audio"])))
    facts.append(("File", subject.path))
    if subject.sha256:
        facts.append(("sha256", subject.sha256[:16] + "…"))
    return facts


def _container(names: str, path: str) -> str:
    """The container's name: of those that one reader is for, the file's own ending, else the first.

    >>> _container("mov,mp4,m4a,3gp,3g2,mj2", "a/b.mp4"), _container("matroska,webm", "clip")
    ('mp4', 'matroska')
    """
    known = names.split(",")
    ending = path.rpartition(".")[2].lower()
    return ending if ending in known else known[0]


def range_data(rows: RunRows, keys: Sequence[str], query: RunQuery, settings: object = None) -> list[dict[str, object]]:
    """A histogram with two handles per metric and the profile's limits on it; metrics of one value are left out."""
    rules = rules_of(settings)
    asked = [key for key in (one.key for one in query.ranges) if key not in keys]
    return [
        _range(key, rows, histogram, query) | {"limits": _limits(histogram, rules.get(key, ()))}
        for key, histogram in rows.histograms([*keys, *asked]).items()
        if histogram is not None
    ]


def _limits(histogram: Histogram, rules: Sequence[Rule]) -> list[dict[str, object]]:
    """Where the rules' thresholds lie on the histogram, in bins from its left; those outside of it are left out."""
    low, high, bins = histogram.edges[0], histogram.edges[-1], len(histogram.counts)
    numbers = [(rule, float(rule.threshold)) for rule in rules if rule.comparison != "is"]
    return [
        {
            "place": round(bins * (at - low) / (high - low), 3),
            "text": f"{rule.level} {rule_text(rule)}",
        }
        for rule, at in numbers
        if low <= at <= high
    ]


def _range(key: str, rows: RunRows, histogram: Histogram, query: RunQuery) -> dict[str, object]:
    reading, asked = rows.readings[key], query.range_of(key)
    digits = max(0, len(f"{histogram.step:.10f}".rstrip("0").partition(".")[2]))
    return {
        "key": key,
        "label": column_label(key, reading) or reading.label,
        "arrow": ARROWS[reading.definition.better],
        "unit": reading.definition.unit,
        "signature": reading.definition.signature,
        "summary": reading.definition.summary,
        "edges": list(histogram.edges),
        "counts": list(histogram.counts),
        "missing": histogram.missing,
        "tallest": max(histogram.counts),
        "step": f"{histogram.step:.{digits}f}",
        "low": f"{histogram.edges[0]:.{digits}f}",
        "high": f"{histogram.edges[-1]:.{digits}f}",
        "min": "" if asked.low is None else f"{asked.low:g}",
        "max": "" if asked.high is None else f"{asked.high:g}",
    }


def signal_headline(opened: OpenRun, *, noun: str) -> str:
    """What the review signals say of the whole run, in one sentence; "" where it has none."""
    rows = rows_of(opened)
    counts = tuple(rows.badge_counts.items())
    if not any(count for _, count in counts):
        return ""
    read = opened.run.subjects if opened.run.shards is None else ()  # of shards, facts are not read for a headline
    remarked = sum(subject.badge == "pass" and bool(subject.remarks) for subject in read)
    return signal_sentence(counts, noun=noun, total=rows.total, remarked=remarked)


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
