"""`rushes log` in Python: numbers into a tracker, none of them without its definition."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rushes.core import Measurement
from rushes.errors import InputError
from rushes.runs import Run
from rushes.trackers.numbers import Logged as What
from rushes.trackers.numbers import named_numbers, run_of
from rushes.trackers.tracker import Tracker, open_tracker, require_same
from rushes.trackers.worst import worst_clips


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
        raise InputError("a report and film strips are of a run; give one, or its folder")
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
        from rushes.suite.report import write_report

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
