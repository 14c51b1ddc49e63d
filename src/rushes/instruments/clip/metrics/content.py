"""What kind of picture a clip holds: how much of it is plain, and how much moves. They tell a screen from a film."""

from __future__ import annotations

from typing import Any

import numpy as np

from rushes.core import Measurement, signature_params
from rushes.instruments.clip.frames.quantiles import median
from rushes.instruments.clip.metrics.making import metric, share

PLAIN_LEVELS = 0.3
"""Mean difference of neighbours, levels of 255, below which a block has no texture: paper, or a wall in the dark."""
MOVING_LEVELS = 1.0
"""Mean change of a block from frame to frame, levels of 255, above which something moves in it."""

PLAIN_AREA_RATIO = share(
    name="plain_area_ratio",
    better="neither",
    summary="Share of the picture without texture: high for screens, drawings and white studios, low for most films.",
    formula="share of blocks, over the frames whose texture is taken (one every 120 ms), with a mean |Y − its right "
    "neighbour| below 0.3 levels of 255; blocks are squares, 16 along the shorter side",
    edge_cases="No frame: no value.",
    reference="Rushes",
    params=signature_params(blocks=16, levels=PLAIN_LEVELS, plane="luma"),
    depends_on=("frame_size", "luma"),
)
MOVING_AREA_RATIO = share(
    name="moving_area_ratio",
    better="neither",
    summary="Share of the picture that changes from frame to frame: a cursor changes little of a screen.",
    formula="median over steps of the share of blocks with a mean |Y_t − Y_{t−1}| above 1 level of 255; blocks are "
    "squares, 16 along the shorter side",
    edge_cases="Fewer than two frames: no value.",
    reference="Rushes",
    params=signature_params(blocks=16, levels=MOVING_LEVELS, plane="luma", statistic="median"),
    depends_on=("frame_size", "fps", "luma"),
)


def plain_area_ratio(seen: Any) -> Measurement:
    """See `PLAIN_AREA_RATIO`."""
    if seen.grid is None or not seen.grid.texture.size:
        return Measurement.missing(PLAIN_AREA_RATIO, "no frame could be decoded")
    plain = int(np.count_nonzero(seen.grid.texture < PLAIN_LEVELS))
    return Measurement(definition=PLAIN_AREA_RATIO, value=plain / seen.grid.texture.size, count=len(seen.grid.textured))


def moving_area_ratio(seen: Any) -> Measurement:
    """See `MOVING_AREA_RATIO`."""
    if seen.grid is None or len(seen.grid) < 2:
        return Measurement.missing(MOVING_AREA_RATIO, "needs at least two frames")
    steps = seen.grid.step[1:]
    moving = np.count_nonzero(steps > MOVING_LEVELS, axis=(1, 2))
    value = median(moving) / (steps.shape[1] * steps.shape[2])
    return Measurement(definition=MOVING_AREA_RATIO, value=value, count=len(steps))


PLAIN_AREA_RATIO_METRIC = metric(PLAIN_AREA_RATIO, plain_area_ratio, "luma")
MOVING_AREA_RATIO_METRIC = metric(MOVING_AREA_RATIO, moving_area_ratio, "luma")
