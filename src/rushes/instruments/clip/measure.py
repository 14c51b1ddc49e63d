"""One clip, or its canonical form, into its measurements, its review signal and its series."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rushes.core import Measurement
from rushes.core.errors import MediaError, RushesError
from rushes.core.machine.provenance import file_digest
from rushes.core.metric import ClipMetric
from rushes.core.selection import called
from rushes.core.words.notebook_repr import brief
from rushes.instruments.clip.bundle import NAME, VERSION, MetricBundle, bundle, by_name, metric_bundle
from rushes.instruments.clip.faces.models import AUDIO_RATE
from rushes.instruments.clip.frames.frame_observers import ClipWatch
from rushes.instruments.clip.frames.observe import Observation, observe, observed
from rushes.instruments.clip.frames.one_thread import on_one_thread
from rushes.instruments.clip.input_param import with_input
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.settings import ClipSettings
from rushes.instruments.clip.signals.badges import Badge, judge
from rushes.instruments.clip.signals.sanity import decode_sanity
from rushes.instruments.clip.sound.levels import LevelMeter
from rushes.media import AudioFacts, AudioTrack, probe, read_audio
from rushes.media.array_reader import ArrayReader
from rushes.media.canon.clip import CanonSource, canonical_form
from rushes.media.canon.mark import read_mark
from rushes.media.frames import account
from rushes.media.video_arrays import VideoArray
from rushes.storage.remote.transfer import temporary_folder

if TYPE_CHECKING:
    from av.audio.frame import AudioFrame

    from rushes.instruments.clip.networks.prompts import ClipPrompt


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipResult:
    """One measured clip."""

    __repr__ = brief

    path: str
    sha256: str | None
    facts: Mapping[str, object]
    measurements: tuple[Measurement, ...]
    badge_detail: Badge
    series: Mapping[str, np.ndarray] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)
    """How it was measured and judged, as a run keeps it: input, tier, profile, models."""

    @property
    def badge(self) -> str:
        """The review signal: "pass", "flagged" or "reject"."""
        return self.badge_detail.status

    @property
    def reasons(self) -> tuple[str, ...]:
        return self.badge_detail.reasons

    def bundle(self) -> dict[str, object]:
        """MetricBundleV1 as its 22 flat keys."""
        return bundle(self.measurements, self.badge, self.reasons)

    def metric_bundle(self) -> MetricBundle:
        """The same with what its values mean: version, signatures, input, profile, models, what is missing and why."""
        clip = {"path": self.path, "sha256": self.sha256}
        judged = self.badge_detail.not_judged
        return metric_bundle(
            self.measurements, self.badge, self.reasons, clip=clip, settings=self.settings, not_judged=judged
        )

    def with_facts(self, **more: object) -> ClipResult:
        """The same, with more facts."""
        return replace(self, facts={**self.facts, **more})

    def __getitem__(self, name: str) -> Measurement:
        """The measurement of this name, as the bundle reads it: `result["blur_score"]`, `result["blur_p10"]`.

        A metric that was not asked for, or that needs a higher tier, has no value and a note that says so. Raises
        `InputError` for a name that is no clip metric.
        """
        found = by_name(self.measurements).get(name) or next(iter(called(self.measurements, name)), None)
        return METRICS[name].missing(_not_asked(METRICS[name])) if found is None else found

    def __contains__(self, name: object) -> bool:
        """Whether the metric was measured, with a value or with a note that says why it has none."""
        return bool(called(self.measurements, name)) if isinstance(name, str) else name in self.measurements


def _not_asked(metric: ClipMetric) -> str:
    return "not measured: " + (
        "it is measured only on request" if metric.on_request else f"it needs tier {metric.tier}"
    )


def measure(
    path: str,
    settings: ClipSettings,
    *,
    audio: str | None = None,
    audio_missing: str = "",
    prompt: ClipPrompt | None = None,
    copies: Mapping[str, str] | None = None,
) -> ClipResult:
    """Measure one clip.

    `audio` is a sound file in place of the clip's own; `audio_missing` says why the one asked for is not there.
    `prompt` is what the clip was asked to show. `copies` are files to read in place of `path` and `audio`: results name
    the originals. Where the settings ask for the canonical form, that is measured: its own sound is the given one, and
    it ends with it. A file that is one already, by its mark, is measured as it is and as canonical, unless another rate
    or sound is asked for.
    """
    files = {} if copies is None else copies
    clip = _File(path, files.get(path, path))
    sound = None if audio is None else _File(audio, files.get(audio, audio))
    mark = read_mark(clip.file) if sound is None else None
    if mark is not None and (settings.form is None or settings.form.fps in (None, mark.fps)):
        return _measured(clip, replace(settings, form=mark), sound, audio_missing, prompt=prompt)
    if settings.form is None:
        return _measured(clip, settings, sound, audio_missing, prompt=prompt)
    with temporary_folder() as folder:
        target = folder / "output_canon.mp4"
        try:
            source = canonical_form(
                clip.file, target, audio=None if sound is None else sound.file, fps=settings.form.fps
            )
        except RushesError as error:
            why = str(error).replace(str(target), "its canonical form")
            result = unreadable(path, _named(why, clip, sound), settings, file=clip.file)
            # The disk's fault and not the clip's: another time may end better.
            return result.with_facts(given_up=True) if str(target) in str(error) else result
        form = CanonFile(path=str(target), source=source)
        return _measured(clip, settings, sound, audio_missing, form, prompt=prompt)


def _measured(
    clip: _File,
    settings: ClipSettings,
    sound: _File | None,
    audio_missing: str,
    form: CanonFile | None = None,
    *,
    prompt: ClipPrompt | None = None,
) -> ClipResult:
    """The clip's numbers; `form` is its canonical form, which carries the given sound as its own track."""
    read = clip if form is None else _File(clip.name, form.path)
    other = sound if form is None else None
    watch = ClipWatch(settings, prompt)
    own_sound = other is None and not audio_missing
    hears = any("sound" in metric.needs for metric in settings.metrics.values())
    meter = LevelMeter() if any("levels" in metric.needs for metric in settings.metrics.values()) else None
    listen = None if meter is None else meter.add
    # Threads of OpenCV that come and go between frames cost more than they save, and every core has a worker already.
    seen = on_one_thread(
        lambda: observe(
            read.file,
            audio_rate=AUDIO_RATE if hears and own_sound else None,
            listen=listen if own_sound else None,
            watch=watch.start,
        )
    )
    if hears and own_sound:
        seen = replace(seen, audio_missing=seen.error)
    elif not own_sound and (hears or meter is not None):
        start = _picture_start(seen)
        track, why = (None, audio_missing) if other is None else other.track(at_ms=start, listen=listen)
        seen = replace(seen, audio=track, audio_missing=why)
    if meter is not None:
        levels = (seen.error if own_sound else seen.audio_missing) or meter.finish()
        seen = replace(seen, levels_missing=levels) if isinstance(levels, str) else replace(seen, levels=levels)
    duration, why = (None, audio_missing) if audio_missing else _audio_duration(seen, read, other)
    seen = watch.finish(read.file, replace(seen, audio_duration_ms=duration, audio_duration_missing=why))
    return _result(clip, settings, watch, seen, sound, form=form)


