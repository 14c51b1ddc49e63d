"""Labelled numbers: notes, counts, intervals, extrapolation."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.core import parse_signature
from rushes.core.errors import InputError
from rushes.instruments.distribution.distances import intervals as distance_intervals
from rushes.instruments.distribution.distances.formulas import polynomial_mmd
from rushes.instruments.distribution.distances.labelled import Extras, Sets, measure
from rushes.instruments.distribution.features.rows import FeatureSet
from rushes.instruments.distribution.recipes import recipe
from rushes.stats.frechet import frechet_distance


def some(count: int, *, seed: int = 0, width: int = 400, shift: float = 0.0) -> FeatureSet:
    rows = np.random.RandomState(seed).normal(shift, 1.0, (count, width)).astype(np.float32)
    return FeatureSet(tuple(f"c{n}" for n in range(count)), ("d",) * count, rows)


def values(protocol: str, metric: str, gen: FeatureSet, gt: FeatureSet, **options: object):  # type: ignore[no-untyped-def]
    chosen = recipe(protocol, metric)  # type: ignore[arg-type]
    sets = Sets(metric=metric, recipe=chosen, gen=gen, gt=gt, weights="w", precision="fp32")  # type: ignore[arg-type]
    return measure(sets, Extras(**options))  # type: ignore[arg-type]


def test_value_count_signature_and_the_small_set_warning() -> None:
    gen, gt = some(5), some(7, seed=1)
    (m,) = values("genhoi", "fvd", gen, gt)
    assert m.value == pytest.approx(frechet_distance(gen.features, gt.features)) and m.count == 12
    name, params, _ = parse_signature(m.signature)
    assert (name, params["n_gen"], params["n_gt"], params["d"]) == ("fvd", "5", "7", "400")
    assert "fewer clips than features (5 and 7 for D = 400)" in m.note


def test_protocols_use_their_own_covariance_and_arithmetic() -> None:
    gen, gt = some(6), some(6, seed=1, shift=0.5)
    assert values("stylegan-v", "fvd", gen, gt)[0].value == pytest.approx(
        frechet_distance(gen.features, gt.features, ddof=0)
    )
    (m,) = values("videogpt", "fvd", gen, gt)
    assert m.value == frechet_distance(gen.features, gt.features) and "videogpt asks for 256 clips, got 6" in m.note


def test_kvd_is_beside_it_without_the_warning() -> None:
    gen, gt = some(6), some(6, seed=1)
    (m,) = values("genhoi", "kvd", gen, gt)
    assert m.value == pytest.approx(polynomial_mmd(gen.features, gt.features)) and m.note == ""
    _, params, _ = parse_signature(m.signature)
    assert params["estimator"] == "unbiased" and "covariance" not in params


def test_enough_clips_need_no_warning() -> None:
    assert values("genhoi", "fvd", some(401), some(402, seed=1))[0].note == ""


def test_an_interval_around_the_value() -> None:
    for method, words in (("subsampling", "subsampling-halves-200-seed0"), ("jackknife", "jackknife-20")):
        (m,) = values("genhoi", "kvd", some(12), some(12, seed=1), interval=method)
        assert m.interval.low < m.value < m.interval.high
        assert (m.interval.level, m.interval.method) == (0.95, words)
        assert m.definition == values("genhoi", "kvd", some(12), some(12, seed=1))[0].definition
    (without,) = values("genhoi", "kvd", some(2), some(12, seed=1), interval="jackknife")
    assert without.value is not None and without.interval is None
    assert "no interval: a jackknife interval needs three clips in each set; got 2 and 12" in without.note
    (other,) = values("genhoi", "kvd", some(12), some(12, seed=1), interval="subsampling", seed=5)
    assert other.interval.method == "subsampling-halves-200-seed5"


def test_extrapolation_has_a_definition_of_its_own_and_is_refused_below_d(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distance_intervals, "EXTRAPOLATION_SIZES", 2)
    monkeypatch.setattr(distance_intervals, "EXTRAPOLATION_REPEATS", 1)
    value, beyond = values("genhoi", "fvd", some(460), some(450, seed=1), extrapolate=True)
    assert beyond.definition.name == "fvd_extrapolated" and beyond.value < value.value
    assert parse_signature(beyond.signature)[1]["extrapolation_seed"] == "0"
    value, none = values("genhoi", "fvd", some(20), some(30), extrapolate=True)
    assert value.value is not None and none.value is None and "more than 400 in each set; got 20 and 30" in none.note
    assert len(values("genhoi", "kvd", some(20), some(30), extrapolate=True)) == 1


def test_one_clip_is_too_few_and_says_what_was_left_out() -> None:
    alone = FeatureSet(("a",), ("d",), np.zeros((1, 400), np.float32), (("b", "b: broken"),))
    with pytest.raises(
        InputError, match=r"at least two clips in each; the generated set has 1 \(1 left out: b: broken\)"
    ):
        values("genhoi", "fvd", alone, some(3))
    with pytest.raises(InputError, match="the ground-truth set has 1"):
        values("genhoi", "kvd", some(3), alone)


def test_identical_clips_are_remarked_and_give_0() -> None:
    same = FeatureSet(("a", "b"), ("d", "d"), np.ones((2, 400), np.float32))
    (m,) = values("genhoi", "fvd", same, same)
    assert m.value == 0.0
    assert "all clips of the generated set give the same features" in m.note
