"""`rushes believe` in Python: which metrics go with what people said about the same clips, and how sure that is.

A metric agrees with people where its agreement is above 0 beyond the chance of prompts and raters, after Holm's
correction over every metric and dimension judged; it goes against them where it is below 0; it has no relation where
the whole interval lies within ± `margin`; else it cannot be told. All of it is about the systems at hand: prompts and
raters are taken as drawn from many, systems are not. So a metric that has one value for all clips of a system gets no
verdict, however many clips there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from rushes.core import Definition, Measurement
from rushes.core.showing import brief
from rushes.errors import InputError
from rushes.paired.clustered import LEVEL, MOST_GROUPS, REPLICATES, SEED
from rushes.paired.correlation import STATISTICS, Statistic
from rushes.paired.holm import holm
from rushes.paired.people_definitions import CEILING, CHANCE, OF_STATISTIC
from rushes.runs import Run
from rushes.suite.board_data import BoardData
from rushes.suite.human_scores import HumanScores, read_human_scores
from rushes.suite.metric_scores import MeasuredClips, MetricScores, scores_of_board, scores_of_runs
from rushes.suite.people_join import Join
from rushes.suite.rated_clips import Agreement, Level

BeliefVerdict: TypeAlias = Literal["agrees", "goes against", "no relation", "cannot be told"]
MARGIN = 0.2
"""An agreement within ± this is none to speak of."""
STATISTIC: Statistic = "kendall_tau_b"


@dataclass(frozen=True, slots=True, kw_only=True)
class Believed:
    """One metric against one human dimension."""

    metric: MetricScores
    dimension: str
    numbers: Mapping[tuple[Level, Statistic], Measurement]
    clips: int
    """With both the metric and a rating."""
    p: Measurement | None
    """Of the statistic that decides, adjusted; None where there is none."""
    verdict: BeliefVerdict
    why: str = ""
    """Why it cannot be told."""

    @property
    def directed(self) -> bool:
        """Whether the metric's definition says which side is better; else it was read as higher is better."""
        return self.metric.definition.better != "neither"


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """Every metric against every dimension, and people against each other."""

    __repr__ = brief

    humans: HumanScores
    believed: tuple[Believed, ...]
    ceilings: Mapping[tuple[str, Level, Statistic], Measurement]
    """By dimension, level and statistic: one rater against the mean of the others."""
    level: Level
    statistic: Statistic
    margin: float
    confidence: float
    remarks: tuple[str, ...]

    def of(self, dimension: str, verdict: BeliefVerdict | None = None) -> tuple[Believed, ...]:
        """The metrics against one dimension, most agreement first; those of one verdict."""
        found = [b for b in self.believed if b.dimension == dimension and verdict in (None, b.verdict)]
        return tuple(sorted(found, key=lambda b: -self._order(b)))

    def _order(self, one: Believed) -> float:
        value = self.deciding(one).value
        return -2.0 if value is None else float(value)

    def deciding(self, one: Believed) -> Measurement:
        """The number that the verdict rests on; of a metric without clips, the one over systems."""
        return one.numbers.get((self.level, self.statistic)) or one.numbers["system", self.statistic]

    def ceiling(self, dimension: str) -> Measurement:
        return self.ceilings[dimension, self.level, self.statistic]


