"""A planned study's power as labelled measurements: what `rushes study plan` says."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace

from rushes.core import Definition, Measurement
from rushes.core.definition import Setting
from rushes.stats.clustered import CLUSTERS, TWO_WAY
from rushes.stats.means import share
from rushes.stats.prediction_powered import prompts_needed
from rushes.stats.votes.plan import MOST_RATERS, Design, raters_needed, simulated_power

_PARAMS = (
    *("clusters", "confidence", "leaning", "preference", "prompts", "runs", "seed", "systems", "taste", "ties"),
    "votes_per_rater",
)
_REFERENCE = "simulation of the study as it is made and of the ranks it reports; docs/statistics.md, how many votes"
_HISTORY = ("first release", "of the study that create makes, with its third votes, and of the ranks it reports")

STUDY_POWER = Definition(
    name="study_power",
    unit="ratio",
    lowest=0.0,
    highest=1.0,
    better="higher",
    summary="How often a study as planned would rank the better of two systems above the other.",
    formula="simulated studies whose possible ranks put the better above the worse (the interval of their difference, "
    "at the level for all differences together, leaves out 0 on the right side) / all simulated",
    edge_cases="a simulated study in which a system never lost has no finite difference: it counts as not found",
    reference=_REFERENCE,
    history=_HISTORY,
    open_params=(*_PARAMS, "raters", "min_raters"),
)
DESIGN_EFFECT = Definition(
    name="design_effect",
    unit="1",
    lowest=0.0,
    highest=None,
    better="lower",
    summary="How many votes of this design tell as much as one independent vote.",
    formula="mean over simulated studies of two-way clustered variance / variance of independent votes",
    edge_cases="simulated studies without a finite difference are left out of the mean; none left: None",
    reference=_REFERENCE,
    history=_HISTORY,
    open_params=(*_PARAMS, "raters", "min_raters"),
)
RATERS_NEEDED = Definition(
    name="raters_needed",
    unit="raters",
    lowest=2.0,
    highest=None,
    better="neither",
    summary="The fewest raters with whom the study ranks the better of two systems above the other as often as asked.",
    formula="smallest number of raters whose study_power is the asked one or more, to one in twenty; every pair is "
    "given to as many of them as their votes are enough for",
    edge_cases=f"not reached by {MOST_RATERS} raters: None",
    reference=_REFERENCE,
    history=_HISTORY,
    open_params=(*_PARAMS, "power"),
)
PROMPTS_WITH_METRIC = Definition(
    name="prompts_with_metric",
    unit="prompts",
    lowest=0.0,
    highest=None,
    better="neither",
    summary="Rated prompts that, with a metric measured on all prompts, tell as much as the planned ones without it.",
    formula="n (1 − ρ²) / (1 − ρ² n/M): n planned prompts, ρ the correlation of metric and people over prompts, M the "
    "prompts with the metric. It is about the chance of prompts; that of raters stays as it is. Large samples",
    edge_cases="ρ ≤ 0, or a metric on no more prompts than are rated: n",
    reference="Angelopoulos, Duchi and Zrnic 2023 (PPI++); rushes.powered_mean",
    open_params=("prompts", "correlation", "metric_prompts"),
)
PLAN_DEFINITIONS = (STUDY_POWER, DESIGN_EFFECT, RATERS_NEEDED, PROMPTS_WITH_METRIC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a design is worth, and what it would take."""

    power: Measurement
    effect: Measurement
    raters: Measurement
    """Its note says what else would help where no number of raters does."""
    votes: float = 0.0
    """That a study of the design ends with, in the mean."""

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        return self.power, self.effect, self.raters


def usual_runs(design: Design) -> int:
    """Simulated studies that give a power to within about 0.02: more where a study takes no fit, which is quick.

    With 300 the standard error is 0.03, and one plan in twenty is off by 0.055 or more by chance alone.
    """
    return 3000 if design.systems == 2 else 600


def plan_study(design: Design, *, power: float = 0.8, runs: int | None = None, seed: int = 1) -> Plan:
    """Simulate a design and look for the raters it needs; the same seed gives the same numbers."""
    runs = runs or usual_runs(design)
    found, search = simulated_power(design, runs=runs, seed=seed), max(1, min(runs, 100))
    measured: dict[str, Setting] = {**asdict(design), "clusters": CLUSTERS[TWO_WAY], "runs": runs, "seed": seed}
    measured["min_raters"] = design.raters_per_pair
    measured["ties"] = measured.pop("tie_share")
    return Plan(
        power=Measurement.of(
            STUDY_POWER.with_params(**measured), share(found.found, found.runs, method="wilson simulated studies")
        ),
        effect=_effect(DESIGN_EFFECT.with_params(**measured), found.design_effect, runs),
        raters=_raters(design, measured, power, search, seed),
        votes=found.votes,
    )


def prompts_with_metric(design: Design, correlation: float, metric_prompts: int | None = None) -> Measurement:
    """How many rated prompts a metric leaves to do; on endless prompts where their number is not given."""
    measured: dict[str, Setting] = {"prompts": design.prompts, "correlation": correlation}
    definition = PROMPTS_WITH_METRIC.with_params(**measured, metric_prompts=metric_prompts or "endless")
    value = prompts_needed(design.prompts, correlation, metric_prompts or math.inf)
    return Measurement(definition=definition, value=value, count=design.prompts)


def _effect(definition: Definition, value: float, runs: int) -> Measurement:
    if math.isnan(value):
        return Measurement.missing(definition, "no simulated study has a finite difference")
    return Measurement(definition=definition, value=value, count=runs)


def _raters(design: Design, measured: dict[str, Setting], power: float, runs: int, seed: int) -> Measurement:
    needed = raters_needed(design, power=power, runs=runs, seed=seed)
    params = {name: value for name, value in measured.items() if name not in ("raters", "min_raters")}
    definition = RATERS_NEEDED.with_params(**params | {"power": power, "runs": runs})
    if needed is not None:
        note = (
            f"{needed * design.votes_per_rater} votes, {replace(design, raters=needed).raters_per_pair} raters per pair"
        )
        return Measurement(definition=definition, value=needed, count=runs, note=note)
    note = f"not reached by {MOST_RATERS} raters: the prompts are too few or too different"
    if more := _more_prompts(design, power, runs, seed):
        note += f"; with {more.prompts} prompts, {more.raters} raters and {more.votes} votes do"
    return Measurement(definition=definition, value=None, count=runs, note=note)


def _more_prompts(design: Design, power: float, runs: int, seed: int) -> Design | None:
    for times in (2, 4, 8):
        wider = replace(design, prompts=design.prompts * times)
        needed = raters_needed(wider, power=power, runs=runs, seed=seed)
        if needed is not None:
            return replace(wider, raters=needed)
    return None
