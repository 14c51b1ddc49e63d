"""The one pass over a clip: every per-frame series the metrics are computed from."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from av.audio.frame import AudioFrame
from numpy.typing import NDArray

from rushes.core.errors import MediaError
from rushes.instruments.clip.faces.observation import FaceObservation
from rushes.instruments.clip.flow.observer import MotionObservation
from rushes.instruments.clip.frames.detail import detail
from rushes.instruments.clip.frames.luma_sums import Plane
from rushes.instruments.clip.frames.outliers import OddFrames
from rushes.instruments.clip.frames.picture_grid import GridWalk, PictureGrid
from rushes.instruments.clip.frames.picture_samples import PictureSamples
from rushes.instruments.clip.frames.small_pictures import Pictures
from rushes.instruments.clip.metrics.image import SAMPLE_MS
from rushes.instruments.clip.metrics.light import FLAT_POINTS, FLAT_SPREAD
from rushes.instruments.clip.pictures.shown import Shown
from rushes.instruments.clip.sound.levels import SoundLevels
from rushes.media import AudioTrack, ClipReader, Frame, MediaFacts
from rushes.media.alike.frames import AlikeFrame
from rushes.media.frames import ReadAccount, account

if TYPE_CHECKING:
    from rushes.instruments.clip.networks.watch import NetworkObservation
    from rushes.instruments.clip.seen.text_watch import TextObservation

Series = NDArray[np.float64]
Watch = Callable[[MediaFacts], Callable[[Frame], None] | None]
_EMPTY: Series = np.zeros(0)
_EDGELESS = 4.0
"""Mean squared Laplacian, levels², under which a plane may be flat; a black frame's coding noise stays below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation(ReadAccount):
    """What one pass over a clip saw. Series are in presentation order; steps run from the second frame."""

    error: str = ""
    """Why nothing, or not everything, could be read; "" when all went well."""
    frames: int = 0
    time_ms: Series = field(default_factory=lambda: _EMPTY)
    luma_mean: Series = field(default_factory=lambda: _EMPTY)
    """Mean luma of each frame on the full 0–255 scale."""
    luma_diff: Series = field(default_factory=lambda: _EMPTY)
    """Mean |Y_t − Y_{t−1}| of each step on the full 0–255 scale; one shorter than the frames."""
    mafd: Series = field(default_factory=lambda: _EMPTY)
    """The same step in percent of the coded range, as ffmpeg's scdet counts it."""
    laplacian_variance: Series = field(default_factory=lambda: _EMPTY)
    odd_frame: Series = field(default_factory=lambda: _EMPTY)
    """How far each frame stands out from those around it, which agree; see `outliers.py`."""
    flat: Series = field(default_factory=lambda: _EMPTY)
    """1 for each frame that is black or of one tone, else 0."""
    sharpness: Series = field(default_factory=lambda: _EMPTY)
    """Detail of the frames looked at, one a second; NaN for the others."""
    grid: PictureGrid | None = None
    """Every frame as a grid of blocks: light, colour, change, texture; None where no frame was decoded."""
    samples: PictureSamples | str = ""
    """A few frames in detail, where a metric needs them, or why there are none."""
    small: Pictures | str = ""
    """The first frames as small pictures, where a metric needs them, or why there are none."""
    shown: Shown | None = None
    """The pictures of that grid: their distances, how long each is held; None where no frame was decoded."""
    luma_converted: bool = False
    """True when the pixel format has no luma plane and one was computed."""
    audio: AudioTrack | None = None
    """The sound the picture is held against; None where no metric needs it, and where there is none."""
    audio_missing: str = ""
    """Why there is no sound, where that is known."""
    levels: SoundLevels | None = None
    """How loud that sound is, in all its channels; None where no metric needs it, and where there is none."""
    levels_missing: str = "the clip has no sound"
    audio_duration_ms: float | None = None
    """Length of the clip's own sound or of the file given in its place."""
    audio_duration_missing: str = ""
    faces: FaceObservation | None = None
    """What was seen of faces; None at tier 0."""
    faces_missing: str = "faces were not looked for"
    motion: MotionObservation | None = None
    """Optical flow; None where it was not asked for."""
    motion_missing: str = "motion was not followed"
    text: TextObservation | str = ""
    """Text that was read in frames, where a metric needs it, or why there is none."""
    prompt: str = ""
    """What the clip was asked to show; "" where that is not known."""
    prompt_missing: str = ""
    networks: Mapping[str, NetworkObservation | str] = field(default_factory=dict)
    """What networks of the user's own saw, by name, or why one saw nothing."""
    script: str = ""
    """The words that are to be spoken; "" where none were given."""

    def series(self) -> dict[str, Series]:
        """Per-frame series for the run; a step stands with the frame it leads to, so the first has none."""
        if self.frames == 0:
            return {}
        names = ("time_ms", "luma_mean", "luma_diff", "mafd", "laplacian_variance", "odd_frame", "flat", "sharpness")
        own = {name: getattr(self, name) for name in names}
        own |= {} if self.motion is None else self.motion.series(self.frames)
        return own if self.faces is None else own | self.faces.series()

    @property
    def video_duration_ms(self) -> float | None:
        """As the file states it for the picture, else as measured."""
        if self.facts is None or self.facts.video is None:
            return None
        declared = self.facts.video.duration_ms
        return self.measured_duration_ms if declared is None else declared

    @property
    def fps(self) -> Fraction | float | None:
        """As declared, else from the presentation times."""
        declared = None if self.facts is None or self.facts.video is None else self.facts.video.fps
        if declared or self.frames < 2:
            return declared
        span = float(self.time_ms[-1] - self.time_ms[0])
        return (self.frames - 1) * 1000.0 / span if span > 0 else None


