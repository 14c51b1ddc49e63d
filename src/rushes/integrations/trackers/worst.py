"""The worst clips of a run as film strips, for a tracker's page."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable

import cv2
import numpy as np

from rushes.core.words.definition_text import value_text
from rushes.instruments.clip.frames.film_strips import StripTask, key_frames, take_strip
from rushes.instruments.clip.show.tables import worst_first
from rushes.instruments.fidelity.show.tables import pairs_of
from rushes.integrations.trackers.tracker import Picture
from rushes.present.pages.film_strips import Strip
from rushes.storage.remote.address import is_remote
from rushes.storage.runs import Entry, Run
from rushes.storage.runs.relocation import candidates, relocate
from rushes.workers.engine import Crash, run_tasks

_SECONDS_A_CLIP = 120.0
_SHOWN = 3
"""Numbers in a caption, where there is no review signal."""


def worst_clips(run: Run, count: int) -> list[Picture]:
    """Up to `count` film strips, worst first; a clip whose file is gone or cannot be decoded is left out.

    Runs of clips are ordered by review signal, runs of pairs by their first number; other runs have no clips to show.
    """
    ordered: dict[str, Callable[[Run], list[Entry]]] = {"clip": worst_first, "fidelity": pairs_of}
    entries = ordered[run.instrument](run)[:count] if run.instrument in ordered else []
    wanted = [(entry, task) for entry in entries if (task := _task(run, entry)) is not None]
    outcomes = dict(run_tasks(take_strip, [task for _, task in wanted], jobs=1, timeout=_SECONDS_A_CLIP))
    found = []
    for position, (entry, _) in enumerate(wanted):
        outcome = outcomes[position]
        if isinstance(outcome, Crash) or not outcome.frames:
            continue
        here = None if is_remote(entry.subject.path) else relocate(entry.subject.path, beside=run.path)
        name = re.sub(r"[^A-Za-z0-9_.-]+", "_", entry.subject.id)
        found.append(Picture(name=name, caption=_caption(entry), jpeg=joined(outcome), clip=here))
    return found


def _task(run: Run, entry: Entry) -> StripTask | None:
    frames = next((m.value for m in entry.measurements if m.name == "frame_count"), entry.subject.facts.get("frames"))
    if not isinstance(frames, int) or not frames:
        return None
    path = entry.subject.path
    return StripTask(
        candidates=(path,) if is_remote(path) else tuple(map(str, candidates(path, beside=run.path))),
        sha256=entry.subject.sha256,
        frames=key_frames(frames, []),
        canon="canon" in entry.subject.facts,
    )


def joined(strip: Strip) -> bytes:
    """The key frames side by side, as one JPEG."""
    parts = []
    for frame in strip.frames:
        data = base64.b64decode(frame.jpeg.partition(",")[2])
        picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
        assert picture is not None
        parts += [picture, np.full((picture.shape[0], 4, 3), 255, np.uint8)]
    _, jpeg = cv2.imencode(".jpg", np.hstack(parts[:-1]), [cv2.IMWRITE_JPEG_QUALITY, 85])
    return bytes(jpeg.tobytes())


def _caption(entry: Entry) -> str:
    """The clip, its review signal and why; of a pair its first numbers."""
    subject = entry.subject
    if subject.badge is not None:
        return f"{subject.id}: {subject.badge}" + (f" ({'; '.join(subject.reasons)})" if subject.reasons else "")
    shown = [f"{m.name} {value_text(m)}" for m in entry.measurements if m.value is not None][:_SHOWN]
    return f"{subject.id}: {', '.join(shown)}"
