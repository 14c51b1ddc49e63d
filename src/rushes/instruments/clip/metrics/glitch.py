"""Single frames that do not belong: odd_frame_score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rushes.core import Measurement, signature_params
from rushes.instruments.clip.frames.outliers import LONGEST
from rushes.instruments.clip.frames.spans import Span
from rushes.instruments.clip.metrics.making import from_zero, of_luma

ODD_FRAME_SCORE = from_zero(
    name="odd_frame_score",
    unit="1",
    better="lower",
    summary="How far one to three frames stand out from the frames around them, which agree: a torn, inverted or "
    "foreign frame. A photographer's flash is legitimately high.",
    formula="largest min(d_in, d_out) / (d_back + 1) over runs of up to `frames` frames: the steps into and out of the "
    "run over the step from the frame before it to the frame after it, mean |ΔY| on 0–255; 0 where neither step is "
    "more than twice the two before it (+ 1)",
    edge_cases="Fewer than four frames: no value. The first frame and the last have only one side and are not judged. "
    "A cut changes the picture once and scores 0.",
    reference="beside MetricBundleV1",
    params=signature_params(frames=LONGEST, plane="luma", range="full"),
    depends_on=("frame_size", "fps", "duration", "transfer", "luma"),
    raised_by=("flashes of light", "a very still scene"),
    lowered_by=("fast motion, in which no step stands out", "a shorter clip"),
)


def odd_frame_score(scores: Sequence[float], times_ms: Sequence[float]) -> Measurement:
    """The frame that stands out most; the note says when. See `ODD_FRAME_SCORE`.

    >>> odd_frame_score([0.0, 0.0, 6.5, 0.0], [0.0, 1000.0, 2000.0, 3000.0]).note
    '2.0 s'
    """
    if len(scores) < 4:
        return Measurement.missing(ODD_FRAME_SCORE, "needs at least four frames")
    place = int(np.argmax(scores))
    span = Span(times_ms[place], times_ms[place]) if scores[place] else None
    note = "" if span is None else span.text()
    return Measurement(definition=ODD_FRAME_SCORE, value=float(scores[place]), count=len(scores), note=note, span=span)


ODD_FRAME_SCORE_METRIC = of_luma(
    ODD_FRAME_SCORE,
    odd_frame_score,
    "odd_frame",
    "time_ms",
    label="odd frame",
    room="page",
    too_high="glitch at",
)
