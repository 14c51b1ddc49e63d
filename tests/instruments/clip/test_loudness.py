"""Loudness, true peak, clipping and silence: the recommendation's signals, ffmpeg on real clips, runs by hand."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import av
import numpy as np
import pytest
from tests.clips import flat, write_sound
from tests.voices import tones, voice

import rushes
from rushes.instruments.clip.metrics.sound.loudness import (
    clipping_ratio,
    clipping_ratio_lossy,
    longest_silence_ms,
    loudness_lufs,
    loudness_range_lu,
    silence_ratio,
    true_peak_dbtp,
)
from rushes.instruments.clip.sound.levels import LevelMeter, SoundLevels
from rushes.instruments.clip.sound.loudness import filtered, k_weighting
from rushes.media import AudioTrack, write_clip
from rushes.media.audio import read_audio

NAMES = [
    *("loudness_lufs", "loudness_range_lu", "true_peak_dbtp", "clipping_ratio", "clipping_ratio_lossy"),
    *("silence_ratio", "longest_silence_ms"),
]
LAYOUTS = {1: "mono", 2: "stereo", 5: "5.0", 6: "5.1", 8: "7.1"}


def heard(samples: np.ndarray, *, rate: int = 16000, frame: int = 4096, layout: str = "") -> SoundLevels | str:
    """Channels × n, handed over in frames of any size."""
    meter = LevelMeter()
    layout = layout or LAYOUTS[len(samples)]
    for start in range(0, samples.shape[1], frame):
        packed = np.ascontiguousarray(samples[:, start : start + frame].T, np.float32).reshape(1, -1)
        sound = av.AudioFrame.from_ndarray(packed, format="flt", layout=layout)
        sound.sample_rate = rate
        meter.add(sound)
    return meter.finish()


def levels(*channels: np.ndarray, rate: int = 16000, frame: int = 4096) -> SoundLevels:
    found = heard(np.stack(channels), rate=rate, frame=frame)
    assert isinstance(found, SoundLevels)
    return found


def loudness(*channels: np.ndarray, rate: int = 16000) -> float:
    value = loudness_lufs(levels(*channels, rate=rate)).value
    assert isinstance(value, float)
    return value


# --- loudness: ITU-R BS.1770-4


def test_the_filters_at_48_khz_are_the_recommendations() -> None:
    # BS.1770-4, tables 1 and 2.
    shelf, high_pass = k_weighting(48000)
    assert shelf == pytest.approx(
        [1.53512485958697, -2.69169618940638, 1.19839281085285, 1, -1.69065929318241, 0.73248077421585], abs=1e-11
    )
    assert high_pass == pytest.approx([1, -2, 1, 1, -1.99004745483398, 0.99007225036621], abs=1e-11)


@pytest.mark.parametrize(
    ("rate", "within"), [(8000, 0.21), (16000, 0.05), (22050, 0.03), (32000, 0.015), (44100, 0.005), (96000, 0.01)]
)
def test_a_full_scale_tone_reads_minus_3_01_at_every_rate(rate: int, within: float) -> None:
    # "0 dB FS 1 kHz (997 Hz) sine in one channel: −3.01 LKFS." Bilinear filters bend where the rate is low.
    assert loudness(tones([(2, 0)], hz=997, rate=rate), rate=rate) == pytest.approx(-3.01, abs=within)


def test_two_channels_are_3_01_louder_than_one_and_the_bass_channel_is_not_heard() -> None:
    tone, none = tones([(2, -20)]), np.zeros(32000, np.float32)
    assert loudness(tone, tone) - loudness(tone) == pytest.approx(10 * math.log10(2))
    assert loudness(tone, none, none, none, none, none) == loudness(tone)  # FL FR FC LFE BL BR
    surround = loudness(none, none, none, none, none, tone)
    assert surround - loudness(tone) == pytest.approx(10 * math.log10(1.41))
    assert loudness_lufs(levels(none, none, none, tone, none, none)).value is None


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([(20, -23)], -23.0),
        ([(20, -33)], -33.0),
        ([(10, -36), (60, -23), (10, -36)], -23.0),
        ([(10, -72), (10, -36), (60, -23), (10, -36), (10, -72)], -23.0),
        ([(20, -26), (20.1, -20), (20, -26)], -23.0),
    ],
    ids=["1", "2", "3", "4", "5"],
)
def test_ebu_tech_3341(parts: Sequence[tuple[float, float]], expected: float) -> None:
    """Its test signals 1 to 5: 1 kHz in both channels, levels in dBFS of the peak; ±0.1 LU are allowed."""
    tone = tones(parts)
    assert loudness(tone, tone) == pytest.approx(expected, abs=0.1)


def test_ebu_tech_3341_in_five_channels() -> None:
    # Signal 6: left and right −28, centre −24, surround −30 dBFS: −23 LUFS.
    front, centre, surround = (tones([(20, level)]) for level in (-28, -24, -30))
    assert loudness(front, front, centre, surround, surround) == pytest.approx(-23.0, abs=0.1)


def test_the_gates_of_the_compliance_material() -> None:
    """4 s at 1 kHz in both channels, as the files of ITU-R BS.2217 are made; −69.5 and −10.0 LUFS, ±0.1.

    Absolute gate: half seconds of −69.5 dBFS between some of a last bit, which is under −70 LUFS; blocks that reach
    over an edge fall under the gate too.
    Relative gate: 1.3 s of −7.1 dBFS (14469 of 32768) amid 1.7 s of −19.9 (3315), which is more than 10 LU under the
    mean: without the gate the value would be 1.9 LU lower.
    """
    quiet = -90.3
    loud = -69.5
    absolute = tones([(0.8, quiet), *[(0.5, loud), (0.5, quiet)] * 3, (0.2, quiet)], rate=48000)
    assert loudness(absolute, absolute, rate=48000) == pytest.approx(-69.5, abs=0.1)
    relative = tones([(0.5, quiet), (0.9, -19.9), (1.3, -7.1), (0.8, -19.9), (0.5, quiet)], rate=48000)
    assert loudness(relative, relative, rate=48000) == pytest.approx(-10.0, abs=0.1)


def test_a_decibel_more_is_a_unit_more() -> None:
    sound = voice(2.0)
    assert loudness(sound) - loudness(sound * np.float32(10 ** (-6 / 20))) == pytest.approx(6.0, abs=1e-4)


def test_sounds_without_a_loudness() -> None:
    short = loudness_lufs(levels(tones([(0.39, -20)])))
    assert short.value is None and short.note == "the sound is shorter than 400 ms"
    quiet = loudness_lufs(levels(tones([(1, -80)])))
    assert quiet.value is None and quiet.note == "nothing above −70 LUFS"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([(20, -20), (20, -30)], 10),
        ([(20, -20), (20, -15)], 5),
        ([(20, -40), (20, -20)], 20),
        ([(20, -50), (20, -35), (20, -20), (20, -35), (20, -50)], 15),
    ],
)
def test_ebu_tech_3342(parts: Sequence[tuple[float, float]], expected: float) -> None:
    """Its signals 1 to 4, ±1 LU; in the third the quiet part is 20.0 LU under the loud one and 17 under the mean."""
    tone = tones(parts)
    found = loudness_range_lu(levels(tone, tone)).value
    assert found == pytest.approx(expected, abs=1)


def test_a_steady_sound_has_no_range_and_a_short_one_no_value() -> None:
    assert loudness_range_lu(levels(tones([(4, -20)]))).value == pytest.approx(0, abs=0.01)
    short = loudness_range_lu(levels(tones([(2.9, -20)])))
    assert short.value is None and short.note == "the sound is shorter than 3 s"


# --- true peak


@pytest.mark.parametrize(("part", "phase"), [(4, 0), (4, 45), (6, 60), (8, 67.5)])
def test_true_peaks_of_ebu_tech_3341(part: int, phase: float) -> None:
    """Signals 15 to 18: a sine of amplitude 0.5 at a fourth, sixth or eighth of the rate; −6 dBTP, +0.2 −0.4.

    Faded in and out: a tone that starts at once does overshoot between its samples.
    """
    sine = 0.5 * np.sin(2 * np.pi * np.arange(48000) / part + math.radians(phase))
    sine = (sine * np.minimum(1, np.minimum(np.arange(48000), np.arange(48000)[::-1]) / 480)).astype(np.float32)
    found = true_peak_dbtp(levels(sine, sine, rate=48000)).value
    assert found is not None and -6.4 <= found <= -5.8


def test_a_true_peak_is_never_under_the_samples() -> None:
    # At a fourth of the rate and 45° no sample is past 0.7071, though the wave reaches 1: 3.01 dB are between samples.
    sine = np.sin(2 * np.pi * np.arange(16000) / 4 + math.pi / 4).astype(np.float32)
    found = true_peak_dbtp(levels(sine)).value
    assert found is not None and found > 20 * math.log10(float(np.abs(sine).max())) + 2.6
    click = np.zeros(16000, np.float32)
    click[7] = -0.25  # the filter's middle weight is 0.972: the sample itself counts
    assert true_peak_dbtp(levels(click)).value == pytest.approx(20 * math.log10(0.25))
    silent = true_peak_dbtp(levels(np.zeros(16000, np.float32)))
    assert silent.value is None and silent.note == "every sample is zero"


# --- clipping and silence


def test_clipped_samples_by_hand() -> None:
    sound = np.zeros(1000, np.float32)
    sound[10:14] = 1  # 4 in a run
    sound[20:22] = -1  # 2: too few
    sound[30:33] = [32767 / 32768, 1.2, 1]  # 3, one of them past full scale
    sound[40:43] = 32766 / 32768  # a step below
    sound[997:] = -1  # 3, up to the end
    assert clipping_ratio(levels(sound)).value == 10 / 1000
    assert clipping_ratio(levels(sound, np.zeros(1000, np.float32))).value == 10 / 2000
    assert clipping_ratio_lossy(levels(sound)).value == 13 / 1000
    assert clipping_ratio(levels(np.ones(50, np.float32))).value == 1


def test_clipping_grows_with_the_gain_and_survives_lossy_coding_in_the_second_reading(tmp_path: Path) -> None:
    sound = voice(1.5, rate=48000) * 2  # peak 1.0
    shares = [clipping_ratio(levels(np.clip(sound * gain, -1, 1), rate=48000)).value for gain in (0.9, 1.4, 2, 4)]
    assert shares[0] == 0 and shares == sorted(set(shares))  # type: ignore[type-var]
    coded = write_sound(tmp_path / "loud.m4a", np.clip(sound * 2, -1, 1)[None], rate=48000, codec="aac")
    found = _file(coded)
    first, second = clipping_ratio(found).value, clipping_ratio_lossy(found).value
    assert first is not None and second is not None and shares[2] is not None
    assert first < second and 0.3 < second / shares[2] < 3


def test_silence_by_hand() -> None:
    # 16 kHz: 0.1 s are 1600 samples. 1000 + 1600 + 2000 + 1599 + 801 = 7000.
    loud = np.full(7000, 0.0011, np.float32)
    loud[1000:2600] = 0.0009  # 1600: counts
    loud[4600:6199] = 0.0  # one too few
    assert silence_ratio(levels(loud)).value == 1600 / 7000
    assert longest_silence_ms(levels(loud)).value == 100.0
    other = np.full(7000, 0.5, np.float32)
    assert silence_ratio(levels(loud, other)).value == 0  # one channel is heard
    silent = levels(np.zeros(4000, np.float32))
    assert (silence_ratio(silent).value, longest_silence_ms(silent).value) == (1.0, 250.0)


@pytest.mark.parametrize("frame", [1, 160, 1024, 50_000])
def test_any_size_of_frames_gives_the_same_bytes(frame: int) -> None:
    sound = np.clip(voice(0.3 if frame == 1 else 1.3) * 2.5, -1, 1)
    sound[: len(sound) // 2] *= np.float32(0.001)
    one, whole = levels(sound, frame=frame), levels(sound)
    assert one.hop_power.tobytes() == whole.hop_power.tobytes()
    readings = (true_peak_dbtp, clipping_ratio, silence_ratio, longest_silence_ms)
    assert [reading(one).value for reading in readings] == [reading(whole).value for reading in readings]


# --- files


def _file(path: Path) -> SoundLevels:
    meter = LevelMeter()
    read_audio(path, listen=meter.add)
    found = meter.finish()
    assert isinstance(found, SoundLevels)
    return found


def test_eight_channels_and_more(tmp_path: Path) -> None:
    sound = np.stack([tones([(0.5, -20)])] * 8)
    found = heard(sound)
    assert isinstance(found, SoundLevels) and found.channels == 8
    # 7.1: five front and back channels of weight 1, two at the sides of 1.41, no bass.
    assert loudness_lufs(found).value == pytest.approx(loudness(sound[0]) + 10 * math.log10(5 + 2 * 1.41))
    many = heard(np.stack([sound[0]] * 12), layout="12 channels")
    assert isinstance(many, SoundLevels)
    assert loudness_lufs(many).value == pytest.approx(loudness(sound[0]) + 10 * math.log10(12))


def test_a_change_of_rate_and_channels_in_mid_stream_keeps_the_first() -> None:
    meter = LevelMeter()
    for channels, rate in ((1, 16000), (2, 48000)):
        tone = np.repeat(tones([(1, -20)], rate=rate), channels)[None]
        frame = av.AudioFrame.from_ndarray(tone, format="flt", layout=LAYOUTS[channels])
        frame.sample_rate = rate
        meter.add(frame)
    found = meter.finish()
    assert isinstance(found, SoundLevels) and (found.rate, found.channels) == (16000, 1)
    assert abs(found.samples - 32000) <= 2
    assert loudness_lufs(found).value == pytest.approx(-23.0, abs=0.1)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e30])
def test_samples_that_are_no_numbers(bad: float) -> None:
    sound = tones([(1, -20)])
    sound[9000] = bad
    assert heard(sound[None]) == "the sound has samples that are NaN; export it again"


def test_no_frame_no_sound() -> None:
    assert LevelMeter().finish() == "the clip has no sound"


def _clip(path: Path, sound: np.ndarray | None) -> Path:
    track = None if sound is None else AudioTrack.of(sound, 16000)
    return write_clip(path, [flat(90, channels=3)] * 12, audio=track, codec="ffv1", pix_fmt="bgr0")


def test_measured_where_named_and_the_given_sound_in_place_of_the_clips_own(tmp_path: Path) -> None:
    clip = _clip(tmp_path / "a.mkv", tones([(0.48, -30)]))
    other = write_sound(tmp_path / "other.wav", np.stack([tones([(1, -20)])] * 2))
    assert "loudness_lufs" not in {m.name for m in rushes.evaluate_clip(clip).measurements}
    own = rushes.evaluate_clip(clip, metrics=NAMES)
    given = rushes.evaluate_clip(clip, metrics=NAMES, audio=other)
    assert own["loudness_lufs"].value == pytest.approx(-33.0, abs=0.2)  # mono; the clip's sound is coded
    assert given["loudness_lufs"].value == pytest.approx(-20.0, abs=0.1)
    assert given["silence_ratio"].value == 0 and given["loudness_lufs"].signature.startswith(
        "loudness_lufs|bass:0|block_ms:400|gate:-70.0|hop_ms:100|input:raw|mono:one-channel|rate:own|relative_gate:-10.0|"
    )


def test_a_clip_without_sound_has_a_row_that_says_so(tmp_path: Path) -> None:
    result = rushes.evaluate_clip(_clip(tmp_path / "a.mkv", None), metrics=NAMES)
    found = [m for m in result.measurements if m.name in NAMES]
    assert len(found) == 7 and {(m.value, m.note) for m in found} == {(None, "the clip has no sound")}
    (tmp_path / "bad.mp4").write_bytes(b"no clip")
    broken = rushes.evaluate_clip(tmp_path / "bad.mp4", metrics="loudness_lufs")["loudness_lufs"]
    assert broken.value is None and broken.note.startswith("expected a video")


@pytest.mark.shared
@pytest.mark.parametrize(
    "name", ["face_LipNet_bbaf2n.mpg", "face_LivePortrait_d12.mp4", "other_torchcodec_nasa_13013.mp4"]
)
def test_ffmpeg_reads_the_same_on_real_clips(shared: Path, name: str) -> None:
    """ebur128 and silencedetect; brought to 48 kHz, because ffmpeg's filter is 0.26 dB too loud at 8 kHz."""
    if shutil.which("ffmpeg") is None:
        pytest.skip("ffmpeg is not on PATH")
    path = shared / "clips" / name
    filters = "silencedetect=noise=0.001:d=0.1,aresample=48000,ebur128=peak=true"
    words = ["ffmpeg", "-nostats", "-i", str(path), "-vn", "-af", filters, "-f", "null", "-"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stderr
    summary = said[said.rindex("Summary:") :]
    value, spread, peak = (float(re.findall(rf"{word}: +(\S+)", summary)[0]) for word in ("I", "LRA", "Peak"))
    found = _file(path)
    assert loudness_lufs(found).value == pytest.approx(value, abs=0.1)
    assert true_peak_dbtp(found).value == pytest.approx(peak, abs=0.2)
    if found.samples > 4 * found.rate:
        assert loudness_range_lu(found).value == pytest.approx(spread, abs=0.3)
    seconds = sum(float(length) for length in re.findall(r"silence_duration: (\S+)", said))
    assert silence_ratio(found).value == pytest.approx(seconds * found.rate / found.samples, abs=1e-3)


def test_the_filter_is_scipys_to_the_last_bit_in_pieces_too() -> None:
    signal = pytest.importorskip("scipy.signal")
    sections, draw = k_weighting(44100), np.random.default_rng(6)
    state, theirs = np.zeros((2, 3, 2)), np.zeros((2, 3, 2))
    for size in (1, 4410, 2, 777):
        sound = np.asfortranarray(draw.normal(size=(3, size)))
        kept = sound.copy()
        found = filtered(sections, sound, state)
        wanted, theirs = signal.sosfilt(sections, sound, axis=1, zi=theirs)
        assert found.tobytes() == np.ascontiguousarray(wanted).tobytes() and state.tolist() == theirs.tolist()
        assert (sound == kept).all()
