"""Talking heads with known faults, and what `rushes clip --tier 1` finds in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.core import Measurement
from rushes.core.instrument import DemoPart
from rushes.core.words.definition_text import value_text
from rushes.instruments.clip.bundle import by_name
from rushes.instruments.clip.demo.talking import FPS, FRAMES, SIDE, Frame, speech, talking
from rushes.instruments.clip.evaluate import evaluate_clips
from rushes.instruments.clip.faces.models import load_face_settings
from rushes.instruments.clip.metrics.face.mouth import AT_REST
from rushes.instruments.clip.metrics.face.sync import envelope
from rushes.media import write_clip
from rushes.vision.models.pulling import pull

Values = dict[str, float]
_SHOWN = (
    "face_present_ratio",
    "longest_face_gap_ms",
    "mouth_speech_motion",
    "mouth_audio_corr",
    "mouth_audio_margin",
    "mouth_audio_offset_ms",
)
_LATE = 5
"""Frames by which the late mouth follows the sound: past the ±3 that `mouth_audio_corr` searches."""
LONGEST_GAP_MS = 500.0
"""A face away for longer is lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A talking head: how its mouth and picture differ from the good one, and what must show it."""

    name: str
    fault: str
    caught: Callable[[Values], bool]
    """Whether its values tell the fault, each against a threshold of its own: no good clip is needed beside it."""
    mouth: Callable[[NDArray[np.float64]], Sequence[float]] = lambda loudness: loudness.tolist()
    face_until: int = FRAMES


HEADS = (
    Head(
        name="face_in_sync",
        fault="none: the mouth follows the sound",
        caught=lambda v: (
            v["mouth_audio_margin"] > 0
            and v["mouth_speech_motion"] >= AT_REST
            and v["longest_face_gap_ms"] == 0
            and v["mouth_audio_offset_ms"] == 0
        ),
    ),
    Head(
        name="face_late",
        fault=f"the mouth comes {_LATE} frames after the sound",
        mouth=lambda loudness: np.roll(loudness, _LATE).tolist(),
        caught=lambda v: v["mouth_audio_margin"] < 0 and v["mouth_audio_offset_ms"] == -1000 * _LATE / FPS,
    ),
    Head(
        name="face_dead_mouth",
        fault="the mouth stays as it is",
        mouth=lambda loudness: [0.0] * len(loudness),
        caught=lambda v: v["mouth_speech_motion"] < AT_REST,
    ),
    Head(
        name="face_lost",
        fault="the face leaves half-way",
        face_until=FRAMES // 2,
        caught=lambda v: v["face_present_ratio"] == 0.5 and v["longest_face_gap_ms"] > LONGEST_GAP_MS,
    ),
)


def read_portrait() -> Frame:
    """The astronaut, 512 × 512 × 3, RGB; fetched where it is not here."""
    picture = cv2.imread(str(pull("astronaut")[0]))
    assert picture is not None, "the file's digest was checked"
    return np.ascontiguousarray(picture[..., ::-1], np.uint8)


def make_heads(folder: Path, portrait: Frame, heads: Sequence[Head] = HEADS) -> list[Path]:
    """Write the talking heads; the same bytes every time."""
    folder.mkdir(parents=True, exist_ok=True)
    sound = speech()
    loudness = envelope(sound, times_ms=None, frames=FRAMES, fps=FPS)
    assert not isinstance(loudness, str)
    empty = np.ascontiguousarray(portrait[-SIDE:, -SIDE:])[::-1]  # helmet and sleeve, upside down: no face in it
    paths = []
    for head in heads:
        frames = list(talking(portrait, head.mouth(loudness / loudness.max())))[: head.face_until]
        frames += [np.roll(empty, number, axis=1) for number in range(FRAMES - head.face_until)]
        path = folder / f"{head.name}.mp4"
        write_clip(path, frames, fps=FPS, audio=sound)
        paths.append(path)
    return paths


def run(folder: Path) -> DemoPart:
    """Fetch models and portrait, make the clips, measure them, and check that each fault shows.

    Raises `MissingDependency` where the models, or the package that runs them, cannot be had.
    """
    title = "Faces: does the mouth follow the sound?"
    pull("face")
    portrait = read_portrait()
    load_face_settings(1)  # the models are here; the package that runs them may not be
    paths = make_heads(folder / "faces", portrait)
    found = evaluate_clips(
        [str(path) for path in paths], run=folder / "face", tier=1, profile="talking-head", overwrite=True
    )
    measured = [by_name(entry.measurements) for entry in found.entries]
    values = [_values(measurements) for measurements in measured]
    badges = [entry.subject.badge for entry in found.entries]
    missed = [
        head.name
        for number, (head, own, badge) in enumerate(zip(HEADS, values, badges, strict=True))
        if not head.caught(own) or (badge == "pass") != (number == 0)
    ]
    summary = (
        f"NOT found: {', '.join(missed)}"
        if missed
        else "each fault is flagged and the good clip passes. Late lips fit the sound better at another time, a frozen "
        "mouth does not move while speech is heard, and frames without a face are skipped, not scored 0."
    )
    return DemoPart(
        title=title,
        run=found.path,
        found=f"{len(HEADS)} talking heads made from one portrait; {summary}",
        header=("clip", "what was put in", "review signal", "face", "gap ms", "lips", "corr", "sync", "late by ms"),
        rows=[
            [head.name, head.fault, badge or "", *(value_text(own[name]) for name in _SHOWN)]
            for head, own, badge in zip(HEADS, measured, badges, strict=True)
        ],
        as_expected=not missed,
    )


def _values(measurements: dict[str, Measurement]) -> Values:
    """Values by name; what is missing is NaN, which no comparison holds for."""
    return {
        name: float("nan") if measurements[name].value is None else float(measurements[name].value or 0)
        for name in _SHOWN
    }
