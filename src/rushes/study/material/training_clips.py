"""The training pair every study has unless it brings its own: a ball that rolls, and the same with flicker.

The right answer is beyond dispute, so the feedback can teach the double watch, the tags and the scales.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rushes.instruments.preference.methods.method import PAIRS, Method
from rushes.instruments.preference.rubric import RUBRIC, Rubric
from rushes.media import write_clip
from rushes.study.material.sources import SourceClip
from rushes.study.raters.training import BUILT_IN

SAMPLE = BUILT_IN
_WIDTH, _HEIGHT, _FPS, _FRAMES = 320, 180, 25, 50
_FLICKER = 0.45
"""How far every second frame is darkened."""
_TEXT = (
    "The clip that flickers breaks the second priority, temporal stability, while both follow the prompt. "
    "Its fault, “Flicker / temporal jitter”, is the primary tag; its temporal consistency is 1 or 2, "
    "and the steady clip's is 5."
)
_TAG = "Flicker / temporal jitter"
_PLAIN_TEXT = "One clip flickers and the other is the same without it: the steady one is better."


_RATING_TEXT = "The clip flickers throughout: its rating belongs in the lower half of the scale."
_SET_TEXT = "One clip is steady, one flickers a little and one a lot: the steady one is best, the last one worst."
_STEADY, _SLIGHT, _UNSTEADY = ("steady", 0.0), ("slight", _FLICKER / 4), ("unsteady", _FLICKER)
_SHOWN = {"acr": (_UNSTEADY,), "acr-hr": (_UNSTEADY,), "best-worst": (_STEADY, _SLIGHT, _UNSTEADY)}
"""What a method's training trial shows, where it is not the pair."""


def training_clips(
    media: Path, *, words: Rubric = RUBRIC, method: Method = PAIRS, reference: str = ""
) -> list[SourceClip]:
    """The clips of the training trial, their files written below `media` (the same bytes every time).

    Under a rubric that has no tag for flicker, the feedback names the winner alone. Where the method shows a
    `reference`, the steady clip is called so.
    """
    known = method.is_pairs and _TAG in words.tags_for("T2")
    expected, text = "steady", _TEXT if words.version == RUBRIC.version else _PLAIN_TEXT
    if not method.is_pairs:
        expected, text = ("low", _RATING_TEXT) if method.rates else ("steady>unsteady", _SET_TEXT)
    folder = media / "training"
    folder.mkdir(parents=True, exist_ok=True)
    clips = []
    for name, flicker in _SHOWN.get(method.name, (_STEADY, _UNSTEADY)):
        path = folder / f"{name}.mp4"
        if not path.exists():
            write_clip(path, _rolling_ball(flicker), fps=_FPS)
        clips.append(
            SourceClip(
                system=reference if method.name == "dcr" and name == "steady" else name,
                sample=SAMPLE,
                path=path,
                name=name,
                family="T2",
                prompt=SAMPLE,
                prompt_text="A grey ball rolls from left to right at a steady pace.",
                kind="training",
                expected=expected,
                expected_tag=_TAG if known else "",
                feedback=text,
            )
        )
    return clips


def _rolling_ball(flicker: float) -> Iterator[NDArray[np.uint8]]:
    rows, columns = np.mgrid[0:_HEIGHT, 0:_WIDTH]
    for number in range(_FRAMES):
        centre = 30 + (_WIDTH - 60) * number / (_FRAMES - 1)
        distance = np.hypot(columns - centre, rows - _HEIGHT * 0.6)
        ball = np.clip(32 - distance, 0, 1)
        picture = 210 - 60 * (rows > _HEIGHT * 0.6 + 31) - 110 * ball
        if number % 2:
            picture = picture * (1 - flicker)
        grey = picture.astype(np.uint8)
        yield np.repeat(grey[:, :, None], 3, axis=2)
