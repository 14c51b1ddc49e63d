"""The worst frames of a pair as pictures: generated, reference, and their difference, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.core import Measurement
from rushes.core.errors import RushesError
from rushes.instruments.fidelity.metric import Series
from rushes.instruments.fidelity.pairs.frames import Pairing
from rushes.instruments.fidelity.pairs.picture import FramePair
from rushes.instruments.fidelity.pairs.reading import open_pair
from rushes.instruments.fidelity.show.tables import metric_of
from rushes.media.find.sequences import clip_digest
from rushes.media.find.sets import Clip, read_set
from rushes.present.pages.film_strips import KeyFrame, Strip, jpeg_uri
from rushes.present.pages.section import ReportOptions
from rushes.storage.remote.address import is_remote
from rushes.storage.runs import Entry, Run
from rushes.storage.runs.relocation import candidates
from rushes.workers.engine import Crash, run_tasks

FRAMES = 3
"""Pairs of frames that are shown."""
GAIN = 4
"""What the difference is multiplied by, so that it can be seen; a change of 64 levels and more is white."""
_APART = 5
"""Frames between two that are shown, at least: neighbours look alike."""
_HEIGHT, _LONGEST = 240, 1280
_GONE = "The clips are no longer where the run found them. Their values are still valid; only the pictures are missing."
_SECONDS_A_PAIR = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstTask:
    """One pair to take pictures from; travels to a worker process."""

    gen: tuple[str, ...]
    """Where the clip may lie: as the run names it, then beside the run."""
    gt: tuple[str, ...]
    digests: tuple[str | None, str | None]
    pairing: Pairing
    lag: int
    frames: tuple[int, ...]


def worst_frames(values: Series, *, lower_is_worse: bool) -> tuple[int, ...]:
    """The worst frames in order of time, some frames apart; an infinite value is the best there is.

    >>> worst_frames(np.array([40.0, 20.0, 21.0, 40.0, 40.0, 40.0, 30.0, np.nan]), lower_is_worse=True)
    (1, 6)
    """
    order = np.argsort(values if lower_is_worse else -values, kind="stable")
    chosen: list[int] = []
    for index in map(int, order):
        if np.isfinite(values[index]) and all(abs(index - other) >= _APART for other in chosen):
            chosen.append(index)
        if len(chosen) == FRAMES:
            break
    return tuple(sorted(chosen))


def lead_of(measurements: Sequence[Measurement], series: Mapping[str, Series]) -> tuple[Measurement, Series] | None:
    """The number that says which frames are worst: the first with a direction and a series; and that series."""
    for measurement in measurements:
        found = metric_of(measurement)
        if found is not None and measurement.definition.better != "neither":
            values = series.get(found[1].series)
            if values is not None and np.isfinite(values).any():
                return measurement, values
    return None


def worst_strips(
    run: Run, entries: Sequence[tuple[Entry, tuple[int, ...]]], options: ReportOptions
) -> dict[str, Strip]:
    """Pictures by subject id. A pair that crashes the decoder or hangs it costs its own pictures only."""
    wanted = [(entry, _task(run, entry, frames)) for entry, frames in entries if frames]
    if wanted:
        options.progress(0, len(wanted), "worst frames")
    tasks = [task for _, task in wanted]
    taken: dict[str, Strip] = {}
    for done, (position, outcome) in enumerate(
        run_tasks(take_worst, tasks, jobs=options.jobs, timeout=_SECONDS_A_PAIR), 1
    ):
        strip = Strip(missing="The pair could not be decoded again.") if isinstance(outcome, Crash) else outcome
        taken[wanted[position][0].subject.id] = strip
        options.progress(done, len(wanted), "worst frames")
    return taken


def take_worst(task: WorstTask) -> Strip:
    """The pictures of one pair; one that moved, changed or cannot be read says so."""
    gen, gt = (_find(places, digest) for places, digest in zip((task.gen, task.gt), task.digests, strict=True))
    if gen is None or gt is None:
        return Strip(missing=_GONE)
    wanted = set(task.frames)
    taken: list[KeyFrame] = []
    try:
        with open_pair(gen, gt, task.pairing, lag=task.lag) as opened:
            for pair in opened.frames:
                if pair.index in wanted:
                    jpeg = jpeg_uri(side_by_side(pair), longest=_LONGEST, quality=80)
                    taken.append(KeyFrame(pair.index, round(pair.gen.time_ms, 3), jpeg))
                if pair.index >= max(wanted):
                    break
    except RushesError:
        if not taken:
            return Strip(missing="The pair cannot be decoded, so there is nothing to show.")
    return Strip(tuple(taken))


def side_by_side(pair: FramePair) -> NDArray[np.uint8]:
    """Generated, reference and their absolute difference × `GAIN`, as one BGR picture `_HEIGHT` high."""
    gen, gt = pair.gen.rgb, pair.gt.rgb
    difference = cv2.convertScaleAbs(cv2.absdiff(gen, gt), alpha=GAIN)
    height, width = gen.shape[:2]
    size = (max(round(width * _HEIGHT / height), 1), _HEIGHT)
    shown = [cv2.resize(np.asarray(part), size, interpolation=cv2.INTER_AREA) for part in (gen, gt, difference)]
    gap = np.full((_HEIGHT, 4, 3), 255, np.uint8)
    joined = np.hstack([shown[0], gap, shown[1], gap, shown[2]])
    return cast("NDArray[np.uint8]", np.ascontiguousarray(joined[..., ::-1]))


def _task(run: Run, entry: Entry, frames: tuple[int, ...]) -> WorstTask:
    subject, settings = entry.subject, cast("Mapping[str, Any]", run.info.get("settings") or {})
    reference = cast("Mapping[str, Any]", subject.facts.get("reference") or {})
    resize = str(settings.get("resize", "none")).partition("-")[0]
    lag = subject.facts.get("lag")
    return WorstTask(
        gen=_places(subject.path, run),
        gt=_places(str(reference.get("path", "")), run),
        digests=(subject.sha256, reference.get("sha256")),
        pairing=Pairing(
            by=settings.get("pair_by", "name"),
            cut="shortest",
            lag=lag if isinstance(lag, int) else 0,
            resize_to=cast("Any", resize) if resize in ("gt", "gen") else None,
        ),
        lag=lag if isinstance(lag, int) else 0,
        frames=frames,
    )


def _places(path: str, run: Run) -> tuple[str, ...]:
    return () if not path or is_remote(path) else tuple(map(str, candidates(path, beside=run.path)))


def _find(places: Sequence[str], digest: str | None) -> Clip | None:
    """The clip the run compared, by place and by content."""
    for place in map(Path, places):
        try:
            for clip in read_set(place).clips if place.exists() else ():
                if clip_digest(clip) == digest:
                    return clip
        except (RushesError, OSError, ValueError):
            continue
    return None
