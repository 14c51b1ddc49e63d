"""Real people: blinks counted by eye, mouths that follow their own sound, mouths held still, faces lost."""

from __future__ import annotations

import csv
import wave
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from rushes.core.machine.provenance import file_digest
from rushes.instruments.clip.evaluate import evaluate_clip
from rushes.instruments.clip.faces.track import RIGID, FaceTrackBuilder
from rushes.instruments.clip.measure import ClipResult
from rushes.instruments.clip.metrics.face.mouth import AT_REST
from rushes.media import AudioTrack, ClipReader, read_audio, write_clip
from rushes.vision.landmarks import FacePipeline

Pixels = NDArray[np.uint8]
SPEAKERS = ("bbaf2n", "lwbsza", "swiz3n")
pytestmark = [pytest.mark.shared, pytest.mark.usefixtures("face_models", "remembered_faces")]


def _by_eye() -> list[dict[str, str]]:
    """Every frame's eyes were looked at, cut out and enlarged; a lid that covers the pupil on its way is a blink."""
    with (Path(__file__).parents[2] / "instruments" / "clip" / "blinks_by_eye.csv").open() as table:
        return list(csv.DictReader(table))


def _clip(shared: Path, name: str) -> Path:
    path = shared / "clips" / name
    if not path.is_file():
        pytest.skip(f"{name} is not here")
    return path


@pytest.mark.parametrize("row", _by_eye(), ids=lambda row: row["clip"])
@pytest.mark.parametrize("model", [None, "face_landmarker.task"])
def test_counts_are_within_one_of_counts_by_eye(shared: Path, row: dict[str, str], model: str | None) -> None:
    clip = _clip(shared, row["clip"])
    assert file_digest(clip) == row["sha256"], "another clip than the one that was looked at"
    face_model = None if model is None else shared / "models" / model
    measured = evaluate_clip(clip, tier=1, face_model=face_model)["blink_count"]
    assert measured.count == int(row["frames"])
    assert measured.value is not None and abs(int(measured.value) - int(row["blinks"])) <= 1


