"""One pass over clips whose every luma value is known."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.clips import flat, noise, write_luma, write_sound

from rushes.instruments.clip.frames.observe import observe
from rushes.instruments.clip.metrics.motion import scene_scores


def test_full_range_luma_is_taken_as_it_is(tmp_path: Path) -> None:
    clip = write_luma(tmp_path / "a.mkv", [flat(10), flat(10), flat(60)], "gray")
    seen = observe(clip)
    assert seen.frames == 3
    assert seen.luma_mean.tolist() == [10.0, 10.0, 60.0]
    assert seen.luma_diff.tolist() == [0.0, 50.0]
    assert seen.mafd.tolist() == [0.0, 100 * 50 / 256]
    assert seen.laplacian_variance.tolist() == [0.0, 0.0, 0.0]


def test_limited_range_is_expanded(tmp_path: Path) -> None:
    # code 16 is black, 235 is white; a step of 219 codes is the whole scale
    seen = observe(write_luma(tmp_path / "a.mkv", [flat(16), flat(235)], "yuv420p"))
    assert seen.luma_mean.tolist() == pytest.approx([0.0, 255.0])
    assert seen.luma_diff.tolist() == pytest.approx([255.0])
    assert seen.mafd.tolist() == pytest.approx([100 * 219 / 256])  # scdet looks at the codes


def test_ten_bits_land_on_the_same_scale(tmp_path: Path) -> None:
    planes = [np.full((16, 32), code, np.uint16) for code in (64, 940)]
    seen = observe(write_luma(tmp_path / "a.mkv", planes, "yuv420p10le"))
    assert seen.luma_mean.tolist() == pytest.approx([0.0, 255.0])
    assert seen.mafd.tolist() == pytest.approx([100 * 876 / 1024])


def test_sharpness_is_the_variance_of_the_laplacian(tmp_path: Path) -> None:
    # columns alternate 100, 110: L = ±20 everywhere (borders reflect the same neighbour), mean 0, variance 400
    stripes = np.tile(np.array([100, 110], np.uint8), (16, 16))
    assert observe(write_luma(tmp_path / "a.mkv", [stripes], "gray")).laplacian_variance.tolist() == [400.0]


def test_a_file_that_is_no_video_says_so(tmp_path: Path) -> None:
    text = tmp_path / "a.mp4"
    text.write_text("not a video")
    seen = observe(text)
    assert (seen.frames, seen.facts) == (0, None)
    assert seen.error and str(tmp_path) not in seen.error


def test_a_watch_sees_every_frame_of_the_same_pass(tmp_path: Path) -> None:
    times: list[float] = []
    observe(
        write_luma(tmp_path / "a.mkv", noise(4), "gray"), watch=lambda facts: lambda frame: times.append(frame.time_ms)
    )
    assert times == [0.0, 40.0, 80.0, 120.0]


def test_sound_only_is_no_video(tmp_path: Path) -> None:
    seen = observe(write_sound(tmp_path / "a.wav", np.zeros((1, 1600), np.float32)))
    assert seen.frames == 0 and "video" in seen.error


@pytest.mark.shared
def test_scene_scores_are_ffmpegs(shared: Path) -> None:
    """Every score that ffmpeg's scdet prints, on every real clip that both decode to the same frames."""
    if shutil.which("ffmpeg") is None:
        pytest.skip("ffmpeg is not installed; it is the oracle here")
    compared = 0
    for clip in sorted((shared / "clips").glob("*.m*")):
        theirs = _ffmpeg_scores(clip)
        seen = observe(clip)
        if seen.decode_failures or len(theirs) != seen.frames:
            continue  # the two decoders conceal damage differently; no frame-by-frame comparison exists
        ours = [0.0, *scene_scores(seen.mafd.tolist())]
        assert ours == pytest.approx(theirs, abs=0.0011), clip.name  # ffmpeg prints three decimals
        compared += 1
    assert compared >= 8


def _ffmpeg_scores(clip: Path) -> list[float]:
    command = ["ffmpeg", "-v", "error", "-noautorotate", "-i", str(clip), "-an", "-fps_mode", "passthrough"]
    command += ["-vf", "scdet=threshold=10,metadata=print:file=-", "-f", "null", "-"]
    printed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return [float(line.split("=")[1]) for line in printed.splitlines() if line.startswith("lavfi.scd.score")]
