"""How many raters does a study of single clips need? Power by simulation, under the ranks that its report makes.

Model       rating = round(middle ± half the difference + b_rater + t_rater,system + p_prompt + l_prompt,system +
            noise), cut to the scale; b, t, p, l and the noise are normal, given in points of a five-point scale and
            stretched to longer ones. Systems between the best and the worst are evenly spaced
Study       as `rushes study create --method acr` makes it: every clip gets equally many raters, every rater equally
            many clips. Of `acr-hr` the reference's clips are rated too, and are not ranked; `dcr` shows its reference
            without a rating
Found       Holm's rule over all differences of two systems puts the best above the worst (`mos_rank`)
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from rushes.core import Definition, Measurement
from rushes.core.errors import InputError
from rushes.instruments.preference.methods.method import Method
from rushes.stats.clustered import CLUSTERS, TWO_WAY
from rushes.stats.families import holm
from rushes.stats.intervals import LEVEL, Floats, Whole, check_confidence
from rushes.stats.means import share
from rushes.stats.opinions import clustered_difference


class Scale(NamedTuple):
    """A rating scale, as far as its simulation goes."""

    lowest: int
    highest: int

    @classmethod
    def of(cls, points: int) -> Scale:
        """
        >>> Scale.of(5), Scale.of(11).middle, Scale.of(9).stretch
        (Scale(lowest=1, highest=5), 5.0, 2.0)
        """
        asked = Method(name="acr", points=points)
        return cls(asked.lowest, asked.highest)

    @property
    def middle(self) -> float:
        return (self.lowest + self.highest) / 2

    @property
    def stretch(self) -> float:
        """Points for each of five."""
        return (self.highest - self.lowest) / 4


@dataclass(frozen=True, slots=True, kw_only=True)
class OpinionDesign:
    """A study of single clips as it is planned; spreads are standard deviations in points of a five-point scale."""

    difference: float = 0.3
    """Between the best and the worst system, in points of the scale that is used."""
    points: int = 5
    """Of the scale: 5, 9 or 11."""
    hidden_reference: bool = False
    """Whether the reference's clips are rated too, as in `acr-hr`."""
    systems: int = 2
    raters: int = 15
    prompts: int = 30
    ratings_per_rater: int = 60
    min_raters: int | None = None
    """Raters per clip; None: as many as their ratings are enough for."""
    bias: float = 0.5
    """How far raters differ in how high they rate."""
    taste: float = 0.2
    """How far a rater's liking of one system differs from other raters'."""
    prompt: float = 0.4
    """How far prompts differ in how well all systems do."""
    leaning: float = 0.3
    """How far a prompt suits one system and not another."""
    noise: float = 0.7
    confidence: float = LEVEL

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if min(self.bias, self.taste, self.prompt, self.leaning, self.noise, self.difference) < 0:
            raise InputError("expected a difference and spreads of 0 or more points")
        if self.systems < 2 or self.raters < 2 or self.prompts < 2:
            raise InputError(
                f"a plan needs two systems, two raters and two prompts; got {self.systems}, {self.raters} and "
                f"{self.prompts}"
            )
        if not 1 <= self.ratings_per_rater <= self.clips:
            raise InputError(f"a rater rates 1 to {self.clips} clips, each once; got {self.ratings_per_rater}")
        if not 2 <= self.raters_per_clip <= min(self.raters, self.raters * self.ratings_per_rater // self.clips):
            raise InputError(
                f"{self.raters} raters with {self.ratings_per_rater} ratings are fewer than {self.min_raters or 'two'} "
                f"for each of {self.clips} clips; take more raters or fewer prompts"
            )

    @property
    def clips(self) -> int:
        """That are rated, the hidden reference's included."""
        return (self.systems + self.hidden_reference) * self.prompts

    @property
    def ratings(self) -> int:
        return self.clips * self.raters_per_clip

    @property
    def raters_per_clip(self) -> int:
        return self.min_raters or min(self.raters, self.raters * self.ratings_per_rater // self.clips)

    @property
    def means(self) -> Floats:
        """Of every system, before rounding: the best first, the worst last; then of the hidden reference, a point of
        five above the middle."""
        ranked = self.scale.middle + self.difference * (0.5 - np.arange(self.systems) / (self.systems - 1))
        return np.append(ranked, self.scale.middle + self.scale.stretch)

    @property
    def scale(self) -> Scale:
        return Scale.of(self.points)


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """A simulated study: a rating, a system, a prompt and a rater per row."""

    score: Floats
    system: Whole
    prompt: Whole
    rater: Whole


def simulated_ratings(design: OpinionDesign, draw: np.random.Generator) -> Ratings:
    """One study of the design."""
    clip = np.repeat(draw.permutation(design.clips), design.raters_per_clip)
    rater = draw.permutation(design.raters)[np.arange(len(clip)) % design.raters]
    rated = len(design.means) if design.hidden_reference else design.systems
    system, prompt = clip % rated, clip // rated
    apart = draw.normal(0, design.noise, len(clip))
    apart += draw.normal(0, design.bias, design.raters)[rater]
    apart += draw.normal(0, design.taste, (design.raters, rated))[rater, system]
    apart += draw.normal(0, design.prompt, design.prompts)[prompt]
    apart += draw.normal(0, design.leaning, (design.prompts, rated))[prompt, system]
    latent = design.means[system] + design.scale.stretch * apart
    return Ratings(np.clip(np.rint(latent), design.scale.lowest, design.scale.highest), system, prompt, rater)


def found_pairs(design: OpinionDesign, ratings: Ratings) -> list[tuple[int, int]]:
    """The pairs of systems that the study's ranks tell apart, the better first."""
    pairs = list(combinations(range(design.systems), 2))
    gaps, chances = [], []
    for first, second in pairs:
        kept = (ratings.system == first) | (ratings.system == second)
        names = ratings.rater[kept].astype(str).tolist(), ratings.prompt[kept].astype(str).tolist()
        groups = (ratings.system[kept] == first).tolist()
        gap, p = clustered_difference(ratings.score[kept].tolist(), groups, *names, confidence=design.confidence)
        gaps.append(float(gap.value or 0.0))
        chances.append(1.0 if p is None else p)
    sure = [p <= 1 - design.confidence for p in holm(chances)]
    return [pair if gap > 0 else pair[::-1] for pair, gap, known in zip(pairs, gaps, sure, strict=True) if known]


def finds_best(design: OpinionDesign, draw: np.random.Generator) -> bool:
    """Whether one simulated study ranks the best system above the worst."""
    return (0, design.systems - 1) in found_pairs(design, simulated_ratings(design, draw))


OPINION_POWER = Definition(
    name="opinion_study_power",
    unit="ratio",
    lowest=0.0,
    highest=1.0,
    better="higher",
    summary="How often a study of single clips as planned would rank the best system above the worst.",
    formula="simulated studies whose possible ranks put the best above the worst / all simulated",
    edge_cases="a difference of 0: the share of false findings about the two",
    reference="simulation of the study as it is made and of the ranks it reports; docs/methods.md",
    open_params=(
        *("bias", "clusters", "confidence", "difference", "hidden_reference", "leaning", "noise", "points", "prompt"),
        *("prompts", "raters"),
        *("raters_per_clip", "ratings_per_rater", "runs", "seed", "systems", "taste"),
    ),
)


def opinion_power(design: OpinionDesign, *, runs: int = 300, seed: int = 1) -> Measurement:
    """The power of a design, by so many simulated studies; the same seed gives the same number."""
    hits = sum(finds_best(design, np.random.default_rng([seed, number])) for number in range(runs))
    params = {**asdict(design), "raters_per_clip": design.raters_per_clip, "runs": runs, "seed": seed}
    del params["min_raters"]
    bound = OPINION_POWER.with_params(**params, clusters=CLUSTERS[TWO_WAY])
    return Measurement.of(bound, share(hits, runs, method="wilson simulated studies"))
