"""Sets as folder, glob, list and sequences; natural order; what is no clip is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushes.distribution.sets import is_statistics, read_set
from rushes.errors import InputError


def touch(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"x")
    return root


def names(given: str | Path) -> list[str]:
    return [clip.name for clip in read_set(given).clips]


def test_a_mixed_folder(tmp_path: Path) -> None:
    touch(tmp_path, "take10.mp4", "take2.GIF", "sub/x.webm", "notes.txt", ".hidden.mp4", "cover.png")
    touch(tmp_path, "dance/0001.png", "dance/0002.png", "dance/0010.png", "flat_7.jpg", "flat_12.jpg", "other_1.jpg")
    found = read_set(tmp_path)
    assert [c.name for c in found.clips] == ["dance", "flat", "other", "sub/x.webm", "take2.GIF", "take10.mp4"]
    assert found.ignored == ("cover.png", "notes.txt")
    sequence = found.clips[0]
    assert sequence.is_sequence and [p.name for p in sequence.files] == ["0001.png", "0002.png", "0010.png"]
    assert [p.name for p in found.clips[1].files] == ["flat_7.jpg", "flat_12.jpg"]
    assert not found.clips[-1].is_sequence


@pytest.mark.parametrize(
    "pattern", ["TiktokDance_201_{:03d}.png", "S001C001P001R001A001_{:04d}.jpg", "f{}-x.png", "{}.png"]
)
def test_sequences_under_any_file_name_pattern(tmp_path: Path, pattern: str) -> None:
    touch(tmp_path / "set" / "clip", *(pattern.format(n) for n in (1, 2, 10)))
    (clip,) = read_set(tmp_path / "set").clips
    assert clip.name == "clip" and [p.name for p in clip.files] == [pattern.format(n) for n in (1, 2, 10)]


def test_two_sequences_in_one_folder_below(tmp_path: Path) -> None:
    touch(tmp_path, "shots/a_1.png", "shots/a_2.png", "shots/b_1.png")
    assert names(tmp_path) == ["shots/a", "shots/b"]


def test_a_glob_and_a_list_file(tmp_path: Path) -> None:
    touch(tmp_path, "t10.mp4", "t9.mp4", "u1.mp4", "seq/1.png", "seq/2.png", "odd.xyz")
    assert [Path(n).name for n in names(f"{tmp_path}/t*.mp4")] == ["t9.mp4", "t10.mp4"]
    listing = tmp_path / "list.txt"
    listing.write_text("# takes\nu1.mp4\n\nt9.mp4\nseq\nodd.xyz\n")
    clips = read_set(listing).clips
    assert [Path(c.name).name for c in clips] == ["u1.mp4", "t9.mp4", "seq", "odd.xyz"]  # the list's own order
    assert clips[2].is_sequence and len(clips[2].files) == 2


def test_bad_lists_and_empty_sets(tmp_path: Path) -> None:
    touch(tmp_path, "a.mp4", "readme.md")
    listing = tmp_path / "list.txt"
    listing.write_text("a.mp4\ngone.mp4\n")
    with pytest.raises(InputError, match=r"lists .*gone.mp4, which is not there \(1 missing"):
        read_set(listing)
    listing.write_text("a.mp4\na.mp4\n")
    with pytest.raises(InputError, match="twice"):
        read_set(listing)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="expected clips or numbered pictures; found none"):
        read_set(tmp_path / "empty")
    with pytest.raises(InputError, match="found none"):
        read_set(f"{tmp_path}/*.mov")
    with pytest.raises(InputError, match="nothing is there"):
        read_set(tmp_path / "nowhere")


def test_one_file_is_a_set_of_one(tmp_path: Path) -> None:
    touch(tmp_path, "a.mp4")
    assert names(tmp_path / "a.mp4") == ["a.mp4"]
    assert is_statistics("x/real.NPZ") and not is_statistics("real.mp4")


def test_linked_folders_belong_to_the_set_and_loops_end(tmp_path: Path) -> None:
    inside, outside = tmp_path / "set", tmp_path / "outside"
    for file in (inside / "a.mp4", outside / "b.mp4"):
        file.parent.mkdir()
        file.touch()
    (inside / "link").symlink_to(outside, target_is_directory=True)
    (outside / "back").symlink_to(inside, target_is_directory=True)
    assert [clip.name for clip in read_set(inside).clips] == ["a.mp4", "link/b.mp4"]
