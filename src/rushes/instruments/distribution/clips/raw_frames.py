"""Raw frames that lie on a device, and windows over them. Needs no torch until their values are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rushes.media.yuv import YuvFactors

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, eq=False)
class RawFrames:
    """Frames that lie on the device as they were handed over, or are on their way there."""

    count: int
    height: int
    width: int
    factors: YuvFactors | None
    """Of frames stored as planes; None: RGB."""
    values: Callable[[], torch.Tensor]
    """(count, bytes of a frame) uint8."""
    stream: int | None = None
    """Where they are being copied; whoever reads them lets the stream that reads them wait for it."""

    @property
    def form(self) -> tuple[int, int, YuvFactors | None]:
        """Frames of one form can be prepared together."""
        return self.height, self.width, self.factors


@dataclass(frozen=True, slots=True, eq=False)
class RawWindow:
    """One window over raw frames: (piece, number in the piece) of each of its frames."""

    frames: tuple[tuple[RawFrames, int], ...]
    size: int
    """Height and width of the prepared frames."""

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of the window once it is prepared."""
        return len(self.frames), self.size, self.size, 3
