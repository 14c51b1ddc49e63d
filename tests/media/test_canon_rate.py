"""The rate of the canonical form: the clip's own, to the fraction; and the mark by which a form is known."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from tests.clips import flat, tone, write_luma

from rushes.core.errors import InputError
from rushes.media import AudioTrack, ClipReader, canonicalize, probe, write_clip
from rushes.media.canon.clip import exact_rate
from rushes.media.canon.mark import CanonMark, read_mark
from rushes.media.canon.rate import own_rate, shown_rate

MS = Fraction(1, 1000)


@pytest.mark.parametrize(
    ("ticks", "clock", "stated", "expected"),
    [
        # Constant, on a clock that rounds: 24 fps is 41.67 ms, shown as 42 and 41.
        ([0, 42, 83, 125, 167], MS, [Fraction(24)], Fraction(24)),
        # The average of the header is off by the length of the last frame; its base rate is right to a tick.
        ([0, 1001, 2002, 3003], Fraction(1, 30000), [Fraction(29), Fraction(30000, 1001)], Fraction(30000, 1001)),
        # A recording whose steps waver by some ms, none of them by half a step: each frame has a place of its own.
        ([0, 68, 130, 203, 266], MS, [Fraction(15)], Fraction(15)),
        # Nothing stated: 4 steps in 0.4 s.
        ([0, 95, 210, 290, 400], MS, [], Fraction(10)),
        # One gap of three steps: 25 all the same, and the gap is held. 4 usual steps of 40 ms.
        ([0, 40, 80, 200, 240, 280], MS, [Fraction(50, 3)], Fraction(25)),
        # 40 and 80 in turn, as of film on video: every frame has a place of its own at the mean, 4 steps in 0.24 s.
        ([0, 40, 120, 160, 240], MS, [], Fraction(50, 3)),
        # Of equally common steps the shorter: 40 twice, 120 twice. At the mean, 80, the second is half a step off.
        ([0, 40, 80, 200, 320], MS, [], Fraction(25)),
        # 33, 34 and a gap: (33 + 33 + 34 + 33) / 4 = 33.25 ms is 30.075, no whole rate within 0.05 %; as it is.
        ([0, 33, 66, 100, 133, 400], MS, [], (Fraction(4000, 133)).limit_denominator(1001)),
        # A clock of one tick a frame (AVI): a missing frame is two ticks, which is no usual step.
        ([0, 1, 2, 4, 5, 8, 9], Fraction(1, 25), [Fraction(18)], Fraction(25)),
        ([0], MS, [Fraction(120)], Fraction(120)),
        ([], MS, [], Fraction(30)),
    ],
)
def test_the_rate_that_frames_show(
    ticks: list[int], clock: Fraction, stated: list[Fraction], expected: Fraction
) -> None:
    assert shown_rate(ticks, clock, stated) == expected


@pytest.mark.parametrize("rate", [Fraction(10), Fraction(24000, 1001), Fraction(25), Fraction(60)])
@pytest.mark.parametrize("ending", ["mp4", "mkv"])
def test_a_constant_rate_is_kept_exactly(tmp_path: Path, rate: Fraction, ending: str) -> None:
    frames = [np.full((16, 32), 20 * n, np.uint8) for n in range(8)]
    source = write_clip(tmp_path / f"in.{ending}", frames, fps=rate)
    assert own_rate(source) == rate
    out = probe(canonicalize(source, tmp_path / "out.mp4")).video
    assert out is not None and (out.fps, out.frames_declared) == (rate, 8)


def test_a_variable_clip_holds_a_frame_over_a_gap(tmp_path: Path) -> None:
    # Frames every 40 ms, but for one that is shown for 120: three places of 25 fps.
    planes = [np.full((48, 64), v, np.uint8) for v in (20, 60, 100, 140, 180, 220)]
    times = [0, 40, 80, 200, 240, 280]
    source = write_luma(tmp_path / "in.mkv", planes, "gray", times=times, time_base=MS)
    with ClipReader(canonicalize(source, tmp_path / "out.mp4")) as reader:
        shown = [round(float(frame.luma.full_range().mean()), -1) for frame in reader]
    assert shown == [20, 60, 100, 100, 100, 140, 180, 220]


def test_a_picture_that_starts_after_its_sound_is_not_filled(tmp_path: Path) -> None:
    """Six frames from 0.41 s on, beside a sound from 0 on: at 25 fps the tenth place, and no frame is shown twice."""
    source = tmp_path / "late.mkv"
    with av.open(str(source), "w") as container:
        video = container.add_stream("ffv1", rate=25, width=32, height=16, pix_fmt="gray")
        video.time_base = video.codec_context.time_base = MS
        sound = container.add_stream("pcm_s16le", rate=16000, layout="mono")
        burst = av.AudioFrame.from_ndarray(tone(0.7)[None], format="fltp", layout="mono")
        burst.sample_rate, burst.time_base, burst.pts = 16000, Fraction(1, 16000), 0
        container.mux(sound.encode(burst) + sound.encode(None))
        for index in range(6):
            frame = av.VideoFrame.from_ndarray(flat(40 * index + 20), format="gray")
            frame.pts, frame.time_base = 410 + 40 * index, MS
            container.mux(video.encode(frame))
        container.mux(video.encode(None))
    with ClipReader(canonicalize(source, tmp_path / "out.mp4")) as reader:
        frames = [(round(frame.time_ms), round(float(frame.luma.full_range().mean()), -1)) for frame in reader]
    assert frames == [(400 + 40 * n, 40 * n + 20) for n in range(6)]


@pytest.mark.parametrize("wrong", ["0", "-5", "nan", "inf", "1001", "fast", "1/0", ""])
def test_a_rate_that_is_none_is_one_line(wrong: str) -> None:
    with pytest.raises(InputError, match=r"^expected a frame rate above 0 and up to 1000"):
        exact_rate(wrong)


@pytest.fixture(scope="module")
def form(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("form")
    frames = [np.full((16, 32), 20 * n, np.uint8) for n in range(8)]
    return canonicalize(
        write_clip(folder / "in.mp4", frames, audio=AudioTrack.of(tone(0.3), 16000)), folder / "form.mp4"
    )


def test_a_form_says_what_it_is(form: Path, tmp_path: Path) -> None:
    assert read_mark(form) == CanonMark()
    assert read_mark(canonicalize(form, tmp_path / "x.mp4", fps=Fraction(30000, 1001))) == CanonMark(
        Fraction(30000, 1001)
    )
    assert read_mark(form.with_name("in.mp4")) is None
    assert read_mark(tmp_path) is None and read_mark(tmp_path / "nowhere.mp4") is None


def test_a_changed_file_is_not_believed(form: Path, tmp_path: Path) -> None:
    whole, copy = form.read_bytes(), tmp_path / "copy.mp4"
    for place in (0, len(whole) // 2, len(whole) - 240):  # the picture, the index, the mark itself
        changed = bytearray(whole)
        changed[place] ^= 1
        copy.write_bytes(changed)
        assert read_mark(copy) is None, place
    copy.write_bytes(whole)
    assert read_mark(copy) == CanonMark(), "a copy is the same file"
    copy.write_bytes(whole[:-1])
    assert read_mark(copy) is None


def test_another_file_with_the_mark_of_this_one_is_not_believed(form: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.mp4"
    other.write_bytes(form.with_name("in.mp4").read_bytes() + form.read_bytes()[-256:])
    assert probe(other).video is not None, "it plays"
    assert read_mark(other) is None


def test_a_file_that_was_encoded_again_has_no_mark(form: Path, tmp_path: Path) -> None:
    with ClipReader(form) as reader:
        again = write_clip(tmp_path / "again.mp4", [frame.rgb() for frame in reader])
    assert read_mark(again) is None
