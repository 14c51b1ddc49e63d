"""Saved statistics: round trip, mismatch, merging, damage."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rushes.core.errors import DefinitionMismatch, InputError
from rushes.instruments.distribution.features.rows import (
    FeatureSet,
    is_statistics,
    load_statistics,
    merge_sets,
    save_statistics,
)
from rushes.instruments.distribution.show.remarks import ReadFacts

HOW = {"backbone": "i3d", "bn_eps": 0.001, "cut": "whole", "weights": "abc"}


def some(*names: str, value: float = 0.0) -> FeatureSet:
    rows = np.arange(len(names) * 3, dtype=np.float32).reshape(-1, 3) + np.float32(value)
    return FeatureSet(names, tuple(f"d-{name}" for name in names), rows, (("bad.mp4", "bad.mp4: broken"),))


def test_round_trip_with_several_recipes(tmp_path: Path) -> None:
    other = HOW | {"backbone": "r3d50"}
    path = save_statistics(tmp_path / "sub" / "real.npz", [(HOW, some("a", "b")), (other, some("a", "b", value=7))])
    back = load_statistics(path, HOW)
    assert (
        back.names == ("a", "b")
        and back.digests == ("d-a", "d-b")
        and back.excluded == (("bad.mp4", "bad.mp4: broken"),)
    )
    assert back.features.tobytes() == some("a", "b").features.tobytes()
    assert load_statistics(path, other).features[0, 0] == 7


def test_facts_and_remarks_are_kept_and_merged(tmp_path: Path) -> None:
    facts = {"a": ReadFacts(frames=16, fps=25.0), "b": ReadFacts(frames=9, variable=True, padded=7)}
    whole = replace(some("a", "b"), facts=facts, remarks=("gaps",))
    back = load_statistics(save_statistics(tmp_path / "x.npz", [(HOW, whole)]), HOW)
    assert back.facts == facts and back.remarks == ("gaps",)
    other = replace(some("c"), facts={"c": ReadFacts(frames=1)}, remarks=("gaps", "links"))
    merged = merge_sets([back, other])
    assert merged.facts == facts | other.facts and merged.remarks == ("gaps", "links")
    assert load_statistics(save_statistics(tmp_path / "old.npz", [(HOW, some("a"))]), HOW).facts == {}


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    one = save_statistics(tmp_path / "1.npz", [(HOW, some("a", "b"))]).read_bytes()
    assert save_statistics(tmp_path / "2.npz", [(HOW, some("a", "b"))]).read_bytes() == one


def test_another_recipe_is_a_mismatch_that_names_it(tmp_path: Path) -> None:
    path = save_statistics(tmp_path / "real.npz", [(HOW, some("a"))])
    with pytest.raises(
        DefinitionMismatch, match="bn_eps is 0.001 there and 1e-05 here; weights is abc there and x here"
    ):
        load_statistics(path, HOW | {"bn_eps": 1e-5, "weights": "x"})


def test_parts_merge_to_the_whole_in_any_order() -> None:
    whole = some("t1", "t2", "t10")
    parts = [FeatureSet(whole.names[n : n + 1], whole.digests[n : n + 1], whole.features[n : n + 1]) for n in (2, 0, 1)]
    merged = merge_sets(parts)
    assert merged.names == whole.names and merged.features.tobytes() == whole.features.tobytes()
    assert merged.sha256 == whole.sha256
    with pytest.raises(InputError, match="t1 is in two of the merged statistics"):
        merge_sets([whole, parts[1]])


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04torn", b"text"])
def test_damaged_files(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(InputError, match="cannot be read as statistics saved by rushes"):
        load_statistics(tmp_path / "x.npz", HOW)


def test_strange_and_missing_files(tmp_path: Path) -> None:
    np.savez(tmp_path / "mu.npz", mu=np.zeros(3), sigma=np.eye(3))
    with pytest.raises(InputError, match="it has no entry 'about is not a file in the archive'.*save them again"):
        load_statistics(tmp_path / "mu.npz", HOW)
    with pytest.raises(InputError, match="found nothing"):
        load_statistics(tmp_path / "none.npz", HOW)


def test_statistics_are_told_by_their_ending() -> None:
    assert is_statistics("x/real.NPZ") and not is_statistics("real.mp4")
