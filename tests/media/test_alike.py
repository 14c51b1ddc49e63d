"""The common form: averages by area against exact fractions, frames by time, the window, crop and bars."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.clips import coded_frame, noise, write_frames, write_luma

from rushes.core.alike_form import AlikeForm, form_of
from rushes.core.errors import InputError
from rushes.media import ClipReader, probe
from rushes.media.alike.area import AreaGrid
from rushes.media.alike.frames import AlikeFrame, AlikeFrames
from rushes.media.luma import LumaPlane

FULL = (1.0, 0.0)
LIMITED = (255 / 219, 16.0)


def averaged(values: np.ndarray, size: tuple[int, int], fit: str = "crop", code: tuple[float, float] = FULL) -> list:
    form = AlikeForm.parse(f"{size[0]}x{size[1]}@1,1s,{fit}")
    source = values.shape[1], values.shape[0]
    return AreaGrid(source, size, form.scale(source)).luma(LumaPlane(values, *code, False), values).tolist()


def exactly(values: np.ndarray, size: tuple[int, int], fit: str, code: tuple[int, int]) -> list[list[int]]:
    """The definition by fractions: the mean over a rectangle, with black beyond the picture. `code`: black, span."""
    height, width = values.shape
    ratios = Fraction(size[0], width), Fraction(size[1], height)
    step = 1 / (max(ratios) if fit == "crop" else min(ratios))

    def shares(length: int, out: int, n: int) -> dict[int, Fraction]:
        low = (length - out * step) / 2 + n * step
        every = ((i, min(low + step, Fraction(i + 1)) - max(low, Fraction(i))) for i in range(length))
        return {i: share for i, share in every if share > 0}

    def level(row: int, column: int) -> int:
        light = sum(
            (down * across * Fraction((int(values[i, j]) - code[0]) * 255, code[1]))
            for i, down in shares(height, size[1], row).items()
            for j, across in shares(width, size[0], column).items()
        )
        return min(max(math.floor(light / step**2 + Fraction(1, 2)), 0), 255)

    return [[level(row, column) for column in range(size[0])] for row in range(size[1])]


def test_an_average_by_hand() -> None:
    """4 × 2 onto 2 × 1: means of four, (10 + 20 + 30 + 41) / 4 = 25.25 and (1 + 2 + 3 + 4) / 4 = 2.5, halves up."""
    values = np.array([[10, 20, 1, 2], [30, 41, 3, 4]], np.uint8)
    assert averaged(values, (2, 1)) == [[25, 3]]
    # Limited range: (25.25 − 16) · 255 / 219 = 10.77; below black is black.
    assert averaged(values, (2, 1), code=LIMITED) == [[11, 0]]


def test_crop_cuts_both_sides_alike_and_bars_are_black() -> None:
    """5 × 2 onto 2 × 2: cropped by 1.5 on each side, 2 × 2 pixels at their own size, halves of two each."""
    row = np.array([[0, 100, 200, 50, 250]] * 2, np.uint8)
    # columns 1.5 to 2.5 and 2.5 to 3.5: (100 + 200) / 2 and (200 + 50) / 2
    assert averaged(row, (2, 2)) == [[150, 125], [150, 125]]
    # 4 × 2 onto 2 × 2 before bars: half the size, one row of picture in the middle, so half of each row is black.
    wide = np.full((2, 4), 200, np.uint8)
    assert averaged(wide, (2, 2), "bars") == [[100, 100], [100, 100]]
    assert averaged(np.full((2, 8), 200, np.uint8), (4, 3), "bars") == [[0] * 4, [200] * 4, [0] * 4]


@pytest.mark.parametrize("fit", ["crop", "bars"])
@pytest.mark.parametrize(("source", "size"), [((7, 5), (4, 3)), ((9, 13), (5, 4)), ((6, 6), (6, 6)), ((11, 4), (3, 4))])
def test_every_average_is_exact(fit: str, source: tuple[int, int], size: tuple[int, int]) -> None:
    (plane,) = noise(1, size=source, seed=source[0])
    assert averaged(plane, size, fit) == exactly(plane, size, fit, (0, 255))
    assert averaged(plane, size, fit, LIMITED) == exactly(plane, size, fit, (16, 219))
    deep = plane.astype(np.uint16) * 4 + 1  # ten bits, limited
    assert averaged(deep, size, fit, (255 / 876, 64.0)) == exactly(deep, size, fit, (64, 876))


def test_bytes_do_not_depend_on_where_a_plane_lies() -> None:
    (wide,) = noise(1, size=(70, 40))
    whole = np.ascontiguousarray(wide[3:37, 5:68])
    assert averaged(wide[3:37, 5:68], (31, 17)) == averaged(whole, (31, 17)) == averaged(whole[::-1][::-1], (31, 17))


def frames_of(path: Path, form: str) -> list[AlikeFrame]:
    with ClipReader(path) as reader:
        found = AlikeFrames(AlikeForm.parse(form), reader.facts)
        shown = [alike for frame in reader for alike in found.add(frame)]
        return [*shown, *found.finish()]


def marked(path: Path, times: list[int], *, base: Fraction = Fraction(1, 1000), rate: int = 25) -> Path:
    """A clip whose frame n has the luma n throughout, full range."""
    planes = [np.full((4, 4), n, np.uint8) for n in range(len(times))]
    return write_luma(path, planes, "gray", times=times, time_base=base, rate=rate)


def numbers(path: Path, form: str) -> list[int]:
    return [int(frame.luma.values[0, 0]) for frame in frames_of(path, form)]


def test_the_frame_shown_at_each_time_is_taken(tmp_path: Path) -> None:
    """30 fps in whole milliseconds, 0 33 67 100 …: at 10 fps every third, though frame 3 may be 1 ms late."""
    thirty = marked(tmp_path / "a.mkv", [0, 33, 67, 100, 133, 167, 201, 233, 267], rate=30)
    assert numbers(thirty, "4x4@10,0.3s") == [0, 3, 6]
    shown = frames_of(thirty, "4x4@10,0.3s")
    assert [frame.time_ms for frame in shown] == [0.0, 100.0, 200.0] and [frame.index for frame in shown] == [0, 1, 2]
    # 25 fps at 10: the frames shown at 0, 100, 200 and 300 ms start at 0, 80, 200 and 280.
    assert numbers(marked(tmp_path / "b.mkv", [*range(0, 400, 40)]), "4x4@10,0.4s") == [0, 2, 5, 7]
    # A frame that the clip itself holds is shown again; the last one is shown to the end.
    assert numbers(marked(tmp_path / "c.mkv", [0, 40, 80, 320, 360]), "4x4@10,0.5s") == [0, 2, 2, 2, 4]


def test_the_window_is_the_first_seconds_from_the_first_frame_on(tmp_path: Path) -> None:
    late = marked(tmp_path / "late.mkv", [500 + 40 * n for n in range(10)])
    assert numbers(late, "4x4@25,0.12s") == [0, 1, 2] and AlikeForm.parse("4x4@25,0.13s").frames == 4


def test_a_turned_clip_is_averaged_upright(tmp_path: Path) -> None:
    (plane,) = noise(1, size=(8, 4))
    turned = write_frames(tmp_path / "a.mp4", [coded_frame(plane, "gray")], codec="ffv1", rotation=90)
    video = probe(turned).video
    assert video is not None and video.upright == (4, 8)
    (shown,) = frames_of(turned, "4x8@1,1s")
    assert shown.luma.values.tolist() == np.rot90(plane, -video.rotation // 90).tolist()


def test_what_has_no_common_form_says_why(tmp_path: Path) -> None:
    clip = marked(tmp_path / "a.mkv", [*range(0, 400, 40)])
    facts, parse = probe(clip).with_measured(video_ms=400.0, audio_ms=None), AlikeForm.parse
    assert not parse("4x4@25,0.4s").why_not(facts) and not parse("2x4@5,0.4s").why_not(facts)
    assert parse("5x4@25,0.4s").why_not(facts) == "4×4 is smaller than the common form 5×4"
    assert not parse("5x4@25,0.4s,bars").why_not(facts)  # its own size, between bars
    assert parse("4x4@30,0.4s").why_not(facts) == "25 fps is less than the 30 fps of the common form"
    assert not parse("4x4@30,1s").too_slow(29.97) and not parse("4x4@30,1s").too_slow(None)
    assert parse("4x4@25,0.5s").too_short(400.0).startswith("the clip is 0.40 s long; the common form takes its first")
    assert not parse("4x4@25,0.42s").too_short(400.0)  # half a frame of slack
    assert parse("4x4@25,0.5s").too_short(None).startswith("the clip is of unknown length")


def test_a_form_is_spelt_in_one_way() -> None:
    form = AlikeForm.parse(" 160x120@12.5,2.50s ")
    assert form.label == "alike-1(160x120@25/2,2.5s,crop)" and form_of(form.label) == form
    assert form_of("alike-2(160x120@8,2s,crop)") is None and form_of("canon-2") is None
    for wrong in ("160x120", "160x120@8", "160x120@0,2s", "0x120@8,2s", "160x120@8,0s", "160x120@8,2s,fill", "a@b"):
        with pytest.raises(InputError):
            AlikeForm.parse(wrong)
