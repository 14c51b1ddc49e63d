"""The canonical form: its properties, its frames, and the same bytes every time."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from tests.clips import flat, noise, tone, write_luma, write_sound
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.core.errors import InputError, MediaError
from rushes.media import AudioTrack, ClipReader, canonicalize, probe, read_audio, write_clip


def _levels(path) -> list[int]:
    """Mean luma of each frame on the 0–255 scale, rounded to tens: flat test frames survive compression."""
    with ClipReader(path) as reader:
        return [round(float(frame.luma.full_range().mean()), -1) for frame in reader]


def _atoms(path) -> list[bytes]:
    data, place, names = path.read_bytes(), 0, []
    while place < len(data):
        names.append(data[place + 4 : place + 8])
        place += int.from_bytes(data[place : place + 4], "big")
    return names


def test_the_form(tmp_path):
    source = write_clip(
        tmp_path / "in.mkv", noise(25, size=(64, 48), channels=3), codec="mpeg4", audio=AudioTrack.of(tone(1.0), 16000)
    )
    out = canonicalize(source, tmp_path / "output_canon.mp4")
    facts = probe(out)
    assert (facts.video.codec, facts.video.pix_fmt, facts.video.color_range) == ("h264", "yuv420p", "limited")
    assert (facts.video.fps, facts.video.frames_declared, facts.video.rotation) == (25, 25, 0)
    assert (facts.audio.codec, facts.audio.rate, facts.audio.channels) == ("aac", 48000, 1)
    assert _atoms(out).index(b"moov") < _atoms(out).index(b"mdat")


def test_the_same_bytes_every_time(tmp_path):
    source = write_clip(tmp_path / "in.mp4", noise(25, size=(64, 48)), audio=AudioTrack.of(tone(1.0), 16000))
    one = canonicalize(source, tmp_path / "one.mp4").read_bytes()
    two = canonicalize(source, tmp_path / "two.mp4").read_bytes()
    assert one == two
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.mp4", "one.mp4", "two.mp4"]


def _sliding_noisy_gradient() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    smooth = cv2.resize(rng.integers(0, 256, (12, 12), dtype=np.uint8), (400, 400), interpolation=cv2.INTER_CUBIC)
    views = [smooth[2 * i : 2 * i + 200, 3 * i : 3 * i + 200].astype(int) for i in range(30)]
    return [np.clip(view + rng.integers(-6, 6, (200, 200)), 0, 255).astype(np.uint8) for view in views]


def test_the_same_bytes_where_x264_would_waver(tmp_path):
    # With x264's macroblock tree, 12 runs over this very clip gave 11 different files; see encode.X264_STEADY.
    source = write_clip(tmp_path / "in.mkv", _sliding_noisy_gradient(), codec="ffv1")
    written = set()
    for run in range(6):
        litter = [np.random.default_rng(run).bytes(5_000 + 17_000 * k) for k in range(20)]
        del litter  # so that the encoder finds other leftovers in its memory each time
        written.add(canonicalize(source, tmp_path / "out.mp4").read_bytes())
    assert len(written) == 1
    assert b"mbtree=0" in written.pop()


# 15 → 30 fps: each frame twice. 60 → 30: source frame k is at slot k/2; halves go up, so frame 1 goes to slot 1 and is
# replaced there by frame 2. Slot 0 shows frame 0, slot 1 frame 2, slot 2 frame 4; frame 5 goes to slot 3, which is past
# the end at 6/60 s = slot 3, so it is dropped.
# 25 → 30 over 5 frames: slots of 0, 40, 80, 120, 160 ms are 0, 1.2 → 1, 2.4 → 2, 3.6 → 4, 4.8 → 5; end 200 ms is 6.
@pytest.mark.parametrize(
    ("fps", "levels", "expected"),
    [
        (15, [0, 100, 200], [0, 0, 100, 100, 200, 200]),
        (60, [0, 40, 80, 120, 160, 200], [0, 80, 160]),
        (25, [0, 50, 100, 150, 200], [0, 50, 100, 100, 150, 200]),
        (30, [0, 100, 200], [0, 100, 200]),
    ],
)
def test_frames_are_repeated_and_dropped_by_the_nearest_slot(tmp_path, fps, levels, expected):
    source = write_clip(tmp_path / "in.mp4", [flat(v, size=(64, 48)) for v in levels], fps=fps)
    assert _levels(canonicalize(source, tmp_path / "out.mp4", fps=30)) == expected
    own = canonicalize(source, tmp_path / "own.mp4")
    assert (_levels(own), probe(own).video.fps) == (levels, fps)


def test_variable_frame_rate_becomes_constant(tmp_path):
    # Times 0, 100, 350 ms at 10 fps: slots 0, 1, 3.5 → 4 (halves up). The last frame lasts one usual step of 40 ms, so
    # the end, 390 ms, rounds to slot 4 and the last frame is dropped, as ffmpeg's fps filter does.
    planes = [np.full((48, 64), v, np.uint8) for v in (16, 126, 235)]
    source = write_luma(tmp_path / "in.mkv", planes, "yuv420p", times=[0, 100, 350], time_base=Fraction(1, 1000))
    out = canonicalize(source, tmp_path / "out.mp4", fps=10)
    assert _levels(out) == [0, 130, 130, 130]


def test_one_frame_stays_one(tmp_path):
    source = write_clip(tmp_path / "in.mp4", [flat(100, size=(64, 48))], fps=120)
    assert _levels(canonicalize(source, tmp_path / "out.mp4")) == [100]


def test_a_given_sound_trims_the_picture(tmp_path):
    source = write_clip(tmp_path / "in.mp4", noise(50, size=(64, 48)), audio=AudioTrack.of(tone(2.0), 16000))
    speech = write_sound(tmp_path / "speech.wav", np.stack([tone(1.0, rate=44100)] * 2), rate=44100)
    facts = probe(canonicalize(source, tmp_path / "out.mp4", audio=speech))
    assert facts.video.frames_declared == 25 and facts.video.duration_ms == 1000.0
    assert (facts.audio.channels, facts.audio.duration_ms) == (2, 1000.0)


def test_a_picture_shorter_than_the_given_sound_stays_shorter(tmp_path):
    source = write_clip(tmp_path / "in.mp4", noise(10, size=(64, 48)))
    speech = write_sound(tmp_path / "speech.wav", tone(1.0)[None])
    facts = probe(canonicalize(source, tmp_path / "out.mp4", audio=speech))
    assert (facts.video.duration_ms, facts.audio.duration_ms) == (400.0, 1000.0)


def test_the_sound_stays_in_place(tmp_path):
    click = np.zeros(16000, np.float32)
    click[8000:8400] = 0.8
    source = write_clip(tmp_path / "in.mp4", [flat(90)] * 25, audio=AudioTrack.of(click, 16000))
    out = canonicalize(source, tmp_path / "out.mp4")
    with ClipReader(out, audio_rate=16000) as reader:
        list(reader)
    loud = np.flatnonzero(np.abs(reader.audio.samples) > 0.4)
    assert abs(int(loud[0]) - 8000) < 40 and abs(int(loud[-1]) - 8400) < 40


def test_sound_that_starts_late_stays_late(tmp_path):
    # The track starts 200 ms after the picture: in the file, and so in the canonical form.
    source = tmp_path / "late.mkv"
    with av.open(str(source), "w") as container:
        video = container.add_stream("ffv1", rate=25, width=32, height=16, pix_fmt="gray")
        sound = container.add_stream("pcm_s16le", rate=16000, layout="mono")
        for index in range(25):
            frame = av.VideoFrame.from_ndarray(flat(90), format="gray")
            frame.pts = index
            container.mux(video.encode(frame))
        burst = av.AudioFrame.from_ndarray(tone(0.5)[None], format="fltp", layout="mono")
        burst.sample_rate, burst.time_base, burst.pts = 16000, Fraction(1, 16000), 3200
        container.mux(sound.encode(burst))
        container.mux(sound.encode(None) + video.encode(None))
    heard = read_audio(canonicalize(source, tmp_path / "out.mp4")).samples
    loud = np.flatnonzero(np.abs(heard) > 0.2)
    assert abs(int(loud[0]) - 3200) < 60 and abs(int(loud[-1]) - 11200) < 60


@pytest.mark.parametrize(
    ("name", "codec"), [("speech.aac", "aac"), ("speech.mp3", "libmp3lame"), ("speech.m4a", "aac")]
)
def test_a_given_compressed_sound_sets_the_length(tmp_path, name, codec):
    source = write_clip(tmp_path / "in.mp4", noise(50, size=(64, 48)))
    speech = write_sound(tmp_path / name, tone(1.0)[None], codec=codec)
    facts = probe(canonicalize(source, tmp_path / "out.mp4", audio=speech))
    # A bare stream keeps its encoder's padding, up to three frames of 64 ms; the container knows better.
    assert 1000 <= facts.audio.duration_ms <= (1000.1 if name.endswith("m4a") else 1200)
    assert 0 <= facts.video.duration_ms - facts.audio.duration_ms < 1000 / 25


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_rotation_is_applied(tmp_path, rotation):
    picture = np.zeros((48, 64, 3), np.uint8)
    picture[:24, :32] = (220, 40, 40)
    source = write_clip(tmp_path / "in.mp4", [picture] * 3, rotation=rotation)
    out = canonicalize(source, tmp_path / "out.mp4", fps=25)
    with ClipReader(source) as before, ClipReader(out) as after:
        assert after.facts.video.rotation == 0
        for a, b in zip(before, after, strict=True):
            assert a.rgb().shape == b.rgb().shape
            assert np.abs(a.rgb().astype(int) - b.rgb()).mean() < 3


def test_an_odd_size_is_padded_by_one(tmp_path):
    planes = [np.full((17, 33), 100, np.uint8)] * 3
    source = write_luma(tmp_path / "in.mkv", planes, "yuv444p")
    out = canonicalize(source, tmp_path / "out.mp4", fps=25)
    assert (probe(out).video.width, probe(out).video.height) == (34, 18)
    with ClipReader(out) as reader:
        assert all(np.abs(f.luma.values.astype(int) - 100).max() <= 1 for f in reader)


@pytest.mark.parametrize(
    ("pix_fmt", "tag", "codes"),
    [("yuv420p", 2, (0, 255)), ("yuv420p10le", 1, (64, 940)), ("gray", 0, (0, 255)), ("yuv444p12le", 2, (0, 4095))],
)
def test_every_range_and_depth_becomes_limited_8_bit(tmp_path, pix_fmt, tag, codes):
    kind = np.uint8 if max(codes) < 256 else np.uint16
    planes = [np.full((16, 32), code, kind) for code in codes]
    source = write_luma(tmp_path / "in.mkv", planes, pix_fmt, color_range=tag)
    out = canonicalize(source, tmp_path / "out.mp4", fps=25)
    with ClipReader(out) as reader:
        black, white = (frame.luma.full_range().mean() for frame in reader)
    assert black == pytest.approx(0, abs=2) and white == pytest.approx(255, abs=2)


def test_a_gif_becomes_a_clip(tmp_path):
    frames = [np.full((16, 32, 3), colour, np.uint8) for colour in ((255, 0, 0), (0, 0, 255))]
    source = write_clip(tmp_path / "in.gif", frames, fps=10, codec="gif")
    with ClipReader(canonicalize(source, tmp_path / "out.mp4", fps=10)) as reader:
        red, blue = (frame.rgb().mean(axis=(0, 1)) for frame in reader)
    assert red[0] > 230 and red[2] < 30 and blue[2] > 60 and blue[0] < 30


def test_it_never_overwrites_its_input(tmp_path):
    source = write_clip(tmp_path / "in.mp4", [flat(90)] * 3)
    before = source.read_bytes()
    (tmp_path / "link.mp4").symlink_to(source)
    for target in (source, tmp_path / "link.mp4"):
        with pytest.raises(InputError, match="would be overwritten"):
            canonicalize(source, target)
    assert source.read_bytes() == before


def test_what_cannot_be_done_leaves_nothing(tmp_path):
    silent = write_clip(tmp_path / "silent.mp4", [flat(90)] * 3)
    (tmp_path / "text.mp4").write_text("no clip\n" * 50)
    sound = write_sound(tmp_path / "sound.wav", tone(0.1)[None])
    out = tmp_path / "out.mp4"
    with pytest.raises(MediaError, match="no audio track"):
        canonicalize(silent, out, audio=silent)
    with pytest.raises(MediaError, match=r"text\.mp4: expected a video"):
        canonicalize(tmp_path / "text.mp4", out)
    with pytest.raises(MediaError, match="only sound"):
        canonicalize(sound, out)
    with pytest.raises(InputError, match="ends in .mp4"):
        canonicalize(silent, tmp_path / "out.avi")
    with pytest.raises(InputError, match="frame rate above 0"):
        canonicalize(silent, out, fps=0)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["silent.mp4", "sound.wav", "text.mp4"]


def test_a_clip_without_frames_is_refused(tmp_path):
    source = write_clip(tmp_path / "in.mp4", noise(3, size=(64, 48)))
    data = bytearray(source.read_bytes())
    body = data.index(b"mdat")
    end = data.index(b"moov", body) - 4
    data[body + 4 : end] = bytes(end - body - 4)
    source.write_bytes(data)
    with pytest.raises(MediaError, match=r"in\.mp4: none of its frames can be decoded"):
        canonicalize(source, tmp_path / "out.mp4")
    assert [p.name for p in tmp_path.iterdir()] == ["in.mp4"]


def test_the_command(tmp_path):
    source = write_clip(tmp_path / "in.mp4", noise(25, size=(64, 48)))
    out = tmp_path / "output_canon.mp4"
    done = CliRunner().invoke(app, ["canon", str(source), "-o", str(out)])
    assert done.exit_code == 0 and done.stdout.splitlines()[-1] == str(out)
    done = CliRunner().invoke(app, ["canon", str(source), "-o", str(out), "--fps", "25", "--json"])
    answer = json.loads(done.stdout)
    assert answer["path"] == str(out) and answer["facts"]["video"]["fps"] == "25"


def test_the_command_on_bad_input_is_one_line(tmp_path):
    done = CliRunner().invoke(app, ["canon", str(tmp_path / "missing.mp4"), "-o", str(tmp_path / "out.mp4")])
    assert done.exit_code == 1
    assert done.stderr == f"rushes: {tmp_path / 'missing.mp4'}: no such file; check the path\n"


def test_progress_counts_the_frames(tmp_path: Path) -> None:
    source = write_luma(tmp_path / "in.mkv", noise(5), "gray")
    steps: list[tuple[int, int, str]] = []
    canonicalize(source, tmp_path / "out.mp4", fps=25, progress=lambda *step: steps.append(step))
    assert steps == [(done, 5, "frames") for done in range(6)]
