"""Decode sanity: broken and damaged clips are told from whole ones, whatever the container."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.clips import coded_frame, flat, noise, without_duration_tags, write_av, write_frames, write_luma

from rushes.instruments.clip.frames.observe import Observation, observe
from rushes.instruments.clip.metrics import metrics_of
from rushes.instruments.clip.signals.sanity import Sanity, decode_sanity
from rushes.media import write_clip


def sanity(path: Path | str) -> Sanity:
    seen = observe(path)
    return decode_sanity(seen, {name: metric.measure(seen) for name, metric in metrics_of(0).items() if metric.measure})


FFMPEG = shutil.which("ffmpeg")


def _ffmpeg(target: Path, *arguments: str, source: Sequence[str] = ()) -> Path:
    picture = ["-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=4", "-f", "lavfi", "-i", "sine=d=4"]
    command = ["ffmpeg", "-v", "error", "-y", *(source or picture), *arguments, str(target)]
    subprocess.run(command, check=True, capture_output=True)
    return target


def _texts(found: Sanity) -> list[str]:
    return [reason.text for reason in found.damage]


def _broken(found: Sanity) -> str:
    return found.broken.text if found.broken else ""


# --- whole clips --------------------------------------------------------------------------------------------------

PLAIN = [
    ("a.mp4", {}),
    ("a.mov", {"codec": "mjpeg", "pix_fmt": "yuvj420p"}),
    ("a.mkv", {"codec": "ffv1", "pix_fmt": "gray"}),
    ("a.webm", {"codec": "libvpx-vp9", "options": {"deadline": "realtime", "cpu-used": "8"}}),
    ("a.avi", {"codec": "mpeg4"}),
    ("a.gif", {"codec": "gif"}),
    ("a.mpg", {"codec": "mpeg1video"}),
    ("a.ts", {"codec": "libx264"}),
    ("a.h264", {"codec": "libx264"}),
]


@pytest.mark.parametrize("frames", [1, 2, 40])
@pytest.mark.parametrize(("name", "settings"), PLAIN)
def test_whole_clips_are_whole(tmp_path: Path, name: str, settings: dict, frames: int) -> None:
    assert sanity(write_clip(tmp_path / name, noise(frames, size=(64, 48)), **settings)) == Sanity()


@pytest.mark.parametrize(
    ("name", "codecs", "format"),
    [
        ("a.flv", ("flv", "libmp3lame"), None),
        ("a.wmv", ("wmv2", "wmav2"), None),
        ("a.ogv", ("libvpx", "libopus"), "ogg"),
        ("a.webm", ("libvpx", "libopus"), None),
        ("a.mkv", ("libvpx", "libopus"), None),
        ("a.avi", ("mpeg4", "libmp3lame"), None),
        ("a.ts", ("mpeg2video", "mp2"), None),
    ],
)
@pytest.mark.parametrize(("frames", "seconds"), [(50, 1.0), (25, 2.0)])
def test_sound_of_another_length_is_no_damage(
    tmp_path: Path, name: str, codecs: tuple[str, str], format: str | None, frames: int, seconds: float
) -> None:
    clip = write_av(tmp_path / name, codecs=codecs, format=format, frames=frames, seconds=seconds)
    assert sanity(clip) == Sanity()
    if name.endswith(("mkv", "webm")):
        assert sanity(without_duration_tags(clip)) == Sanity()


def test_odd_starts_and_variable_rates_are_whole(tmp_path: Path) -> None:
    late = write_av(tmp_path / "late.mkv", codecs=("libvpx", "libopus"), frames=50, seconds=2.0, picture_at_ms=464)
    assert sanity(late) == Sanity()
    start = write_luma(tmp_path / "start.mkv", noise(10), "gray", times=range(50, 60))
    assert sanity(start) == Sanity()
    live = write_luma(tmp_path / "live.mkv", noise(30), "gray", container_options={"live": "1"})
    assert sanity(live) == Sanity()
    times = np.cumsum(np.random.default_rng(0).integers(10, 200, 60)).tolist()
    for name, codec in (("vfr.mkv", "ffv1"), ("vfr.mp4", "libx264")):
        frames = [coded_frame(luma, "yuv420p") for luma in noise(60, size=(64, 48))]
        clip = write_frames(tmp_path / name, frames, codec=codec, times=times, time_base=Fraction(1, 1000))
        assert sanity(clip) == Sanity()


def test_a_slideshow_is_whole(tmp_path: Path) -> None:
    times = [0, 3000, 3040, 3080, *range(6000, 8000, 40), 9000]
    clip = write_luma(tmp_path / "a.mkv", noise(len(times)), "gray", times=times, time_base=Fraction(1, 1000))
    assert sanity(clip) == Sanity()


def test_an_avi_with_a_frame_less_than_its_header_says_is_whole(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.avi", noise(40, size=(64, 48)), codec="mpeg4")
    data = bytearray(clip.read_bytes())
    for place in (data.index(b"avih") + 8 + 16, data.index(b"vids") - 8 + 8 + 32):  # dwTotalFrames, dwLength
        assert int.from_bytes(data[place : place + 4], "little") == 40
        data[place : place + 4] = (41).to_bytes(4, "little")
    clip.write_bytes(data)
    seen = observe(clip)
    assert (seen.frames, seen.facts.video.frames_declared) == (40, 41)  # type: ignore[union-attr]
    assert sanity(clip) == Sanity()


@pytest.fixture(scope="module")
def open_gop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clip with open groups of pictures, whole itself."""
    options = ["-c:v", "libx264", "-bf", "3", "-g", "20", "-x264opts", "open-gop=1", "-c:a", "aac"]
    source = _ffmpeg(tmp_path_factory.mktemp("source") / "source.mp4", *options)
    assert sanity(source) == Sanity()
    return source


