"""PSNR and SSIM of the coded planes, as ffmpeg's filters `psnr` and `ssim` print them.

Codes are compared as they are, whatever their range; the peak is the highest code, 2^bits − 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.fidelity.kernels.blocks import SMALLEST, block_ssim
from rushes.instruments.fidelity.kernels.sums import squared_difference
from rushes.instruments.fidelity.metric import PairContext, PairMetric, Pool, Seen, mean_of_frames
from rushes.instruments.fidelity.pairs.per_frame_observer import PerFrame, Unsuited
from rushes.instruments.fidelity.pairs.picture import FramePair, Picture
from rushes.instruments.fidelity.pairs.rgb import psnr_of
from rushes.media.planes import CodedPlanes

Letter: TypeAlias = Literal["y", "u", "v"]
_LETTERS: tuple[Letter, ...] = ("y", "u", "v")
_HOW = {"alpha": "left-out", "codes": "as-coded", "peak": "highest-code"}
_GREY = "the clips are grey: they have no U and V planes"
_NO_PLANES = "ffmpeg's numbers are of coded planes, Y, U and V; {} has none (format {})"
_WORDS = {"y": "luma", "u": "U", "v": "V"}
_ALL = "all planes together, each counted by its pixels"


_PSNR = Definition(
    name="ffmpeg_psnr",
    unit="dB",
    lowest=0,
    highest=None,
    better="higher",
    summary="PSNR of {}, as ffmpeg's filter psnr prints it.",
    formula="10 log10(peak² / MSE), MSE the mean over frames of each frame's mean squared difference of codes: "
    "of the mean MSE, not the mean of the frames' PSNR",
    edge_cases="All frames identical: no value (ffmpeg prints inf). Chroma of grey clips: no value. RGB, "
    "packed formats and clips coded unlike (depth, range, chroma): no value; ffmpeg would convert one of them.",
    reference="FFmpeg, libavfilter/vf_psnr.c",
    params=signature_params(**_HOW, pool="psnr-of-mean-mse"),
    depends_on=("frame_size", "range", "bit_depth", "transfer"),
)
_SSIM = replace(
    _PSNR,
    name="ffmpeg_ssim",
    unit="1",
    lowest=-1,
    highest=1,
    summary="SSIM of {}, as ffmpeg's filter ssim prints it: blocks of 8 × 8 pixels, not Wang's window.",
    formula="mean over frames of the mean over blocks of 8 × 8 pixels, 4 apart, of (2 fs1 fs2 + C1)(2 covar + C2) "
    "/ ((fs1² + fs2² + C1)(vars + C2)), on sums of 64 codes; C1 = .01² peak² 64, C2 = .03² peak² 64 · 63, rounded",
    edge_cases="Identical planes: 1. A plane of less than 8 × 8 pixels: no value. Rows and columns past the last "
    "multiple of 4 are left out. Chroma of grey clips, RGB, packed formats, clips coded unlike: no value. ffmpeg "
    "5.1 on x86 prints up to 4e-4 more where width // 4 leaves 2 by 4 (40, 360 …); its C code and 7.0 do not.",
    reference="FFmpeg, libavfilter/vf_ssim.c, after x264",
    params=signature_params(**_HOW, k1=0.01, k2=0.03, pool="mean", precision="float32", step=4, window="uniform-8"),
)


class _Planes(PerFrame):
    """Follows the planes of two clips; what keeps one pair of frames from being compared ends it."""

    def __init__(self, values: Callable[[CodedPlanes, CodedPlanes], dict[str, float]]) -> None:
        super().__init__(self._compared)
        self._of_planes = values

    def _compared(self, pair: FramePair) -> dict[str, float]:
        gen, gt = _planes(pair.gen, "the clip"), _planes(pair.gt, "the reference")
        names = [picture.video.format.name for picture in (pair.gen, pair.gt)]
        shapes = [[plane.shape for plane in planes.values] for planes in (gen, gt)]
        for ours, theirs, words in (
            (gen.bits, gt.bits, f"{gen.bits} bits against a reference of {gt.bits}"),
            (gen.range, gt.range, f"{gen.range} range against a reference of {gt.range} range"),
            (*shapes, f"{names[0]} against a reference in {names[1]}"),
        ):
            if ours != theirs:
                raise Unsuited(f"{words}; convert one of them first")
        self.grey = _GREY if len(gt.values) == 1 else ""
        return self._of_planes(gen, gt)


def _planes(picture: Picture, side: str) -> CodedPlanes:
    if picture.planes is None:
        raise Unsuited(_NO_PLANES.format(side, picture.video.format.name))
    return picture.planes


def _squares(gen: CodedPlanes, gt: CodedPlanes) -> dict[str, float]:
    """PSNR and mean squared difference of a frame, by plane and of all."""
    errors = [squared_difference(one, other) for one, other in zip(gen.values, gt.values, strict=True)]
    sizes = [plane.size for plane in gt.values]
    mse = {f"_{letter}": error / size for letter, error, size in zip(_LETTERS, errors, sizes, strict=False)}
    mse = {"": sum(errors) / sum(sizes)} | dict.fromkeys(("_y", "_u", "_v"), math.nan) | mse
    frames = {f"ffmpeg_psnr{plane}": psnr_of(value, peak=gt.peak) for plane, value in mse.items()}
    return frames | {f"ffmpeg_psnr{plane}_mse": value for plane, value in mse.items()} | {"peak": gt.peak}


def _structure(gen: CodedPlanes, gt: CodedPlanes) -> dict[str, float]:
    """SSIM of a frame, by plane and of all; NaN where no block fits."""
    found = [block_ssim(one, other, gt.peak) for one, other in zip(gen.values, gt.values, strict=True)]
    values = [math.nan if value is None else value for value in found]
    sizes = [plane.size for plane in gt.values]
    planes = {f"ffmpeg_ssim_{letter}": value for letter, value in zip(_LETTERS, values, strict=False)}
    every = math.fsum(value * size for value, size in zip(values, sizes, strict=True)) / sum(sizes)
    return {"ffmpeg_ssim": every} | {f"ffmpeg_ssim_{letter}": math.nan for letter in _LETTERS} | planes


def observe_plane_psnr(context: PairContext) -> _Planes:
    """The squared differences of all planes, exact."""
    return _Planes(_squares)


def observe_plane_ssim(context: PairContext) -> _Planes:
    """SSIM of all planes."""
    return _Planes(_structure)


def psnr_of_mean_mse(definition: Definition, seen: Seen, series: str) -> Measurement:
    """PSNR of the frames' mean MSE; missing where that is 0."""
    mse = seen.series[f"{series}_mse"]
    if np.isnan(mse).all():
        return Measurement.missing(definition, seen.notes.get(series, "no pair of frames has a value"))
    value = psnr_of(math.fsum(mse) / len(mse), peak=float(seen.series["peak"][0]))
    if math.isinf(value):
        return Measurement.missing(definition, f"infinite: all {len(mse)} pairs of frames are identical")
    return Measurement(definition=definition, value=value, count=len(mse), note=seen.notes.get(series, ""))


