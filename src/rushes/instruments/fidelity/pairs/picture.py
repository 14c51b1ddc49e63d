"""Two frames that belong together, and what metrics ask of them, each made once and only when asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from rushes.media.frames import upright
from rushes.media.luma import LumaPlane, luma_plane, rgb_of
from rushes.media.planes import CodedPlanes, coded_planes

Pixels: TypeAlias = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Turn:
    """What makes a coded picture upright: clockwise degrees, then a flip."""

    degrees: int = 0
    mirrored: bool = False

    @property
    def is_none(self) -> bool:
        return self.degrees == 0 and not self.mirrored


UPRIGHT = Turn()


class Picture:
    """One side of a pair. Everything is upright and of the size that is compared; it is valid during `Observer.add`."""

    __slots__ = ("_luma", "_planes", "_reformatter", "_rgb", "_turn", "time_ms", "video")

    def __init__(
        self, video: VideoFrame, *, reformatter: VideoReformatter, time_ms: float = 0.0, turn: Turn = UPRIGHT
    ) -> None:
        self.video = video
        """PyAV's frame after any change of size; not turned."""
        self.time_ms = time_ms
        """From the clip's first frame on."""
        self._reformatter = reformatter
        self._turn = turn
        self._rgb: Pixels | None = None
        self._luma: LumaPlane | None = None
        self._planes: CodedPlanes | None = None

    @property
    def rgb(self) -> Pixels:
        """H × W × 3, 8 bits, full range; YUV by its tagged matrix, BT.601 where untagged. Do not write to it."""
        if self._rgb is None:
            self._rgb = self._upright(rgb_of(self.video, self._reformatter))
        return self._rgb

    @property
    def luma(self) -> LumaPlane:
        """Luma as coded, with the step that takes it to the full 0–255 scale; see `rushes.media.luma`."""
        if self._luma is None:
            plane = luma_plane(self.video, self._reformatter)
            self._luma = plane._replace(values=self._upright(plane.values))
        return self._luma

    @property
    def planes(self) -> CodedPlanes | None:
        """Y, U, V as coded; Y alone of a grey picture; None where the format has no planes (RGB, packed YUV)."""
        if self._planes is None:
            found = coded_planes(self.video)
            if found is None:
                return None
            self._planes = found._replace(values=tuple(map(self._upright, found.values)))
        return self._planes

    def _upright(self, values: NDArray[np.uint8] | NDArray[np.uint16]) -> NDArray[np.uint8]:
        if self._turn.is_none:
            return values  # type: ignore[return-value]
        return np.ascontiguousarray(upright(values, self._turn.degrees, self._turn.mirrored))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class FramePair:
    """A generated picture and the picture it is held against."""

    index: int
    """0 for the first pair that is compared."""
    gen: Picture
    gt: Picture
    shared: dict[str, Any] = field(default_factory=dict, kw_only=True, compare=False, repr=False)
    """What one observer computed of this pair and another needs too, by a name of theirs."""
