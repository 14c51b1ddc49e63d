"""Frames of a clip: gaps in a sequence, and variable frame rates by ffmpeg's rule."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageSequence

from rushes.core.errors import MediaError
from rushes.instruments.distribution.clips.reading import (
    Task,
    Timed,
    clip_segments,
    constant_rate,
    count_frames,
    rgb_frames,
)
from rushes.instruments.distribution.recipes import recipe
from rushes.media.find.sequences import gaps_of
from rushes.media.find.sets import Clip


def sequence(folder: Path, numbers: list[int], pattern: str = "f_{:04}.png") -> Clip:
    files = tuple(folder / pattern.format(number) for number in numbers)
    for number, file in zip(numbers, files, strict=True):
        Image.fromarray(np.full((8, 8, 3), number, np.uint8)).save(file)
    return Clip("seq", files)


def test_gaps_are_where_a_number_is_missing(tmp_path: Path) -> None:
    files = tuple(Path(f"take3_{n:04}_512x512.png") for n in (1, 2, 5, 6, 9))
    assert gaps_of(Clip("a", files)) == (2, 4)
    assert gaps_of(Clip("a", tuple(Path(f"{n}.png") for n in range(3)))) == ()
    assert gaps_of(Clip("a", (Path("x1.png"),))) == gaps_of(Clip("a", (Path("x.mp4"),))) == ()
    assert gaps_of(Clip("a", (Path("x1.png"), Path("x1b2.png")))) == ()


def test_disco_on_pictures_is_one_row_for_each_start_frame(tmp_path: Path) -> None:
    clip = sequence(tmp_path, [*range(1, 19), *range(20, 37)])
    firsts = {"fvd": [], "fid-vid": []}
    for metric, found in firsts.items():
        for window in clip_segments(Task(clip, recipe("disco", metric), "gen")):  # type: ignore[arg-type]
            assert len(window) == 16
            level = (window[0].mean() + 1) * 127.5 if metric == "fvd" else window[0].mean() + 107.3283
            found.append(round(float(level)))
    assert firsts["fvd"] == firsts["fid-vid"] == [1, 2, 3, 20, 21]
    short = Clip("seq", clip.files[:15])
    with pytest.raises(MediaError, match="seq: 15 frames; protocol disco needs 16"):
        list(clip_segments(Task(short, recipe("disco", "fvd"), "gen")))


@pytest.mark.parametrize("disposal", [1, 2])
def test_a_transparent_gif_is_black_there_as_pil_has_it(tmp_path: Path, disposal: int) -> None:
    pictures = []
    for step in range(3):
        rgba = np.zeros((16, 16, 4), np.uint8)
        rgba[2 + step : 8 + step, 2:10] = (200, 40 + 30 * step, 60, 255)
        pictures.append(Image.fromarray(rgba))
    path = tmp_path / "moving.gif"
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=100, disposal=disposal)
    with Image.open(path) as gif:
        wanted = [np.array(frame.copy().convert("RGB")) for frame in ImageSequence.Iterator(gif)]
    for timing in ("stored", "constant"):
        got = list(rgb_frames(Clip("g", (path,)), timing=timing))  # type: ignore[arg-type]
        assert len(got) == 3 and all(np.array_equal(one, other) for one, other in zip(got, wanted, strict=True))


@pytest.mark.parametrize(
    ("frames", "late", "wanted"),
    [
        ([("a", 0, 1), ("b", 1, 1), ("c", 2, 1)], False, "abc"),
        ([("a", 0, 3), ("b", 3, 1)], False, "aaab"),  # a lasts three ticks
        ([("a", 0, 1), ("b", 3, 1)], False, "aabb"),  # its length is not known: the gap is shared
        ([("a", 2, 1), ("b", 3, 1)], False, "aaab"),  # sound began two ticks earlier
        ([("a", 2, 1), ("b", 3, 1)], True, "ab"),  # there is no sound
        ([("a", 0, 4), ("b", 1, 1), ("c", 4, 1)], False, "aaaac"),  # b came two ticks too late
        ([("a", 0, 2), ("b", 0.5, 1), ("c", 2, 1)], False, "aabc"),  # half a tick is let pass
        ([], False, ""),
    ],
)
def test_the_rule_of_ffmpegs_constant_rate(frames: list[tuple[str, float, float]], late: bool, wanted: str) -> None:
    assert "".join(constant_rate([Timed(*frame) for frame in frames], late_start=late)) == wanted


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg's command line")
@pytest.mark.parametrize(
    ("name", "filters"),
    [
        ("reordered.mp4", "select='not(mod(n,5))+gt(n,40)'"),
        ("jumping.mp4", "setpts='PTS+0.02*sin(N/3)/TB+if(gt(N,40),0.5/TB,0)'"),
        ("late.mkv", "select='gt(n,10)*(not(mod(n,3))+lt(n,20))'"),
        ("still.mp4", "select='not(mod(n,5))+gt(n,40)',null"),
    ],
)
def test_a_variable_rate_video_has_ffmpegs_frames_at_a_constant_rate(tmp_path: Path, name: str, filters: str) -> None:
    path = tmp_path / name
    coding = ["-bf", "0"] if name == "still.mp4" else []
    made = subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=24:d=2", "-vf", filters, "-vsync", "vfr",
         *coding, str(path)],
        check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.skip("this ffmpeg cannot make the clip")
    raw = ["ffmpeg", "-v", "error", "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    theirs = np.frombuffer(subprocess.run(raw, check=True, capture_output=True).stdout, np.uint8).reshape(-1, 48, 64, 3)
    clip = Clip(name, (path,))
    ours = [frame for frame in rgb_frames(clip, timing="constant") if frame is not None]
    version = subprocess.run(["ffmpeg", "-version"], check=True, capture_output=True, text=True).stdout.split()[2]
    if name == "reordered.mp4" and not version.startswith(("4.", "5.")):
        pytest.skip("later ffmpegs know the length of frames that are stored out of order")
    assert len(ours) == len(theirs) == count_frames(clip, timing="constant") > count_frames(clip)
    assert all(np.array_equal(one, other) for one, other in zip(ours, theirs, strict=True))
