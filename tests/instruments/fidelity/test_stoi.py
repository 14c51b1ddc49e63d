"""STOI and ESTOI: pystoi's numbers, laws, and pairs that cannot be compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.clips import flat
from tests.voices import noisy, voice

from rushes.core import Measurement
from rushes.instruments.fidelity.arrays import compare_arrays
from rushes.instruments.fidelity.measure import score_frames
from rushes.instruments.fidelity.metric import PairContext
from rushes.instruments.fidelity.metrics import METRICS
from rushes.instruments.fidelity.metrics.sound.stoi import estoi, resampled, shift_ms, stoi
from rushes.instruments.fidelity.pairs.frames import Pairing
from rushes.instruments.fidelity.pairs.reading import open_pair
from rushes.instruments.fidelity.pairs.sound import SoundObserver, paired_sounds
from rushes.media import AudioTrack, probe, read_audio, write_clip
from rushes.media.find.sets import Clip

BOTH = {name: METRICS[name] for name in ("stoi", "estoi")}


def values(gen: np.ndarray, gt: np.ndarray) -> list[Measurement]:
    seen = paired_sounds(gen, gt)
    return [metric.measurement(seen) for metric in BOTH.values()]


# --- pystoi 0.4.1 as the oracle; the numbers are made by tests/oracle/sound.py


@pytest.mark.parametrize(
    ("snr_db", "plain", "extended"),
    [(20, 0.9980977364, 0.8527666385), (10, 0.9783230011, 0.5578474284), (0, 0.8476074178, 0.2334758999)],
)
def test_a_made_voice_reads_as_in_pystoi(snr_db: float, plain: float, extended: float) -> None:
    clean = voice(3.0)
    found = [m.value for m in values(noisy(clean, snr_db=snr_db), clean)]
    assert found == pytest.approx([plain, extended], abs=1e-7)


@pytest.mark.shared
def test_published_speech_in_babble(shared: Path) -> None:
    folder = shared / "golden" / "published"
    sounds = (folder / name for name in ("pesq_speech_bab_0dB.wav", "pesq_speech.wav"))
    found = values(*(read_audio(path).samples for path in sounds))
    assert [m.value for m in found] == pytest.approx([0.6739178, 0.3904500], abs=1e-7)


# --- laws


def test_identical_is_one_and_level_does_not_matter() -> None:
    clean = voice(2.0)
    assert [m.value for m in values(clean, clean)] == pytest.approx([1.0, 1.0])
    assert [m.value for m in values(clean * np.float32(0.25), clean)] == pytest.approx([1.0, 1.0])


def test_more_noise_is_less_understood() -> None:
    clean = voice(2.0).astype(np.float64)
    heard = [noisy(voice(2.0), snr_db=level).astype(np.float64) for level in (30, 15, 0, -15)]
    for measure in (stoi, estoi):
        found = [measure(clean, sound)[0] for sound in heard]
        assert found == sorted(found, reverse=True)  # type: ignore[type-var]


def test_a_sound_that_is_on_in_no_band_of_the_reference_has_no_correlation() -> None:
    # Nothing of y varies where x does: every correlation is 0 / 0, which counts as none.
    clean = voice(2.0).astype(np.float64)
    assert stoi(clean, np.zeros_like(clean))[0] == 0
    assert estoi(clean, np.zeros_like(clean))[0] == 0


def test_a_stretch_is_thirty_frames() -> None:
    """2.0 s at 10 kHz: 20000 samples, 155 frames of 256 every 128 begin before sample 19744. A tone is speech

    throughout: 155 frames join to 156 · 128 = 19968 samples, of which 154 frames; 154 − 29 = 125 stretches.
    """
    tone = 0.3 * np.sin(2 * np.pi * 500 * np.arange(32000) / 16000)
    assert stoi(tone, tone)[1] == 125
    assert stoi(tone[:6000], tone[:6000]) == (None, 0)  # 3750 samples at 10 kHz: 27 frames


def test_a_shift_is_found_and_said() -> None:
    clean = voice(2.0)
    late = np.concatenate([np.zeros(336, np.float32), clean])[: len(clean)]  # 336 of 16000: 21 ms
    (plain, _) = values(late, clean)
    assert plain.note == "the sound matches best 21 ms after the reference's; no shift is corrected"
    (early, _) = values(clean, late)
    assert early.note == "the sound matches best 21 ms before the reference's; no shift is corrected"
    assert shift_ms(clean.astype(np.float64), clean.astype(np.float64)) == 0
    assert values(noisy(clean, snr_db=0), clean)[0].note == ""


# --- pairs of clips


def _clip(path: Path, sound: np.ndarray | None) -> Clip:
    track = None if sound is None else AudioTrack.of(sound, 16000)
    write_clip(path, [flat(90, channels=3)] * 3, audio=track, codec="ffv1", pix_fmt="bgr0")
    return Clip(path.name, (path,))


def _pair(gen: Clip, gt: Clip) -> list[Measurement]:
    with open_pair(gen, gt, Pairing()) as pair:
        scored = score_frames(pair.frames, pair.context, BOTH)
    assert not scored.series  # sounds are not stored
    return list(scored.measurements.values())


def test_two_files_are_heard_from_their_time_zero(tmp_path: Path) -> None:
    clean = voice(2.0)
    gt, gen = _clip(tmp_path / "gt.mkv", clean), _clip(tmp_path / "gen.mkv", noisy(clean, snr_db=10))
    (plain, extended), (same, _) = _pair(gen, gt), _pair(gt, gt)
    assert plain.value is not None and extended.value is not None and same.value == pytest.approx(1.0)
    assert extended.value < plain.value < 0.999 and plain.signature.startswith("stoi|band_rate:10000|bands:15|")


@pytest.mark.parametrize(
    ("gen", "gt", "note"),
    [
        (None, voice(1.0), "the generated clip has no sound"),
        (voice(1.0), None, "the reference has no sound"),
        (None, None, "neither the generated clip nor the reference has sound"),
        (np.zeros(16000, np.float32), voice(1.0), "the generated clip's sound is silent"),
        (voice(1.5), voice(1.0), "the sounds last 1.5"),
    ],
)
def test_what_cannot_be_compared_says_why(
    tmp_path: Path, gen: np.ndarray | None, gt: np.ndarray | None, note: str
) -> None:
    for found in _pair(_clip(tmp_path / "gen.mkv", gen), _clip(tmp_path / "gt.mkv", gt)):
        assert found.value is None and found.note.startswith(note)


def test_a_little_more_sound_at_one_end_is_cut() -> None:
    clean = voice(2.0)
    longer = np.concatenate([clean, np.full(1600, 0.1, np.float32)])  # 100 ms
    assert values(longer, clean)[0].value == pytest.approx(1.0)
    assert values(np.append(longer, np.float32(0)), clean)[0].value is None


def test_bad_samples_and_pictures() -> None:
    broken = voice(1.0)
    broken[5] = np.nan
    assert values(broken, voice(1.0))[0].note == (
        "the generated clip's sound has samples that are NaN; export it again"
    )
    picture = np.zeros((2, 16, 16, 3), np.uint8)
    found = compare_arrays(picture, picture, metrics=["stoi"])["stoi"]
    assert found.value is None and found.note == "neither the generated clip nor the reference has sound"


def test_a_file_that_went_away_is_a_reason(tmp_path: Path) -> None:
    gt = _clip(tmp_path / "gt.mkv", voice(1.0))
    facts = probe(gt.files[0])
    context = PairContext(
        gen=str(tmp_path / "gone.mkv"), gt=str(gt.files[0]), gen_facts=facts, gt_facts=facts, size=(32, 16)
    )
    assert SoundObserver(context).finish().missing.endswith("gone.mkv: no such file; check the path")


def test_resampling_is_scipys_to_the_last_bit() -> None:
    signal = pytest.importorskip("scipy.signal")
    draw = np.random.default_rng(8)
    for up, down, half in ((5, 8, 291), (3, 2, 10), (1, 4, 7), (2, 1, 0)):
        taps = draw.normal(size=2 * half + 1)
        for size in (1, 2, 7, 8, 999, 16000):
            sound = draw.normal(size=size)
            wanted = signal.resample_poly(sound, up, down, window=taps)
            assert resampled(sound, taps * up, up=up, down=down).tobytes() == wanted.tobytes()


def test_a_shift_is_found_as_by_scipys_correlation() -> None:
    signal = pytest.importorskip("scipy.signal")
    draw = np.random.default_rng(9)
    for size, late in ((3000, 40), (9000, -123), (5000, 0)):
        clean = draw.normal(size=size)
        moved = np.roll(clean, late) + 0.1 * draw.normal(size=size)
        match = signal.correlate(moved, clean, method="direct")
        assert shift_ms(clean, moved) == (int(match.argmax()) - (size - 1)) * 1000 / 16000
        assert shift_ms(clean, draw.normal(size=size)) == 0.0
