"""The demo's share: three clips against their references, one compressed, one late, one with frames that were blurred.

The lateness and the blurred frames were put in; the demo says whether they were found.
"""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.core.instrument import DemoPart
from rushes.core.words.definition_text import value_text
from rushes.instruments.fidelity.evaluate import evaluate_fidelity
from rushes.instruments.fidelity.show.tables import metric_of, pair_table
from rushes.media import write_clip

_SIZE = (320, 192)
_FRAMES = 40
_FPS = 20
LATE = 3
BLURRED = range(22, 26)

Pixels = NDArray[np.uint8]


def run(folder: Path) -> DemoPart:
    """Make the clips, compare them, and say what was found."""
    home = folder / "fidelity"
    truth, made = home / "reference", home / "generated"
    for place in (truth, made):
        place.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(("compressed", "late", "blurred")):
        frames = _scene(number)
        write_clip(truth / f"{name}.mp4", frames, fps=_FPS, crf=10)
        write_clip(made / f"{name}.mp4", _generated(name, frames), fps=_FPS, crf=32)
    done = evaluate_fidelity(made, truth, lag="auto", run=home / "run", jobs=1, overwrite=True)
    entries = {entry.subject.id: entry for entry in done.pairs}
    lags = {name: entry.subject.facts.get("lag", 0) for name, entry in entries.items()}
    lead = entries["blurred"].measurements[0]
    found = metric_of(lead)
    assert found is not None
    worst = int(np.argmin(done.run.series("blurred")[found[1].series]))
    as_expected = lags == {"compressed": 0, "late": LATE, "blurred": 0} and worst in BLURRED
    table = pair_table(done.run)
    psnr = done["psnr"]
    return DemoPart(
        title="Fidelity: how far from the reference?",
        run=done.run.path,
        found=f"Three clips against their references: PSNR {value_text(psnr)} dB. One was made {LATE} frames late and "
        f"{lags['late']} were found; frames {BLURRED[0]}–{BLURRED[-1]} of another were blurred, its worst is {worst}.",
        header=table.header,
        rows=table.texts(),
        as_expected=as_expected,
    )


def _scene(seed: int) -> list[Pixels]:
    """A textured ground that pans, and a disc that swings over it."""
    width, height = _SIZE
    rng = np.random.default_rng(seed)
    ground = cv2.GaussianBlur(rng.integers(0, 256, (height, width * 2, 3), dtype=np.uint8), (0, 0), 7)
    ground = cv2.normalize(ground, None, 20, 235, cv2.NORM_MINMAX)  # type: ignore[call-overload]
    frames = []
    for index in range(_FRAMES):
        frame = np.ascontiguousarray(ground[:, 2 * index : 2 * index + width])
        phase = 2 * np.pi * index / _FRAMES
        centre = (round(width / 2 + 90 * np.sin(phase)), round(height / 2 + 40 * np.cos(2 * phase)))
        cv2.circle(frame, centre, 26, (40 + 60 * seed, 180, 220), -1, cv2.LINE_AA)
        frames.append(frame)
    return frames


def _generated(name: str, frames: list[Pixels]) -> list[Pixels]:
    if name == "late":
        return [frames[0]] * LATE + frames[:-LATE]
    if name == "blurred":
        return [
            np.asarray(cv2.GaussianBlur(frame, (0, 0), 3), np.uint8) if index in BLURRED else frame
            for index, frame in enumerate(frames)
        ]
    return frames
