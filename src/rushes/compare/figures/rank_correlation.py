"""Spearman's ρ of a metric and a question over clips or systems, with the interval that `rushes believe` gives it.

The sign is as drawn: a metric whose lower values are better has a negative ρ where it agrees, as its cloud falls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rushes.compare.agreement.metric_scores import scores_of_board
from rushes.compare.agreement.people_join import Join
from rushes.compare.agreement.statistics import Level, RatedClips
from rushes.compare.paper.evaluation import Evaluation, Pick
from rushes.core.errors import InputError
from rushes.stats.correlation import correlate
from rushes.stats.intervals import LEVEL
from rushes.stats.jackknife import Tested

_SAME = 1e-6
"""How far ρ over the drawn dots may be from that of `rushes believe`: values of figures are rounded."""


def drawn_rho(
    evaluation: Evaluation, metric: Pick, question: Pick, points: Sequence[tuple[str, str, float, float]], level: Level
) -> Tested:
    """ρ over the points (system, prompt, metric, people).

    Interval    over clips, that of `rushes believe` where the suite names the file of ratings or votes: over prompts,
                and over raters where they are known. Else over prompts, from each clip's mean. Over systems, that of
                believe or none
    """
    x, y = (np.array([point[n] for point in points], float) for n in (2, 3))
    rho, found = correlate(x, y, "spearman"), _believed(evaluation, metric, question, level)
    if rho is not None and found is not None and found.value is not None:
        shown = _turned(found) if metric.better == "lower" else found
        if abs(float(shown.value or 0) - rho) < _SAME:
            return shown
    return _of_points(points, level)


def _of_points(points: Sequence[tuple[str, str, float, float]], level: Level) -> Tested:
    systems, prompts = (np.unique([p[n] for p in points], return_inverse=True)[1] for n in (0, 1))
    x, y = (np.array([p[n] for p in points], float) for n in (2, 3))
    clips = RatedClips(x=x, ratings=y[None], prompt=prompts.astype(np.int64), system=systems.astype(np.int64))
    found = clips.agreement("clip")["spearman"]
    return found if level == "clip" else replace(found, interval=None)


def _believed(evaluation: Evaluation, metric: Pick, question: Pick, level: Level) -> Tested | None:
    if metric.reading is None or question.reading is None or evaluation.suite is None:
        return None
    asked = str(question.reading.definition.param("question") or "")
    measured = scores_of_board(replace(evaluation.data, readings=(metric.reading,)))
    people = next((one for one in evaluation.people if asked in one.dimensions), None)
    if people is None:
        return None
    try:
        joined = Join.of(measured, people)
    except InputError:  # its names are of single samples, or of other clips
        return None
    found = joined.agreements(measured.metrics[0], asked, confidence=LEVEL, only=level)[2]
    return found.get((level, "spearman"))


def _turned(one: Tested) -> Tested:
    """With the other sign."""
    interval = one.interval and replace(one.interval, low=-one.interval.high, high=-one.interval.low)
    return replace(one, value=-float(one.value or 0), interval=interval)
