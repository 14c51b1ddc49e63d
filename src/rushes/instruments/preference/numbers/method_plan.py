"""Plans of studies that show single clips or sets: power, raters needed, and the options that create the study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

import numpy as np

from rushes.core import Definition, Measurement
from rushes.core.definition import Setting
from rushes.instruments.preference.methods.method import PAIRS, Method
from rushes.instruments.preference.numbers.opinion_plan import OPINION_POWER, OpinionDesign, finds_best, opinion_power
from rushes.instruments.preference.numbers.plan import RATERS_NEEDED, STUDY_POWER
from rushes.stats.clustered import CLUSTERS, TWO_WAY
from rushes.stats.means import share
from rushes.stats.votes.plan import MOST_RATERS, fewest_raters
from rushes.stats.votes.set_plan import SetDesign, finds_sets, set_power

_SET_PARAMS = (
    *("clusters", "confidence", "leaning", "preference", "prompts", "runs", "seed", "sets_per_rater", "size"),
    *("systems", "taste"),
)
_SET_REFERENCE = "simulation of the study as it is made and of the ranks it reports; docs/methods.md"
SET_POWER = replace(
    STUDY_POWER,
    name="best_worst_study_power",
    summary="How often a best–worst study as planned would rank the better of two systems above the other.",
    reference=_SET_REFERENCE,
    history=("first release",),
    open_params=(*_SET_PARAMS, "raters", "raters_per_set"),
)
SET_RATERS = replace(
    RATERS_NEEDED,
    name="best_worst_raters_needed",
    formula="smallest number of raters whose best_worst_study_power is the asked one or more, to one in twenty; every "
    "set is given to as many of them as their answers are enough for",
    reference=_SET_REFERENCE,
    history=("first release",),
    open_params=(*_SET_PARAMS, "power"),
)
OPINION_RATERS = replace(
    RATERS_NEEDED,
    name="opinion_raters_needed",
    summary="The fewest raters with whom a study of single clips ranks the best system above the worst as often as "
    "asked.",
    formula="smallest number of raters whose opinion_study_power is the asked one or more, to one in twenty; every "
    "clip is given to as many of them as their ratings are enough for",
    reference=OPINION_POWER.reference,
    history=("first release",),
    open_params=(*(name for name in OPINION_POWER.open_params if name not in ("raters", "raters_per_clip")), "power"),
)
METHOD_PLAN_DEFINITIONS = (OPINION_POWER, OPINION_RATERS, SET_POWER, SET_RATERS)
SEARCH_RUNS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodPlan:
    """What a design of single clips or sets is worth, and what it would take."""

    power: Measurement
    raters: Measurement
    trials: int
    """Clips or sets that are shown."""
    each: int
    """Raters of one of them."""
    answers: int
    per_rater: int
    """The most answers of a rater."""

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        return self.power, self.raters


def plan_opinions(design: OpinionDesign, *, power: float = 0.8, runs: int = 300, seed: int = 1) -> MethodPlan:
    """Simulate a study of single clips and look for the raters it needs; the same seed gives the same numbers."""
    found = opinion_power(design, runs=runs, seed=seed)
    params = {key: value for key, value in found.definition.params if key not in ("raters", "raters_per_clip")}
    search = min(runs, SEARCH_RUNS)
    needed = opinion_raters_needed(design, power=power, runs=search, seed=seed)
    return MethodPlan(
        power=found,
        raters=_needed(OPINION_RATERS, {**params, "runs": search, "power": power}, needed),
        trials=design.clips,
        each=design.raters_per_clip,
        answers=design.ratings,
        per_rater=design.ratings_per_rater,
    )


def plan_sets(design: SetDesign, *, power: float = 0.8, runs: int = 300, seed: int = 1) -> MethodPlan:
    """The same of a best–worst study."""
    found = set_power(design, runs=runs, seed=seed)
    params: dict[str, Setting] = {**asdict(design), "clusters": CLUSTERS[TWO_WAY], "runs": runs, "seed": seed}
    del params["min_raters"]
    bound = SET_POWER.with_params(**params, raters_per_set=design.raters_per_set)
    del params["raters"]
    search = min(runs, SEARCH_RUNS)
    needed = set_raters_needed(design, power=power, runs=search, seed=seed)
    return MethodPlan(
        power=Measurement.of(bound, share(found.found, found.runs, method="wilson simulated studies")),
        raters=_needed(SET_RATERS, {**params, "runs": search, "power": power}, needed),
        trials=design.sets,
        each=design.raters_per_set,
        answers=design.answers,
        per_rater=design.sets_per_rater,
    )


def opinion_raters_needed(
    design: OpinionDesign, *, power: float = 0.8, runs: int = SEARCH_RUNS, seed: int = 1
) -> int | None:
    """The fewest raters with this power, each clip given to as many of them as their ratings are enough for."""

    def finds(raters: int, number: int) -> bool:
        planned = replace(design, raters=raters, min_raters=None)
        return finds_best(planned, np.random.default_rng([seed, number]))

    too_few = -(-2 * design.clips // design.ratings_per_rater) - 1
    return fewest_raters(finds, power=power, runs=runs, fewest=max(1, too_few))


def set_raters_needed(design: SetDesign, *, power: float = 0.8, runs: int = SEARCH_RUNS, seed: int = 1) -> int | None:
    """The same of a best–worst study."""

    def finds(raters: int, number: int) -> bool:
        return finds_sets(replace(design, raters=raters, min_raters=None), np.random.default_rng([seed, number]))

    too_few = -(-2 * design.sets // design.sets_per_rater) - 1
    return fewest_raters(finds, power=power, runs=runs, fewest=max(1, too_few))


def _needed(definition: Definition, params: Mapping[str, Setting], value: int | None) -> Measurement:
    note = "" if value else f"not reached by {MOST_RATERS} raters: the prompts are too few or too different"
    bound = definition.with_params(**params)
    return Measurement(definition=bound, value=value, count=int(params["runs"]), note=note)


def create_options(method: Method, *, min_raters: int, per_rater: int, simple: bool = False) -> str:
    """What `rushes study create` needs to make the study of a plan; a quota counts hidden repeats too, 1 in 20.

    >>> create_options(Method(name="acr-hr", points=9), min_raters=8, per_rater=38)
    '--method acr-hr --scale 9 --min-raters 8 --quota 40'
    >>> create_options(PAIRS, min_raters=2, per_rater=20, simple=True)
    '--simple --min-raters 2 --quota 22'
    """
    usual = Method(name=method.name, points=Method.usual_points(method.name))
    parts = [
        f"--method {method.name}" if method.name != PAIRS.name else "",
        f"--scale {method.points}" if method.points != usual.points else "",
        "" if method.tie else "--no-tie",
        "--simple" if simple else "",
        f"--min-raters {min_raters} --quota {-(-per_rater * 20 // 19)}",
    ]
    return " ".join(filter(None, parts))
