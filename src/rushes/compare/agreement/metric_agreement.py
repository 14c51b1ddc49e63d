"""`rushes believe` in Python: which metrics go with what people said about the same clips, and how sure that is.

A metric agrees with people where its agreement is above `margin`, and above 0 beyond the chance of prompts and raters,
after Holm's correction over the metrics judged on the same question; it goes against them where it is as far below; it
has no relation where the whole interval lies within ± `margin` and there are prompts enough to show that
(`prompts_for_none`); else it is inconclusive. As on the board, n prompts give no p below 2^(1 − n), the least of signs
alone: five leave-outs that happen to be alike are no proof, whatever Student's t makes of them.
Each question is a family of its own: what else was asked changes nothing.
A fact of the file (its length, rate, size or number of frames) is shown and not judged: whoever made it chose that.

All of it is about the systems at hand: prompts and raters are taken as drawn from many, systems are not. So a metric
that has one value for all clips of a system gets no verdict, however many clips there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rushes.compare.agreement.human_scores import HumanScores, read_human_scores
from rushes.compare.agreement.metric_scores import MeasuredClips, MetricScores, scores_of_board, scores_of_runs
from rushes.compare.agreement.of_suite import asked_of, chosen_metrics, names_of, with_differences
from rushes.compare.agreement.people_join import Join
from rushes.compare.agreement.result import BeliefVerdict as BeliefVerdict
from rushes.compare.agreement.result import Believed as Believed
from rushes.compare.agreement.result import MetricAgreement as MetricAgreement
from rushes.compare.agreement.statistics import REPLICATES, SEED, Level, prompts_for_none
from rushes.compare.board.model import BoardData
from rushes.compare.definitions.people import CEILING, CHANCE, OF_STATISTIC
from rushes.compare.readings.file_facts import FILE_FACTS
from rushes.compare.readings.sampled_runs import Declared
from rushes.core import Definition, Measurement
from rushes.core.errors import InputError
from rushes.core.machine.collection import uncollected
from rushes.core.selection import full_name
from rushes.core.words.options import option
from rushes.stats.correlation import STATISTICS, Statistic
from rushes.stats.families import holm
from rushes.stats.intervals import LEVEL
from rushes.stats.jackknife import MOST_GROUPS, Tested
from rushes.stats.sign_flip import fewest_prompts, least_p
from rushes.storage.runs import Run

MARGIN = 0.2
"""An agreement within ± this is none to speak of."""
STATISTIC: Statistic = "kendall_tau_b"


@uncollected()
def believe(
    metrics: BoardData | MeasuredClips | Run | Path | str | Iterable[Run | Path | str],
    humans: HumanScores | Path | str | None = None,
    *,
    only: str | Iterable[str] = (),
    dimensions: Sequence[str] = (),
    level: Level = "within-prompt",
    statistic: Statistic = STATISTIC,
    margin: float = MARGIN,
    confidence: float = LEVEL,
    prompts: Declared = None,
) -> MetricAgreement:
    """Which metrics agree with people: every metric against people's ratings or votes of the same clips.

        rushes.believe("out/suite").summary
        rushes.believe(["runs/amber", "runs/birch"], "ratings.csv").table("quality")

    Args:
        metrics: a suite's folder, a board's data, or runs, read or by directory; one or several.
        humans: a CSV file of ratings or votes, or `HumanScores`; by default the ones that the suite names.
        only: metrics to judge, named as in `rushes.table`, or `diff:METRIC` of a suite; by default all. p is corrected
            over these alone.
        dimensions: the questions that people answered; by default all of them.
        level: which number decides: "within-prompt" (the default), "clip", "within-system" or "system"; all are
            computed.
        statistic: "kendall_tau_b" (the default), "kendall_tau_c", "spearman", "pearson" or "pairwise_accuracy".
        margin: an agreement of this size or less is no agreement; 0.2 by default.
        confidence: of intervals and verdicts; 0.95 by default.
        prompts: a file of prompts, whose numbered samples (p001-0, p001-1 …) are averaged, as are their ratings; by
            default the prompts of the suite that the runs are in.

    Returns:
        A `MetricAgreement`: by question and metric, the statistics, p after Holm's correction and a verdict.

    Raises:
        InputError: no clip was both measured and rated, or a file or a name is not what was expected.
    """
    if statistic not in STATISTICS or level not in ("within-prompt", "clip"):
        raise InputError(f"expected a level of within-prompt or clip and a statistic of {', '.join(STATISTICS)}")
    if statistic == "pairwise_accuracy" and level == "clip":
        raise InputError(
            f"pairwise_accuracy compares systems within a prompt; choose {option('--level within-prompt')}"
        )
    given = asked_of(metrics) if humans is None else humans
    people = given if isinstance(given, HumanScores) else read_human_scores(given, dimensions=dimensions)
    names = names_of(only)
    measured = chosen_metrics(with_differences(_measured(metrics, people, prompts), metrics, names), names)
    people = people.of_prompts(measured.prompts) if measured.prompts else people
    joined = Join.of(measured, people)
    notes: tuple[str, ...] = ()
    if level == "within-prompt" and not (joined.paired and level in joined.levels):
        level, notes = "clip", ("no prompt has two systems: the verdict is over all clips pooled",)
        if statistic == "pairwise_accuracy":
            raise InputError(f"{people.source}: no prompt has clips of two systems, so there are no pairs to order")
    terms = _Terms(
        humans=f"{people.kind}{',sample-mean' * people.averaged}",
        one_rater=len(joined.raters) < 2,
        confidence=confidence,
    )
    drafts = []
    for dimension in joined.scores:
        for metric in measured.metrics:
            clips, many, found = joined.agreements(metric, dimension, confidence=confidence)
            if found:
                numbers = {key: terms.number(metric, dimension, *key, one) for key, one in found.items()}
                draft = Believed(metric=metric, dimension=dimension, numbers=numbers, clips=clips, prompts=many)
                drafts.append((draft, found.get((level, statistic)) or found["system", statistic]))
    return MetricAgreement(
        humans=people,
        rated=joined.scores,
        believed=tuple(_judged(drafts, level, statistic, margin, terms)),
        called=measured.called,
        ceilings={
            (dimension, *key): terms.ceiling(dimension, *key, agreement)
            for dimension in joined.scores
            for key, agreement in joined.ceilings(dimension, confidence=confidence).items()
        },
        level=level,
        statistic=statistic,
        margin=margin,
        confidence=confidence,
        remarks=(*people.remarks, *measured.remarks, *joined.remarks, *notes),
    )


def _measured(
    metrics: BoardData | MeasuredClips | Run | Path | str | Iterable[Run | Path | str],
    people: HumanScores,
    prompts: Declared,
) -> MeasuredClips:
    if isinstance(metrics, MeasuredClips):
        return metrics
    if isinstance(metrics, BoardData):
        return scores_of_board(metrics)
    places = [metrics] if isinstance(metrics, (Run, Path, str)) else metrics
    return scores_of_runs(places, systems=people.systems, prompts=prompts)


def _judged(
    drafts: Sequence[tuple[Believed, Tested]], level: Level, statistic: Statistic, margin: float, terms: _Terms
) -> list[Believed]:
    """Each with its verdict: by the estimate that decides, after Holm's rule over all of its question that have a p."""
    adjusted: dict[int, float] = {}
    family: dict[str, int] = {}
    for question in dict.fromkeys(one.dimension for one, _ in drafts):
        mine = [(k, one, f.p) for k, (one, f) in enumerate(drafts) if one.dimension == question and _counts(one)]
        chances = {k: max(p, least_p(one.prompts)) for k, one, p in mine if p is not None}
        adjusted |= dict(zip(chances, holm(list(chances.values())), strict=True))
        family[question] = len(chances)
    judged = []
    for place, (one, found) in enumerate(drafts):
        p = adjusted.get(place)
        systems = len(one.metric.systems)
        needed = prompts_for_none(statistic, level, systems, margin=margin, level_of=terms.confidence)
        verdict, why = _verdict(found, p, margin, statistic, terms.confidence, few=one.prompts < needed)
        if one.metric.definition.name in FILE_FACTS and found.value is not None:
            verdict, why = "fact of the file", ""
        chance = None if p is None else terms.chance(one, level, statistic, p, found.count, family[one.dimension])
        lacking = needed if verdict == "inconclusive" and p is not None and one.prompts < needed else None
        fewest = fewest_prompts(family[one.dimension], 1 - terms.confidence)
        hidden = fewest if lacking is not None and one.prompts < fewest else None
        judged.append(replace(one, p=chance, verdict=verdict, why=why, prompts_needed=lacking, prompts_to_agree=hidden))
    return judged


