"""The section of a clip run: review signals first, then every clip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlencode

from rushes.clip.badges import BADGES
from rushes.clip.bundle import by_name
from rushes.clip.instrument import INSTRUMENT
from rushes.clip.metrics import known
from rushes.clip.strips import film_strips
from rushes.clip.tables import columns, worst_first
from rushes.clip.timeline import clip_timeline, kept_series
from rushes.core import Definition, Measurement
from rushes.report.section import ReportOptions, Section, notice
from rushes.report.strips import Strip
from rushes.report.subjects import subject_table
from rushes.report.verdict import clip_verdict
from rushes.runs import Entry, Run

NO_STRIP = (
    "No film strip was asked for this clip; rushes report --strips N makes them for the first N clips, worst first."
)


def section(run: Run, anchor: str, options: ReportOptions) -> Section:
    """Everything the page says about one clip run."""
    entries = worst_first(run)
    strips = film_strips(run, entries[: options.strips], options)
    table = subject_table(
        entries,
        noun="clip",
        signals=BADGES,
        columns=_columns(entries),
        about=lambda entry: media_text(entry.subject.facts),
        details=lambda entry: _details(run, entry, strips.get(entry.subject.id, Strip(missing=NO_STRIP))),
    )
    verdict = clip_verdict(
        [entry.subject for entry in entries],
        group=run.path.name,
        strips=strips,
        link=lambda subject: f"#{anchor}?{urlencode({'open': subject.id}, quote_via=quote)}",
    )
    return Section(
        anchor=anchor,
        title=INSTRUMENT.title,
        question=INSTRUMENT.question,
        run=run,
        notice=notice(run, total=len(run.info.get("inputs") or ())),
        summary=verdict.headline,
        facts=_facts(run),
        subjects=table,
        definitions=table.definitions,
        verdict=verdict,
    )


def _columns(entries: Sequence[Entry]) -> list[tuple[str, Definition, bool]]:
    """The metrics a wide table has room for; those above tier 0 only where a clip has a value."""
    chosen: dict[str, Measurement] = {}
    for entry in entries:
        for name, measurement in by_name(entry.measurements).items():
            if name not in chosen or chosen[name].value is None:
                chosen[name] = measurement
    shown = columns(chosen.values(), wide=True)
    return [(c.label, chosen[c.name].definition, c.minor) for c in shown if _has_column(chosen[c.name])]


def _has_column(measurement: Measurement) -> bool:
    metric = known(measurement.name)
    return measurement.value is not None or (metric is not None and metric.tier == 0)


def media_text(facts: Mapping[str, object]) -> str:
    """What kind of file it is, in a few words; "" where it could not be opened."""
    media = facts.get("media")
    video = media.get("video") if isinstance(media, Mapping) else None
    if not isinstance(media, Mapping) or not isinstance(video, Mapping):
        return ""
    sound = media.get("audio")
    parts = [f"{video.get('width')}×{video.get('height')}", f"{video.get('codec')}", f"{video.get('pix_fmt')}"]
    heard = f"sound {sound.get('codec')} {sound.get('rate')} Hz" if isinstance(sound, Mapping) else "no sound"
    return " · ".join([*parts, heard])


def _details(run: Run, entry: Entry, strip: Strip) -> dict[str, object]:
    """What a row shows when it is opened."""
    return {
        "timeline": clip_timeline(entry.measurements, kept_series(run, entry), run.info.get("settings")),
        "strip": [[frame.frame, frame.time_ms, frame.jpeg] for frame in strip.frames],
        "no_strip": strip.missing,
    }


def _facts(run: Run) -> list[tuple[str, str]]:
    settings = run.info.get("settings") or {}
    shown = {"tier": "Tier", "profile": "Profile of thresholds"}
    facts = [(label, str(settings[key])) for key, label in shown.items() if key in settings]
    extra = settings.get("metrics")
    if isinstance(extra, Mapping):
        told = [f"{name} ({origin.get('package')})" for name, origin in extra.items() if isinstance(origin, Mapping)]
        facts.append(("Metrics of other packages", ", ".join(told)))
    return facts
