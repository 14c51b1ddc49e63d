"""XPSNR, by the filter of the FFmpeg that PyAV carries; the pulled ffmpeg 7.0 has none."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
from av.error import FFmpegError
from av.filter import Graph
from av.filter.context import FilterContext
from av.video.frame import VideoFrame

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.fidelity.ffmpeg_engine.raw import SMALLEST, RawForm, pair_form, raw_planes
from rushes.instruments.fidelity.metric import PairContext, PairMetric, Seen
from rushes.instruments.fidelity.pairs.per_frame_observer import PerFrame, Unsuited
from rushes.instruments.fidelity.pairs.picture import FramePair, Picture

_PLANES = {"y": "luma", "u": "U", "v": "V"}
_NO_RATE = Fraction(25)


class XpsnrObserver(PerFrame):
    """The filter, fed pair by pair. The reference goes in first: XPSNR weighs errors by what is in the original."""

    def __init__(self, context: PairContext) -> None:
        super().__init__(self._measured)
        self._rate = Fraction(context.fps).limit_denominator(1001) if context.fps else _NO_RATE
        self._form: RawForm | None = None
        self._graph: _Xpsnr | None = None

    def _measured(self, pair: FramePair) -> dict[str, float]:
        self._form = form = pair_form(pair, self._form)
        if form.is_rgb:
            raise Unsuited("RGB pictures have no luma plane, which XPSNR needs; convert the clip to YUV")
        self.grey = "grey pictures have no chroma" if form.grey else ""
        try:
            self._graph = self._graph or _Xpsnr(form, self._rate)
            found = self._graph.measured(_frame(pair.gt, form, pair.index), _frame(pair.gen, form, pair.index))
        except FFmpegError as error:
            raise Unsuited(f"ffmpeg's filter xpsnr failed ({error.strerror})") from None
        return {f"xpsnr_{p}": math.nan if form.grey and p != "y" else value for p, value in found.items()}

    def finish(self) -> Seen:
        return replace(super().finish(), params={"engine": f"avfilter-{_filter_version()}"})


class _Xpsnr:
    """A filter graph: reference and generated picture in, values out."""

    def __init__(self, form: RawForm, rate: Fraction) -> None:
        self._graph = Graph()
        self._graph.threads = 1
        measure, self._sink = self._graph.add("xpsnr"), self._graph.add("buffersink")
        self._gt, self._gen = (self._source(name, form, rate) for name in ("gt", "gen"))
        self._gt.link_to(measure, 0, 0)
        self._gen.link_to(measure, 0, 1)
        measure.link_to(self._sink)
        self._graph.configure()

    def measured(self, gt: VideoFrame, gen: VideoFrame) -> dict[str, float]:
        self._gt.push(gt)
        self._gen.push(gen)
        said = self._sink.pull().metadata
        return {plane: float(said[f"lavfi.xpsnr.xpsnr.{plane}"]) for plane in _PLANES}

    def _source(self, name: str, form: RawForm, rate: Fraction) -> FilterContext:
        return self._graph.add(
            "buffer",
            name=name,
            video_size=f"{form.width}x{form.height}",
            pix_fmt=form.pix_fmt,
            time_base=str(1 / rate),
            frame_rate=str(rate),
            pixel_aspect="1/1",
        )


def _frame(picture: Picture, form: RawForm, index: int) -> VideoFrame:
    """A copy of the picture's planes: the filter keeps what it is given."""
    frame = VideoFrame(form.width, form.height, form.pix_fmt)
    frame.pts = index
    for values, plane in zip(raw_planes(picture, form), frame.planes, strict=True):
        lines = np.frombuffer(memoryview(plane), values.dtype).reshape(-1, plane.line_size // values.itemsize)
        if form.bits > 8 and lines.shape[1] != values.shape[1]:
            # The filter takes the second picture's lines to be as long as they are wide, and would read askew.
            raise Unsuited(
                f"{form.pix_fmt}: ffmpeg's xpsnr misreads a width of {form.width}; expected a multiple of 16"
            )
        lines[: values.shape[0], : values.shape[1]] = values
    return frame


def _filter_version() -> str:
    import av

    return ".".join(map(str, av.library_versions["libavfilter"]))


def square_mean_root(definition: Definition, seen: Seen, series: str) -> Measurement:
    """−20 log10 of the mean over frames of 10^(−XPSNR / 20), as ffmpeg's filter; identical frames count as 0."""
    values = seen.series[series]
    if np.isnan(values).all():
        return Measurement.missing(definition, seen.notes.get(series, "no pair of frames has a value"))
    distance = math.fsum(10.0 ** (-values / 20)) / len(values)
    if not distance:
        return Measurement.missing(definition, f"infinite: all {len(values)} pairs of frames are identical")
    return Measurement(definition=definition, value=-20 * math.log10(distance), count=len(values))


def _metric(plane: str) -> PairMetric:
    name, label = f"xpsnr_{plane}", f"XPSNR-{plane.upper()}"
    definition = Definition(
        name=name,
        unit="dB",
        lowest=0,
        highest=None,
        better="higher",
        summary=f"PSNR of {_PLANES[plane]} in which an error counts less where the original is busy or moves.",
        formula="−20 log10 mean over frames of sqrt(Σ over blocks w · SSE / (W H peak²)); w from spatial and temporal "
        "activity of the reference's luma",
        edge_cases="Identical clips: infinite, no value. Identical frames among others count as no distance. Both "
        f"sides are YUV coded alike, {SMALLEST} pixels to a side at least; over 8 bits the width must be a multiple of "
        "16; otherwise there is no value, with the reason. Temporal activity is a first difference below 32 frames a "
        "second and for pictures without a rate, a second difference from there on. Grey clips have no chroma.",
        reference="Helmrich et al. 2020; FFmpeg, libavfilter/vf_xpsnr.c, reference given first",
        params=signature_params(
            peak="2^n-1", plane=plane, pool="square-mean-root", temporal="second-from-32fps", weights_of="reference"
        ),
        open_params=("engine",),
        depends_on=("frame_size", "fps", "range", "bit_depth", "transfer"),
    )
    return PairMetric.with_lane(definition, label, XpsnrObserver, (20.0, 50.0), pool=square_mean_root)


XPSNR_Y_METRIC = _metric("y")
XPSNR_U_METRIC = _metric("u")
XPSNR_V_METRIC = _metric("v")
