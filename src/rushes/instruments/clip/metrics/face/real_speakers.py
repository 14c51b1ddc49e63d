"""How real people speak to a camera: the spread that generated faces are compared with.

Twelve real speakers (six sources, English and Chinese; ten clips of one laboratory count as one): mean and standard
deviation of the natural logarithm of each number. `benchmarks/real_speakers.csv` names every recording with its
numbers, and `benchmarks/real_speakers.py` makes these constants from it. A distance is two-sided: a mouth that moves
three times as much as people's is as far away as one that moves a third.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple


class Spread(NamedTuple):
    """Of the logarithm over real speakers."""

    mean: float
    deviation: float

    def z(self, value: float) -> float:
        """How many standard deviations a value is above people's mean; a value of 0 counts as a millionth."""
        return (math.log(max(value, 1e-6)) - self.mean) / self.deviation

    @property
    def typical(self) -> float:
        return math.exp(self.mean)


MOUTH = {"open": Spread(-3.371, 0.370), "wide": Spread(-3.710, 0.435), "jaw": Spread(-3.537, 0.343)}
"""Standard deviation, while speech is heard, of lip opening, mouth width and jaw drop, in inter-ocular distances."""
HEAD = {"speed": Spread(2.441, 0.611), "spread": Spread(1.473, 0.877)}
"""head_motion in degrees per second and head_pose_spread in degrees."""
NAME = "12-speakers"
"""In signatures: another set of real speakers is another number."""
HISTORY = ("first release", "12 named speakers, none of ADTH-QA's, in place of 15")


def distance(values: Mapping[str, float], spreads: Mapping[str, Spread]) -> float:
    """Root mean square of the z of each value.

    >>> two = {"a": Spread(0.0, 1.0), "b": Spread(0.0, 0.5)}
    >>> distance({"a": math.e, "b": 1.0}, two) == math.sqrt(0.5)
    True
    """
    return math.sqrt(math.fsum(spreads[key].z(value) ** 2 for key, value in values.items()) / len(values))


def furthest(values: Mapping[str, float], spreads: Mapping[str, Spread]) -> str:
    """The value that is furthest from people's, in words: "jaw 0.4 of people's"."""
    key = max(values, key=lambda name: abs(spreads[name].z(values[name])))
    return f"{key} {values[key] / spreads[key].typical:.2g} of people's"
