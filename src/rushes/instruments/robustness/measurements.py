"""The seed's result shapes as labelled measurements, and what one axis does by itself: the runs at which every other
axis has the baseline's value."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TypeAlias

from rushes.core import Definition, Measurement
from rushes.core.measurement import At
from rushes.instruments.robustness.definitions import one_sweep as defined
from rushes.instruments.robustness.seed.encoding import value_order
from rushes.instruments.robustness.seed.gradients import GradientSurface, slopes
from rushes.instruments.robustness.seed.metrics import (
    DriftMetric,
    ESIMetric,
    MetricsResult,
    NullJustification,
    mean_score,
    stored_score,
)
from rushes.instruments.robustness.seed.metrics_engine import drift_metric, esi_metric
from rushes.instruments.robustness.seed.montecarlo import MonteCarloMetric, MonteCarloResult
from rushes.instruments.robustness.seed.scores import RunScore, by_value
from rushes.instruments.robustness.seed.surface import RobustnessSurface
from rushes.instruments.robustness.show.diff import shown

OUTPUT = "output"
OTHER_ANSWERS = "other answers"
TEXT_PREVIEW = "text-preview"
MOST_CELLS = 400
"""A grid of two axes with more cells than this is not broken down: nobody reads it, and a report would drown in it."""

Axes: TypeAlias = Mapping[str, Mapping[str, object]]
"""Axis → encoded value → value, as a sweep declares them."""
Counts: TypeAlias = Mapping[str, Mapping[str, int]]


AxisScores: TypeAlias = ESIMetric | DriftMetric | MonteCarloMetric
"""ESI, drift, CSI or EDM of one axis."""


def grid_digest(runs: Iterable[str]) -> str:
    """A short digest of the runs that were pooled, in execution order.

    >>> grid_digest(["brightness=0p8_seed=1", "brightness=1p0_seed=1"])
    '85dfbdc4f590'
    """
    return hashlib.sha256("\n".join(runs).encode()).hexdigest()[:12]


def run_counts(axes: Iterable[str], scores: Sequence[RunScore]) -> dict[str, dict[str, int]]:
    """Runs behind each value score, by axis and encoded value."""
    return {axis: Counter(score.values[axis] for score in scores if axis in score.values) for axis in axes}


def value_label(axes: Axes, axis: str, encoded: str) -> str:
    """What `at` calls a value: as declared, on one printable line. Values that encode apart have labels apart.

    >>> value_label({"mode": {"100A": "100%|A", "": "é"}}, "mode", "100A"), value_label({"mode": {"": "é"}}, "mode", "")
    ('100%|A', 'é')
    """
    return shown(str(axes[axis][encoded]))


def as_measurements(
    result: MetricsResult, *, axes: Axes, counts: Counts, grid: str, failed: Counts | None = None
) -> tuple[Measurement, ...]:
    """`MetricsResult` as labelled numbers: per axis the overall score, then its values, numbers by size.

    `counts` are the runs behind each score; `failed` those at each value whose judge gave no answer.
    """
    left_out = failed or {}
    pairs: tuple[tuple[Definition, Sequence[AxisScores]], ...] = (
        (defined.ESI.with_params(answer=OUTPUT, grid=grid), result.esi),
        (defined.DRIFT.with_params(grid=grid), result.drift),
    )
    return tuple(
        row
        for definition, metrics in pairs
        for metric in metrics
        for row in axis_measurements(definition, metric, axes, counts[metric.axis], left_out.get(metric.axis, {}))
    )


def nothing_measured(axes: Axes, *, grid: str, note: str) -> tuple[Measurement, ...]:
    """ESI and drift of every axis and value without a number, and why: there is no answer to hold a run against."""
    places: list[At] = []
    for axis in axes:
        labels = (value_label(axes, axis, encoded) for encoded in value_order(axes[axis]))
        places += [(("axis", axis),), *((("axis", axis), ("value", label)) for label in labels)]
    definitions = (defined.ESI.with_params(answer=OUTPUT, grid=grid), defined.DRIFT.with_params(grid=grid))
    return tuple(Measurement.missing(definition, note, at=at) for definition in definitions for at in places)


def failure_measurements(axes: Axes, scores: Sequence[RunScore], *, grid: str) -> tuple[Measurement, ...]:
    """How often the judge failed: over the sweep, along every axis and at every value of it."""
    definition = defined.FAILURE_RATE.with_params(grid=grid)
    rows = [_rate(definition, scores, ())]
    for axis in axes:
        groups = by_value(axis, scores)
        rows.append(_rate(definition, scores, (("axis", axis),)))
        for encoded in value_order(axes[axis]):
            if encoded in groups:
                at = (("axis", axis), ("value", value_label(axes, axis, encoded)))
                rows.append(_rate(definition, groups[encoded], at))
    return tuple(rows)


def _rate(definition: Definition, scores: Sequence[RunScore], at: At) -> Measurement:
    value = mean_score([float(score.failed) for score in scores])
    return Measurement(definition=definition, value=value, count=len(scores), at=at)


def monte_carlo_measurements(result: MonteCarloResult, *, axes: Axes, grid: str) -> tuple[Measurement, ...]:
    """CSI and EDM as labelled numbers; nothing where no run carries what they rest on."""
    return tuple(
        row
        for definition, metrics in ((defined.CSI, result.csi), (defined.EDM, result.edm))
        for metric in metrics
        for row in axis_measurements(definition.with_params(grid=grid), metric, axes, metric.value_counts, {})
    )


def axis_measurements(
    definition: Definition,
    metric: AxisScores,
    axes: Axes,
    counts: Mapping[str, int],
    failed: Mapping[str, int],
) -> Iterator[Measurement]:
    """The overall score of an axis, then a row per value; a value at which every run failed has one that says so."""
    about = (("axis", metric.axis),)
    behind, silent = sum(counts.values()), [value for value in failed if value not in metric.value_scores]
    note = _left_out(sum(failed.values()), behind)
    if silent:
        note += f"; no run answers at {len(silent)} of {len(silent) + len(metric.value_scores)} values"
    yield Measurement(definition=definition, value=metric.overall_score, count=behind, at=about, note=note)
    for value in value_order(axes[metric.axis]):
        at = (*about, ("value", value_label(axes, metric.axis, value)))
        if value in metric.value_scores:
            note = _left_out(failed.get(value, 0), counts[value])
            yield Measurement(
                definition=definition, value=metric.value_scores[value], count=counts[value], at=at, note=note
            )
        elif value in failed:
            yield Measurement.missing(definition, f"the judge failed in every run here ({failed[value]})", at=at)


def _left_out(failed: int, answered: int) -> str:
    return f"the judge failed in {failed} of {failed + answered} runs, which are left out" if failed else ""


def surface_measurements(
    surface: RobustnessSurface, gradients: GradientSurface, *, grid: str
) -> tuple[Measurement, ...]:
    """Variances and steepest slopes per axis, and over all points: those have no axis."""
    rows: list[Measurement] = []
    for axis, steep in zip(surface.axes, gradients.axes, strict=True):
        steepest = (steep.max_abs_esi_gradient, steep.max_abs_drift_gradient)
        values = (axis.variance_esi, axis.variance_drift, *steepest)
        rows += _spread(values, (("axis", axis.axis),), len(axis.points), grid)
    steepest = (gradients.global_max_abs_esi_gradient, gradients.global_max_abs_drift_gradient)
    values = (surface.global_variance_esi, surface.global_variance_drift, *steepest)
    return (*rows, *_spread(values, (), sum(len(axis.points) for axis in surface.axes), grid))


def _spread(values: tuple[float, float, float, float], at: At, count: int, grid: str) -> list[Measurement]:
    definitions = (defined.ESI_VARIANCE, defined.DRIFT_VARIANCE, defined.ESI_GRADIENT, defined.DRIFT_GRADIENT)
    return [
        Measurement(definition=definition.with_params(grid=grid), value=value, count=count, at=at)
        for definition, value in zip(definitions, values, strict=True)
    ]


def cell_measurements(axes: Axes, scores: Sequence[RunScore], *, grid: str) -> tuple[Measurement, ...]:
    """ESI and drift at every pair of values of every two axes, for heat charts; large grids are left out."""
    rows: list[Measurement] = []
    for one, other in combinations(axes, 2):
        cells: dict[tuple[str, str], list[RunScore]] = {}
        for score in scores:
            cells.setdefault((score.values[one], score.values[other]), []).append(score)
        if len(cells) <= MOST_CELLS:
            order = [(a, b) for a in value_order(axes[one]) for b in value_order(axes[other]) if (a, b) in cells]
            for cell in order:
                first, second = value_label(axes, one, cell[0]), value_label(axes, other, cell[1])
                at = (("axis_1", one), ("value_1", first), ("axis_2", other), ("value_2", second))
                rows += _cell(cells[cell], at, grid)
    return tuple(rows)


def _cell(runs: Sequence[RunScore], at: At, grid: str) -> list[Measurement]:
    esi = mean_score([float(run.matches) for run in runs])
    drift = mean_score([run.drift for run in runs if run.drift is not None])
    return [
        Measurement(definition=defined.ESI.with_params(answer=OUTPUT, grid=grid), value=esi, count=len(runs), at=at),
        Measurement(definition=defined.DRIFT.with_params(grid=grid), value=drift, count=len(runs), at=at),
    ]


def run_measurement(run: str, drift: float, *, grid: str) -> Measurement:
    """One run's drift."""
    return Measurement(definition=defined.DRIFT_OF_RUN.with_params(grid=grid), value=drift, count=1, at=(("run", run),))


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


def with_null(measurements: Iterable[Measurement], null: NullJustification) -> tuple[Measurement, ...]:
    """The same numbers; where null was taken as text, the signature of every distance between texts says so."""
    if null == "empty":
        return tuple(measurements)
    return tuple(
        replace(m, definition=m.definition.add_params(null_justification=null)) if m.definition.param("distance") else m
        for m in measurements
    )
