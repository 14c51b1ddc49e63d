"""letterbox_ratio: how much of the picture is black bars. A clip metric in a package of its own."""

import numpy as np

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.clip import ClipMetric, Lane, Trace

BLACK = 24.0
LETTERBOX_RATIO = Definition(
    name="letterbox_ratio",
    unit="ratio",
    lowest=0.0,
    highest=1.0,
    better="lower",
    summary="Share of the picture's rows that are black bars above and below it.",
    formula="mean over frames of rows outside the first and last row whose highest luma ≥ black / rows",
    edge_cases="A frame that is black all over is 1.",
    reference="none: an example",
    params=signature_params(black=BLACK),
)


class Bars:
    def __init__(self, facts):
        self.shares = []

    def add(self, frame):
        luma = frame.luma.full_range()
        lit = np.flatnonzero(luma.max(axis=1) >= BLACK)
        self.shares.append(1.0 - (lit[-1] - lit[0] + 1) / len(luma) if len(lit) else 1.0)

    def finish(self):
        return Measurement(definition=LETTERBOX_RATIO, value=float(np.mean(self.shares)), count=len(self.shares))

    def series(self):
        return {"letterbox_share": np.array(self.shares)}


LETTERBOX = ClipMetric(
    definition=LETTERBOX_RATIO,
    label="bars",
    needs=frozenset({"luma"}),
    lane=Lane(label="Bars", traces=(Trace(series="letterbox_share", word="bars"),)),
    start=Bars,
)