def mean_of_blocks(definition: Definition, seen: Seen, series: str) -> Measurement:
    """The mean over frames; where planes are too small for a block, the note says so."""
    if series not in seen.notes and np.isnan(seen.series[series]).all():
        return Measurement.missing(definition, f"a plane is smaller than a block ({SMALLEST}×{SMALLEST})")
    return mean_of_frames(definition, seen, series)


_KINDS: Mapping[str, tuple[Definition, Callable[[PairContext], _Planes], Pool, tuple[float, float]]] = {
    "psnr": (_PSNR, observe_plane_psnr, psnr_of_mean_mse, (20.0, 50.0)),
    "ssim": (_SSIM, observe_plane_ssim, mean_of_blocks, (0.5, 1.0)),
}


def _metric(kind: Literal["psnr", "ssim"], letter: Letter | None) -> PairMetric:
    whole, observe, pool, span = _KINDS[kind]
    definition = replace(
        whole,
        name=f"{whole.name}_{letter}" if letter else whole.name,
        summary=whole.summary.format(f"the {_WORDS[letter]} plane" if letter else _ALL),
        params=signature_params(**dict(whole.params), planes=letter or "all-by-pixels"),
    )
    label = f"{kind.upper()}{'-' + letter.upper() if letter else ''} (ffmpeg)"
    found = PairMetric.with_lane(definition, label, observe, span, word=kind.upper(), pool=pool)
    return replace(found, lane=None) if letter else found


FFMPEG_PSNR_METRIC = _metric("psnr", None)
FFMPEG_PSNR_Y_METRIC = _metric("psnr", "y")
FFMPEG_PSNR_U_METRIC = _metric("psnr", "u")
FFMPEG_PSNR_V_METRIC = _metric("psnr", "v")
FFMPEG_SSIM_METRIC = _metric("ssim", None)
FFMPEG_SSIM_Y_METRIC = _metric("ssim", "y")
FFMPEG_SSIM_U_METRIC = _metric("ssim", "u")
FFMPEG_SSIM_V_METRIC = _metric("ssim", "v")