def _with_sound(clip: Path, samples: NDArray[np.float32], path: Path) -> ClipResult:
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(16000)
        sound.writeframes(np.rint(np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
    return evaluate_clip(clip, audio=path, tier=1)


def _late(seconds: float) -> Callable[[NDArray[np.float32]], NDArray[np.float32]]:
    count = round(abs(seconds) * 16000)
    if seconds > 0:
        return lambda own: np.concatenate([np.zeros(count, np.float32), own])[: len(own)]
    return lambda own: np.concatenate([own[count:], np.zeros(count, np.float32)])


@pytest.mark.parametrize("name", SPEAKERS)
def test_less_than_three_seconds_of_speech_are_not_judged(shared: Path, name: str) -> None:
    own = evaluate_clip(_clip(shared, f"face_LipNet_{name}.mpg"), tier=1)
    assert own["mouth_speech_motion"].value > AT_REST and own["longest_face_gap_ms"].value == 0.0
    assert own["mouth_audio_margin"].value is None
    assert own["mouth_audio_margin"].note.endswith("s of speech with the face; 3 are needed")


def test_a_speaker_is_in_sync_and_a_shifted_one_is_not(shared: Path, tmp_path: Path) -> None:
    clip = shared / "suites" / "adth" / "ground-truth" / "obama.mp4"
    if not clip.is_file():
        pytest.skip(f"{clip.name} of the talking heads is not here")
    samples = read_audio(clip).samples
    own, late = (_with_sound(clip, sound, tmp_path / "sound.wav") for sound in (samples, _late(0.4)(samples)))
    assert own["mouth_audio_margin"].value > 0 > late["mouth_audio_margin"].value
    if (told := late["mouth_audio_offset_ms"].value) is not None:
        assert told == pytest.approx(400, abs=160)


def test_music_under_a_face_that_does_not_speak_is_not_judged(shared: Path) -> None:
    measured = evaluate_clip(_clip(shared, "face_LivePortrait_d12.mp4"), tier=1)
    for name in ("mouth_audio_margin", "mouth_audio_offset_ms", "mouth_speech_motion"):
        assert measured[name].value is None
        assert measured[name].note.startswith("the sound does not rise and fall like speech")


def _frames(clip: Path) -> list[Pixels]:
    with ClipReader(clip) as reader:
        return [frame.rgb().copy() for frame in reader]


def _similarity(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn, scale and shift that bring one set of points nearest to the other: z → a z + b over complex numbers."""
    z, w = one[:, 0] + 1j * one[:, 1], other[:, 0] + 1j * other[:, 1]
    a = np.sum(np.conj(z - z.mean()) * (w - w.mean())) / np.sum(np.abs(z - z.mean()) ** 2)
    b = w.mean() - a * z.mean()
    return np.array([[a.real, -a.imag, b.real], [a.imag, a.real, b.imag]])


def _dead_mouth(frames: list[Pixels], pipeline: FacePipeline) -> list[Pixels]:
    """The lower face of the first frame, moved with the head, over every other."""
    builder = FaceTrackBuilder(pipeline)
    for frame in frames:
        builder.add(frame)
    track = builder.finish()
    rigid = track.landmarks(*RIGID)
    lips, chin = track.landmarks(13, 14)[0].mean(axis=0), track.landmarks(152)[0, 0]
    middle, eyes = 0.6 * lips + 0.4 * chin, float(track.inter_ocular[0])
    height, width = frames[0].shape[:2]
    mask = np.zeros((height, width), np.float32)
    centre, axes = (round(float(middle[0])), round(float(middle[1]))), (round(0.55 * eyes), round(0.62 * eyes))
    cv2.ellipse(mask, centre, axes, 0, 0, 360, 1.0, -1)
    mask = cv2.GaussianBlur(mask, (0, 0), 0.07 * eyes)
    dead = []
    for frame, points in zip(frames, rigid, strict=True):
        move = _similarity(rigid[0], points)
        held = cv2.warpAffine(frames[0], move, (width, height), borderMode=cv2.BORDER_REPLICATE)
        share = cv2.warpAffine(mask, move, (width, height))[..., None]
        dead.append(np.rint(frame * (1 - share) + held * share).astype(np.uint8))
    return dead


@pytest.mark.parametrize("name", SPEAKERS)
def test_a_mouth_held_still_while_speech_goes_on_is_dead(
    shared: Path, tmp_path: Path, pipeline: FacePipeline, name: str
) -> None:
    clip = _clip(shared, f"face_LipNet_{name}.mpg")
    write_clip(tmp_path / "dead.mp4", _dead_mouth(_frames(clip), pipeline), fps=25, audio=_sound(clip))
    measured = evaluate_clip(tmp_path / "dead.mp4", tier=1)
    assert measured["face_present_ratio"].value == 1.0
    assert measured["mouth_speech_motion"].value < AT_REST
    assert measured["mouth_audio_margin"].value is None


def _sound(clip: Path) -> AudioTrack:
    return read_audio(clip)


@pytest.mark.parametrize(
    ("first", "last", "where"), [(0, 24, "0.0–1.0 s"), (25, 49, "1.0–2.0 s"), (50, 74, "2.0–3.0 s")]
)
def test_a_lost_face_is_found_wherever_it_is(shared: Path, tmp_path: Path, first: int, last: int, where: str) -> None:
    frames = _frames(_clip(shared, "face_LipNet_lwbsza.mpg"))
    grey = np.full_like(frames[0], 110)
    write_clip(tmp_path / "lost.mp4", [grey if first <= n <= last else f for n, f in enumerate(frames)], fps=25)
    measured = evaluate_clip(tmp_path / "lost.mp4", tier=1)["longest_face_gap_ms"]
    assert (measured.value, measured.note) == (pytest.approx(1000.0), where)
