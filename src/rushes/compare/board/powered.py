"""People rated some prompts, a metric was measured on all: one interval from both, beside people's own.

The metric is chosen before anybody looks at what it does to the interval: the one whose credential for the question has
the highest lower end; else a judge's answers to the question that people were asked; else the first score that was
imported (`rushes import-scores`) or given by a judge. A judge counts only if it passed its control: otherwise its
numbers have no direction. Whatever the metric is worth, the interval holds (`stats.prediction_powered`), as long as the
rated prompts are a random draw from all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

from rushes.compare.board.model import PEOPLE, BoardData, Ratings, Reading, ReadingKey, ReadingVerdict
from rushes.compare.definitions.powered import POWERED_DIFFERENCE, POWERED_MEAN, POWERED_WEIGHT, POWERED_WIDTH
from rushes.core import Definition, Measurement
from rushes.instruments.clip.instrument import INSTRUMENT as CLIP
from rushes.instruments.judge.instrument import INSTRUMENT as JUDGE
from rushes.stats.prediction_powered import Powered, powered_difference, powered_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class PoweredNumber:
    """A mean of one system, or the difference of two."""

    found: Powered
    value: Measurement
    """With its interval, cut to the scale."""
    weight: Measurement
    """λ: how much of the metric was used, 0 to 1."""
    width: Measurement
    """Of the interval, as a share of that of people alone."""

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        return self.value, self.weight, self.width


@dataclass(frozen=True, slots=True, kw_only=True)
class PoweredQuestion:
    """One question that people answered on some prompts."""

    question: Reading
    metric: Reading
    rated: int
    """Prompts on which people rated every system."""
    others: int
    """Prompts with the metric that nobody rated."""
    means: Mapping[str, PoweredNumber]
    differences: Mapping[tuple[str, str], PoweredNumber]
    """By (first, second): second − first."""

    @property
    def numbers(self) -> Iterator[PoweredNumber]:
        yield from self.means.values()
        yield from self.differences.values()


def powered_questions(data: BoardData, verdicts: Mapping[ReadingKey, ReadingVerdict]) -> tuple[PoweredQuestion, ...]:
    """Every question that leaves two prompts or more unrated that a metric covers, in the board's order."""
    found = (_powered(data, question, verdicts) for question in data.people if question.key in data.answers)
    return tuple(one for one in found if one is not None)


def _powered(
    data: BoardData, question: Reading, verdicts: Mapping[ReadingKey, ReadingVerdict]
) -> PoweredQuestion | None:
    answers = data.answers[question.key]
    names = [name for name in data.names if answers.get(name)]
    shared = [p.id for p in data.prompts if all(p.id in answers[name] for name in names)]
    metric = _metric(data, question, verdicts)
    if metric is None or len(names) < 2 or len(shared) < 3:
        return None
    ratings = {name: {prompt: answers[name][prompt] for prompt in shared} for name in names}
    values = {name: _values(data, metric, name) for name in names}
    others = min(len(row.keys() - set(shared)) for row in values.values())
    if others < 2:
        return None
    terms = _Terms(question=question, metric=metric)
    return PoweredQuestion(
        question=question,
        metric=metric,
        rated=len(shared),
        others=others,
        means={name: terms.mean(name, ratings[name], values[name]) for name in names},
        differences={
            (a, b): terms.difference((a, b), (ratings[b], ratings[a]), (values[b], values[a]))
            for a, b in combinations(names, 2)
        },
    )


def _metric(data: BoardData, question: Reading, verdicts: Mapping[ReadingKey, ReadingVerdict]) -> Reading | None:
    asked = question.definition.param("question")
    rated = [name for name in data.names if data.answers[question.key].get(name)]
    metrics = [
        one
        for one in data.readings
        if one.per_prompt and one.instrument != PEOPLE and all(data.values.get((name, one.key)) for name in rated)
    ]
    worth = {
        one.key: credential.pairs_right.low
        for one in metrics
        if one.key in verdicts
        for credential in verdicts[one.key].say
        if credential.question == asked
    }
    if worth:
        return max((one for one in metrics if one.key in worth), key=lambda one: worth[one.key])
    others = [one for one in metrics if one.instrument != CLIP.name and one.definition.better != "neither"]
    judged = [one for one in others if one.instrument == JUDGE.name and one.definition.param("question") == asked]
    return next(iter([*judged, *others]), None)


def _values(data: BoardData, metric: Reading, name: str) -> dict[str, float]:
    """Turned so that higher is better."""
    sign = -1.0 if metric.definition.better == "lower" else 1.0
    found = data.values.get((name, metric.key), {})
    return {prompt: sign * float(m.value) for prompt, m in found.items() if m.value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Terms:
    """What every number of a question states."""

    question: Reading
    metric: Reading

    def mean(self, name: str, ratings: Ratings, values: Mapping[str, float]) -> PoweredNumber:
        asked = self.question.definition
        bounds = {"lowest": asked.lowest, "highest": asked.highest}
        definition = replace(self._of(POWERED_MEAN), unit=asked.unit, better=asked.better, **bounds)  # type: ignore[arg-type]
        return self._number(definition, powered_mean(ratings, values), {"system": name})

    def difference(
        self,
        names: tuple[str, str],
        ratings: tuple[Ratings, Ratings],
        values: tuple[Mapping[str, float], Mapping[str, float]],
    ) -> PoweredNumber:
        definition = replace(self._of(POWERED_DIFFERENCE), unit=self.question.definition.unit)
        at = dict(zip(("first", "second"), names, strict=True))
        return self._number(definition, powered_difference(ratings, values), at)

    def _of(self, definition: Definition) -> Definition:
        asked, metric = self.question.definition, self.metric.definition.signature.replace("|", ";")
        scale = {"scale": scale} if (scale := asked.param("scale")) else {}
        return definition.with_params(of=metric, question=str(asked.param("question"))).add_params(**scale)

    def _number(self, definition: Definition, found: Powered, at: Mapping[str, str]) -> PoweredNumber:
        ends = found.interval and found.interval.within(definition.lowest, definition.highest)
        return PoweredNumber(
            found=found,
            value=Measurement.of(definition, replace(found, interval=ends), at=at, note=found.lacking),
            weight=Measurement(definition=self._of(POWERED_WEIGHT), value=found.weight, count=found.count, at=at),
            width=self._width(found, at),
        )

    def _width(self, found: Powered, at: Mapping[str, str]) -> Measurement:
        definition = self._of(POWERED_WIDTH)
        if found.width is None:
            return Measurement.missing(definition, found.lacking or "there is no interval", at=at)
        return Measurement(definition=definition, value=found.width, count=found.count, at=at)
