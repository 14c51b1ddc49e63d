"""Single frames that do not belong: odd_frame_score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushes.core import Measurement, signature_params
from rushes.instruments.clip.frames.outliers import LONGEST
from rushes.instruments.clip.frames.picture_grid import PictureGrid
from rushes.instruments.clip.frames.spans import Span
from rushes.instruments.clip.metrics.making import from_zero, metric

RISE, DARKER, DARK_SHARE, TINTED, TINT_SHARE = 8.0, 3.0, 0.05, 30.0, 0.1
WHITE, LEFT, ALIKE = 235.0, 0.25, 0.8
_REACH = LONGEST + 1

ODD_FRAME_SCORE = from_zero(
    name="odd_frame_score",
    unit="1",
    better="lower",
    summary="How far one to three frames stand out from the frames around them, which agree: a torn, inverted or "
    "foreign frame. A photographer's flash is left out.",
    formula="largest min(d_in, d_out) / (d_back + 1) over runs of up to `frames` frames: the steps into and out of the "
    "run over the step from the frame before it to the frame after it, mean |ΔY| on 0–255; 0 where neither step is "
    f"more than twice the two before it (+ 1), and for a flash: the picture {_REACH} frames before or after in more "
    f"light, its blocks lighter by {RISE:g} levels in the mean and darker in at most {100 * DARK_SHARE:.0f} %, alike "
    f"(correlation ≥ {ALIKE}) where they are not white, tinted otherwise in at most {100 * TINT_SHARE:.0f} %",
    edge_cases="Fewer than four frames: no value. The first frame and the last have only one side and are not judged. "
    "A cut changes the picture once and scores 0.",
    reference="beside MetricBundleV1",
    params=signature_params(flashes="left-out", frames=LONGEST, plane="luma", range="full"),
    history=("first release", "a flash of light is no odd frame"),
    depends_on=("frame_size", "fps", "duration", "transfer", "luma"),
    raised_by=("a flash that leaves nothing but white", "a very still scene"),
    lowered_by=("fast motion, in which no step stands out", "a shorter clip"),
)


def odd_frame_score(scores: Sequence[float], times_ms: Sequence[float], grid: PictureGrid | None = None) -> Measurement:
    """The frame that stands out most; the note says when. Without a grid no flash is known. See `ODD_FRAME_SCORE`.

    >>> odd_frame_score([0.0, 0.0, 6.5, 0.0], [0.0, 1000.0, 2000.0, 3000.0]).note
    '2.0 s'
    """
    if len(scores) < 4:
        return Measurement.missing(ODD_FRAME_SCORE, "needs at least four frames")
    odd = [0.0 if score and grid is not None and is_flash(grid, n) else score for n, score in enumerate(scores)]
    place = int(np.argmax(odd))
    span = Span(times_ms[place], times_ms[place]) if odd[place] else None
    note = "" if span is None else span.text()
    return Measurement(definition=ODD_FRAME_SCORE, value=float(odd[place]), count=len(odd), note=note, span=span)


def is_flash(grid: PictureGrid, frame: int) -> bool:
    """Whether a frame shows the picture before or after it in more light, and nothing else."""
    beside = (max(0, frame - _REACH), min(len(grid) - 1, frame + _REACH))
    return any(_is_lit(grid, frame, other) for other in beside)


def _is_lit(grid: PictureGrid, lit: int, plain: int) -> bool:
    light, before = (np.asarray(grid.luma[n], np.float64).ravel() for n in (lit, plain))
    rise = light - before
    if rise.mean() < RISE or np.mean(rise < -DARKER) > DARK_SHARE:
        return False
    left = light < WHITE
    tinted = np.mean(_other_tint(grid, lit, plain) > TINTED)
    return bool(tinted <= TINT_SHARE and left.mean() >= LEFT and _alike(light[left], before[left]))


def _other_tint(grid: PictureGrid, lit: int, plain: int) -> NDArray[np.float64]:
    """How far the colour of each block is from being its own, stronger or weaker: light that clips bleaches colour."""
    now, own = (np.stack([grid.blue[n], grid.red[n]]).astype(np.float64) for n in (lit, plain))
    scale = np.clip((now * own).sum(axis=0) / np.maximum((own * own).sum(axis=0), 1.0), 0.0, 2.0)
    found: NDArray[np.float64] = np.hypot(*(now - scale * own))
    return found


def _alike(light: NDArray[np.float64], before: NDArray[np.float64]) -> bool:
    spread = light.std() * before.std()
    if spread == 0:
        return False
    return float(np.mean((light - light.mean()) * (before - before.mean())) / spread) >= ALIKE


def _measured(seen: Any) -> Measurement:
    return odd_frame_score(seen.odd_frame.tolist(), seen.time_ms.tolist(), seen.grid)


ODD_FRAME_SCORE_METRIC = metric(
    ODD_FRAME_SCORE,
    _measured,
    "luma",
    label="odd frame",
    room="page",
    too_high="glitch at",
)
