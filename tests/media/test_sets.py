"""Sets as folder, glob, list and sequences; natural order; what is no clip is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushes.core.errors import InputError
from rushes.media.find.sets import read_set


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
    assert found.ignored == (
        (".hidden.mp4", "hidden: its name begins with a dot"),
        ("cover.png", "a picture without a number"),
        ("notes.txt", "not a clip by its ending, .txt"),
    )
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
    with pytest.raises(InputError, match=r"lists .*gone.mp4, which does not exist \(1 missing"):
        read_set(listing)
    listing.write_text("a.mp4\na.mp4\n")
    with pytest.raises(InputError, match="twice"):
        read_set(listing)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="expected clips or numbered pictures; found none"):
        read_set(tmp_path / "empty")
    with pytest.raises(InputError, match="found none"):
        read_set(f"{tmp_path}/*.mov")
    touch(tmp_path / "notes", "a.md", "cover.png")
    with pytest.raises(
        InputError, match=r"found none; there are a.md \(not a clip by its ending, .md\), cover.png \(a pict"
    ):
        read_set(tmp_path / "notes")
    listing.write_text("seq/1.png\nseq/1.png\n")
    touch(tmp_path, "seq/1.png")
    with pytest.raises(InputError, match="lists seq/1.png twice"):
        read_set(listing)
    with pytest.raises(InputError, match="found nothing"):
        read_set(tmp_path / "nowhere")


def test_one_file_is_a_set_of_one(tmp_path: Path) -> None:
    touch(tmp_path, "a.mp4")
    assert names(tmp_path / "a.mp4") == ["a.mp4"]


def test_linked_folders_belong_to_the_set_and_loops_end(tmp_path: Path) -> None:
    inside, outside = tmp_path / "set", tmp_path / "outside"
    for file in (inside / "a.mp4", outside / "b.mp4"):
        file.parent.mkdir()
        file.touch()
    (inside / "link").symlink_to(outside, target_is_directory=True)
    (outside / "back").symlink_to(inside, target_is_directory=True)
    assert [clip.name for clip in read_set(inside).clips] == ["a.mp4", "link/b.mp4"]


def test_a_whole_linked_tree_is_read_and_a_link_back_counts_nothing_twice(tmp_path: Path) -> None:
    touch(tmp_path, "store/a/x.mp4", "store/a/deep/y.mp4", "set/z.mp4")
    (tmp_path / "set" / "all").symlink_to(tmp_path / "store", target_is_directory=True)
    (tmp_path / "set" / "again").symlink_to(tmp_path / "store" / "a", target_is_directory=True)
    (tmp_path / "set" / "self").symlink_to(tmp_path / "set", target_is_directory=True)
    (tmp_path / "set" / "gone.mp4").symlink_to(tmp_path / "nowhere.mp4")
    found = read_set(tmp_path / "set")
    assert sorted(clip.files[0].name for clip in found.clips) == ["x.mp4", "y.mp4", "z.mp4"]
    reasons = dict(found.ignored)
    assert reasons["gone.mp4"] == f"a link to {tmp_path}/nowhere.mp4, which does not exist"
    assert reasons["self"] == "a link to a folder that is read anyway"
    assert len(reasons) == 3  # and one of the two ways to store/a


def test_a_linked_video_counts_once_and_a_linked_frame_as_often_as_it_comes(tmp_path: Path) -> None:
    touch(tmp_path, "set/b.mp4", "set/still/0001.png", "set/still/0003.png")
    (tmp_path / "set" / "a.mp4").symlink_to(tmp_path / "set" / "b.mp4")
    (tmp_path / "set" / "still" / "0002.png").symlink_to(tmp_path / "set" / "still" / "0001.png")
    found = read_set(tmp_path / "set")
    assert [clip.name for clip in found.clips] == ["b.mp4", "still"] and len(found.clips[1].files) == 3
    assert found.ignored == (("a.mp4", "a link to b.mp4, which counts once"),)


def test_predictions_beside_ground_truth_are_two_clips(tmp_path: Path) -> None:
    touch(tmp_path, *(f"v1/{n:04d}_{side}.png" for n in range(4) for side in ("pred", "gt")))
    found = read_set(tmp_path)
    assert [(clip.name, len(clip.files)) for clip in found.clips] == [("v1/gt", 4), ("v1/pred", 4)]
    assert [p.name for p in found.clips[1].files] == [f"{n:04d}_pred.png" for n in range(4)]


def test_a_size_in_the_name_leaves_one_clip(tmp_path: Path) -> None:
    touch(tmp_path, *(f"v1/frame_{n:04d}_512x512.png" for n in range(32)))
    (clip,) = read_set(tmp_path).clips
    assert clip.name == "v1" and len(clip.files) == 32


def test_missing_numbers_are_said(tmp_path: Path) -> None:
    touch(tmp_path, *(f"v{v}/{n:04d}.png" for v in (1, 2) for n in range(12) if v == 1 or n not in (7, 8)))
    found = read_set(tmp_path)
    assert found.remarks == (
        "frame numbers are missing in 1 of 2 clips, whose frames were joined as they are: v2 (7–8)",
    )


@pytest.mark.parametrize("other", ["0001.jpg", "1.png"])
def test_one_number_twice_is_refused(tmp_path: Path, other: str) -> None:
    touch(tmp_path, "v/0001.png", "v/0002.png", f"v/{other}")
    with pytest.raises(InputError, match="have the same number; remove one of them"):
        read_set(tmp_path)


def test_every_clip_has_a_name_of_its_own(tmp_path: Path) -> None:
    touch(tmp_path, "flat_1.png", "flat_2.png", "flat/1.png", "flat/2.png", "a_1.png", "a_2.png", "a-1.png", "a-2.png")
    assert sorted(names(tmp_path)) == ["a-#.png", "a_#.png", "flat/#.png", "flat_#.png"]


def test_pictures_of_a_list_keep_its_order(tmp_path: Path) -> None:
    touch(tmp_path, "b_1.png", "b_2.png", "a_1.png", "a_2.png")
    listing = tmp_path / "list.txt"
    listing.write_text("b_2.png\nb_1.png\na_1.png\na_2.png\n")
    assert [[p.name for p in clip.files] for clip in read_set(listing).clips] == [
        ["b_1.png", "b_2.png"],
        ["a_1.png", "a_2.png"],
    ]


def test_two_sequences_of_a_list_that_would_be_called_alike(tmp_path: Path) -> None:
    touch(tmp_path, "a_1.png", "a_2.png", "a-1.png", "a-2.png")
    listing = tmp_path / "list.txt"
    listing.write_text("a_1.png\na-1.png\na_2.png\na-2.png\n")
    assert [Path(clip.name).name for clip in read_set(listing).clips] == ["a_#.png", "a-#.png"]


def test_a_pattern_that_matches_a_folder_and_what_is_in_it_counts_once(tmp_path: Path) -> None:
    touch(tmp_path, "set/a.mp4", "set/deep/b.mp4", "set/seq/1.png", "set/seq/2.png")
    found = read_set(f"{tmp_path}/set/**")
    assert sorted(clip.files[0].name for clip in found.clips) == ["1.png", "a.mp4", "b.mp4"]
    assert len({clip.name for clip in found.clips}) == 3