def _counts(one: Believed) -> bool:
    """Whether it may take part in the correction: it has clips of its own, and is no fact of the file."""
    return not one.metric.one_per_system and one.metric.definition.name not in FILE_FACTS


def _verdict(
    one: Tested, p: float | None, margin: float, statistic: Statistic, confidence: float, *, few: bool
) -> tuple[BeliefVerdict, str]:
    middle, near = (0.5, margin / 2) if statistic == "pairwise_accuracy" else (0.0, margin)
    if one.value is None:
        return "inconclusive", one.lacking
    if p is None:
        return "inconclusive", one.why.text if one.why else "one number per system, and systems are few"
    if p <= 1 - confidence and abs(one.value - middle) > near:
        return ("agrees" if one.value > middle else "goes against"), ""
    inside = one.interval and middle - near < one.interval.low and one.interval.high < middle + near
    if inside and not few:
        return "no relation", ""
    if inside or p > 1 - confidence:
        return "inconclusive", "too few prompts" if few else "the interval includes both agreement and none"
    return "inconclusive", "beyond chance, but no more than the margin"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Terms:
    """What every signature holds."""

    humans: str
    one_rater: bool
    confidence: float

    def number(
        self, metric: MetricScores, dimension: str, level: Level, statistic: Statistic, found: Tested
    ) -> Measurement:
        definition = OF_STATISTIC[statistic].with_params(confidence=self.confidence, **self._params(level, metric))
        return _measurement(definition, found, _at(metric, dimension))

    def chance(
        self, one: Believed, level: Level, statistic: Statistic, p: float, count: int, judged: int
    ) -> Measurement:
        definition = CHANCE.with_params(statistic=statistic, judged=judged, **self._params(level, one.metric))
        return Measurement(definition=definition, value=p, count=count, at=_at(one.metric, one.dimension))

    def ceiling(self, dimension: str, level: Level, statistic: Statistic, found: Tested) -> Measurement:
        params = self._params(level) | ({"interval": "none"} if level == "system" else {})
        definition = CEILING.with_params(statistic=statistic, confidence=self.confidence, **params)
        return _measurement(definition, found, {"dimension": dimension})

    def _params(self, level: Level, metric: MetricScores | None = None) -> dict[str, str]:
        over = "prompt" if self.one_rater else "prompt-rater"
        jackknife, bootstrap = f"jackknife-{over},groups{MOST_GROUPS}", f"bootstrap-{over},n{REPLICATES},seed{SEED}"
        params = {"level": level, "humans": self.humans, "interval": bootstrap if level == "system" else jackknife}
        if metric is None:
            return params
        turned = {"lower": "lower-is-better", "higher": "no", "neither": "no-direction"}[metric.definition.better]
        return params | {"of": metric.definition.signature.replace("|", ";"), "turned": turned}


def _at(metric: MetricScores, dimension: str) -> dict[str, str]:
    return {"metric": full_name(metric.definition)} | dict(metric.at) | {"dimension": dimension}


def _measurement(definition: Definition, found: Tested, at: Mapping[str, str]) -> Measurement:
    if found.value is None:
        return Measurement.missing(definition, found.lacking, at=at)
    return Measurement.of(definition, found, at=at)
