"""Values at smaller N, and the value at infinitely many clips beside them."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.core.errors import InputError
from rushes.instruments.distribution.distances import intervals as distance_intervals
from rushes.instruments.distribution.distances.labelled import Extras, Sets, at_infinity, measure
from rushes.instruments.distribution.distances.measuring import curve_measurements
from rushes.instruments.distribution.features.rows import FeatureSet
from rushes.instruments.distribution.protocols import Metric
from rushes.instruments.distribution.recipes import recipe
from rushes.stats.frechet import frechet_distance


def sets_of(metric: Metric, gen: FeatureSet, gt: FeatureSet) -> Sets:
    return Sets(metric=metric, recipe=recipe("genhoi", metric), gen=gen, gt=gt, weights="w", precision="fp32")


def some(count: int, seed: int, *, windows: int = 1) -> FeatureSet:
    rows = np.random.RandomState(seed).normal(size=(count * windows, 400)).astype(np.float32)
    names = tuple(f"c{n // windows}" for n in range(len(rows)))
    return FeatureSet(names, names, rows)


def test_four_subsets_of_each_size_and_the_whole_once() -> None:
    gen, gt = some(32, 0), some(32, 1)
    points = curve_measurements(sets_of("fvd", gen, gt))
    assert [m.place["n"] for m in points] == ["4"] * 4 + ["8"] * 4 + ["16"] * 4 + ["32"]
    assert [m.place["subset"] for m in points[:5]] == ["1", "2", "3", "4", "1"]
    assert points[-1].value == frechet_distance(gen.features, gt.features)
    assert points[0].definition.param("n_gen") == "4" and points[0].count == 8
    assert points[0].value != points[1].value and "seed 0" in points[0].note
    assert points == curve_measurements(sets_of("fvd", gen, gt))
    assert points[0] != curve_measurements(sets_of("fvd", gen, gt), seed=1)[0]
    means = [np.mean([m.value for m in points if m.place["n"] == n]) for n in ("4", "8", "16", "32")]
    assert means == sorted(means, reverse=True)  # one distribution: what is there is bias, and it falls


def test_unequal_sets_go_up_to_the_smaller() -> None:
    points = curve_measurements(sets_of("kvd", some(40, 0), some(9, 1)))
    assert [m.place["n"] for m in points] == ["4"] * 4 + ["9"] * 4


def test_n_counts_videos_and_their_rows_go_together() -> None:
    points = curve_measurements(sets_of("fvd", some(8, 0, windows=3), some(8, 1)))
    assert points[0].place["n"] == "4"
    assert (points[0].definition.param("n_gen"), points[0].definition.param("n_gt")) == ("12", "4")


def test_a_size_too_small_for_the_metric_has_no_value() -> None:
    points = curve_measurements(sets_of("coverage", some(8, 0), some(8, 1)))
    assert points[0].value is None and "need more than 5 clips; got 4" in points[0].note
    assert points[-1].value is not None


def test_the_end_of_the_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distance_intervals, "EXTRAPOLATION_SIZES", 2)
    monkeypatch.setattr(distance_intervals, "EXTRAPOLATION_REPEATS", 1)
    few, many = (some(20, 0), some(20, 1)), (some(420, 0), some(420, 1))
    for sets in (few, many):
        (whole,) = measure(sets_of("fvd", *sets), Extras())
        (end,) = at_infinity(sets_of("fvd", *sets), whole)
        assert end.name == "fvd_extrapolated"
        assert (end.value is None) == (sets is few)
    (missing,) = at_infinity(sets_of("fvd", *few), whole)
    assert "more than 400 in each set; got 20 and 20" in missing.note
    assert at_infinity(sets_of("kvd", *few), whole) == ()


def test_too_few_clips_are_refused() -> None:
    with pytest.raises(InputError, match="a curve needs 8 clips in each set; got 7 and 9"):
        curve_measurements(sets_of("fvd", some(7, 0), some(9, 1)))
