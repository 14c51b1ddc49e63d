"""Classes of clips: from a file, from folders, and what is said of those that have none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rushes.core.errors import InputError
from rushes.instruments.distribution.distances.groups import read_groups
from rushes.instruments.distribution.distances.labelled import Extras, Sets
from rushes.instruments.distribution.distances.measuring import Versus, measure_sets
from rushes.instruments.distribution.features.rows import FeatureSet
from rushes.instruments.distribution.protocols import Metric
from rushes.instruments.distribution.recipes import recipe
from rushes.stats.frechet import frechet_distance

NAMES = ("cats/a.mp4", "cats/b.mp4", "cats/c.mp4", "dogs/a.mp4", "dogs/b.mp4", "fish/a.mp4", "top.mp4")


def a_set(names: tuple[str, ...], seed: int) -> FeatureSet:
    rows = np.random.RandomState(seed).normal(size=(len(names), 400)).astype(np.float32)
    return FeatureSet(names, names, rows)


def sets(gen: FeatureSet, gt: FeatureSet, metric: Metric = "fvd") -> Sets:
    return Sets(metric=metric, recipe=recipe("genhoi", metric), gen=gen, gt=gt, weights="w", precision="fp32")


def test_every_class_after_the_whole() -> None:
    gen, gt = a_set(NAMES, 0), a_set((*NAMES[:5], "owls/a.mp4"), 1)
    whole, cats, dogs, fish, owls = measure_sets(sets(gen, gt), Extras(groups=read_groups("folders")))
    assert whole.at == () and "1 clips of the generated set lie in no folder of the set, top.mp4 among" in whole.note
    assert [m.place["class"] for m in (cats, dogs, fish, owls)] == ["cats", "dogs", "fish", "owls"]
    assert cats.value == frechet_distance(gen.features[:3], gt.features[:3])
    assert cats.definition.param("n_gen") == "3" and dogs.value is not None
    assert (fish.value, fish.note, fish.count) == (None, "only in the generated set (1 clips)", 1)
    assert (owls.value, owls.note) == (None, "only in the ground-truth set (1 clips)")


def test_a_class_too_small_for_an_interval_keeps_its_value() -> None:
    gen, gt = a_set(NAMES[:5], 0), a_set(NAMES[:5], 1)
    _, cats, dogs = measure_sets(sets(gen, gt), Extras(groups=read_groups("folders"), interval="jackknife"))
    assert cats.interval is not None and dogs.interval is None and dogs.value is not None
    assert "no interval: a jackknife interval needs three clips in each set; got 2 and 2" in dogs.note


def test_a_file_names_clips_with_or_without_folder_and_ending(tmp_path: Path) -> None:
    file = tmp_path / "classes.csv"
    file.write_text("clip,class,set\ncats/a,x,\nb.mp4,y,gen\nb.mp4,z,gt\n")
    groups = read_groups(file)
    assert groups.class_of("cats/a.mp4", "gen") == groups.class_of("cats/a.mp4", "gt") == "x"
    assert (groups.class_of("dogs/b.mp4", "gen"), groups.class_of("b.mp4", "gt")) == ("y", "z")
    assert groups.class_of("c.mp4", "gen") is None
    groups.require_some(["cats/a.mp4", "c.mp4"], "gen")
    with pytest.raises(
        InputError, match="no clip of the ground-truth set is named in .*classes.csv; .* such as 'q.mp4'"
    ):
        groups.require_some(["q.mp4"], "gt")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected the columns name .or clip. and class; got no rows"),
        ("name,kind\na,b\n", "expected the columns name .or clip. and class; got kind, name"),
        ("name,class\na,x\na,y\n", "line 3: a has two classes, x and y"),
        ("name,class\na,\n", "line 2: expected a name, a class"),
        ("name,class,set\na,x,both\n", "line 2: expected a name, a class and, optionally, a set"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "c.csv").write_text(text)
    with pytest.raises(InputError, match=words):
        read_groups(tmp_path / "c.csv")


def test_no_file() -> None:
    with pytest.raises(InputError, match="gone.csv: cannot be read as classes .No such file"):
        read_groups("gone.csv")


def test_the_second_model_and_the_difference() -> None:
    draw = np.random.RandomState(0)
    near, real = (draw.normal(size=(40, 400)) for _ in range(2))
    far = draw.normal(1.0, 1.0, size=(45, 400))

    def named(rows: np.ndarray, prefix: str) -> FeatureSet:
        names = tuple(f"{prefix}{n}" for n in range(len(rows)))
        return FeatureSet(names, names, rows.astype(np.float32))

    versus = Versus(features=named(far, "f"), name="birch", first="amber")
    both = sets(named(near, "n"), named(real, "r"), "kvd")
    first, second, gap = measure_sets(both, Extras(), versus)
    assert (first.at, second.at, gap.at) == ((), (("set", "birch"),), (("first", "amber"), ("versus", "birch")))
    assert gap.name == "kvd_difference" and gap.value == pytest.approx(first.value - second.value)  # type: ignore[operator]
    assert gap.note == "amber is closer than birch" and gap.interval is not None and gap.interval.high < 0
    assert (gap.definition.param("n_versus"), gap.definition.param("cut")) == ("45", "none")  # kvd is unbiased

    frechet = sets(both.gen, both.gt)
    gap = measure_sets(frechet, Extras(), versus)[2]
    assert (gap.definition.param("n_versus"), gap.definition.param("cut")) == ("40", "by-digest")
    assert gap.definition.param("bias") == "jackknife-off" and gap.interval is not None
    assert gap.note.startswith("no verdict with 40 clips for D = 400: a set with too little variety looks closer")
    assert "45 and 40 clips are not comparable" in gap.note


def test_shares_with_too_few_clips_are_missing() -> None:
    gen, gt = a_set(NAMES[:3], 0), a_set(NAMES, 1)
    versus = Versus(features=a_set(NAMES[:3], 2), name="b", first="a")
    first, second, gap = measure_sets(sets(gen, gt, "recall"), Extras(interval="jackknife"), versus)
    for m in (first, second, gap):
        assert m.value is None and m.note == "the 3 nearest clips need more than 3 in each set, got 3 and 7"
