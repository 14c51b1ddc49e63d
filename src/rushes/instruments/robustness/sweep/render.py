"""A perturbed copy of a clip: decoded, changed and encoded again in one pass, a frame in memory at a time.

Every run is encoded again, the unchanged one too, so that two runs differ by their perturbation and nothing else. The
picture comes out upright at a constant rate (the source's average unless fps is swept), the sound mono.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from pathlib import Path

import numpy as np

from rushes.core.errors import InputError, MediaError
from rushes.instruments.robustness.sweep import perturb
from rushes.instruments.robustness.sweep.axes import AXES
from rushes.media import AudioTrack, ClipReader, MediaFacts, read_audio, write_clip

USUAL_CRF = 18
_USUAL_FPS = Fraction(25)
_AAC_RATES = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 64000, 88200, 96000)


def check_source(source: Path, facts: MediaFacts, axes: Iterable[str]) -> None:
    """Refuse, before the first run, a clip that an axis cannot be applied to."""
    if facts.video is None:
        raise MediaError(f"{source}: expected a video to perturb; found none")
    needed = [axis for axis in axes if AXES[axis].sound]
    if needed and facts.audio is None:
        raise InputError(f"{source}: has no sound, which axis {needed[0]} needs; leave out the axis or the clip")


def render(source: Path, target: Path, values: Mapping[str, float], *, seed: int, clip_sha256: str) -> None:
    """Write the clip perturbed by these axis values."""
    with ClipReader(source) as reader:
        facts = reader.facts
        assert facts.video is not None  # `check_source` has seen it
        fps = values.get("fps") or facts.video.fps or _USUAL_FPS
        sound = _sound(source, facts, values, seed, clip_sha256)
        noise = _generator("picture", values, seed, clip_sha256)
        timed = ((frame.time_ms, frame.rgb()) for frame in reader)
        chosen = perturb.resample(timed, float(fps)) if "fps" in values else (picture for _, picture in timed)
        pictures = (changed(picture, values, noise) for picture in chosen)
        _write(target, pictures, fps, sound, int(values.get("crf", USUAL_CRF)))


def changed(picture: perturb.Picture, values: Mapping[str, float], noise: np.random.Generator) -> perturb.Picture:
    """One picture through the swept perturbations, in their fixed order."""
    for change in (perturb.resize, perturb.gaussian_blur, perturb.contrast, perturb.brightness):
        if change.__name__ in values:
            picture = change(picture, values[change.__name__])
    if values.get("gaussian_noise"):
        picture = perturb.gaussian_noise(picture, values["gaussian_noise"], noise)
    return picture


def _write(
    target: Path, pictures: Iterator[perturb.Picture], fps: Fraction | float, sound: AudioTrack | None, crf: int
) -> None:
    first = next(pictures, None)
    if first is None:
        raise MediaError(f"{target.name}: no frame of the source can be decoded")
    # 4:2:0 shares chroma between two columns and two rows; an odd size keeps its own.
    pix_fmt = "yuv444p" if first.shape[0] % 2 or first.shape[1] % 2 else "yuv420p"
    write_clip(target, chain((first,), pictures), fps=fps, audio=sound, crf=crf, pix_fmt=pix_fmt)


def _sound(
    source: Path, facts: MediaFacts, values: Mapping[str, float], seed: int, clip_sha256: str
) -> AudioTrack | None:
    if facts.audio is None:
        return None
    track = read_audio(source, facts.audio.rate if facts.audio.rate in _AAC_RATES else 48000)
    samples = track.samples
    if "audio_shift" in values:
        samples = perturb.audio_shift(samples, values["audio_shift"], track.rate)
    if values.get("audio_noise"):
        noise = _generator("sound", values, seed, clip_sha256)
        samples = perturb.audio_noise(samples, values["audio_noise"], noise)
    return replace(track, samples=samples)


def _generator(stream: str, values: Mapping[str, float], seed: int, clip_sha256: str) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(perturb.noise_seed(stream, values, seed, clip_sha256)))
