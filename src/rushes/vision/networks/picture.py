"""From a decoded frame to what a network takes: resized, cropped, normalised and laid out as its manifest says.

The library that resizes is named, because the resizer decides the score: PIL on whole levels (torchvision on PIL
pictures), torch's `interpolate` (torchvision on tensors), or OpenCV.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from rushes.core.registry import optional_package
from rushes.vision.normalise import normalised

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels: TypeAlias = NDArray[np.uint8]
    Values: TypeAlias = NDArray[np.float32]

Resize: TypeAlias = Literal["squash", "shorter-side", "longer-side-at-most", "none"]
Interpolation: TypeAlias = Literal["bilinear", "bicubic", "nearest", "lanczos"]
Library: TypeAlias = Literal["pil", "torch", "opencv"]
Layout: TypeAlias = Literal["NCHW", "NHWC", "NCTHW", "NTCHW", "NTHWC"]
Three: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """How a frame is prepared."""

    name: str = ""
    """Of an ONNX input; by default the first."""
    size: tuple[int, int] | None = None
    """Height and width that the network is given; None where they are the frame's own."""
    resize: Resize = "squash"
    """squash: to `size`, whatever the shape. shorter-side: the shorter side to `side`, the other ⌊side·long/short⌋, as
    torchvision does. longer-side-at-most: smaller where the longer side is above `side`. none: as decoded."""
    side: int = 0
    """Of shorter-side and longer-side-at-most; by default the smaller of `size`."""
    crop: Literal["centre", "none"] = "centre"
    """After shorter-side: to `size` from the middle, or as it is."""
    interpolation: Interpolation = "bilinear"
    library: Library = "pil"
    antialias: bool = True
    """Of torch; PIL always has it, OpenCV never."""
    whole_levels: bool = True
    """Of torch: whether resized levels are rounded and kept within 0–255, as torchvision does for uint8."""
    range: tuple[float, float] = (0.0, 1.0)
    """What levels 0 and 255 become before mean and spread."""
    mean: Three = (0.0, 0.0, 0.0)
    std: Three = (1.0, 1.0, 1.0)
    order: Literal["rgb", "bgr"] = "rgb"
    layout: Layout = "NCHW"

    @property
    def label(self) -> str:
        """Resizing, crop and order of channels, as signatures have them.

        >>> Picture(size=(224, 224), resize="shorter-side", interpolation="bicubic").label
        'pil-bicubic-shorter-224-centre-224x224'
        >>> Picture(resize="none", order="bgr").label
        'none-bgr'
        """
        parts = ["none"] if self.resize == "none" else [self.library, self.interpolation, *self._how(), *self._shape()]
        return "-".join([*parts, *(["bgr"] if self.order == "bgr" else [])])

    def _how(self) -> list[str]:
        if self.library != "torch":
            return []
        return [*(["antialias"] if self.antialias else []), *([] if self.whole_levels else ["float"])]

    def _shape(self) -> list[str]:
        size = "" if self.size is None else f"{self.size[0]}x{self.size[1]}"
        if self.resize == "squash":
            return [f"squash-{size}"]
        if self.resize == "longer-side-at-most":
            return [f"longer-at-most-{self.longest}"]
        return [f"shorter-{self.longest}", *([f"centre-{size}"] if self.crop == "centre" else [])]

    @property
    def longest(self) -> int:
        """The side that is resized to."""
        return self.side or (min(self.size) if self.size is not None else 0)

    @property
    def fixed(self) -> tuple[int, int] | None:
        """The size that every frame has in the end; None where it is the clip's."""
        return (
            self.size if self.resize == "squash" or (self.resize == "shorter-side" and self.crop == "centre") else None
        )

    @property
    def normalise(self) -> str:
        """Range, mean and spread as one formula, with channels in the network's order.

        >>> Picture(mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5)).normalise
        '(x/255-[0.5,0.5,0.5])/[0.5,0.5,0.5]'
        >>> Picture(range=(-1.0, 1.0)).normalise
        '(x/255-[0.5,0.5,0.5])/[0.5,0.5,0.5]'
        """
        low, high = self.range
        mean = [repr((value - low) / (high - low)) for value in self.mean]
        spread = [repr(value / (high - low)) for value in self.std]
        return f"(x/255-[{','.join(mean)}])/[{','.join(spread)}]"

    def resized(self, frame: Pixels) -> Any:
        """A frame (H, W, 3) of 0–255 at the network's size, channels in its order; uint8, or float32 of torch."""
        picture = self._cropped(self._resized(frame))
        return picture[..., ::-1] if self.order == "bgr" else picture

    def prepared(self, frame: Pixels) -> Values:
        """A frame as the network takes it, channels last, float32."""
        import numpy as np

        return np.ascontiguousarray(normalised(self.resized(frame).astype(np.float32), self.normalise))

    def _resized(self, frame: Pixels) -> Any:
        height, width = frame.shape[:2]
        target = self._target(height, width)
        return frame if target is None else _RESIZERS[self.library](frame, target, self)

    def _target(self, height: int, width: int) -> tuple[int, int] | None:
        """Height and width to resize to; None where the frame stays as it is."""
        if self.resize == "none":
            return None
        if self.resize == "squash":
            return self.size
        side = self.longest
        if self.resize == "longer-side-at-most":
            scale = side / max(height, width)
            return None if scale >= 1 else (max(int(scale * height), 1), max(int(scale * width), 1))
        return (side, int(side * width / height)) if height < width else (int(side * height / width), side)

    def _cropped(self, picture: Any) -> Any:
        if self.resize != "shorter-side" or self.crop == "none" or self.size is None:
            return picture
        height, width = self.size
        top, left = (round((have - want) / 2) for have, want in zip(picture.shape[:2], self.size, strict=True))
        return picture[top : top + height, left : left + width]


