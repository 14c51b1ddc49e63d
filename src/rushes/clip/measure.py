"""`rushes clip` in Python: measure one clip, or many into a run directory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from rushes.clip.badges import Badge, judge
from rushes.clip.bundle import NAME, VERSION, bundle, by_bundle_key, tier0_measurements
from rushes.clip.faces import AUDIO_RATE, FaceSettings, FaceWatch, Tier, missing, settle
from rushes.clip.observe import Observation, observe
from rushes.clip.profile import Profile, load_profile
from rushes.core import Measurement
from rushes.core.provenance import file_digest
from rushes.errors import InputError, MediaError
from rushes.media import AudioTrack, probe, read_audio
from rushes.remote.address import is_remote
from rushes.remote.store import stat

if TYPE_CHECKING:
    import numpy as np

Higher: TypeAlias = "tuple[tuple[Measurement, ...], dict[str, np.ndarray]]"
"""What tiers 1 and 2 add: measurements, and per-frame series."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipResult:
    """One measured clip."""

    path: str
    sha256: str | None
    facts: Mapping[str, object]
    measurements: tuple[Measurement, ...]
    badge_detail: Badge
    series: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def badge(self) -> str:
        """The review signal: "pass", "flagged" or "reject"."""
        return self.badge_detail.status

    @property
    def reasons(self) -> tuple[str, ...]:
        return self.badge_detail.reasons

    def bundle(self) -> dict[str, object]:
        """MetricBundleV1 as its 22 flat keys."""
        return bundle(self.measurements, self.badge_detail)

    def __getitem__(self, name: str) -> Measurement:
        """The measurement of this name, as the bundle reads it: `result["blur_score"]`."""
        return by_bundle_key(self.measurements)[name]


def evaluate_clip(
    path: Path | str,
    *,
    audio: Path | str | None = None,
    tier: Tier = 0,
    profile: str | Path | Profile = "general",
    face_model: Path | str | None = None,
    syncnet_weights: Path | str | None = None,
) -> ClipResult:
    """Measure one clip: MetricBundleV1 up to `tier`, and its review signal under `profile`.

    A clip that cannot be read is a result too (decode_ok false, badge reject, the reason in the notes); only a path
    that does not exist raises `InputError`. `audio` is a sound file to hold the picture against, in place of the
    clip's own track. Tier 1 adds faces (`face_model`: a 478-point `.task` bundle in place of the pinned models), tier 2
    SyncNet (`syncnet_weights`: syncnet_v2.model).
    """
    rules = profile if isinstance(profile, Profile) else load_profile(profile)
    from rushes.clip.remote import measure_anywhere

    _require(path, "no such file", Path(path).exists)
    if audio is not None:
        _require(audio, "no such audio file", Path(audio).is_file)
    faces = settle(tier, face_model=face_model, syncnet_weights=syncnet_weights)
    sound = None if audio is None else str(audio)
    return measure_anywhere(str(path), audio=sound, audio_missing="", faces=faces, profile=rules)


def _require(given: Path | str, fault: str, is_here: Callable[[], bool]) -> None:
    if is_remote(given):
        stat(str(given))
    elif not is_here():
        raise InputError(f"{given}: {fault}")


def measure(
    path: str, *, audio: str | None, audio_missing: str, faces: FaceSettings | None, profile: Profile
) -> ClipResult:
    """`evaluate_clip` with everything settled, as a worker process runs it; `audio_missing`: why there is no sound."""
    if faces is None:
        seen = observe(path)
        higher: Higher = ((), {})
    else:
        watch = FaceWatch(faces)
        own_sound = audio is None and not audio_missing
        seen = observe(path, audio_rate=AUDIO_RATE if own_sound else None, on_frame=watch.add)
        sound, silence = (seen.audio, seen.error) if own_sound else _given_sound(audio, audio_missing)
        higher = watch.finish(path, seen, sound, silence)
    duration, why = (None, audio_missing) if audio_missing else _audio_duration(seen, path, audio)
    return _result(path, seen, audio=audio, duration=duration, why=why, profile=profile, higher=higher)


def unreadable(path: str, why: str, *, profile: Profile, faces: FaceSettings | None = None) -> ClipResult:
    """The result of a clip that could not be measured at all: every value missing, with the reason."""
    higher: Higher = (() if faces is None else missing(faces, why), {})
    return _result(path, Observation(error=why), audio=None, duration=None, why=why, profile=profile, higher=higher)


def _given_sound(audio: str | None, why: str) -> tuple[AudioTrack | None, str]:
    """The sound file to hold the picture against, or why there is none."""
    if audio is None:
        return None, why
    try:
        return read_audio(audio, rate=AUDIO_RATE), ""
    except MediaError as error:
        return None, str(error)


def _result(
    path: str,
    seen: Observation,
    *,
    audio: str | None,
    duration: float | None,
    why: str,
    profile: Profile,
    higher: Higher,
) -> ClipResult:
    measurements = (*tier0_measurements(seen, audio_duration=duration, audio_missing=why), *higher[0])
    badge = judge(by_bundle_key(measurements), profile, unsound=seen.error if seen.frames else "")
    return ClipResult(
        path=path,
        sha256=digest(path),
        facts=_facts(seen, audio, badge),
        measurements=measurements,
        badge_detail=badge,
        series=_series(seen) | higher[1],
    )


def digest(path: str) -> str | None:
    """sha256 of a file; None where it cannot be read. A named pipe is not waited for."""
    try:
        return file_digest(path) if Path(path).is_file() else None
    except OSError:
        return None


def _audio_duration(seen: Observation, path: str, audio: str | None) -> tuple[float | None, str]:
    """Length of the sound and, where there is none, why."""
    try:
        if audio is not None:
            heard = probe(audio).audio
            return (None, f"{audio}: has no sound") if heard is None else (heard.duration_ms, "")
        own = seen.facts.audio if seen.facts is not None else None
        if own is None:
            return None, seen.error or "the clip has no sound"
        # A header may not state the length of the sound; probing then walks its packets.
        again = probe(path).audio if own.duration_ms is None else own
        return (None if again is None else again.duration_ms), "the length of the sound cannot be told"
    except MediaError as error:
        return None, str(error)


def _facts(seen: Observation, audio: str | None, badge: Badge) -> dict[str, object]:
    """Plain facts about the clip, for its line in `subjects.jsonl`."""
    facts: dict[str, object] = {"bundle": f"{NAME}/{VERSION}", "not_judged": list(badge.not_judged)}
    if seen.error:
        facts["error"] = seen.error
    if audio is not None:
        facts |= {"audio": audio, "audio_sha256": digest(audio)}
    if seen.facts is not None:
        facts["media"] = _plain(asdict(seen.facts))
        facts["luma_converted"] = seen.luma_converted
    return facts


def _plain(data: object) -> object:
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    return f"{data.numerator}/{data.denominator}" if isinstance(data, Fraction) else data


def _series(seen: Observation) -> dict[str, np.ndarray]:
    """Per-frame series for the timeline; steps are aligned with the frame they lead to, so the first has none."""
    if seen.frames == 0:
        return {}
    return {
        "time_ms": seen.time_ms,
        "luma_mean": seen.luma_mean,
        "luma_diff": seen.luma_diff,
        "mafd": seen.mafd,
        "laplacian_variance": seen.laplacian_variance,
    }