@pytest.mark.skipif(FFMPEG is None, reason="ffmpeg is not installed; it makes these files")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("edit.mp4", ["-ss", "1.3", "-c", "copy"]),
        ("edit.mov", ["-ss", "1.3", "-t", "1.7", "-c", "copy"]),
        ("cut.mkv", ["-ss", "1.3", "-c", "copy"]),
        ("interlaced.mp4", ["-c:v", "libx264", "-flags", "+ildct+ilme", "-x264opts", "interlaced=1", "-c:a", "aac"]),
        ("interlaced.ts", ["-c:v", "mpeg2video", "-flags", "+ildct+ilme", "-c:a", "mp2"]),
        ("fragments.mp4", ["-c", "copy", "-movflags", "frag_keyframe+empty_moov"]),
        ("select.mkv", ["-vf", "select='not(mod(floor(n/10),2))'", "-fps_mode", "vfr", "-c:v", "ffv1"]),
        ("select.avi", ["-vf", "select='not(mod(floor(n/10),2))'", "-fps_mode", "vfr", "-c:v", "mpeg4"]),
        ("alt.webm", ["-c:v", "libvpx", "-auto-alt-ref", "1", "-lag-in-frames", "16", "-c:a", "libvorbis"]),
        ("a.ogv", ["-c:v", "libtheora", "-c:a", "libvorbis"]),
        ("a.mxf", ["-c:v", "mpeg2video", "-c:a", "pcm_s16le", "-ar", "48000"]),
        ("a.apng", ["-an", "-t", "1"]),
        ("a.y4m", ["-an", "-t", "1", "-pix_fmt", "yuv420p"]),
        ("a.dv", ["-an", "-c:v", "dvvideo", "-s", "720x576", "-pix_fmt", "yuv420p", "-t", "1"]),
    ],
)
def test_ffmpegs_files_are_whole(open_gop: Path, tmp_path: Path, name: str, arguments: list[str]) -> None:
    assert sanity(_ffmpeg(tmp_path / name, *arguments, source=["-i", str(open_gop)])) == Sanity()


@pytest.mark.shared
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.soak)])
def test_no_real_clip_but_the_damaged_one_is_called_damaged(shared: Path, every: int) -> None:
    suite = sorted((shared / "suites" / "fetv").glob("*/*.mp4"))
    clips = [*(shared / "clips").glob("*.[mw]*"), *suite[::every]]
    if len(suite) < 80:
        pytest.skip("the reference clips are not all there")
    assert [clip.name for clip in clips if sanity(clip) != Sanity()] == ["other_decord_corrupted.mp4"]


# --- broken and damaged ones --------------------------------------------------------------------------------------


def _half(clip: Path, share: float = 0.5) -> Path:
    data = clip.read_bytes()
    clip.write_bytes(data[: int(len(data) * share)])
    return clip


def _faststart(path: Path, frames: int = 200) -> Path:
    pictures = [coded_frame(luma, "yuv420p") for luma in noise(frames, size=(64, 48))]
    return write_frames(path, pictures, codec="libx264", container_options={"movflags": "+faststart"})


