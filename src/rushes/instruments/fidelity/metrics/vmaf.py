"""VMAF, pooled as libvmaf does by default, and by the harmonic mean; VIF, which libvmaf measures on its way to VMAF."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.fidelity.ffmpeg_engine.libvmaf import OPEN, OPEN_WITH_MODEL, RGB_RULE, observe_libvmaf
from rushes.instruments.fidelity.ffmpeg_engine.program import find_engine
from rushes.instruments.fidelity.ffmpeg_engine.raw import SMALLEST
from rushes.instruments.fidelity.metric import PairMetric, Seen, mean_of_frames

_EDGES = (
    "Identical clips do not reach 100: a still reads 97.43, more motion more. The first frame has none before, "
    "which the model takes for a still. Codes are taken as they are: 8 or 10 bits, 4:2:0, 4:2:2 or 4:4:4, both sides "
    f"alike, {SMALLEST} pixels to a side at least; RGB becomes YUV by the rule named; otherwise no value, with "
    "the reason. Values have the six decimals of libvmaf's log."
)
_REFERENCE = "Li et al. 2016, Netflix/vmaf; the program is GPL and is called, not linked"
_DEPENDS = ("frame_size", "fps", "range", "bit_depth", "transfer", "luma")
_RAISED = ("sharpening and more contrast",)

VMAF = Definition(
    name="vmaf",
    unit="1",
    lowest=0,
    highest=100,
    better="higher",
    summary="How good a distorted clip looks beside its reference, as learnt from people who watched it on TV.",
    formula="mean over frames of a support vector regression on VIF at 4 scales, detail loss (ADM) and motion of luma",
    edge_cases=_EDGES,
    reference=_REFERENCE,
    params=signature_params(pool="mean", rgb=RGB_RULE),
    open_params=OPEN_WITH_MODEL,
    depends_on=_DEPENDS,
    raised_by=_RAISED,
)
VMAF_HARMONIC = replace(
    VMAF,
    name="vmaf_harmonic",
    summary="VMAF with more weight on the worst frames.",
    formula="1 / mean over frames of 1 / (VMAF + 1), less 1",
    reference=_REFERENCE + "; pooled as libvmaf's harmonic_mean",
    params=signature_params(pool="harmonic", rgb=RGB_RULE),
)


VIF = Definition(
    name="vif",
    unit="1",
    lowest=0,
    highest=None,
    better="higher",
    summary="Share of the reference's information that is still in the picture, over luma at four scales.",
    formula="mean over frames of Σ information of gen / Σ information of gt, both sums over 4 scales, in pixels (VIFP)",
    edge_cases="Identical pictures have 1; more contrast than the reference has more than 1. 8 or 10 bits, both sides "
    f"coded alike, {SMALLEST} pixels to a side at least; RGB becomes YUV by the rule named; otherwise there is no "
    "value, with the reason. ffmpeg's filter vif has the four scales in floating point and no value for all of them.",
    reference="Sheikh and Bovik 2006; Netflix/vmaf, feature vif in integers; the program is GPL, called and not linked",
    params=signature_params(gain_limit=100, plane="y", pool="mean", rgb=RGB_RULE, scales=4),
    open_params=OPEN,
    depends_on=("frame_size", "range", "bit_depth", "transfer", "luma"),
    raised_by=_RAISED,
)


def harmonic_mean_of_frames(definition: Definition, seen: Seen, series: str) -> Measurement:
    """1 / mean(1 / (x + 1)) − 1 over the frames that have a value."""
    plain = mean_of_frames(definition, seen, series)
    if plain.value is None:
        return plain
    found = seen.series[series][~np.isnan(seen.series[series])]
    value = len(found) / math.fsum(1 / (found + 1)) - 1
    return Measurement(definition=definition, value=value, count=plain.count, note=plain.note)


VMAF_METRIC = PairMetric.with_lane(VMAF, "VMAF", observe_libvmaf, (0.0, 100.0), require=find_engine)
VMAF_HARMONIC_METRIC = PairMetric(
    definition=VMAF_HARMONIC,
    label="VMAF (harmonic)",
    observe=observe_libvmaf,
    series="vmaf",
    pool=harmonic_mean_of_frames,
    require=find_engine,
)

VIF_METRIC = PairMetric.with_lane(VIF, "VIF", observe_libvmaf, (0.0, 1.0), require=find_engine)
