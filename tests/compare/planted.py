"""Changes planted into clips: each makes them worse, or at most other, and none makes them better."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray
from tests.clips import tone, write_frames

from rushes.media import AudioTrack, ClipReader, write_clip

Picture = NDArray[np.uint8]
Planting = Callable[[Path, list[Picture], float, AudioTrack | None], Path]
_CRF = 16


def moving_texture(seed: int, *, frames: int = 50, size: tuple[int, int] = (160, 96)) -> list[Picture]:
    """A textured picture that pans at its own speed while its light swings a little; `size` is (width, height)."""
    rng = np.random.default_rng(seed)
    width, height = size
    field = cv2.GaussianBlur(rng.normal(128, 90, (height, 3 * width, 3)), (0, 0), 0.7 + 0.2 * (seed % 5))
    speed, light = 0.4 + 0.35 * (seed % 7), 1.0 + seed % 3
    pictures = []
    for t in range(frames):
        shift = np.array([[1.0, 0.0, -speed * t], [0.0, 1.0, 0.0]])
        seen = cv2.warpAffine(field, shift, (width, height), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP)
        pictures.append(np.clip(seen + light * np.sin(t / 6 + seed), 0, 255).astype(np.uint8))
    return pictures


def sound_of(seed: int, frames: int, fps: float) -> AudioTrack | None:
    """Sound for every second clip, shorter than the picture: dropping frames then brings the two lengths together."""
    return AudioTrack.of(tone(0.7 * frames / fps + 0.01 * seed), 16000) if seed % 2 else None


def pictures_of(path: Path, *, most: int, width: int) -> tuple[list[Picture], float]:
    """The first frames of a clip, not wider than `width`, and its rate."""
    pictures: list[Picture] = []
    with ClipReader(path) as reader:
        for frame in reader:
            pictures.append(_fitted(frame.rgb(), width))
            if len(pictures) == most:
                break
        video = reader.facts.video
    assert video is not None
    return pictures, float(video.fps or 25)


def _fitted(picture: Picture, width: int) -> Picture:
    height, across = picture.shape[:2]
    scale = min(1.0, width / across)
    size = (int(across * scale) // 4 * 4, int(height * scale) // 4 * 4)
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)


def clean(path: Path, pictures: list[Picture], fps: float, sound: AudioTrack | None) -> Path:
    return write_clip(path, pictures, fps, sound, crf=_CRF)


def crf_38(path: Path, pictures: list[Picture], fps: float, sound: AudioTrack | None) -> Path:
    return write_clip(path, pictures, fps, sound, crf=38)


def half_size(path: Path, pictures: list[Picture], fps: float, sound: AudioTrack | None) -> Path:
    return clean(path, [_fitted(p, p.shape[1] // 2) for p in pictures], fps, sound)


def blurred(path: Path, pictures: list[Picture], fps: float, sound: AudioTrack | None) -> Path:
    return clean(path, [np.asarray(cv2.GaussianBlur(p, (0, 0), 2.0), np.uint8) for p in pictures], fps, sound)


def noisy(path: Path, pictures: list[Picture], fps: float, sound: AudioTrack | None) -> Path:
    rng = np.random.default_rng(1)
    return clean(path, [np.clip(p + rng.normal(0, 8, p.shape), 0, 255).astype(np.uint8) for p in pictures], fps, sound)


def dropped(path: Path, pictures: list[Picture], fps: float, sound: AudioTrack | None) -> Path:
    """Every fourth frame is gone and the others close up: the same rate, three quarters of the length."""
    return clean(path, [p for t, p in enumerate(pictures) if t % 4 != 3], fps, sound)


def dropped_in_place(path: Path, pictures: list[Picture], fps: float, sound: AudioTrack | None) -> Path:
    """Every fourth frame is gone and the others keep their times; without sound."""
    kept = [t for t in range(len(pictures)) if t % 4 != 3]
    rate = Fraction(fps).limit_denominator(1000)
    frames = (av.VideoFrame.from_ndarray(pictures[t], format="rgb24").reformat(format="yuv420p") for t in kept)
    options = {"crf": str(_CRF), "mbtree": "0"}
    return write_frames(path, frames, codec="libx264", times=kept, time_base=1 / rate, rate=rate, options=options)


PLANTED: dict[str, Planting] = {
    "crf-38": crf_38,
    "half-size": half_size,
    "blur": blurred,
    "noise": noisy,
    "dropped": dropped,
    "dropped-in-place": dropped_in_place,
}


def write_set(
    folder: Path, clips: Iterable[tuple[str, list[Picture], float, AudioTrack | None]], how: Planting
) -> Path:
    """The clips under one change, each under its own name."""
    folder.mkdir()
    for name, pictures, fps, sound in clips:
        how(folder / f"{name}.mp4", pictures, fps, sound)
    return folder
