"""Mean absolute difference over RGB."""

from __future__ import annotations

from rushes.core import Definition, signature_params
from rushes.core.metric import Lane, Trace, spanning
from rushes.fidelity.metric import PairMetric
from rushes.fidelity.rgb import HOW, observe_rgb

L1 = Definition(
    name="l1",
    unit="levels",
    lowest=0,
    highest=255,
    better="lower",
    summary="Mean absolute difference of two pictures, over all three channels of 8-bit RGB, in levels of 0–255.",
    formula="mean over frames of mean |a − b| over every sample of R, G and B; divide by 255 for the 0–1 scale",
    edge_cases="Identical pictures: 0. Black against white: 255.",
    reference="mean absolute error; DisCo's L1 divides it by the number of pixels as well (disco_l1)",
    params=signature_params(**HOW, pool="mean", scale=255),
    depends_on=("frame_size", "transfer"),
)
L1_METRIC = PairMetric(
    definition=L1,
    label="L1",
    observe=observe_rgb,
    series="l1",
    lane=Lane(label="L1", traces=(Trace(series="l1", word="L1", scale=spanning(0.0, 20.0)),)),
)
