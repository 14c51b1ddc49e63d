"""The section of a clip run: review signals first, then every clip.

Of a run too large to be read whole, the clips a page has room for, and what is counted over all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rushes.core import Definition, Measurement
from rushes.core.reason import SIGNALS, SIGNS, ranked
from rushes.core.table import Table
from rushes.core.words.number_text import number_text
from rushes.instruments.clip.bundle import by_name
from rushes.instruments.clip.frames.film_strips import film_strips
from rushes.instruments.clip.instrument import INSTRUMENT
from rushes.instruments.clip.metrics import known, readings
from rushes.instruments.clip.metrics.timing import DECODE_OK
from rushes.instruments.clip.show.tables import columns, worst_first
from rushes.instruments.clip.show.timeline import clip_timeline, kept_series
from rushes.instruments.clip.signals.badges import fired_rules
from rushes.instruments.clip.signals.choice import pass_lines
from rushes.instruments.clip.signals.gate import skipped_rules, sound_rules
from rushes.instruments.clip.signals.profile import LEFT_OUT, profile_of
from rushes.media import MediaFacts
from rushes.present.pages.film_strips import Strip, telling_frame
from rushes.present.pages.section import ReportOptions, Section, notice
from rushes.present.pages.subjects import Whole, row_link, subject_table
from rushes.present.verdict.verdict import clip_verdict, of_whole
from rushes.storage.runs import Entry, Run

MOST_CLIPS = 1000
"""Clips of a run in shards that a report has, worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManyClips:
    """A run in shards that has more clips than a page."""

    worst: Sequence[Entry]
    """The first `MOST_CLIPS` in the order of `rushes.instruments.clip.show.tables.worst_first`."""
    whole: Whole
    kinds: Sequence[tuple[str, int]]
    """Kinds of reasons in words with how many clips, most frequent first."""


def many_clips(run: Run, *, most: int = MOST_CLIPS) -> ManyClips | None:
    """The worst clips and the counts of a run in shards; None where the run is in one piece or has room on a page.

    Columns are read, no clip but the worst: some 15 bytes a clip are held.
    """
    if run.shards is None or len(run.subjects) <= most:
        return None
    import numpy as np

    from rushes.storage.runs.packing import entry_of
    from rushes.storage.shards import scanning

    shards = run.shards
    counted = scanning.count_reasons(shards)
    codes, severity = scanning.signals(shards, SIGNALS)
    lines = scanning.lines_at(shards, scanning.worst_first(codes, severity)[:most].tolist())
    counts = np.bincount(codes, minlength=len(SIGNALS)).tolist()
    return ManyClips(
        worst=[entry_of(line, shards.definitions) for line in lines],
        whole=Whole(
            total=len(codes),
            counts=dict(zip(SIGNALS, counts, strict=False)),
            reasons=counted.about,
            not_judged=scanning.tally_not_judged(shards, of_sound=sound_rules(run), only=DECODE_OK.name),
            words=counted.words,
        ),
        kinds=ranked(counted.kinds),
    )


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
        signals=SIGNALS,
        columns=_columns(entries),
        about=_about,
        details=lambda entry: _details(run, entry, strips.get(entry.subject.id, Strip(missing=NO_STRIP))),
        limits=_limits(run, entries),
        fired=fired_rules,
        href=lambda entry: options.href(entry.subject.path, beside=run.path),
        skipped=skipped_rules(run),
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


def tables(run: Run) -> tuple[str, tuple[Table, ...]]:
    """Nothing: on its own page a run of clips has a row for each, and their review signals."""
    return "", ()


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
    profile = profile_of(run.info.get("settings"))
    if profile is None:
        return {}
    limits: dict[str, list[str]] = {}
    signatures = dict.fromkeys(m.signature for entry in entries for m in entry.measurements)
    by_reading = {name: signature for signature in reversed(signatures) for name in readings(signature)}
    for rule in profile.rules:
        for name in rule.readings:
            if name in by_reading and rule.comparison in SIGNS:
                words = f"{rule.level} {SIGNS[rule.comparison]} {number_text(rule.threshold)}"
                limits.setdefault(by_reading[name], []).append(words)
    return {signature: ", ".join(words) for signature, words in limits.items()}


def _columns(entries: Sequence[Entry]) -> list[tuple[str, Definition, bool]]:
    """The metrics a wide table has room for; those above tier 0 only where a clip has a value."""
    chosen = _chosen(entries)
    shown = columns(chosen.values(), wide=True)
    return [(c.label, chosen[c.name].definition, c.minor) for c in shown if _has_column(chosen[c.name])]


def _has_column(measurement: Measurement) -> bool:
    metric = known(measurement.name)
    return measurement.value is not None or (metric is not None and metric.tier == 0)


def _about(entry: Entry) -> str:
    """What kind of file it is, and what it was asked to show where a network compared the two."""
    prompt = entry.subject.facts.get("prompt")
    asked = f"prompt: {prompt}" if isinstance(prompt, str) and prompt else ""
    return " · ".join(filter(None, (media_text(entry.subject.media), asked)))


def media_text(media: MediaFacts | None) -> str:
    """What kind of file it is, in a few words; "" where it could not be opened."""
    if media is None or media.video is None:
        return ""
    video, sound = media.video, media.audio
    heard = "no sound" if sound is None else f"sound {sound.codec} {sound.rate} Hz"
    return f"{video.width}×{video.height} · {video.codec} · {video.pix_fmt} · {heard}"


def _details(run: Run, entry: Entry, strip: Strip) -> dict[str, object]:
    """What a row shows when it is opened."""
    return {
        "timeline": clip_timeline(entry.measurements, kept_series(run, entry), run.info.get("settings")),
        "strip": [[frame.frame, frame.time_ms, frame.jpeg] for frame in strip.frames],
        "no_strip": strip.missing,
    }


def _facts(run: Run) -> list[tuple[str, str]]:
    settings = run.info.get("settings") or {}
    shown = {"profile": "Profile of thresholds"}
    facts = [(label, str(settings[key])) for key, label in shown.items() if key in settings]
    extra = settings.get("metrics")
    if isinstance(extra, Mapping):
        told = [
            f"{n} ({origin['package']})"
            for n, origin in extra.items()
            if isinstance(origin, Mapping) and "package" in origin
        ]
        facts += [("Metrics of other packages", ", ".join(told))] if told else []
    if left_out := settings.get(LEFT_OUT):
        facts.append(("Not asked, for its network was not there", ", ".join(map(str, left_out))))
    facts += [("A pass", line) for line in _covered(run)]
    return facts


def _covered(run: Run) -> list[str]:
    """What a pass of the run covers; nothing where its profile is a file, or was not tried."""
    profile = profile_of(run.info.get("settings"))
    return [] if profile is None else list(pass_lines(run, profile))
