"""What one axis does by itself: the runs at which every other axis has the baseline's value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from rushes.core import Definition, Measurement
from rushes.instruments.robustness.definitions import one_sweep as defined
from rushes.instruments.robustness.measurements import OUTPUT, Axes, axis_measurements, run_counts, value_label
from rushes.instruments.robustness.seed.encoding import value_order
from rushes.instruments.robustness.seed.gradients import slopes
from rushes.instruments.robustness.seed.metrics import MetricsResult, stored_score
from rushes.instruments.robustness.seed.metrics_engine import drift_metric, esi_metric
from rushes.instruments.robustness.seed.scores import RunScore, by_value

OTHER_ANSWERS = "other answers"


def one_axis(axis: str, scores: Sequence[RunScore]) -> list[RunScore]:
    """The scores at which only this axis has moved; `scores[0]` is the baseline."""
    return [score for score in scores if moves_alone(axis, score, scores[0].values)]


def moves_alone(axis: str, score: RunScore, home: Mapping[str, str]) -> bool:
    """Whether every other axis has the baseline's value."""
    return all(score.values[name] == value for name, value in home.items() if name != axis)


def effect_measurements(axes: Axes, scores: Sequence[RunScore], *, grid: str) -> tuple[Measurement, ...]:
    """ESI and drift of each axis by itself, their range along it, and what the answers turn into."""
    rows: list[Measurement] = []
    for axis in axes:
        along = one_axis(axis, scores)
        answered = [score for score in along if not score.failed]
        counts = run_counts([axis], answered)[axis]
        failed = run_counts([axis], [score for score in along if score.failed])[axis]
        esi, drift = esi_metric(axis, answered), drift_metric(axis, answered)
        esi_alone = defined.ESI_ONE_AXIS.with_params(answer=OUTPUT, grid=grid)
        rows += axis_measurements(esi_alone, esi, axes, counts, failed)
        rows += axis_measurements(defined.DRIFT_ONE_AXIS.with_params(grid=grid), drift, axes, counts, failed)
        order = [value for value in value_order(axes[axis]) if value in esi.value_scores]
        labels = [value_label(axes, axis, value) for value in order]
        for definition, metric, worst in ((defined.ESI_RANGE, esi, min), (defined.DRIFT_RANGE, drift, max)):
            values = [metric.value_scores[value] for value in order]
            spread = stored_score(max(values) - min(values))
            note = f"worst at {labels[values.index(worst(values))]}" if spread else ""
            rows.append(_along(definition.with_params(grid=grid), axis, spread, len(values), note))
        rows += flip_measurements(axis, axes, along, grid=grid)
    return tuple(rows)


def _along(definition: Definition, axis: str, value: float, count: int, note: str) -> Measurement:
    return Measurement(definition=definition, value=value, count=count, at=(("axis", axis),), note=note)


def by_value_gradients(axes: Axes, metrics: MetricsResult, *, grid: str) -> tuple[Measurement, ...]:
    """The steepest slopes with the values taken by size; pooled as the seed pools them."""
    pairs = ((defined.ESI_GRADIENT_BY_VALUE, metrics.esi), (defined.DRIFT_GRADIENT_BY_VALUE, metrics.drift))
    return tuple(
        _steepest(definition.with_params(grid=grid), metric.axis, metric.value_scores, axes)
        for definition, found in pairs
        for metric in found
    )


def _steepest(definition: Definition, axis: str, scores: Mapping[str, float], axes: Axes) -> Measurement:
    order = [value for value in value_order(axes[axis]) if value in scores]
    sizes = [abs(slope) for slope in slopes([scores[value] for value in order])]
    steepest = max(sizes)
    note = f"steepest at {value_label(axes, axis, order[sizes.index(steepest)])}" if steepest else ""
    return _along(definition, axis, steepest, len(order), note)


def flip_measurements(axis: str, axes: Axes, along: Sequence[RunScore], *, grid: str) -> list[Measurement]:
    """At every value of an axis: how many runs give which answer, where the baseline gives `from`."""
    definition, name = defined.ANSWER_FLIPS.with_params(grid=grid), answer_names(along)
    rows = []
    groups = by_value(axis, [score for score in along if score.answer is not None])
    home = name(along[0].answer)
    for value in value_order(axes[axis]):
        for answer, count in sorted(Counter(name(score.answer) for score in groups.get(value, ())).items()):
            at = {"axis": axis, "value": value_label(axes, axis, value), "from": home, "to": answer}
            rows.append(Measurement(definition=definition, value=count, count=count, at=at))
    return rows


def answer_names(scores: Iterable[RunScore]) -> Callable[[str | None], str]:
    """What a flip matrix calls an answer: the most frequent keep their names, the first run's too; the rest are one."""
    answers = [score.answer for score in scores if score.answer is not None]
    kept = {*(answer for answer, _ in Counter(answers).most_common(defined.MOST_ANSWERS)), *answers[:1]}
    return lambda answer: answer if answer in kept and answer is not None else OTHER_ANSWERS