def test_half_a_file_is_seen(tmp_path: Path) -> None:
    _faststart(tmp_path / "a.mp4")
    write_luma(tmp_path / "a.mkv", noise(200), "gray")
    write_av(tmp_path / "a.webm", codecs=("libvpx", "libopus"), frames=200, seconds=8.0)
    write_clip(tmp_path / "a.avi", noise(200, size=(64, 48)), codec="mpeg4")
    write_av(tmp_path / "a.flv", codecs=("flv", "libmp3lame"), frames=200, seconds=8.0)
    for clip in sorted(tmp_path.iterdir()):
        assert sanity(clip) == Sanity(), clip.name
        seen = observe(_half(clip))
        found = sanity(clip)
        lost = 200 - seen.frames
        assert 60 < lost < 140 and not found.broken, clip.name
        first, second = _texts(found)[:2]
        assert first.startswith(
            f"picture ends {(8000 - seen.measured_duration_ms) / 1000:.1f} s before the file says ("
        )
        assert second == f"{lost} of 200 frames missing", clip.name


def test_an_untagged_webm_is_held_to_its_containers_length(tmp_path: Path) -> None:
    clip = write_av(tmp_path / "a.webm", codecs=("libvpx", "libopus"), frames=200, seconds=8.0)
    assert sanity(without_duration_tags(clip)) == Sanity()
    assert _texts(sanity(_half(clip)))[0].startswith("picture ends ")


@pytest.mark.parametrize(("name", "codec"), [("a.mp4", "libx264"), ("a.mkv", "libx264"), ("a.webm", "libvpx")])
def test_zeroed_bytes_are_seen(tmp_path: Path, name: str, codec: str) -> None:
    pictures = [coded_frame(luma, "yuv420p") for luma in noise(200, size=(64, 48))]
    quick = {"deadline": "realtime", "cpu-used": "8"} if codec == "libvpx" else {}
    clip = write_frames(tmp_path / name, pictures, codec=codec, options=quick)
    data = bytearray(clip.read_bytes())
    start, end = len(data) * 4 // 10, len(data) * 5 // 10
    data[start:end] = bytes(end - start)
    clip.write_bytes(data)
    lost = 200 - observe(clip).frames
    assert lost >= 10
    assert f"{lost} of 200 frames missing" in _texts(sanity(clip))


def test_noise_is_seen(tmp_path: Path) -> None:
    clip = _faststart(tmp_path / "a.mp4")
    data, rng = bytearray(clip.read_bytes()), np.random.default_rng(1)
    for place in range(len(data) // 3, len(data) * 2 // 3, 997):
        data[place] = int(rng.integers(0, 256))
    clip.write_bytes(data)
    corrupt = observe(clip).corrupt_frames
    assert corrupt > 5
    assert f"{corrupt} frames damaged" in _texts(sanity(clip))


def test_a_change_of_size_is_damage(tmp_path: Path) -> None:
    small = write_clip(tmp_path / "a.h264", noise(4, size=(64, 48)))
    large = write_clip(tmp_path / "b.h264", noise(4, size=(96, 64)))
    small.write_bytes(small.read_bytes() + large.read_bytes())
    assert _texts(sanity(small)) == [
        "not measured as a whole: the size changes from 64×48 to 96×64 at frame 4; re-encode it to one size",
    ]


def test_what_cannot_be_decoded_is_broken(tmp_path: Path) -> None:
    (tmp_path / "empty.mp4").touch()
    assert _broken(sanity(tmp_path / "empty.mp4")) == (
        "cannot be decoded (expected a video, got an empty file; export it again)"
    )
    write_clip(tmp_path / "still.png", [flat(90, channels=3)], codec="png", pix_fmt="rgb24")
    assert "a still image" in _broken(sanity(tmp_path / "still.png"))
    assert not sanity(tmp_path / "still.png").damage


def test_a_clip_given_up_is_broken() -> None:
    found = decode_sanity(Observation(error="took longer than 5 s"), {})
    assert _broken(found) == "cannot be decoded (took longer than 5 s)"
    assert _broken(decode_sanity(Observation(), {})) == "cannot be decoded (no frame could be decoded)"
    assert not found.whole and Sanity().whole


def test_what_was_not_measured_is_no_damage() -> None:
    assert decode_sanity(Observation(frames=3, time_ms=np.arange(3) * 40.0), {}) == Sanity()
