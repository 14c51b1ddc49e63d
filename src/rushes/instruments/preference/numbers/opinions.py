"""Single clips on a scale: opinion scores, differences, ranks, and scores with raters' bias removed."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TypeVar

import numpy as np

from rushes.core import Estimate, Interval, Measurement, Why
from rushes.instruments.preference.definitions import opinions as d
from rushes.instruments.preference.methods.judgements import Judgement
from rushes.instruments.preference.methods.method import Method
from rushes.instruments.preference.numbers.conditions import Conditions, measured
from rushes.instruments.preference.votes import Fault
from rushes.stats.clustered import CLUSTERS, ONE_WAY, TWO_WAY, clustered_mean
from rushes.stats.families import holm, possible_ranks
from rushes.stats.means import student_mean
from rushes.stats.opinions import SubjectModel, clustered_difference, subject_model

K = TypeVar("K", str, tuple[str, str])
_BOTH = {"clusters": CLUSTERS[TWO_WAY]}


def opinion_numbers(
    raw: Sequence[Judgement], method: Method, conditions: Conditions, *, reference: str = ""
) -> Iterator[Measurement]:
    """Every number of ratings of single clips, question by question."""
    for question in dict.fromkeys(key for one in raw for key in one.ratings):
        rated = [one for one in raw if question in one.ratings]
        yield from _scores(rated, question, method, conditions)
        yield from _ranks(rated, question, conditions, reference)
        yield from _without_bias(rated, question, method, conditions)
        if method.name == "acr-hr":
            yield from _differential(rated, question, method, conditions, reference)
    yield from fault_numbers([fault for one in raw for fault in one.faults], conditions, count=len(raw))


def _scores(rated: Sequence[Judgement], question: str, method: Method, conditions: Conditions) -> Iterator[Measurement]:
    scale = {"lowest": float(method.lowest), "highest": float(method.highest), "step": 1.0}
    for system, given in _by(rated, lambda one: one.system).items():
        values, raters = [float(one.ratings[question]) for one in given], [one.rater for one in given]
        prompts = [one.prompt_key for one in given]
        mean = clustered_mean(values, raters, prompts, confidence=conditions.confidence, **scale)
        yield measured(d.MOS, mean, conditions, {"question": question, "system": system}, **_BOTH)
    for (system, prompt), given in _by(rated, lambda one: (one.system, one.prompt_key)).items():
        values, raters = [float(one.ratings[question]) for one in given], [one.rater for one in given]
        mean = clustered_mean(values, raters, None, confidence=conditions.confidence, **scale)
        at = {"prompt": prompt, "question": question, "system": system}
        yield measured(d.CLIP_MOS, mean, conditions, at, clusters=CLUSTERS[ONE_WAY])


def _by(rated: Iterable[Judgement], key: Callable[[Judgement], K]) -> dict[K, list[Judgement]]:
    found: dict[K, list[Judgement]] = defaultdict(list)
    for one in rated:
        found[key(one)].append(one)
    return dict(sorted(found.items()))


def _ranks(rated: Sequence[Judgement], question: str, conditions: Conditions, reference: str) -> Iterator[Measurement]:
    """Differences of every two systems, and ranks whose open ends hold for all of them together."""
    groups = _by([one for one in rated if one.system != reference], lambda one: one.system)
    found: dict[tuple[str, str], tuple[Estimate, float | None]] = {}
    for first, second in combinations(groups, 2):
        given = [*groups[first], *groups[second]]
        found[first, second] = clustered_difference(
            [float(one.ratings[question]) for one in given],
            [one.system == first for one in given],
            [one.rater for one in given],
            [one.prompt_key for one in given],
            confidence=conditions.confidence,
        )
    for (first, second), (gap, _) in found.items():
        at = {"against": second, "question": question, "system": first}
        yield measured(d.MOS_DIFFERENCE, gap, conditions, at, **_BOTH)
    tested = {pair: p for pair, (_, p) in found.items() if p is not None}
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    apart = [pair for pair, p in adjusted.items() if p <= 1 - conditions.confidence]
    better = [pair if float(found[pair][0].value or 0) > 0 else pair[::-1] for pair in apart]
    means = {name: math.fsum(one.ratings[question] for one in given) / len(given) for name, given in groups.items()}
    for name, (best, worst) in possible_ranks(list(groups), better).items():
        rank = 1 + sum(other > means[name] for other in means.values())
        span = Interval(low=best, high=worst, level=conditions.confidence, method=f"{TWO_WAY} holm")
        place = Estimate(value=rank, count=len(groups[name]), interval=span)
        yield measured(d.MOS_RANK, place, conditions, {"question": question, "system": name}, **_BOTH)


def _without_bias(
    rated: Sequence[Judgement], question: str, method: Method, conditions: Conditions
) -> Iterator[Measurement]:
    clips, raters = sorted({one.sample for one in rated}), sorted({one.rater for one in rated})
    models = {
        "equal": bias_model(rated, question, clips, raters, weighted=False),
        "consistency": (model := bias_model(rated, question, clips, raters)),
    }
    of_system = {one.sample: one.system for one in rated}
    for weights, fitted in models.items():
        for system in sorted(set(of_system.values())):
            scores = [float(fitted.scores[k]) for k, clip in enumerate(clips) if of_system[clip] == system]
            mean = student_mean(scores, level=conditions.confidence)
            if mean.interval is not None:
                mean = replace(mean, interval=mean.interval.within(float(method.lowest), float(method.highest)))
            if weights == "consistency" and fitted.follows_one:
                mean = Estimate.none(Why.NEEDS_MORE_RATERS, count=len(scores))
            at = {"question": question, "system": system}
            yield measured(d.MOS_BIAS_REMOVED, mean, conditions, at, weights=weights)
    counts = Counter(one.rater for one in rated)
    for definition, values in ((d.RATER_BIAS, model.bias), (d.RATER_INCONSISTENCY, model.inconsistency)):
        for rater, value in zip(raters, values, strict=True):
            found = Estimate(value=float(value), count=counts[rater])
            if model.follows_one:
                found = Estimate.none(Why.NEEDS_MORE_RATERS, count=counts[rater])
            yield measured(definition, found, conditions, {"question": question, "rater": rater})


def bias_model(
    rated: Sequence[Judgement], question: str, clips: Sequence[str], raters: Sequence[str], *, weighted: bool = True
) -> SubjectModel:
    """The subject model of these ratings, clips and raters in the given order."""
    row, column = ({name: k for k, name in enumerate(names)} for names in (clips, raters))
    table = np.full((len(clips), len(raters)), np.nan)
    for one in rated:
        table[row[one.sample], column[one.rater]] = one.ratings[question]
    return subject_model(table, weighted=weighted)


def _differential(
    rated: Sequence[Judgement], question: str, method: Method, conditions: Conditions, reference: str
) -> Iterator[Measurement]:
    """Differences from the hidden reference, rater by rater and prompt by prompt."""
    hidden = {(one.rater, one.prompt_key): one.ratings[question] for one in rated if one.system == reference}
    for system, given in _by([one for one in rated if one.system != reference], lambda one: one.system).items():
        both = [one for one in given if (one.rater, one.prompt_key) in hidden]
        values = [float(one.ratings[question] - hidden[one.rater, one.prompt_key] + method.highest) for one in both]
        mean = clustered_mean(
            values,
            [one.rater for one in both],
            [one.prompt_key for one in both],
            confidence=conditions.confidence,
            lowest=float(method.lowest),
            highest=float(2 * method.highest - method.lowest),
            step=1.0,
        )
        at, note = {"question": question, "system": system}, "" if both else "nobody rated both it and the reference"
        yield measured(d.DMOS, mean, conditions, at, note=note, **_BOTH)


def fault_numbers(faults: Sequence[Fault], conditions: Conditions, *, count: int) -> Iterator[Measurement]:
    """How often each fault was marked in each system's clips."""
    marks: Mapping[tuple[str, str], int] = Counter((one.clip, one.tag) for one in faults)
    for (system, tag), number in sorted(marks.items()):
        found = Estimate(value=number, count=count)
        yield measured(d.FAULT_COUNT, found, conditions, {"system": system, "tag": tag})