def measure_array(video: VideoArray, settings: ClipSettings, *, fps: Fraction | float, sha256: str) -> ClipResult:
    """The same of frames in memory, as of a lossless RGB file without sound; `fps` is their rate.

    `sha256` is the digest of the frames. Raises `InputError` for a rate that is none.
    """
    clip, watch = _File(video.name or sha256[:16], ""), ClipWatch(settings)
    reader = ArrayReader(video.values, fps=fps, name=clip.name)
    seen = replace(
        on_one_thread(lambda: observed(lambda: reader, clip.name, watch=watch.start)),
        levels_missing=str(LevelMeter().finish()),
        audio_duration_missing="the clip has no sound",
    )
    return _result(clip, settings, watch, watch.finish(clip.file, seen), sha256=sha256)


def unreadable(path: str, why: str, settings: ClipSettings, *, file: str = "") -> ClipResult:
    """The result of a clip (`file`, where that is a copy) that could not be measured: every value missing, with why."""
    seen = Observation(error=why, audio_duration_missing=why, faces_missing=why, levels_missing=why)
    return _result(_File(path, file or path), settings, ClipWatch(settings), seen)


def _named(text: str, clip: _File, sound: _File | None) -> str:
    """A message about the files, without the clip's name, which its row already carries."""
    text = text.removeprefix(f"{clip.file}: ").replace(clip.file, clip.name)
    return text if sound is None else text.replace(sound.file, sound.name)


