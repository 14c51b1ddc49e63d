"""The demo's share: three clips against their references, one compressed, one late, one with frames that were blurred.

The lateness and the blurred frames were put in; the demo says whether they were found.
"""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from rushes.core.instrument import DemoPart
from rushes.core.words.definition_text import value_text
from rushes.instruments.fidelity.evaluate import evaluate_fidelity
from rushes.instruments.fidelity.show.tables import metric_of, pair_table
from rushes.media import write_clip
from rushes.media.scenes import Frame, scene_of

_FRAMES = 40
_FPS = 20
LATE = 3
BLURRED = range(22, 26)


def run(folder: Path) -> DemoPart:
    """Make the clips, compare them, and say what was found."""
    home = folder / "fidelity"
    truth, made = home / "reference", home / "generated"
    for place in (truth, made):
        place.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(("blurred", "late", "compressed")):
        frames = list(scene_of(number)[0].frames(_FRAMES, fps=_FPS))
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


def _generated(name: str, frames: list[Frame]) -> list[Frame]:
    if name == "late":
        return [frames[0]] * LATE + frames[:-LATE]
    if name == "blurred":
        return [
            np.asarray(cv2.GaussianBlur(frame, (0, 0), 3), np.uint8) if index in BLURRED else frame
            for index, frame in enumerate(frames)
        ]
    return frames
