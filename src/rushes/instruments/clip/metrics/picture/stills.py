"""What single frames look like in detail: noise, banding, blocks, seams, combs, burnt-out and missing colour, coding.

Each looks at the frames 0.1, 1, 2, 4, 8 … s into the clip (`PictureSamples`), and has the upper quartile over them, so
that a fault of the second half shows and one odd frame does not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from rushes.core import Definition, Measurement, signature_params
from rushes.core.metric import ClipMetric
from rushes.instruments.clip.frames.picture_samples import CROP, FIRST_MS, SECOND_MS, PictureSamples
from rushes.instruments.clip.frames.quantiles import linear_quantile
from rushes.instruments.clip.frames.wrapped_edges import CLEAR, DEEPER, FINE, FLOOR, LONG
from rushes.instruments.clip.metrics.making import from_zero, metric, share

_SAMPLES = f"over the frames {FIRST_MS / 1000:g}, {SECOND_MS / 1000:g}, 2, 4, 8 … s into the clip"
_common: dict[str, Any] = {
    "reference": "beside MetricBundleV1",
    "edge_cases": "A clip that ends before 0.1 s, and frames of less than 96 pixels: no value.",
    "depends_on": ("duration", "transfer"),
}
_of_zero = partial(from_zero, **_common)
_of_one = partial(share, **_common)

NOISE_LEVEL = from_zero(
    name="noise_level",
    unit="luma levels",
    better="lower",
    summary="Standard deviation of the noise in the quietest quarter of the picture: grain, or static.",
    formula=f"upper quartile {_SAMPLES} of q₂₅(mean|Y ∗ M| over 8 × 8 blocks) · √(π/2) / 6, M = "
    f"[1 −2 1; −2 4 −2; 1 −2 1], in the middle {CROP} × {CROP} pixels, without blocks below 16 or above 239",
    edge_cases="No sample, frames of less than 96 pixels, GIF (its dither is noise): no value. All black or white: 0.",
    history=("first release", "GIF has no value"),
    reference="Immerkær 1996, Fast noise variance estimation",
    params=signature_params(crop=CROP, plane="luma", range="full", statistic="q75"),
    depends_on=("frame_size", "duration", "transfer", "luma"),
    raised_by=("film grain and night footage", "fine texture everywhere"),
    lowered_by=("denoising and compression", "scaling down"),
)
_dithered: dict[str, Any] = {
    "edge_cases": "A clip that ends before 0.1 s, frames of less than 96 pixels, GIF (its dither is noise): no value.",
    "history": ("first release", "GIF has no value"),
}
STATIC_PART = _of_one(
    **_dithered,
    name="static_part",
    better="lower",
    summary="Share of the picture that is static: pixels that have nothing to do with their neighbours.",
    formula=f"upper quartile {_SAMPLES} of the share of 16 × 16 blocks, in the middle {CROP} × {CROP} pixels, with a "
    "variance v ≥ 15² whose covariances with the pixel to the right and with the one below are at most 0.3 v",
    params=signature_params(crop=CROP, most=0.3, plane="luma", spread=15, statistic="q75"),
    raised_by=("text and patterns of single pixels", "star fields"),
    lowered_by=("compression, scaling and blur, which make neighbours alike",),
)
BANDING = _of_one(
    name="banding",
    better="lower",
    summary="How strongly the colours keep to a few levels: a picture of 5 bits or fewer.",
    formula=f"upper quartile {_SAMPLES} of the largest |Σ h(v) e^(2πiv/p)| / Σ h over R, G, B and p = 4, 8, 16, 32, "
    "less the largest at 0.83, 0.9, 1.11 and 1.21 p; h the histogram of levels 4–251",
    params=signature_params(periods="4+8+16+32", plane="rgb", statistic="q75"),
    raised_by=("drawings and screens of few colours",),
    lowered_by=("noise, which dithers the steps away", "compression"),
)
BLOCKING = _of_zero(
    name="blocking",
    better="lower",
    unit="1",
    summary="How far the edges of 8 × 8 blocks stand out: strong compression without a filter, or a mosaic.",
    formula=f"upper quartile {_SAMPLES} of the mean over both axes of max_k mean(e at k, k + 8, …) / (mean d + 0.3); d "
    "the mean |difference of neighbours| of a column (row), e = d less the mean of the two beside it",
    params=signature_params(block=8, crop=CROP, plane="luma", statistic="q75"),
    raised_by=("pixel art", "straight edges that repeat every 8 pixels"),
    lowered_by=("scaling after coding", "a deblocking filter, which newer codecs have"),
)
SEAM_LENGTH = _of_one(
    name="seam_length",
    better="lower",
    summary="Length of the third longest straight seam down and across the picture: tiles that do not belong together.",
    formula=f"upper quartile {_SAMPLES} of the smaller, over columns and rows, of the third largest share of rows "
    "(columns) in which the step to the next column (row) is 1.5 levels larger than the two on either side",
    params=signature_params(least=1.5, plane="luma", statistic="q75", which=3),
    raised_by=("screens, tables, split screens", "windows and bookshelves seen straight on"),
    lowered_by=("tiles that are alike", "a turned picture"),
)
PICTURE_WRAPPED = _of_one(
    name="picture_wrapped",
    better="lower",
    summary="How clearly the picture goes on round its edges and is broken inside: two halves that have changed "
    "places, or a picture that rolls.",
    formula=f"median {_SAMPLES} of the larger, over columns and rows, of (r² − q²) · S / (S + E + {FLOOR:g}), "
    "at least 0; E the mean |difference| of the first column and the last, r ≥ 0 their correlation, each without its "
    f"moving mean over a tenth of its length, 0 where that leaves less than {FINE:g} levels (rms); q the same of the "
    f"columns 1/{DEEPER} of the width further in; S the largest mean step between two columns less the largest of the "
    "two before and the two after, less the third largest of the same, 0 if it stands out by "
    f"{CLEAR:g} levels in less than {LONG:g} of the rows; every third row (column) is looked at",
    params=signature_params(
        clear=CLEAR, deeper=DEEPER, fine=FINE, floor=FLOOR, long=LONG, plane="luma", statistic="median"
    ),
    raised_by=("a panorama of the whole circle with a straight upright edge in it",),
    lowered_by=("edges that are plain, or alike", "fast motion across the edges"),
)
COMBING = _of_zero(
    **_dithered,
    name="combing",
    better="lower",
    unit="1",
    summary="How far lines stand apart from those above and below where something moves: two fields in one frame.",
    formula=f"upper quartile {_SAMPLES} of the 90th percentile over 16 × 16 blocks with mean|ΔY| ≥ 2 of "
    "mean|Y_y − (Y_{y−1} + Y_{y+1})/2| / (mean|Y_{y+1} − Y_{y−1}| + 1)",
    params=signature_params(crop=CROP, plane="luma", statistic="q75"),
    raised_by=("noise, up to 0.87", "fine horizontal lines"),
    lowered_by=("little motion", "scaling after weaving"),
)
CLIPPED_COLOUR = _of_one(
    name="clipped_colour",
    better="lower",
    summary="Share of pixels with one channel at its top and another at its bottom: saturation that burns out.",
    formula=f"upper quartile {_SAMPLES} of the share of pixels with max(R, G, B) ≥ 250 and min(R, G, B) ≤ 8",
    params=signature_params(high=250, low=8, plane="rgb", statistic="q75"),
    raised_by=("drawings and screens in pure colours", "neon light"),
    lowered_by=("a dark or grey scene",),
)
PEAK_LUMA = _of_zero(
    name="peak_luma",
    better="neither",
    unit="luma levels",
    summary="How light the lightest parts are. A picture whose lights are dark was decoded or scaled wrongly.",
    formula=f"upper quartile {_SAMPLES} of the 99.5th percentile of luma, 0–255",
    params=signature_params(plane="luma", quantile=0.995, range="full", statistic="q75"),
    raised_by=("lamps and titles in a dark scene",),
    lowered_by=("night without lamps",),
)
SECOND_CHANNEL = _of_one(
    name="second_channel",
    better="neither",
    summary="How far the second strongest of red, green and blue reaches: near 0 where one channel is all there is.",
    formula=f"upper quartile {_SAMPLES} of middle / largest of the 98th percentiles of R, G, B; 1 where all is black",
    params=signature_params(plane="rgb", quantile=0.98, statistic="q75"),
    raised_by=("anything white or yellow",),
    lowered_by=("red, green or blue light alone",),
)

CODING_QUANTISER = _of_zero(
    name="coding_quantiser",
    better="lower",
    unit="QP of H.264",
    summary="How coarsely the picture was coded: 18 to 28 is usual, from 38 on it smears and blocks show.",
    formula=f"upper quartile {_SAMPLES} of the mean over the blocks of a frame of the quantiser that the stream says, "
    "0 to 51; of MPEG-1, -2 and -4, whose own is q, 12 + 6·log₂ q",
    edge_cases="Codecs other than H.264 and MPEG-1, -2 and -4, frames that were not decoded from a file, the common "
    "and the canonical form, a clip that ends before 0.1 s, and frames of less than 96 pixels: no value. It is about "
    "this file's coding: what was lost before, in a file this one was made from, does not show. Of 50 clips of 14 "
    "sources 6 to 32.",
    params=signature_params(scale="h264", statistic="q75"),
    raised_by=("a low bit rate", "motion and detail, at a fixed bit rate"),
    lowered_by=("coding once more at a higher rate", "flat parts of the picture"),
)


def upper_quartile(definition: Definition, values: Sequence[float], share: float = 0.75) -> Measurement:
    """The 75th percentile over the samples, linear between ranks, or another one.

    >>> upper_quartile(COMBING, [0.2, 0.4, 0.4, 1.2]).value
    0.6
    """
    found = max(0.0, round(linear_quantile(sorted(values).__getitem__, len(values), share), 8))
    return Measurement(definition=definition, value=found, count=len(values))


def _of_samples(
    definition: Definition, series: str, *, dither: bool = True, share: float = 0.75, **shown: Any
) -> ClipMetric:
    """A metric of the samples; without `dither` it has no value for GIF."""

    def measure(seen: Any) -> Measurement:
        if not isinstance(seen.samples, PictureSamples):
            return Measurement.missing(definition, seen.samples or "no frame could be decoded")
        if not dither and seen.facts is not None and seen.facts.video is not None and seen.facts.video.codec == "gif":
            return Measurement.missing(definition, "dither of a palette (GIF) looks like noise")
        values = [value for value in getattr(seen.samples, series) if not math.isnan(value)]
        if not values:
            return Measurement.missing(definition, "the stream does not say how coarsely it was coded")
        return upper_quartile(definition, values, share)

    return metric(definition, measure, "luma", "samples", on_request=True, **shown)


NOISE_LEVEL_METRIC = _of_samples(NOISE_LEVEL, "noise", dither=False, too_high="noisy")
STATIC_PART_METRIC = _of_samples(STATIC_PART, "static", dither=False, too_high="static in the picture")
BANDING_METRIC = _of_samples(BANDING, "banding", too_high="banded")
BLOCKING_METRIC = _of_samples(BLOCKING, "blocking", too_high="blocky")
SEAM_LENGTH_METRIC = _of_samples(SEAM_LENGTH, "seams", too_high="seams across the picture")
PICTURE_WRAPPED_METRIC = _of_samples(
    PICTURE_WRAPPED, "wrapped", share=0.5, too_high="the picture wraps round: halves swapped, or it rolls"
)
COMBING_METRIC = _of_samples(COMBING, "combing", dither=False, too_high="combed")
CLIPPED_COLOUR_METRIC = _of_samples(CLIPPED_COLOUR, "clipped_colour", too_high="colour burnt out")
PEAK_LUMA_METRIC = _of_samples(PEAK_LUMA, "peak", too_low="far too dark")
SECOND_CHANNEL_METRIC = _of_samples(SECOND_CHANNEL, "second_channel", too_low="only one colour channel")
CODING_QUANTISER_METRIC = _of_samples(CODING_QUANTISER, "quantiser", too_high="coded with too few bits")
