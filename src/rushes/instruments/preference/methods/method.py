"""A study's method: what one trial shows, what a rater answers, and on which scale.

pairs       two clips side by side: which is better (2 points), or by how much (7 points, comparison category rating)
acr         one clip: how good is it? Absolute category rating on 5, 9 or 11 points
acr-hr      the same with the reference among the clips, unlabelled: each clip also gets its difference from it
dcr         the reference, then a clip: how visible is the impairment? Degradation category rating
best-worst  three to five clips of one prompt: which is best, which is worst

Reference   ITU-T P.910 (acr, acr-hr, dcr, pair comparison), ITU-T P.913, ITU-T P.800 annex E (comparison category
            rating), Louviere, Flynn and Marley 2015 (best–worst scaling)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias, TypeVar, cast

from rushes.core.errors import InputError

T = TypeVar("T")
MethodName: TypeAlias = Literal["pairs", "acr", "acr-hr", "dcr", "best-worst"]
_POINTS: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {"pairs": (2, 7), "acr": (5, 9, 11), "acr-hr": (5, 9, 11), "dcr": (5, 9, 11), "best-worst": (4, 3, 5)}
)
"""The scales of each method, the default first; of best–worst, the most clips of a trial."""
METHODS = cast("tuple[MethodName, ...]", tuple(_POINTS))
QUALITY = ("Bad", "Poor", "Fair", "Good", "Excellent")
IMPAIRMENT = (*("Very annoying", "Annoying", "Slightly annoying", "Perceptible but not annoying", "Imperceptible"),)
COMPARISON = ("Much worse", "Worse", "Slightly worse", "About the same", "Slightly better", "Better", "Much better")
FAULTS = (
    *("Flicker", "Jerky or frozen motion", "Warped shape", "Missing or extra part", "Identity changes"),
    *("Blur or noise", "Wrong colour or light", "Does not follow the prompt", "Sound", "Other"),
)
"""What a rater may mark in a clip where the rubric has no tags of its own."""
MOST_FAULTS = 20
CLIPS = "abcde"
"""A trial's clips, in its own order; on the screen they are A to E in the order that an assignment says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One way of asking. Its text is what the database and signatures keep: "acr-5", "pairs-7-no-tie"."""

    name: MethodName = "pairs"
    points: int = 2
    """Of the scale; of best–worst the most clips of a trial."""
    tie: bool = True
    """Whether raters of pairs may answer that both are the same."""

    def __post_init__(self) -> None:
        if self.name not in _POINTS:
            raise InputError(f"a method is one of {', '.join(METHODS)}; got {self.name!r}")
        if self.points not in _POINTS[self.name]:
            allowed = ", ".join(map(str, sorted(_POINTS[self.name])))
            raise InputError(f"--scale of {self.name} is one of {allowed}; got {self.points}")
        if not self.tie and self.name != "pairs":
            raise InputError(f"only pairs can be asked with or without a tie; got {self.name}")

    @staticmethod
    def usual_points(name: MethodName) -> int:
        """Of the scale that a method has by default."""
        return _POINTS[name][0]

    @property
    def text(self) -> str:
        """
        >>> Method().text, Method(tie=False).text, Method(name="acr-hr", points=9).text
        ('pairs', 'pairs-2-no-tie', 'acr-hr-9')
        """
        if self == PAIRS:
            return "pairs"
        return f"{self.name}-{self.points}{'' if self.tie else '-no-tie'}"

    @property
    def is_pairs(self) -> bool:
        return self.name == "pairs"

    @property
    def rates(self) -> bool:
        """Whether raters give single clips a score."""
        return self.name in ("acr", "acr-hr", "dcr")

    @property
    def needs_reference(self) -> bool:
        return self.name in ("acr-hr", "dcr")

    @property
    def sequential(self) -> bool:
        """Whether clips of one trial are shown one after the other, in one place."""
        return self.name == "dcr"

    @property
    def rated_side(self) -> str:
        """Where the clip stands that is rated: the reference of `dcr` is A, and comes first."""
        return "B" if self.name == "dcr" else "A"

    @property
    def lowest(self) -> int:
        return 0 if self.rates and self.points == 11 else 1

    @property
    def highest(self) -> int:
        """
        >>> [(m.lowest, m.highest) for m in map(method, ("acr-5", "acr-9", "acr-11"))]
        [(1, 5), (1, 9), (0, 10)]
        """
        return self.lowest + self.points - 1 if self.rates else 5

    @property
    def degree(self) -> int:
        """How strongly a clip of a pair may be preferred at most; 0 where nobody asks."""
        return 3 if self.is_pairs and self.points == 7 else 0

    def words(self) -> dict[int, str]:
        """What each step of the scale is called, highest first; "" for the steps between two words.

        >>> list(method("acr-5").words().items())[:2], method("acr-11").words()[9], method("acr-9").words()[8]
        ([(5, 'Excellent'), (4, 'Good')], 'Excellent', '')
        """
        named = IMPAIRMENT if self.name == "dcr" else QUALITY
        every = (self.points - 1) // 4
        start = self.lowest + (self.points - 1) % 4 // 2
        at = {start + every * k: word for k, word in enumerate(named)}
        return {score: at.get(score, "") for score in range(self.highest, self.lowest - 1, -1)}

    def right(self, expected: str, score: int) -> bool:
        """Whether a score is in the half of the scale that an anchor expects: "low" or "high".

        >>> method("acr-5").right("low", 2), method("acr-5").right("low", 3), method("acr-9").right("high", 6)
        (True, False, True)
        """
        twice = 2 * score - self.lowest - self.highest
        return twice < 0 if expected == "low" else twice > 0

    @staticmethod
    def main(ratings: Mapping[str, T]) -> T:
        """The rating that checks look at: of overall quality, or the first there is."""
        return ratings["overall"] if "overall" in ratings else next(iter(ratings.values()))

    def repeats(self, first: int, second: int) -> bool:
        """Whether a hidden repeat got the same score: within one step of five."""
        return 4 * abs(first - second) <= self.points - 1


PAIRS = Method()
_TEXT = re.compile(r"(pairs|acr-hr|acr|dcr|best-worst)(?:-(\d{1,2}))?(-no-tie)?")


def method(text: str) -> Method:
    """The method that a text names; `InputError` naming those there are.

    >>> method("acr") == method("acr-5"), method("pairs-7-no-tie").tie
    (True, False)
    """
    found = _TEXT.fullmatch(text)
    if found is None:
        raise InputError(f"a method is one of {', '.join(METHODS)}; got {text!r}")
    name = cast(MethodName, found[1])
    return Method(name=name, points=int(found[2]) if found[2] else _POINTS[name][0], tie=found[3] is None)
