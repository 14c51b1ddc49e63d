"""Pictures as raw planar video, upright, with the codes they were decoded to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from av.video.format import VideoFormat

from rushes.instruments.fidelity.pairs.per_frame_observer import Unsuited
from rushes.instruments.fidelity.pairs.picture import FramePair, Picture
from rushes.media.planes import CodedPlanes, Values

SMALLEST = 64
"""Pixels to a side. libvmaf reads beyond smaller pictures: at 32 its values change with what else is asked, below 20 it
crashes (measured; from 40 on they hold). XPSNR has no blocks below some 45."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawForm:
    """What the bytes of a picture mean."""

    pix_fmt: str
    """As ffmpeg calls it. A grey picture is yuv420p with neutral chroma."""
    width: int
    height: int
    bits: int
    range: str
    """limited or full."""
    grey: bool = False

    @property
    def is_rgb(self) -> bool:
        return self.pix_fmt == "rgb24"

    @property
    def words(self) -> str:
        """For a message.

        >>> RawForm(pix_fmt="yuv420p10le", width=64, height=64, bits=10, range="limited").words
        'yuv420p10le in limited range'
        """
        return "RGB" if self.is_rgb else f"{'grey, as ' * self.grey}{self.pix_fmt} in {self.range} range"


def pair_form(pair: FramePair, before: RawForm | None) -> RawForm:
    """The form of both pictures; `Unsuited` where they have none, are too small, have two, or not that of before."""
    gen, gt = raw_form(pair.gen), raw_form(pair.gt)
    if gen != gt:
        raise Unsuited(
            f"{gen.words} against a reference of {gt.words}: both need the same pixel format; convert one of them"
        )
    if min(gen.width, gen.height) < SMALLEST:
        raise Unsuited(f"frames of {gen.width}×{gen.height} are too small; expected at least {SMALLEST} pixels a side")
    if before not in (None, gen):
        raise Unsuited(f"frame {pair.index}: the format changes to {gen.words}, {gen.width}×{gen.height}")
    return gen


def raw_form(picture: Picture) -> RawForm:
    """The form of one picture: YUV 4:2:0, 4:2:2 or 4:4:4 as coded, or 8-bit RGB; `Unsuited` for others."""
    planes = picture.planes
    if planes is None:
        return _rgb_form(picture)
    height, width = planes.values[0].shape
    return RawForm(
        pix_fmt=f"yuv{_sampling(planes)}p{'' if planes.bits == 8 else f'{planes.bits}le'}",
        width=width,
        height=height,
        bits=planes.bits,
        range=planes.range,
        grey=len(planes.values) == 1,
    )


def raw_planes(picture: Picture, form: RawForm) -> tuple[Values, ...]:
    """The picture's bytes in the order of its form: one array without gaps, little-endian, for each plane."""
    planes = picture.planes
    if planes is None:
        return (np.ascontiguousarray(picture.rgb),)
    values = planes.values
    if form.grey:
        neutral = np.full(((form.height + 1) // 2, (form.width + 1) // 2), 1 << (form.bits - 1), values[0].dtype)
        values = (values[0], neutral, neutral)
    return tuple(np.ascontiguousarray(plane, np.uint8 if plane.dtype.itemsize == 1 else "<u2") for plane in values)


def _rgb_form(picture: Picture) -> RawForm:
    name = picture.video.format.name
    form = VideoFormat(name)
    if not (form.is_rgb or form.has_palette):
        raise Unsuited(f"{name} has no planes; convert the clip to planar YUV")
    height, width = picture.rgb.shape[:2]
    return RawForm(pix_fmt="rgb24", width=width, height=height, bits=8, range="full")


def _sampling(planes: CodedPlanes) -> str:
    """From the shapes, since a picture that was turned has its chroma turned too."""
    if len(planes.values) == 1:
        return "420"
    (height, width), chroma = planes.values[0].shape, planes.values[1].shape
    half = ((height + 1) // 2, (width + 1) // 2)
    found = {half: "420", (height, half[1]): "422", (height, width): "444"}.get(chroma)
    if found is None:
        raise Unsuited(
            f"chroma of {chroma[1]}×{chroma[0]} in a picture of {width}×{height}; expected 4:2:0, 4:2:2 or 4:4:4"
        )
    return found