def believe(
    metrics: BoardData | MeasuredClips | Run | Path | str | Iterable[Run | Path | str],
    humans: HumanScores | Path | str,
    *,
    dimensions: Sequence[str] = (),
    level: Level = "within-prompt",
    statistic: Statistic = STATISTIC,
    margin: float = MARGIN,
    confidence: float = LEVEL,
) -> Belief:
    """Hold every metric of a board or of runs against what people said about the same clips.

        rushes.believe(["runs/amber", "runs/birch"], "ratings.csv")

    `level` and `statistic` say which number decides; all of them are computed. Raises `InputError` where no clip was
    both measured and rated.
    """
    if statistic not in STATISTICS or level not in ("within-prompt", "clip"):
        raise InputError(f"expected a level of within-prompt or clip and a statistic of {', '.join(STATISTICS)}")
    if statistic == "pairwise_accuracy" and level == "clip":
        raise InputError("pairwise_accuracy is of pairs of systems on one prompt; choose --level within-prompt")
    people = humans if isinstance(humans, HumanScores) else read_human_scores(humans, dimensions=dimensions)
    measured = _measured(metrics, people)
    joined = Join.of(measured, people)
    notes: tuple[str, ...] = ()
    if level == "within-prompt" and not (joined.paired and level in joined.levels):
        level, notes = "clip", ("no prompt has two systems: the verdict rests on all clips in one pool",)
        if statistic == "pairwise_accuracy":
            raise InputError(f"{people.source}: no prompt has two systems, so there is no pair to put in order")
    drafts = []
    for dimension in joined.scores:
        for metric in measured.metrics:
            clips, agreements = joined.agreements(metric, dimension, confidence=confidence)
            if agreements:
                drafts.append(_Draft(metric=metric, dimension=dimension, clips=clips, agreements=agreements))
    terms = _Terms(humans=people.kind, one_rater=len(joined.raters) < 2, confidence=confidence)
    return Belief(
        humans=people,
        believed=tuple(_judged(drafts, level, statistic, margin, terms)),
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
    metrics: BoardData | MeasuredClips | Run | Path | str | Iterable[Run | Path | str], people: HumanScores
) -> MeasuredClips:
    if isinstance(metrics, MeasuredClips):
        return metrics
    if isinstance(metrics, BoardData):
        return scores_of_board(metrics)
    places = [metrics] if isinstance(metrics, (Run, Path, str)) else metrics
    return scores_of_runs(places, systems=people.systems)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A metric against a dimension before all of them are judged together."""

    metric: MetricScores
    dimension: str
    clips: int
    agreements: Mapping[tuple[Level, Statistic], Agreement]

    def deciding(self, level: Level, statistic: Statistic) -> Agreement:
        return self.agreements.get((level, statistic)) or self.agreements["system", statistic]


def _judged(
    drafts: Sequence[_Draft], level: Level, statistic: Statistic, margin: float, terms: _Terms
) -> list[Believed]:
    deciding = [draft.deciding(level, statistic) for draft in drafts]
    chances = {
        place: one.sure.p
        for place, (draft, one) in enumerate(zip(drafts, deciding, strict=True))
        if one.sure.p is not None and not draft.metric.one_per_system
    }
    adjusted = dict(zip(chances, holm(list(chances.values())), strict=True))
    found = []
    for place, (draft, one) in enumerate(zip(drafts, deciding, strict=True)):
        p = adjusted.get(place)
        verdict, why = _verdict(one, p, margin, statistic, terms.confidence)
        found.append(
            Believed(
                metric=draft.metric,
                dimension=draft.dimension,
                numbers={key: terms.number(draft, *key, agreement) for key, agreement in draft.agreements.items()},
                clips=draft.clips,
                p=None if p is None else terms.chance(draft, level, statistic, p, one.count, len(chances)),
                verdict=verdict,
                why=why,
            )
        )
    return found


def _verdict(
    one: Agreement, p: float | None, margin: float, statistic: Statistic, confidence: float
) -> tuple[BeliefVerdict, str]:
    middle = 0.5 if statistic == "pairwise_accuracy" else 0.0
    if one.value is None:
        return "cannot be told", one.why
    if p is None:
        return "cannot be told", one.sure.why or "one number per system, and systems are few"
    if p <= 1 - confidence:
        return ("agrees" if one.value > middle else "goes against"), ""
    near = margin / 2 if statistic == "pairwise_accuracy" else margin
    interval = one.sure.interval
    if interval and middle - near < interval.low and interval.high < middle + near:
        return "no relation", ""
    return "cannot be told", "the interval holds agreement and none"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Terms:
    """What every signature holds."""

    humans: str
    one_rater: bool
    confidence: float

    def number(self, draft: _Draft, level: Level, statistic: Statistic, agreement: Agreement) -> Measurement:
        params: dict[str, str | float] = {**self._params(level), "confidence": self.confidence}
        definition = OF_STATISTIC[statistic].with_params(of=_of(draft.metric), turned=_turned(draft.metric), **params)
        return _measurement(definition, agreement, _at(draft))

    def chance(
        self, draft: _Draft, level: Level, statistic: Statistic, p: float, count: int, judged: int
    ) -> Measurement:
        params = self._params(level) | {"of": _of(draft.metric), "turned": _turned(draft.metric)}
        definition = CHANCE.with_params(statistic=statistic, judged=judged, **params)
        return Measurement(definition=definition, value=p, count=count, at=_at(draft))

    def ceiling(self, dimension: str, level: Level, statistic: Statistic, agreement: Agreement) -> Measurement:
        params: dict[str, str | float] = {**self._params(level), "confidence": self.confidence}
        if level == "system":
            params["interval"] = "none"
        definition = CEILING.with_params(statistic=statistic, **params)
        return _measurement(definition, agreement, {"dimension": dimension})

    def _params(self, level: Level) -> dict[str, str]:
        over = "prompt" if self.one_rater else "prompt-rater"
        jackknife, bootstrap = f"jackknife-{over},groups{MOST_GROUPS}", f"bootstrap-{over},n{REPLICATES},seed{SEED}"
        return {"level": level, "humans": self.humans, "interval": bootstrap if level == "system" else jackknife}


def _turned(metric: MetricScores) -> str:
    turned = {"lower": "lower-is-better", "higher": "no", "neither": "no-direction"}
    return turned[metric.definition.better]


def _of(metric: MetricScores) -> str:
    return metric.definition.signature.replace("|", ";")


def _at(draft: _Draft) -> dict[str, str]:
    return {"metric": draft.metric.definition.name} | dict(draft.metric.at) | {"dimension": draft.dimension}


def _measurement(definition: Definition, agreement: Agreement, at: Mapping[str, str]) -> Measurement:
    if agreement.value is None:
        return Measurement.missing(definition, agreement.why, at=at)
    sure = agreement.sure
    return Measurement(
        definition=definition,
        value=agreement.value,
        count=agreement.count,
        note=f"no interval: {sure.why}" if sure.why else "",
        at=at,
        interval=sure.interval,
    )
