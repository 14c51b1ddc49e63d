"""Visual information fidelity, as libvmaf measures it on its way to VMAF."""

from __future__ import annotations

from rushes.core import Definition, signature_params
from rushes.core.metric import Lane, Trace, spanning
from rushes.fidelity.ffmpeg_engine.libvmaf import OPEN, RGB_RULE, observe_libvmaf
from rushes.fidelity.ffmpeg_engine.program import require_engine
from rushes.fidelity.ffmpeg_engine.raw import SMALLEST
from rushes.fidelity.metric import PairMetric

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
    raised_by=("sharpening and more contrast",),
)
VIF_METRIC = PairMetric(
    definition=VIF,
    label="VIF",
    observe=observe_libvmaf,
    series="vif",
    lane=Lane(label="VIF", traces=(Trace(series="vif", word="VIF", scale=spanning(0.0, 1.0)),)),
    require=require_engine,
)
