"""The section of a clip run: review signals first, then every clip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rushes.clip.badges import BADGES
from rushes.clip.bundle import by_name
from rushes.clip.instrument import INSTRUMENT
from rushes.clip.many import many_clips
from rushes.clip.metrics import known
from rushes.clip.profile import load_profile
from rushes.clip.strips import film_strips
from rushes.clip.tables import columns, worst_first
from rushes.clip.timeline import clip_timeline, kept_series
from rushes.core import Definition, Measurement
from rushes.core.numbers import number_text
from rushes.errors import InputError
from rushes.report.section import ReportOptions, Section, notice
from rushes.report.strips import Strip, telling_frame
from rushes.report.subjects import row_link, subject_table
from rushes.report.verdict import clip_verdict, of_whole
from rushes.runs import Entry, Run

NO_STRIP = (
    "No film strip was asked for this clip; rushes report --strips N makes them for the first N clips, worst first."
)


def section(run: Run, anchor: str, options: ReportOptions) -> Section:
    """Everything the page says about one clip run."""
    many = many_clips(run)
    entries = worst_first(run) if many is None else many.worst
    strips = film_strips(run, entries[: options.strips], options)
    table = subject_table(
        entries,
        noun="clip",
        signals=BADGES,
        columns=_columns(entries),
        about=lambda entry: media_text(entry.subject.facts),
        details=lambda entry: _details(run, entry, strips.get(entry.subject.id, Strip(missing=NO_STRIP))),
        limits=_limits(run, entries),
        href=lambda entry: options.href(entry.subject.path, beside=run.path),
        whole=None if many is None else many.whole,
    )
    verdict = clip_verdict(
        [entry.subject for entry in entries],
        group=run.path.name,
        strips=strips,
        link=lambda subject: row_link(anchor, subject.id),
    )
    if many is not None:
        verdict = of_whole(verdict, many.whole.counts, many.kinds, total=many.whole.total)
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
        pictures={name: frame.jpeg for name, strip in strips.items() if (frame := telling_frame(strip)) is not None},
    )


def _chosen(entries: Sequence[Entry]) -> dict[str, Measurement]:
    """One measurement per reading, with a value where any clip has one."""
    chosen: dict[str, Measurement] = {}
    for entry in entries:
        for name, measurement in by_name(entry.measurements).items():
            if name not in chosen or chosen[name].value is None:
                chosen[name] = measurement
    return chosen


def _limits(run: Run, entries: Sequence[Entry]) -> dict[str, str]:
    """The rules of the run's profile by signature, "flagged > 450"; {} where the profile is not the one it used."""
    settings = run.info.get("settings") or {}
    try:
        profile = load_profile(str(settings.get("profile")))
    except InputError:
        return {}
    if profile.digest != settings.get("profile_sha256"):
        return {}
    chosen, limits = _chosen(entries), dict[str, list[str]]()
    signs = {"above": ">", "below": "<"}
    for rule in profile.rules:
        for name in rule.readings:
            if name in chosen and rule.comparison in signs:
                words = f"{rule.level} {signs[rule.comparison]} {number_text(rule.threshold)}"
                limits.setdefault(chosen[name].signature, []).append(words)
    return {signature: ", ".join(words) for signature, words in limits.items()}


def _columns(entries: Sequence[Entry]) -> list[tuple[str, Definition, bool]]:
    """The metrics a wide table has room for; those above tier 0 only where a clip has a value."""
    chosen = _chosen(entries)
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
