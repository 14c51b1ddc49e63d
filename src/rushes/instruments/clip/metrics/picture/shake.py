"""Shaking that no hand and no wind makes: frame_jitter, local_jitter, row_wobble.

A thing that moves goes on moving, and a hand that shakes swings: its speed in one step is much like that in the next. A
picture that is placed anew in every frame goes back in each step what it went too far in the last one, so that the
speeds of neighbouring steps have a negative covariance. White noise of position with variance σ² along an axis has −σ²,
whatever smooth motion is added.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushes.core import Measurement, signature_params
from rushes.instruments.clip.frames.grid_kernels import region_moves
from rushes.instruments.clip.frames.picture_grid import PictureGrid
from rushes.instruments.clip.frames.quantiles import median, medians
from rushes.instruments.clip.metrics.making import from_zero, of_grid
from rushes.instruments.clip.metrics.picture.changes import kept

Moves = NDArray[np.float64]
"""steps × rows × columns of regions × (down, right), in blocks."""

PARTS, ROWS, ASIDE = 4, 8, 3
"""Regions along the shorter side, rows of a wobble, and regions across a row."""
FEWEST = 12
"""Steps, without which a covariance says nothing."""
FAINT, FARTHEST, CUT = 0.5, 1.0, 0.6
"""Mean square of the gradient, levels² a block, that is added; blocks that a step is taken to move at most; a cut."""
SWING_MS = 140.0

_shaking = partial(
    from_zero,
    unit="% of the shorter side",
    better="lower",
    reference="displacement: Lucas and Kanade 1981",
    depends_on=("fps", "duration"),
)
_MOVE = (
    "the least-squares displacement of {} between neighbouring frames (Lucas–Kanade with a common change of light, on "
    f"the grid of 16 blocks along the shorter side, {FAINT:g} levels² a block added, at most one block; 0 over cuts, "
    f"r < {CUT:g})"
)
_SHORT = f"Fewer than {FEWEST + 1} frames: no value."
_STEADY = "min(c(2), c(3), c(4), no less than 0)"
FRAME_JITTER = _shaking(
    name="frame_jitter",
    summary="How far the whole picture jumps about from frame to frame, beside its steady motion.",
    formula=f"100/16 · √max(0, {_STEADY} − c(1)), c(k) the mean over steps of d_t · d_(t+k), d = "
    + _MOVE.format("the picture")
    + f"; at most the median of the same over regions ({PARTS} along the shorter side)",
    edge_cases=f"{_SHORT} Of a picture placed at random within ±a along both axes √(2/3) · a. A hand-held camera "
    "reads 0, for it swings over many frames, and so do repeated frames and things that cross a plain picture.",
    params=signature_params(blocks=16, faint=FAINT, farthest=FARTHEST, lags="1-4", regions=PARTS),
    raised_by=("a train or a rattling car at a low frame rate",),
    lowered_by=("fast motion of large things", "a picture without structure"),
)
LOCAL_JITTER = _shaking(
    name="local_jitter",
    summary="How far parts of the picture jump about against the whole from frame to frame: shapes that boil.",
    formula="100/16 · the median over regions of √max(0, −c), c the mean over steps of d_t · d_(t+1), d the difference "
    f"between {_MOVE.format(f'a region ({PARTS} along the shorter side)')} and its median over the regions",
    edge_cases=f"{_SHORT} Where the displacement of parts of the picture is white noise of spread σ along both axes, "
    "about √2 · σ, less as regions hold several of them.",
    params=signature_params(blocks=16, faint=FAINT, farthest=FARTHEST, lags="1", regions=PARTS),
    raised_by=("fire and foam all over the picture",),
    lowered_by=("a part that moves smoothly", "a plain background"),
)
ROW_WOBBLE = _shaking(
    name="row_wobble",
    summary="How far rows of the picture slide to and fro against each other, as a picture of jelly does.",
    formula="100/16 · the largest, over lags k of up to "
    f"{SWING_MS:g} ms, of the median over {ROWS} rows of √max(0, −c(k)), c(k) the mean over steps of x_t · x_(t+k), x "
    f"the median of {ASIDE} regions across a row of {_MOVE.format('each, to the right')}, minus its median over rows",
    edge_cases=f"{_SHORT} A sine of amplitude a that swings f times a second, sampled finely: √2 · π · f · a / fps.",
    params=signature_params(blocks=16, faint=FAINT, farthest=FARTHEST, regions=f"{ROWS}x{ASIDE}", swing_ms=SWING_MS),
    raised_by=("a rolling shutter on a rattling mount",),
    lowered_by=("a wobble slower than two swings a second", "a plain background"),
)


def frame_jitter(grid: PictureGrid, times_ms: Any) -> Measurement:
    """How far the picture jumps about; see `FRAME_JITTER`."""
    if len(grid) <= FEWEST:
        return _too_short(FRAME_JITTER)
    whole, parts = displacements(grid, (1, 1)), displacements(grid, _parts(grid))
    square = min(median(_back_and_forth(moves)) for moves in (whole, parts))
    return _measured(FRAME_JITTER, square, len(whole))


def _back_and_forth(moves: Moves) -> Any:
    """How much less a step goes on with the one before than steps further apart, by region."""
    near, *further = (_products(moves, lag).mean(axis=0) for lag in (1, 2, 3, 4))
    return np.maximum(0.0, np.minimum.reduce(further)) - near


def _products(moves: Moves, lag: int) -> Any:
    """The product of each step's displacement and the one so many steps before."""
    both = moves[lag:] * moves[:-lag]
    return both[..., 0] + both[..., 1]


