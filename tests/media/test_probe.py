"""What a file holds, and every way it can be refused."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from tests.clips import flat, noise, tone, write_luma, write_sound
from tests.without_root import files_as_others

from rushes.core.errors import MediaError
from rushes.media import AudioTrack, probe, write_clip
from rushes.media.pyav import MAJOR


def test_facts_of_a_plain_clip(tmp_path):
    clip = write_clip(tmp_path / "clip.mp4", noise(50, size=(64, 48)), fps=25, audio=AudioTrack.of(tone(1.5), 16000))
    facts = probe(clip)
    video, audio = facts.video, facts.audio
    assert facts.container == "mov,mp4,m4a,3gp,3g2,mj2" and facts.video_streams == 1
    assert (video.codec, video.width, video.height, video.pix_fmt, video.bits) == ("h264", 64, 48, "yuv420p", 8)
    assert (video.fps, video.duration_ms, video.frames_declared) == (Fraction(25), 2000.0, 50)
    assert (video.rotation, video.mirrored, video.color_range, video.range_tagged) == (0, False, "limited", False)
    assert (audio.codec, audio.rate, audio.channels) == ("aac", 16000, 1)
    assert audio.duration_ms == pytest.approx(1500, abs=64)  # whole AAC frames of 1024 samples
    assert facts.duration_ms == 2000.0


@pytest.mark.parametrize(("wanted", "tag"), [("limited", 1), ("full", 2)])
def test_the_range_tag_is_read(tmp_path, wanted, tag):
    clip = write_luma(tmp_path / "c.mkv", [flat(90)], "yuv420p", color_range=tag)
    assert (probe(clip).video.color_range, probe(clip).video.range_tagged) == (wanted, True)


def test_a_missing_duration_is_measured(tmp_path):
    # A Matroska file written as a live stream states no duration.
    clip = write_luma(tmp_path / "live.mkv", [flat(v) for v in range(10)], "gray", container_options={"live": "1"})
    facts = probe(clip)
    assert facts.video.duration_ms == facts.duration_ms == 400.0


def test_a_mirrored_display_matrix(tmp_path):
    clip = write_luma(tmp_path / "m.mp4", [flat(v) for v in (9, 90)], "yuv420p", codec="libx264", vflip=True)
    assert (probe(clip).video.rotation, probe(clip).video.mirrored) == (0, True)


def test_sound_alone_has_no_video(tmp_path):
    facts = probe(write_sound(tmp_path / "sound.wav", np.stack([tone(0.5)] * 2)))
    assert facts.video is None and facts.video_streams == 0
    assert (facts.audio.rate, facts.audio.channels, facts.audio.duration_ms) == (16000, 2, 500.0)


def _bad_files(folder):
    (folder / "empty.mp4").touch()
    (folder / "text.mp4").write_text("not a video at all\n" * 100)
    (folder / "notes.txt").write_text("not a video at all\n" * 100)
    (folder / "table.csv").write_text("a,b\n1,2\n" * 500)
    (folder / "noise.bin").write_bytes(np.random.default_rng(0).bytes(5000))
    (folder / "list.m3u8").write_text("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nempty.mp4\n#EXT-X-ENDLIST\n")
    (folder / "folder.mp4").mkdir()
    os.mkfifo(folder / "pipe.mp4")
    noise_frame = noise(1, size=(32, 32), channels=3)[0]
    import cv2

    cv2.imwrite(str(folder / "still.png"), noise_frame)
    cv2.imwrite(str(folder / "still.jpg"), noise_frame)
    write_clip(folder / "moving.webp", [flat(v, channels=3) for v in (9, 90)], codec="libwebp_anim", pix_fmt="bgra")
    cv2.imwrite(str(folder / "still.webp"), noise_frame)
    return folder


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing.mp4", "no such file"),
        ("empty.mp4", "empty file"),
        ("text.mp4", "cannot be read"),
        ("notes.txt", "a text file"),
        ("table.csv", "cannot be read"),
        ("noise.bin", "cannot be read"),
        ("list.m3u8", ""),
        ("folder.mp4", "a folder"),
        ("pipe.mp4", "not a regular file"),
        ("still.png", "a still image"),
        ("still.jpg", "a still image"),
        ("still.webp", "a still image"),
        pytest.param(
            "moving.webp",
            "an animated WebP, which libav cannot decode; convert it to GIF",
            marks=pytest.mark.skipif(MAJOR >= 19, reason="libav decodes it from PyAV 19 on"),
        ),
    ],
)
def test_what_is_not_a_video_is_one_clear_line(tmp_path, name, words):
    path = _bad_files(tmp_path) / name
    with pytest.raises(MediaError) as caught:
        probe(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ") and words in message and "\n" not in message


def test_unreadable_permissions(tmp_path):
    clip = write_clip(tmp_path / "clip.mp4", [flat(90)])
    clip.chmod(0)
    with files_as_others(), pytest.raises(MediaError, match="permission denied"):
        probe(clip)


def test_permission_errors_read_as_one_line(tmp_path, monkeypatch):
    clip = write_clip(tmp_path / "clip.mp4", [flat(90)])

    def refuse(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied", str(clip))

    monkeypatch.setattr("rushes.media.opening.open", refuse, raising=False)
    with pytest.raises(MediaError, match=r"clip\.mp4: cannot be read \(permission denied\)"):
        probe(clip)


def test_libav_never_writes_to_the_terminal(tmp_path):
    clip = write_clip(tmp_path / "clip.mp4", noise(10, size=(64, 48)))
    data = bytearray(clip.read_bytes())
    data[len(data) // 3 : len(data) // 2] = bytes(len(data) // 2 - len(data) // 3)
    clip.write_bytes(data)
    script = "import sys; from rushes.media import ClipReader; [f.rgb() for f in ClipReader(sys.argv[1])]"
    done = subprocess.run([sys.executable, "-c", script, str(clip)], capture_output=True, text=True, timeout=240)
    assert (done.stdout, done.stderr) == ("", "")