def observe(
    path: Path | str,
    *,
    audio_rate: int | None = None,
    listen: Callable[[AudioFrame], None] | None = None,
    watch: Watch = lambda facts: None,
) -> Observation:
    """Read a clip once and take every series; never raises for a bad clip, the `error` says what was wrong.

    `watch` is given the opened clip's facts and may return what sees each frame in the same pass (faces do).
    `audio_rate` collects the clip's own sound on the way, `listen` is given it as it is decoded.
    """
    return observed(lambda: ClipReader(path, audio_rate=audio_rate, listen=listen), path, watch=watch)


def observed(opened: Callable[[], ClipReader], path: Path | str, *, watch: Watch = lambda facts: None) -> Observation:
    """The same of a reader, which `opened` makes: of a file, or of frames in memory."""
    try:
        with opened() as reader:
            walk, on_frame = LumaWalk(), watch(reader.facts)
            error = ""
            try:
                for frame in reader:
                    walk.add(frame)
                    if on_frame is not None:
                        on_frame(frame)
            except MediaError as broken:
                error = _without_path(broken, path)
            return replace(walk.observation(reader, error or walk.mixed), audio=reader.audio)
    except MediaError as unreadable:
        return Observation(error=_without_path(unreadable, path))


def _without_path(error: MediaError, path: Path | str) -> str:
    """The message without the file's name, which the clip's row already carries."""
    return str(error).removeprefix(f"{path}: ")


class LumaWalk:
    """Collects exact integer sums per frame; scales them at the end."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.pixels = 0
        self.shape = (0, 0)
        self.scale = 1.0
        self.offset = 0.0
        self._scale = 1.0
        """That of the last frame, where `scale` is the first's."""
        self.converted = False
        self.mixed = ""
        """Why the sums are not of one kind of picture; they are scaled as the first frame asks."""
        self.details: list[float] = []
        self.flat: list[bool] = []
        self.odd = OddFrames()
        self.grid = GridWalk()
        self._sampled = -math.inf
        self._previous: Frame | AlikeFrame | None = None

    def add(self, frame: Frame | AlikeFrame) -> None:
        previous = self._previous
        difference, squared = self.grid.add(frame, previous)
        if not self.grid.is_alike:
            self._check(frame, previous)
        scale = self._scale
        self.times.append(frame.time_ms)
        self.odd.add(frame, previous, step=difference * scale / self.pixels)
        # Only a plane without edges is looked at closely: most frames cost nothing.
        edgeless = squared * scale**2 <= _EDGELESS * self.pixels
        self.flat.append(edgeless and _is_flat(frame.luma.values, scale))
        self.details.append(self._detail(frame))
        self._previous = frame

    def _check(self, frame: Frame | AlikeFrame, previous: Frame | AlikeFrame | None) -> None:
        """Levels per coded value: keeps those of the first frame, and notes the frame from which they are others."""
        scale, offset = frame.luma_scale
        self._scale = scale
        if previous is None:
            plane = frame.luma
            self.shape, self.pixels = plane.values.shape, plane.values.size
            self.scale, self.offset, self.converted = scale, offset, plane.converted
        elif scale != self.scale or offset != self.offset:
            self.mixed = self.mixed or f"the depth or range of its luma changes at frame {frame.index}; re-encode it"

    def _detail(self, frame: Frame | AlikeFrame) -> float:
        if frame.time_ms < self._sampled + SAMPLE_MS:
            return math.nan
        self._sampled = frame.time_ms
        return detail(frame.luma.values, scale=frame.luma.scale)

    def observation(self, read: ClipReader | ReadAccount, error: str) -> Observation:
        sums = self.grid.sums / max(self.pixels, 1)
        total, difference, laplacian, squared = sums.T
        grid, times = self._grid(read.facts), np.array(self.times, dtype=np.float64)
        changes = difference[1:] * self.scale
        return Observation(
            **account(read),
            error=error,
            frames=len(self.times),
            time_ms=times,
            luma_mean=(total - self.offset) * self.scale,
            luma_diff=changes,
            mafd=100.0 * difference[1:] / _coded_levels(self.scale, self.offset),
            # E[L²] − E[L]² on integers below 2⁵³ loses nothing that 8 decimals could show.
            laplacian_variance=(squared - laplacian**2) * self.scale**2 if min(self.shape) >= 2 else _EMPTY,
            odd_frame=self.odd.scores,
            flat=np.array(self.flat, dtype=np.float64),
            sharpness=np.array(self.details, dtype=np.float64),
            grid=grid,
            shown=None if grid is None else Shown.of(grid.luma, times, changes),
            luma_converted=self.converted,
        )

    def _grid(self, facts: MediaFacts | None) -> PictureGrid | None:
        video = None if facts is None else facts.video
        turn = (0, False) if video is None else (video.rotation, video.mirrored)
        return self.grid.grid(luma=(self.scale, self.offset), turn=turn)


def _is_flat(plane: Plane, scale: float) -> bool:
    """Whether the luma hardly varies."""
    height, width = plane.shape
    return float(plane[:: max(1, height // FLAT_POINTS), :: max(1, width // FLAT_POINTS)].std()) * scale < FLAT_SPREAD


def _coded_levels(scale: float, offset: float) -> int:
    """2^bits of the coded values, from the affine step: limited range spans 219/256 of them, full range all but one.

    >>> _coded_levels(255 / 219, 16), _coded_levels(1.0, 0), _coded_levels(255 / 876, 64), _coded_levels(255 / 1023, 0)
    (256, 256, 1024, 1024)
    """
    return round(256 * 255 / (219 * scale)) if offset else round(255 / scale) + 1
