"""`rushes report` in Python: runs into one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rushes.core.files import replacing
from rushes.errors import InputError
from rushes.remote import delivered, is_remote
from rushes.report.page import opening, render_page
from rushes.report.sections.clips import clip_section
from rushes.report.sections.numbers import numbers_section
from rushes.report.sections.section import Section
from rushes.report.strips import Strip, StripTask, key_frames, take_strip
from rushes.report.table import worst_first
from rushes.report.timeline import find_faults, kept_series
from rushes.scale.local import Crash, cpu_count, run_tasks
from rushes.store import Entry, Run, read_run

STRIPS = 100
"""Clips per run that get a film strip unless told otherwise, worst first: each has to be decoded again."""
_CRASHED = "The clip could not be decoded again, so there is nothing to show."
_SECONDS_A_CLIP = 120.0

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A written report."""

    path: Path | str
    bytes: int
    found: str
    runs: tuple[Run, ...]


def write_report(
    runs: Iterable[Run | Path | str],
    path: Path | str,
    *,
    title: str = "",
    lead: str = "",
    strips: int = STRIPS,
    jobs: int | None = None,
    progress: Callable[[int], Progress] | None = None,
) -> Report:
    """Write runs, read or by directory, as one HTML file that opens offline.

    `lead` is the opening paragraph, in place of what the sections found. `strips` is for how many clips of a run to
    take key frames, worst first; 0 leaves them out. A run that is still going gives what is finished so far. The same
    runs and clips give the same bytes. Raises `RunError` for a folder that is no run, or is from a newer version.
    """
    opened = tuple(run if isinstance(run, Run) else read_run(run) for run in runs)
    if not opened:
        raise InputError("expected at least one run directory; got none")
    taken = _strips(opened, strips, jobs or cpu_count(), progress)
    sections = [_section(run, f"run-{number}", taken[number - 1]) for number, run in enumerate(opened, 1)]
    html = render_page(sections, title=title or _title(opened), lead=lead)
    try:
        with delivered(path) as target, replacing(target) as out:
            out.write(html)
    except OSError as error:
        raise InputError(f"{path}: cannot write the report ({error.strerror or error})") from None
    found = lead or opening(sections)
    return Report(path=path if is_remote(path) else Path(path), bytes=len(html.encode()), found=found, runs=opened)


def _title(runs: Sequence[Run]) -> str:
    names = list(dict.fromkeys(run.path.resolve().name for run in runs))
    return f"Report on {names[0]}" if len(names) == 1 else f"Report on {len(runs)} runs"


def _section(run: Run, anchor: str, strips: dict[str, Strip]) -> Section:
    return clip_section(run, anchor, strips) if run.instrument == "clip" else numbers_section(run, anchor)


def _strips(
    runs: Sequence[Run], most: int, jobs: int, progress: Callable[[int], Progress] | None
) -> list[dict[str, Strip]]:
    """Per run, film strips by subject id. A clip that crashes the decoder or hangs it costs its own strip only."""
    wanted = [
        (number, entry, task)
        for number, run in enumerate(runs)
        if run.instrument == "clip"
        for entry in worst_first(run)[:most]
        if (task := _task(run, entry)) is not None
    ]
    taken: list[dict[str, Strip]] = [{} for _ in runs]
    advance = progress(len(wanted)) if progress and wanted else None
    for position, outcome in run_tasks(take_strip, [w[2] for w in wanted], jobs=jobs, timeout=_SECONDS_A_CLIP):
        number, entry, _ = wanted[position]
        taken[number][entry.subject.id] = Strip(missing=_CRASHED) if isinstance(outcome, Crash) else outcome
        if advance is not None:
            advance(1)
    if most > 0:
        for number, run in enumerate(runs):
            for entry in worst_first(run)[:most] if run.instrument == "clip" else ():
                taken[number].setdefault(entry.subject.id, Strip(missing="No frame of this clip could be decoded."))
    return taken


def _task(run: Run, entry: Entry) -> StripTask | None:
    """What to take from a clip; None where the run saw no frame of it."""
    series = kept_series(run, entry.subject.id)
    total = len(series.get("time_ms", ()))
    if not total:
        return None
    path = entry.subject.path
    return StripTask(
        candidates=(path,) if is_remote(path) else (path, str(run.path.parent / path)),
        sha256=entry.subject.sha256,
        frames=key_frames(total, find_faults(entry.measurements, series).frames()),
    )
