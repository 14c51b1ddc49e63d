"""Pictures of one folder to videos, by their names."""

from __future__ import annotations

from itertools import product
from pathlib import PurePosixPath

import pytest

from rushes.media.find.picture_names import gaps_text, sequences


def grouped(names: list[str]) -> dict[str, list[str]]:
    found, left = sequences([PurePosixPath(name) for name in names])
    assert not left
    assert sum(len(s.pictures) for s in found) == len(names)
    return {s.pattern: [p.name for p in s.pictures] for s in found}


def sizes(names: list[str]) -> dict[str, int]:
    return {pattern: len(pictures) for pattern, pictures in grouped(names).items()}


def test_predictions_beside_ground_truth_are_two_videos() -> None:
    names = [f"{n:04d}_{side}.png" for n in range(16) for side in ("pred", "gt")]
    assert sizes(names) == {"#_pred": 16, "#_gt": 16}


def test_a_size_behind_the_number_is_no_number() -> None:
    assert sizes([f"frame_{n:04d}_512x512.png" for n in range(32)]) == {"frame_#_512x512": 32}
    mixed = [f"frame_{n:04d}_{size}x{size}.png" for n in range(4) for size in (256, 512)]
    assert sizes(mixed) == {"frame_#_256x256": 4, "frame_#_512x512": 4}
    takes = [f"take{n}_{t:04d}_{256 * n}x{256 * n}.png" for n in (1, 2) for t in range(3)]
    assert sizes(takes) == {"take1_#_256x256": 3, "take2_#_512x512": 3}


@pytest.mark.parametrize(
    "pattern",
    [  # the four that DisCo's reader knows: what stands before its last group is the video
        "TiktokDance_{video}_{frame:04d}.png",
        "TiktokDance_{video}_3_1x1_{frame:03d}.png",
        "{video}_3_1x1__{frame:04d}_g.png",
        "S001C001P{video:03d}R001A004_{frame:04d}.jpg",
    ],
)
@pytest.mark.parametrize(("videos", "frames"), [(1, 5), (2, 5), (5, 2), (3, 12)])
def test_names_of_disco(pattern: str, videos: int, frames: int) -> None:
    names = [pattern.format(video=v, frame=f) for v, f in product(range(1, videos + 1), range(1, frames + 1))]
    found = grouped(names)
    assert list(found.values()) == [names[v * frames : (v + 1) * frames] for v in range(videos)]


def test_videos_whose_frames_do_not_begin_alike() -> None:
    names = [f"a_{v}_{v * 16 + f}.png" for v in (1, 2) for f in range(16)]
    assert sizes(names) == {"a_1_#": 16, "a_2_#": 16}


def test_a_time_beside_the_frame_number_is_the_same_number() -> None:
    assert sizes([f"f{n:04d}_t{40 * n:06d}.png" for n in range(12)]) == {"f#_t#": 12}
    two = [f"clip{v}_f{n:04d}_t{40 * n:06d}.png" for v in (1, 2) for n in range(12)]
    assert sizes(two) == {"clip1_f#_t#": 12, "clip2_f#_t#": 12}


def test_the_word_frame_says_which_run() -> None:
    names = [f"frame_{n:03d}_cam{c}.png" for n in range(5) for c in (1, 2)]
    assert sizes(names) == {"frame_#_cam1": 5, "frame_#_cam2": 5}


def test_order_is_by_number_and_not_by_text() -> None:
    assert grouped(["x9.png", "x10.png", "x1.png"]) == {"x#": ["x1.png", "x9.png", "x10.png"]}


def test_labels() -> None:
    def labels(*names: str) -> list[str]:
        return [s.label for s in sequences([PurePosixPath(name) for name in names])[0]]

    assert labels("dance_1.png", "dance_2.png") == ["dance"]
    assert labels("1_pred.png", "2_pred.png", "1_gt.png") == ["pred", "gt"]
    assert labels("frame_1_512x512.png", "frame_2_512x512.png") == ["frame_512x512"]
    assert labels("0001.png", "0002.png") == [""]
    assert labels("clip7_f1_t40.png", "clip7_f2_t80.png") == ["clip7_f_t"]


def test_a_number_twice() -> None:
    for names in (["a_1.png", "a_2.png", "a_2.jpg"], ["1.png", "2.png", "02.png"]):
        (found,) = sequences([PurePosixPath(name) for name in names])[0]
        assert found.repeated is not None and {p.name for p in found.repeated} == set(names[1:])
    (whole,) = sequences([PurePosixPath(f"{n}.png") for n in range(3)])[0]
    assert whole.repeated is None


@pytest.mark.parametrize(
    ("numbers", "missing"),
    [
        ([1, 2, 3], ()),
        ([0, 2, 4, 6], ()),  # every second frame is a choice, not a gap
        ([1, 2, 3, 6, 7], (4, 5)),
        ([1, 2, 3, 5, 6, 9], (4, 7, 8)),
        ([0, 2, 4, 8], (6,)),
        ([1, 50], ()),  # one step says nothing
        ([5], ()),
    ],
)
def test_gaps(numbers: list[int], missing: tuple[int, ...]) -> None:
    (found,) = sequences([PurePosixPath(f"{n:04d}.png") for n in numbers])[0]
    assert tuple(n for gap in found.gaps for n in gap) == missing


def test_a_gap_as_wide_as_a_date_costs_nothing() -> None:
    (found,) = sequences([PurePosixPath(f"{n}.png") for n in (1, 2, 3, 10**30)])[0]
    assert gaps_text(found.gaps) == f"4–{10**30 - 1}"


def test_a_picture_without_a_number() -> None:
    found, left = sequences([PurePosixPath("cover.png"), PurePosixPath("a1.png")])
    assert [p.name for p in left] == ["cover.png"] and len(found) == 1
