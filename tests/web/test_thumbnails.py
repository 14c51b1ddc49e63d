"""Pictures of clips: which frame, by token only, kept outside the run, and never of another file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

from rushes.core.errors import MediaError
from rushes.media import ClipReader, write_clip
from rushes.media.still import still_at
from rushes.web.clips import thumbnails
from rushes.web.clips.thumbnails import fault_ms, kept_picture, thumbnail_address
from rushes.web.runs.cache import OpenRun

from .livesite import Site
from .runsite import FLASH_FRAME, entry, owner, write_run


def _open(folder: Path) -> OpenRun:
    from rushes.storage.runs import read_run

    return OpenRun(read_run(folder), "stamp")


@pytest.mark.parametrize("number", [0, 7, 30, 49])
def test_a_still_is_the_frame_that_a_whole_pass_finds(tmp_path: Path, number: int) -> None:
    """Frame k of 50 at 25 fps is shown from 40 k ms on; asked for in its middle, with and without seeking."""
    frames = [np.full((48, 64, 3), 5 * n, np.uint8) for n in range(50)]
    clip = write_clip(tmp_path / "clip.mp4", frames, fps=25)
    with ClipReader(clip) as reader:
        wanted = next(frame.bgr() for frame in reader if frame.index == number)
    assert np.array_equal(still_at(clip, 40 * number + 20), wanted)


def test_a_still_past_the_end_is_the_last_frame_and_before_the_start_the_first(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "clip.mp4", [np.full((48, 64, 3), 9 * n, np.uint8) for n in range(10)], fps=25)
    assert abs(int(still_at(clip, 1e9).mean()) - 81) <= 2 and still_at(clip, -5).mean() <= 2


def test_a_file_that_is_no_clip_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.mp4").write_bytes(b"nothing")
    with pytest.raises(MediaError, match=r"x\.mp4"):
        kept_picture(tmp_path / "x.mp4", at_ms=0)


def test_the_picture_is_taken_at_the_fault(measured: tuple[Path, Path]) -> None:
    """take_1 flashes at frame 20, 0.8 s; take_0 has no fault, so the middle of its 2 s."""
    opened = _open(measured[0])
    assert abs(fault_ms(opened.run, opened.row("take_1")) - 40 * FLASH_FRAME) <= 40
    assert fault_ms(opened.run, opened.row("take_0")) == pytest.approx(1000, abs=41)


def test_a_picture_comes_by_token_and_is_kept_outside_the_run(
    make_site: Callable[..., Site], measured: tuple[Path, Path], kept_pictures: Path
) -> None:
    before = sorted(measured[0].rglob("*"))
    site = make_site(runs=[measured[0]])
    client = owner(site)
    address = thumbnail_address("model_a", "take_1")
    assert "model_a" not in address and "take_1" not in address and address == thumbnail_address("model_a", "take_1")
    answer = client.get(address)
    assert answer.status_code == 200 and answer.headers["content-type"] == "image/jpeg"
    picture = cv2.imdecode(np.frombuffer(answer.content, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None and picture.shape == (90, 160, 3)
    assert sorted(measured[0].rglob("*")) == before
    (file,) = kept_pictures.glob("*/*.jpg")
    assert file.read_bytes() == answer.content
    file.write_bytes(b"from the cache")
    assert client.get(address).content == b"from the cache"
    assert client.get("/thumbnails/" + "0" * 32).status_code == 404
    assert site.client().get(address).status_code == 303, "without signing in"


def test_a_clip_that_is_gone_or_another_has_no_picture(
    make_site: Callable[..., Site], tmp_path: Path, kept_pictures: Path
) -> None:
    folder = write_run(tmp_path / "run", [entry("gone", 0.1), entry("other", 0.1)])
    write_clip(tmp_path / "other.mp4", [np.full((48, 64, 3), n, np.uint8) for n in range(5)], fps=25)
    client = owner(make_site(runs=[folder]))
    headers = {"accept": "application/json"}
    gone = client.get(thumbnail_address("run", "gone"), headers=headers)
    assert gone.status_code == 404 and "no longer where the run found it" in gone.json()["error"]
    other = client.get(thumbnail_address("run", "other"), headers=headers)
    assert other.status_code == 404 and "the file has changed since it was measured" in other.json()["error"]
    drawn = client.get(thumbnail_address("run", "other"))  # a page has a picture in its place, and no error
    assert drawn.status_code == 200 and drawn.headers["content-type"] == "image/svg+xml" and "No picture" in drawn.text
    assert client.get(thumbnail_address("nowhere", "x")).status_code == 404


def test_the_oldest_pictures_go_when_there_are_too_many(kept_pictures: Path) -> None:
    folder = kept_pictures / "aa"
    folder.mkdir(parents=True)
    for number in range(10):
        (folder / f"{number}.jpg").write_bytes(bytes(100))
        os.utime(folder / f"{number}.jpg", (number, number))
    thumbnails._tidy(kept_pictures, most=1000, every=1)
    assert len(list(folder.iterdir())) == 10
    thumbnails._tidy(kept_pictures, most=800, every=1)  # down to three quarters of 800: six are left
    assert sorted(file.stem for file in folder.iterdir()) == ["4", "5", "6", "7", "8", "9"]