def laid_out(windows: Values, layout: Layout) -> Values:
    """Windows (N, T, H, W, 3) as a network takes them; T is 1 where it sees single frames."""
    import numpy as np

    axes = {"NCTHW": (0, 4, 1, 2, 3), "NTCHW": (0, 1, 4, 2, 3), "NTHWC": (0, 1, 2, 3, 4)}
    if layout in axes:
        return np.ascontiguousarray(windows.transpose(axes[layout]))
    return np.ascontiguousarray(windows[:, 0].transpose(0, 3, 1, 2) if layout == "NCHW" else windows[:, 0])


def _with_pil(frame: Pixels, target: tuple[int, int], how: Picture) -> Any:
    import numpy as np

    image = optional_package("PIL.Image", "resizing with PIL needs Pillow", extra="networks")
    method = getattr(image.Resampling, how.interpolation.upper())
    return np.asarray(image.fromarray(frame).resize((target[1], target[0]), method))


def _with_torch(frame: Pixels, target: tuple[int, int], how: Picture) -> Any:
    torch = optional_package("torch", "resizing with torch needs it", extra="fvd")
    planes = torch.from_numpy(frame).permute(2, 0, 1)[None].float()
    smooth = how.interpolation != "nearest"
    options = {"align_corners": False, "antialias": how.antialias} if smooth else {}
    planes = torch.nn.functional.interpolate(planes, size=target, mode=how.interpolation, **options)
    if how.whole_levels:
        planes = planes.round().clamp(0, 255)
    return planes[0].permute(1, 2, 0).numpy()


def _with_opencv(frame: Pixels, target: tuple[int, int], how: Picture) -> Any:
    import cv2

    methods = {"bilinear": cv2.INTER_LINEAR, "bicubic": cv2.INTER_CUBIC, "nearest": cv2.INTER_NEAREST}
    return cv2.resize(frame, (target[1], target[0]), interpolation=methods.get(how.interpolation, cv2.INTER_LANCZOS4))


_RESIZERS = {"pil": _with_pil, "torch": _with_torch, "opencv": _with_opencv}
