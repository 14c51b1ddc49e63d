"""Which clip is held against which: by name, in order; a missing partner is said, never skipped."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.instruments.fidelity.conftest import numbered, pictures

from rushes.core.errors import InputError
from rushes.instruments.fidelity.pairs.clips import pair_sets


def touch(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x")
    return folder


def named(found: object) -> list[tuple[str, str, str]]:
    return [(p.name, p.gen.name if p.gen else "", p.gt.name if p.gt else "") for p in found.pairs]  # type: ignore[attr-defined]


def test_by_name_whatever_the_ending(tmp_path: Path) -> None:
    gen = touch(tmp_path / "gen", "take2.mp4", "take10.mp4", "p/x.webm")
    gt = touch(tmp_path / "gt", "take10.mov", "take2.mov", "p/x.mp4")
    assert named(pair_sets(gen, gt)) == [
        ("p/x", "p/x.webm", "p/x.mp4"),
        ("take2", "take2.mp4", "take2.mov"),
        ("take10", "take10.mp4", "take10.mov"),
    ]


def test_a_missing_partner_stays_with_its_reason(tmp_path: Path) -> None:
    gen, gt = touch(tmp_path / "gen", "a.mp4", "b.mp4"), touch(tmp_path / "gt", "b.mp4", "c.mp4")
    found = pair_sets(gen, gt).pairs
    assert [(p.name, p.missing) for p in found] == [
        ("a", f"no reference of this name in {gt}"),
        ("b", ""),
        ("c", f"no generated clip of this name in {gen}"),
    ]


def test_one_clip_each_is_a_pair_whatever_the_names(tmp_path: Path) -> None:
    touch(tmp_path, "out.mp4", "truth.mov")
    assert named(pair_sets(tmp_path / "out.mp4", tmp_path / "truth.mov")) == [("out", "out.mp4", "truth.mov")]
    sequence = pictures(tmp_path / "frames", numbered([1, 2]))
    (pair,) = pair_sets(sequence, tmp_path / "truth.mov").pairs
    assert pair.gen is not None and pair.gen.is_sequence and pair.gt is not None


def test_by_index_needs_as_many_on_both_sides(tmp_path: Path) -> None:
    gen, gt = touch(tmp_path / "gen", "a.mp4", "b.mp4"), touch(tmp_path / "gt", "x.mp4", "y.mp4", "z.mp4")
    with pytest.raises(InputError, match="2 clips and .* 3; pair='index' needs as many on both sides"):
        pair_sets(gen, gt, by="index")
    (gt / "z.mp4").unlink()
    assert named(pair_sets(gen, gt, by="index")) == [("a", "a.mp4", "x.mp4"), ("b", "b.mp4", "y.mp4")]


def test_nothing_that_pairs_and_two_of_one_name(tmp_path: Path) -> None:
    gen, gt = touch(tmp_path / "gen", "a.mp4", "b.mp4"), touch(tmp_path / "gt", "x.mp4", "y.mp4")
    with pytest.raises(InputError, match=r"no clip has the same name in both \(a, b against x, y\).*pair='index'"):
        pair_sets(gen, gt)
    with pytest.raises(InputError, match="a.mp4 and a.webm differ only in their ending; keep one"):
        pair_sets(touch(gen, "a.webm"), touch(gt, "a.mp4"))
