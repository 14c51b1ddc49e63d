"""Writing clips: the same bytes every time, one clear line for what cannot be written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.clips import flat, noise, tone

from rushes.core.errors import InputError, MediaError
from rushes.media import AudioTrack, ClipReader, probe, write_clip


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("clip.mp4", {}),
        ("clip.mov", {"codec": "libx264", "crf": 30}),
        ("clip.mkv", {"codec": "ffv1", "pix_fmt": "gray"}),
        ("clip.avi", {"codec": "mpeg4"}),
        ("clip.webm", {"codec": "libvpx-vp9", "crf": 40}),
        ("clip.gif", {"codec": "gif"}),
    ],
)
def test_the_same_bytes_every_time(tmp_path, name, settings):
    audio = None if name.endswith("gif") else AudioTrack.of(tone(0.5), 16000)
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    for folder in (one, two):
        write_clip(folder / name, noise(12, size=(64, 48), channels=3), audio=audio, **settings)
    assert (one / name).read_bytes() == (two / name).read_bytes()
    assert [p.name for p in one.iterdir()] == [name]
    with ClipReader(one / name) as reader:
        assert len(list(reader)) == 12


def test_lossless_gray_and_colour_come_back_bit_for_bit(tmp_path):
    gray, colour = noise(4, size=(33, 17)), noise(4, size=(33, 17), channels=3)
    with ClipReader(write_clip(tmp_path / "g.mkv", gray, codec="ffv1", pix_fmt="gray")) as reader:
        for frame, picture in zip(reader, gray, strict=True):
            np.testing.assert_array_equal(frame.luma.values, picture)
    with ClipReader(write_clip(tmp_path / "c.mkv", colour, codec="ffv1", pix_fmt="bgr0")) as reader:
        for frame, picture in zip(reader, colour, strict=True):
            np.testing.assert_array_equal(frame.rgb(), picture)


def test_full_range_yuv_keeps_gray_values_and_is_tagged(tmp_path):
    gray = noise(2, size=(32, 16))
    clip = write_clip(tmp_path / "c.mkv", gray, codec="ffv1", color_range="full")
    with ClipReader(clip) as reader:
        for frame, picture in zip(reader, gray, strict=True):
            np.testing.assert_array_equal(frame.luma.full_range(), picture)
    assert (reader.facts.video.color_range, reader.facts.video.range_tagged) == ("full", True)


def test_limited_range_scales_gray_into_16_to_235(tmp_path):
    clip = write_clip(tmp_path / "c.mkv", [flat(0), flat(255)], codec="ffv1", color_range="limited")
    with ClipReader(clip) as reader:
        assert [int(f.luma.values[0, 0]) for f in reader] == [16, 235]
    assert reader.facts.video.range_tagged


def test_an_odd_size_needs_a_format_without_shared_chroma(tmp_path):
    with pytest.raises(InputError, match="yuv420p needs an even size, got 33×17; use an even size or yuv444p"):
        write_clip(tmp_path / "odd.mp4", noise(1, size=(33, 17)))
    assert list(tmp_path.iterdir()) == []
    clip = write_clip(tmp_path / "odd.mp4", noise(2, size=(33, 17)), pix_fmt="yuv444p")
    assert (probe(clip).video.width, probe(clip).video.height) == (33, 17)


@pytest.mark.parametrize(
    ("frames", "words"),
    [
        ([], "expected at least one frame"),
        ([flat(1), flat(1, size=(64, 16))], "one size, 32×16, got 64×16"),
        ([np.zeros((16, 32), np.float32)], "uint8, got"),
        ([np.zeros((16, 32, 4), np.uint8)], "H×W×3 or H×W"),
    ],
)
def test_frames_that_cannot_be_written(tmp_path, frames, words):
    with pytest.raises(InputError, match=words):
        write_clip(tmp_path / "clip.mp4", frames)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("clip.mp4", {"codec": "nosuch"}, "cannot be written"),
        ("clip.nosuch", {}, "cannot be written"),
        ("clip.mkv", {"codec": "ffv1", "pix_fmt": "gbrp"}, "ffv1 cannot hold gbrp"),
        ("nowhere/clip.mp4", {}, "cannot be written"),
    ],
)
def test_what_libav_refuses_is_one_line_with_the_file(tmp_path, name, settings, words):
    with pytest.raises(InputError, match=words) as caught:
        write_clip(tmp_path / name, [flat(1)], **settings)
    assert str(tmp_path / name) in str(caught.value) and "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_write_leaves_what_was_there(tmp_path):
    clip = write_clip(tmp_path / "clip.mp4", [flat(1)])
    before = clip.read_bytes()

    def broken():
        yield flat(1)
        raise RuntimeError("the source of frames failed")

    with pytest.raises(RuntimeError):
        write_clip(clip, broken())
    assert clip.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["clip.mp4"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("rushes.media.encode.part_name", lambda target: target.with_name("full.mp4"))
    (tmp_path / "full.mp4").symlink_to("/dev/full")
    with pytest.raises(MediaError, match=r"clip\.mp4: cannot be written \(No space left on device\)"):
        write_clip(tmp_path / "clip.mp4", noise(3, size=(64, 48)))
