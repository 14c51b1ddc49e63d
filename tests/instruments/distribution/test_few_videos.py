"""N ≤ D: one rule for distances, differences, the report's sentence and boards, counted in videos."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rushes.core import Measurement, Why
from rushes.instruments.distribution.distances.labelled import Extras, Sets, measure
from rushes.instruments.distribution.distances.measuring import Versus, measure_sets
from rushes.instruments.distribution.features.rows import FeatureSet
from rushes.instruments.distribution.few_videos import clips_of, few_videos, why_no_verdict
from rushes.instruments.distribution.protocols import Metric, Recipe
from rushes.instruments.distribution.recipes import recipe
from rushes.storage.runs import Run, Subject

D = 4


def narrow() -> Recipe:
    return replace(recipe("genhoi", "fvd"), d=D)


def rows(videos: int, windows: int = 1, seed: int = 0) -> FeatureSet:
    names = tuple(f"v{n}" for n in range(videos) for _ in range(windows))
    features = np.random.default_rng(seed).normal(size=(videos * windows, D)).astype(np.float32)
    return FeatureSet(names, names, features)


def whole(metric: Metric, gen: FeatureSet, gt: FeatureSet) -> Measurement:
    sets = Sets(metric=metric, recipe=narrow(), gen=gen, gt=gt, weights="w", precision="fp32")
    return measure(sets, Extras())[0]


def fvd(gen: FeatureSet, gt: FeatureSet) -> Measurement:
    return whole("fvd", gen, gt)


@pytest.mark.parametrize(
    ("gen", "gt", "why"),
    [
        ((5, 1), (5, 1), None),
        ((4, 1), (5, 1), Why.FEW_VIDEOS),  # as many as features is not more
        ((5, 1), (3, 1), Why.FEW_VIDEOS),
        ((4, 10), (5, 10), Why.FEW_VIDEOS),  # 40 windows of four videos are four videos
        ((5, 10), (5, 10), None),
    ],
)
def test_the_value_carries_it(gen: tuple[int, int], gt: tuple[int, int], why: Why | None) -> None:
    found = fvd(rows(*gen), rows(*gt, seed=1))
    assert found.why is why and ("why" in found.as_dict()) == (why is not None)
    assert ("heavily biased" in found.note) == (why is not None)
    kvd = whole("kvd", rows(*gen), rows(*gt))
    assert kvd.why is None and "honest" not in kvd.note


def test_words_name_what_is_few() -> None:
    assert fvd(rows(3), rows(5)).note.startswith("fewer clips than features (3 and 5 for D = 4): heavily biased")
    assert fvd(rows(4, 10), rows(5, 10)).note.startswith(
        "no more videos than features (4 and 5 for D = 4): heavily biased"
    )


@pytest.mark.parametrize("videos", [4, 5])
def test_a_difference_goes_by_the_same_rule(videos: int) -> None:
    how = {"weights": "w", "precision": "fp32"}
    sets = Sets(metric="fvd", recipe=narrow(), gen=rows(videos, 3), gt=rows(9, 3, seed=1), **how)
    second = Versus(features=rows(videos, 3, seed=2), name="birch", first="amber")
    value, *_, gap = measure_sets(sets, Extras(), second)
    assert gap.name == "fvd_difference" and gap.why is value.why is (Why.FEW_VIDEOS if videos == 4 else None)
    assert gap.note.startswith("no verdict with 4 clips for D = 4: a set with") == (videos == 4)


def test_it_is_stored_and_read_back() -> None:
    found = fvd(rows(3), rows(5))
    again = Measurement.from_dict(found.as_dict(), found.definition)
    assert again.why is Why.FEW_VIDEOS and why_no_verdict(again) is Why.FEW_VIDEOS


def test_runs_from_before_it_was_stored() -> None:
    few = replace(fvd(rows(3), rows(5)), why=None)
    assert why_no_verdict(few) is Why.FEW_VIDEOS  # 3 rows in the signature
    windows = replace(fvd(rows(4, 10), rows(5, 10)), why=None)
    assert why_no_verdict(windows) is None  # 40 and 50 rows say nothing about videos
    sets = tuple(
        Subject(id=name, kind="set", path=name, sha256="0" * 64, facts={"clips": clips})
        for name, clips in (("generated", 4), ("ground_truth", 5), ("versus", 2))
    )
    run = Run(path=Path("run"), info={}, subjects=sets, measurements={})
    assert clips_of(run) == [4, 5] and why_no_verdict(windows, clips_of(run)) is Why.FEW_VIDEOS
    gap = replace(windows, at=(("first", "amber"), ("versus", "birch")), note="no verdict with 4 clips for D = 4: …")
    assert why_no_verdict(gap) is Why.FEW_VIDEOS
    assert why_no_verdict(replace(gap, note="amber is closer than birch")) is None


def test_only_a_covariance_needs_them() -> None:
    kvd = whole("kvd", rows(3), rows(3))
    assert few_videos(kvd.definition, [2]) is None and why_no_verdict(kvd) is None
