"""A metric against the number of clips: how much of it is bias.

A Fréchet distance falls as N grows, whatever the sets. The curve shows by how much, on these very clips; over 1/N it is
a line once N is above D, and where the line meets 0 is the value at infinitely many clips (`labelled.at_infinity`).
"""

from __future__ import annotations

import numpy as np

from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.instruments.distribution.distances.intervals import Sample, sample_of
from rushes.instruments.distribution.distances.labelled import Sets

SIZES = 6
SUBSETS = 4
_LEAST = 4


def curve_sizes(most: int, d: int) -> list[int]:
    """Numbers of clips, each half of the next, up to the smaller set; none below 4.

    Where there are more clips than features, three more from D on: there the curve is a line in 1/N.

    >>> curve_sizes(256, 400), curve_sizes(20, 400), curve_sizes(700, 400)
    ([8, 16, 32, 64, 128, 256], [5, 10, 20], [21, 43, 87, 175, 350, 400, 500, 600, 700])
    """
    halves = {most >> halvings for halvings in range(SIZES) if most >> halvings >= _LEAST}
    above = {d + round(third * (most - d) / 3) for third in range(3)} if most > d else set()
    return sorted(halves | above)


def curve_measurements(sets: Sets, *, seed: int = 0) -> list[Measurement]:
    """The metric on random subsets of both sets, four of each size; `at` has `n` (clips) and `subset`.

    Each is the plain metric of that many clips, so its signature has that many in `n_gen` and `n_gt`. Where both sets
    are of the largest size there is one subset, the whole. Rows of one video are drawn together. A size that is too
    small for the metric has a missing value.

    Edge cases  fewer than 8 clips in a set: `InputError`, since there would be one size alone.
    """
    x, y = sample_of(sets.gen), sample_of(sets.gt)
    sizes = curve_sizes(min(x.count, y.count), sets.recipe.d)
    if len(sizes) < 2:
        raise InputError(f"a curve needs {2 * _LEAST} clips in each set; got {x.count} and {y.count}")
    draw = np.random.RandomState(seed)
    found = []
    for size in sizes:
        whole = x.count == y.count == size
        for number in range(1, 2 if whole else SUBSETS + 1):
            one, other = (x, y) if whole else (x.drawn(draw, size), y.drawn(draw, size))
            found.append(_point(sets, one, other, size, number, seed))
    return found


def _point(sets: Sets, x: Sample, y: Sample, size: int, subset: int, seed: int) -> Measurement:
    n_gen, n_gt = len(x.rows), len(y.rows)
    definition = sets.definition(n_gen, n_gt)
    at = (("n", str(size)), ("subset", str(subset)))
    try:
        value = sets.distance(x.rows, y.rows)
    except InputError as error:
        return Measurement.missing(definition, str(error), count=n_gen + n_gt, at=at)
    note = f"a random subset of {size} clips of each set, seed {seed}"
    return Measurement(definition=definition, value=value, count=n_gen + n_gt, note=note, at=at)
