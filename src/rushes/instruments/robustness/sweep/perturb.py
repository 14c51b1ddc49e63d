"""Perturbations, one small function each. Pictures are H×W×3 uint8 RGB; results are rounded half to even and clipped.

Order in a run: fps, resize, gaussian_blur, contrast, brightness, gaussian_noise on the picture, then encoding with crf;
audio_shift, then audio_noise on the sound. Noise is drawn from PCG64 seeded with `noise_seed`, so the same clip, values
and seed give the same noise on every machine and for any number of workers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from rushes.core.canonical import canonical_json

Picture = NDArray[np.uint8]
Samples = NDArray[np.float32]

_MID_GRAY = 127.5
_SMALLEST_SIDE = 16


def noise_seed(stream: str, values: Mapping[str, object], seed: int, clip_sha256: str) -> int:
    """The seed of a noise stream ("picture" or "sound"): sha256 over the axis values, the run's seed and the clip.

    >>> one = noise_seed("picture", {"gaussian_noise": 4.0}, 1, "ab")
    >>> one == noise_seed("picture", {"gaussian_noise": 4.0}, 1, "ab"), one == noise_seed("sound", {}, 1, "ab")
    (True, False)
    """
    text = canonical_json({"clip": clip_sha256, "seed": seed, "stream": stream, "values": dict(values)})
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")


def brightness(picture: Picture, factor: float) -> Picture:
    """x · factor. 1 changes nothing.

    >>> brightness(np.array([[[0, 100, 200]]], np.uint8), 1.5).ravel().tolist()
    [0, 150, 255]
    """
    return _levels(np.arange(256) * factor)[picture]


def contrast(picture: Picture, factor: float) -> Picture:
    """(x − 127.5) · factor + 127.5. 1 changes nothing, 0 is mid-gray.

    >>> contrast(np.array([[[0, 100, 200]]], np.uint8), 0.5).ravel().tolist()
    [64, 114, 164]
    """
    return _levels((np.arange(256) - _MID_GRAY) * factor + _MID_GRAY)[picture]


def gaussian_blur(picture: Picture, sigma: float) -> Picture:
    """Gaussian blur with this standard deviation in pixels, edges mirrored. 0 changes nothing."""
    import cv2

    if sigma == 0:
        return picture
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), sigma, borderType=cv2.BORDER_REFLECT_101), np.uint8)


def gaussian_noise(picture: Picture, std: float, generator: np.random.Generator) -> Picture:
    """x + N(0, std), each pixel and channel on its own; std in levels of 0–255. 0 changes nothing."""
    noise = generator.standard_normal(picture.shape, dtype=np.float32)
    return _levels(picture + noise * np.float32(std))


def resize(picture: Picture, factor: float) -> Picture:
    """Width and height times factor, rounded to even, at least 16; area averaging down, bicubic up. 1 changes nothing.

    >>> resize(np.zeros((90, 160, 3), np.uint8), 0.5).shape
    (44, 80, 3)
    """
    import cv2

    if factor == 1:
        return picture
    width, height = (max(_SMALLEST_SIDE, 2 * round(side * factor / 2)) for side in (picture.shape[1], picture.shape[0]))
    interpolation = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(picture, (width, height), interpolation=interpolation), np.uint8)


def resample(pictures: Iterable[tuple[float, Picture]], fps: float) -> Iterator[Picture]:
    """The nearest source picture (the earlier of two equally near) at each 1/fps; the clip keeps its length.

    `pictures` come with their times in ms. The last one lasts as long as the step before it.

    >>> [int(p) for p in resample([(0.0, 0), (40.0, 1), (80.0, 2), (120.0, 3)], 12.5)]  # 25 fps, every second one
    [0, 2]
    """
    step, shown = 1000 / fps, 0
    start = last_time = None
    last: Picture | None = None
    gap = step
    for time, picture in pictures:
        if start is None or last_time is None or last is None:
            start = time
        else:
            gap = time - last_time
            while shown * step <= (last_time + time) / 2 - start:
                yield last
                shown += 1
        last_time, last = time, picture
    if start is None or last_time is None or last is None:
        return
    while shown * step < last_time + gap - start - 1e-6 or shown == 0:
        yield last
        shown += 1


def audio_shift(samples: Samples, shift_ms: float, rate: int) -> Samples:
    """The sound later by shift_ms (earlier where negative), filled with silence; its length stays. 0 changes nothing.

    >>> audio_shift(np.array([1, 2, 3, 4], np.float32), 2, 1000).tolist()
    [0.0, 0.0, 1.0, 2.0]
    """
    count = round(shift_ms * rate / 1000)
    shifted = np.zeros_like(samples)
    if count >= 0:
        shifted[count:] = samples[: max(len(samples) - count, 0)]
    else:
        shifted[: max(len(samples) + count, 0)] = samples[-count:]
    return shifted


def audio_noise(samples: Samples, std: float, generator: np.random.Generator) -> Samples:
    """s + N(0, std), clipped to −1 to 1; std as a share of full scale. 0 changes nothing."""
    noise = generator.standard_normal(len(samples), dtype=np.float32)
    return np.clip(samples + noise * np.float32(std), -1, 1)


def _levels(values: NDArray[np.floating]) -> Picture:
    return np.asarray(np.clip(np.rint(values), 0, 255), np.uint8)
