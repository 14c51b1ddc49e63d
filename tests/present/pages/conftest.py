"""A clip run with known faults, made once; a page of it; a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rushes.compare.report import write_report
from rushes.core import Measurement
from rushes.instruments.clip.evaluate import evaluate_clips
from rushes.instruments.clip.frames.observe import Observation
from rushes.instruments.clip.metrics import metrics_of
from rushes.instruments.robustness import demo as robustness
from rushes.media import write_clip
from rushes.storage.runs import Entry, Run, RunWriter, Subject, read_run

HOSTILE = "<img src=x onerror=alert(1)>&\"'<"
"""A file name that would run, were it ever taken for markup."""


def bar(frames: int, *, still: range = range(0), cut: int | None = None) -> Iterator[np.ndarray]:
    """A bright bar over fine stripes; `still` frames repeat the one before, from `cut` on the picture is inverted."""
    place = 0
    for number in range(frames):
        place += 0 if number in still else 3
        frame = np.full((72, 128, 3), 60, np.uint8)
        frame[::4] = 110
        frame[16:56, place % 116 : place % 116 + 12] = 230
        yield 255 - frame if cut is not None and number >= cut else frame


@pytest.fixture(scope="session")
def takes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five clips: good, frozen, cut, one with a hostile name, and a file that is no clip."""
    folder = tmp_path_factory.mktemp("takes")
    write_clip(folder / "good.mp4", bar(40), fps=25)
    write_clip(folder / "frozen.mp4", bar(40, still=range(10, 35)), fps=25)
    write_clip(folder / "cut.mp4", bar(40, cut=20), fps=25)
    write_clip(folder / f"{HOSTILE}.mp4", bar(20), fps=25)
    (folder / "broken.mp4").write_bytes(b"no clip at all")
    return folder


@pytest.fixture(scope="session")
def clip_run(takes: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "takes-run"
    evaluate_clips([takes], run=run, jobs=1)
    return run


@pytest.fixture(scope="session")
def page(clip_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the clip run, with film strips."""
    target = tmp_path_factory.mktemp("pages") / "report.html"
    write_report([clip_run], target, jobs=1)
    return target


def measured(number: int, frames: int = 50) -> tuple[Observation, tuple[Measurement, ...]]:
    """Tier 0 of a clip that never was: its number decides its luma."""
    rng = np.random.default_rng(number)
    diffs = rng.uniform(2.0, 6.0, frames - 1)
    seen = Observation(
        frames=frames,
        time_ms=np.arange(frames) * 40.0,
        luma_mean=rng.uniform(90, 130, frames),
        luma_diff=diffs,
        mafd=diffs / 2.56,
        laplacian_variance=rng.uniform(30, 60, frames),
        measured_duration_ms=frames * 40.0,
        audio_duration_ms=frames * 40.0,
    )
    return seen, tuple(metric.measure(seen) for metric in metrics_of(0).values() if metric.measure is not None)


def write_many(run: Path, count: int, *, frames: int = 50) -> Run:
    """A run of made-up clips whose files are not there."""
    ids = [f"clip_{number:05d}" for number in range(count)]
    with RunWriter(run, instrument="clip", settings={"tier": 0, "profile": "general"}, inputs=ids) as writer:
        for number, name in enumerate(ids):
            seen, numbers = measured(number, frames)
            badge = ("pass", "flagged", "reject")[number % 3]
            series = {
                key: getattr(seen, key) for key in ("time_ms", "luma_mean", "luma_diff", "mafd", "laplacian_variance")
            }
            subject = Subject(
                id=name,
                kind="clip",
                path=f"gone/{name}.mp4",
                sha256="0" * 64,
                badge=badge,
                reasons=() if badge == "pass" else (f"blur_score={number}.00 < 20.0",),
                facts={"not_judged": []},
            )
            writer.add(Entry(subject=subject, measurements=numbers, series=series))
        writer.finish(ids)
    return read_run(run)


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Run]:
    def make(count: int, **options: Any) -> Run:
        return write_many(tmp_path_factory.mktemp("many") / "run", count, **options)

    return make


@pytest.fixture(scope="session")
def sweep_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's sweep: two axes, eight runs, an answer that tips over."""
    return robustness.run(tmp_path_factory.mktemp("sweep")).run


@pytest.fixture(scope="session")
def sweep_page(sweep_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("pages") / "sweep.html"
    write_report([sweep_run], target)
    return target