def _parts(grid: PictureGrid) -> tuple[int, int]:
    """Rows and columns of regions."""
    rows, columns = grid.luma.shape[1:]
    shorter = min(rows, columns)
    return round(PARTS * rows / shorter), round(PARTS * columns / shorter)


def local_jitter(grid: PictureGrid, times_ms: Any) -> Measurement:
    """How far parts jump about against the whole; see `LOCAL_JITTER`."""
    if len(grid) <= FEWEST:
        return _too_short(LOCAL_JITTER)
    moves = displacements(grid, _parts(grid))
    moves = moves - medians(moves.reshape(len(moves), -1, 2).swapaxes(1, 2))[:, None, None]
    back = -_products(moves, 1).mean(axis=0)
    return _measured(LOCAL_JITTER, median(back), len(moves))


def row_wobble(grid: PictureGrid, times_ms: Any) -> Measurement:
    """How far rows slide against each other; see `ROW_WOBBLE`."""
    if len(grid) <= FEWEST:
        return _too_short(ROW_WOBBLE)
    slides = medians(displacements(grid, (ROWS, ASIDE))[..., 1])
    slides = slides - medians(slides)[:, None]
    step_ms = max(1.0, (times_ms[-1] - times_ms[0]) / len(slides))
    lags = range(1, min(max(1, int(SWING_MS / step_ms)), len(slides) // 2) + 1)
    swings = [median(-(slides[lag:] * slides[:-lag]).mean(axis=0)) for lag in lags]
    return _measured(ROW_WOBBLE, max(swings), len(slides))


@lru_cache(maxsize=4)
def displacements(grid: PictureGrid, regions: tuple[int, int]) -> Moves:
    """How far so many rows and columns of regions move in each step, in blocks; 0 over cuts and at least 2 × 2 blocks.

    With g the gradient of the mean of both frames and e their difference, both without their means over the region,
    the d that makes Σ(e + g · d)² + λ|d|² smallest. Blocks left over are dropped.
    """
    moves = region_moves(grid.luma, regions, FAINT)
    moves[kept(grid) < CUT] = 0.0
    found: Moves = np.clip(moves, -FARTHEST, FARTHEST)
    found.flags.writeable = False
    return found


def _measured(definition: Any, square: float, count: int) -> Measurement:
    return Measurement(definition=definition, value=100 / 16 * max(0.0, square) ** 0.5, count=count)


def _too_short(definition: Any) -> Measurement:
    return Measurement.missing(definition, f"needs at least {FEWEST + 1} frames")


FRAME_JITTER_METRIC = of_grid(FRAME_JITTER, frame_jitter, on_request=True, too_high="picture jumps about")
LOCAL_JITTER_METRIC = of_grid(LOCAL_JITTER, local_jitter, on_request=True, too_high="shapes boil")
ROW_WOBBLE_METRIC = of_grid(ROW_WOBBLE, row_wobble, on_request=True, too_high="rows wobble")
