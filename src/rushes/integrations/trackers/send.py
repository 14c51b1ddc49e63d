"""`rushes log` in Python: numbers into a tracker, none without its definition, and the worst clips as film strips."""

from __future__ import annotations

import base64
import re
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import cv2
import numpy as np

from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.core.selection import Numbers, reading_names
from rushes.core.words.definition_text import value_text
from rushes.instruments.clip.frames.film_strips import StripTask, key_frames, take_strip
from rushes.instruments.clip.show.tables import worst_first
from rushes.instruments.fidelity.show.tables import pairs_of
from rushes.integrations.loop.metric import by_name
from rushes.integrations.loop.rows import SetNumbers
from rushes.integrations.trackers.tracker import Picture, Tracker, open_tracker, require_same
from rushes.present.pages.film_strips import Strip
from rushes.stats.means import clip_means
from rushes.storage.remote.address import is_remote
from rushes.storage.runs import Entry, Run, read_run
from rushes.storage.runs.readings import whole_readings
from rushes.storage.runs.relocation import candidates, relocate
from rushes.workers.engine import Crash, run_tasks

_SECONDS_A_CLIP = 120.0
_SHOWN = 3
"""Numbers in a caption, where there is no review signal."""

What: TypeAlias = "Run | Path | str | Numbers | Measurement | Iterable[Measurement]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """What was logged, and where."""

    place: str
    names: tuple[str, ...]
    """Of the values."""
    missing: dict[str, str]
    """Why a number without a value was not logged, by name."""
    files: tuple[str, ...] = ()
    pictures: int = 0


def log(
    what: What,
    to: Any,
    *,
    step: int | None = None,
    prefix: str = "",
    report: bool = False,
    worst: int = 0,
) -> Logged:
    """Log numbers to Weights & Biases, MLflow or TensorBoard.

        rushes.trackers.log(fvd.compute(), to=wandb_run, step=1000)
        rushes.trackers.log("runs/monday", to="tensorboard:logs", report=True, worst=4)

    Inputs      what: a run (or its folder), what an evaluation or `compute` returned, or measurements
                to: "wandb", "mlflow", "tensorboard:FOLDER", or a run, a writer or a Lightning logger of theirs
                prefix: before every name, as in "val/". report: also the run's page, as a file. worst: film strips of
                so many of its clips, worst first
    Result      `fvd` is the value, `fvd/low` and `fvd/high` its interval; the signature, the interval's level and
                method, and notes are kept as config (W&B), tags (MLflow) or text (TensorBoard). Of a run, the numbers
                of its set or study; else the means over its clips
    Edge cases  a number without a value is not logged; its note is
    Errors      `DefinitionMismatch` where this name was logged under another signature before: a curve is of one
                definition. `InputError` for bare numbers. `MissingDependency` without the tracker's package
    """
    numbers = {f"{prefix}{name}": m for name, m in named_numbers(what).items()}
    run = run_of(what)
    if (report or worst) and run is None:
        raise InputError("a report and film strips need a run; give one, or its folder")
    if step is not None and (isinstance(step, bool) or not isinstance(step, int)):
        raise InputError(f"a step is a whole number; got {step!r}")
    tracker = open_tracker(to)
    try:
        require_same(tracker.signatures(), {name: m.signature for name, m in numbers.items()})
        tracker.describe(_texts(numbers))
        tracker.numbers(_values(numbers), step=step)
        files, pictures = _media(tracker, run, step, report, worst) if run is not None else ((), 0)
        return Logged(
            place=tracker.place,
            names=tuple(name for name, m in numbers.items() if m.value is not None),
            missing={name: m.note for name, m in numbers.items() if m.value is None},
            files=files,
            pictures=pictures,
        )
    finally:
        tracker.close()


def _media(tracker: Tracker, run: Run, step: int | None, report: bool, worst: int) -> tuple[tuple[str, ...], int]:
    files: tuple[str, ...] = ()
    if report:
        from rushes.compare.report import write_report

        with tempfile.TemporaryDirectory(prefix="rushes-log-") as folder:
            page = write_report(run, Path(folder) / "report.html")
            tracker.file(Path(page.path))
            files = ("report.html",)
    pictures = worst_clips(run, worst) if worst else []
    if pictures:
        tracker.pictures(pictures, step=step)
    return files, len(pictures)


def _values(numbers: dict[str, Measurement]) -> dict[str, float]:
    values: dict[str, float] = {}
    for name, m in numbers.items():
        if m.value is not None:
            values[name] = float(m.value)
            if m.interval is not None:
                values |= {f"{name}/low": m.interval.low, f"{name}/high": m.interval.high}
    return values


def _texts(numbers: dict[str, Measurement]) -> dict[str, dict[str, str]]:
    intervals = {name: m.interval for name, m in numbers.items()}
    found = {
        "signature": {name: m.signature for name, m in numbers.items()},
        "interval": {name: f"{i.level:g} {i.method}" for name, i in intervals.items() if i is not None},
        "note": {name: m.note for name, m in numbers.items() if m.note},
    }
    return {kind: texts for kind, texts in found.items() if texts}


def run_of(what: object) -> Run | None:
    """The run, where it is one or the folder of one."""
    if isinstance(what, str | Path):
        return read_run(what)
    run = getattr(what, "run", None)
    return what if isinstance(what, Run) else run if isinstance(run, Run) else None


def named_numbers(what: What) -> dict[str, Measurement]:
    """Numbers by name: of a run those of its set or study, else the means over its clips."""
    if isinstance(what, SetNumbers) and what.readings:
        return dict(what.readings)
    if isinstance(what, str | Path | Run):
        run = run_of(what)
        assert run is not None
        found = by_name(_of_run(run))
    elif isinstance(what, Measurement):
        found = by_name([what])
    elif isinstance(what, Numbers):
        found = by_name(what.measurements)
    else:
        given = list(what) if isinstance(what, Iterable) else [what]
        wrong = next((item for item in given if not isinstance(item, Measurement)), None)
        if wrong is not None:
            raise InputError(f"expected a run, a result or measurements, which carry their definition; got {wrong!r}")
        found = by_name(given)
    if not found:
        raise InputError("there is no number to log")
    return found


def _of_run(run: Run) -> Iterable[Measurement]:
    """The numbers about the whole: of the sets where the run has any, of its one subject, or means over the clips."""
    whole = [entry for entry in run.entries if entry.subject.kind in ("set", "study")]
    if whole or len(run.subjects) == 1:
        return [m for entry in whole or run.entries for m in entry.measurements]
    return clip_means(m for reading in whole_readings(run) for m in reading.values.values())


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
        canon=entry.subject.canon,
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
    first = [m for m in entry.measurements if m.value is not None][:_SHOWN]
    shown = [f"{name} {value_text(m)}" for name, m in zip(reading_names(first), first, strict=True)]
    return f"{subject.id}: {', '.join(shown)}"