@dataclass(frozen=True, slots=True)
class _File:
    """A clip or a sound: what it is called, and the file that is read."""

    name: str
    file: str

    def words(self, error: MediaError) -> str:
        return str(error).replace(self.file, self.name)

    def track(self, *, at_ms: float, listen: Callable[[AudioFrame], None] | None) -> tuple[AudioTrack | None, str]:
        """The sound with its first sample at this time of the clip, or why there is none."""
        try:
            return read_audio(self.file, rate=AUDIO_RATE, at_ms=at_ms, listen=listen), ""
        except MediaError as error:
            return None, self.words(error)

    def audio(self) -> AudioFacts | None | str:
        """What the file says about its sound, or why it says nothing."""
        try:
            return probe(self.file).audio
        except MediaError as error:
            return self.words(error)


def _result(
    clip: _File,
    settings: ClipSettings,
    watch: ClipWatch,
    seen: Observation,
    sound: _File | None = None,
    *,
    form: CanonFile | None = None,
    sha256: str | None = None,
) -> ClipResult:
    """What was seen as numbers and a review signal; damage is that of the file, whatever its canonical form shows."""
    values, series = watch.measurements(seen)
    source = seen
    if form is not None:
        source = source_observation(form.source)
        for name in of_the_file(form.source):
            measure_file = METRICS[name].measure
            assert measure_file is not None
            values[name] = with_input(measure_file(source), settings.input)
    badge = judge(values, settings.profile, sanity=decode_sanity(source, values))
    return ClipResult(
        path=clip.name,
        sha256=sha256 or digest(clip.file),
        facts=_facts(seen, sound, badge, form),
        measurements=(*values.values(), *watch.alike_measurements(seen)),
        badge_detail=badge,
        series=series,
        settings=settings.as_dict(),
    )


def digest(path: str) -> str | None:
    """sha256 of a file; None where it cannot be read. A named pipe is not waited for."""
    try:
        return file_digest(path) if Path(path).is_file() else None
    except OSError:
        return None


def _picture_start(seen: Observation) -> float:
    """Where the first frame is shown: a given sound starts with the picture, as in `rushes canon --audio`."""
    return float(seen.time_ms[0]) if seen.frames else 0.0


def _audio_duration(seen: Observation, clip: _File, sound: _File | None) -> tuple[float | None, str]:
    """Length of the sound and, where there is none, why."""
    if sound is not None:
        heard = sound.audio()
        silent = f"{sound.name}: has no sound"
    else:
        heard = seen.facts.audio if seen.facts is not None else None
        silent = seen.error or "the clip has no sound"
        if heard is not None and heard.duration_ms is None:
            heard = clip.audio()  # not stated, and the pass ended early: probing walks the packets of the sound
            silent = "the length of the sound is unknown"
    if heard is None or isinstance(heard, str):
        return None, heard or silent
    return heard.duration_ms, "" if heard.duration_ms is not None else "the length of the sound is unknown"


def _facts(seen: Observation, sound: _File | None, badge: Badge, form: CanonFile | None) -> dict[str, object]:
    """Plain facts about the clip, for its line in `subjects.jsonl`; `media` is the file, `canon` its canonical form."""
    facts: dict[str, object] = {"bundle": f"{NAME}/{VERSION}", **badge.facts}
    if seen.error:
        facts["error"] = seen.error
    if sound is not None:
        facts |= {"audio": sound.name, "audio_sha256": digest(sound.file)}
    if seen.facts is not None:
        facts["media"] = _plain(asdict(seen.facts if form is None else form.source.facts))
        facts |= {} if form is None else {"canon": _plain(asdict(seen.facts))}
        facts["luma_converted"] = seen.luma_converted
    return facts


def _plain(data: object) -> object:
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    return f"{data.numerator}/{data.denominator}" if isinstance(data, Fraction) else data


@dataclass(frozen=True, slots=True, kw_only=True)
class CanonFile:
    """The canonical form of a clip, for as long as it is measured."""

    path: str
    source: CanonSource


def source_observation(source: CanonSource) -> Observation:
    """What was seen of the file itself. In the canonical form a lost frame is held and a torn end is an end."""
    times = np.array(source.times_ms, dtype=np.float64)
    return Observation(**account(source), frames=len(times), time_ms=times)


def of_the_file(source: CanonSource) -> tuple[str, ...]:
    """The metrics that are about the file and not its canonical form; fewer where it was not read to its end."""
    counted = ("decode_failures", "corrupt_frames")
    return counted if source.measured_duration_ms is None else (*counted, "missing_frames", "duration_shortfall_ms")
