"""Runs of made-up numbers for the tests of shards and queries: every kind of value that a run can hold."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rushes.core import Definition, Interval, Measurement, signature_params
from rushes.storage.runs import Entry, RunWriter, Subject
from rushes.storage.shards.writer import ShardedWriter


def defined(name: str, *, places: tuple[str, ...] = (), **params: str | int) -> Definition:
    return Definition(
        name=name,
        unit="1",
        lowest=None,
        highest=None,
        better="lower",
        summary="s",
        formula="f",
        params=signature_params(**params),
        places=places,
    )


BLUR = defined("blur_score")
BLUR_P10 = defined("blur_score", statistic="p10")
DECODED = defined("decode_ok")
FRAMES = defined("frame_count")
SHARE = defined("share", places=("joint",))


def entry(name: str, *, seed: int = 0, frames: int = 4) -> Entry:
    """A clip whose numbers depend on its name and the seed alone."""
    rng = random.Random(f"{name} {seed}")
    value = rng.choice([None, 0.0, 0, 1.0, round(rng.uniform(0, 100), 3)])
    blur = (
        Measurement.missing(BLUR, "no frame")
        if value is None
        else Measurement(definition=BLUR, value=value, count=rng.randrange(1, 99))
    )
    numbers = [
        blur,
        Measurement(definition=DECODED, value=rng.random() < 0.8, count=1),
        Measurement(definition=FRAMES, value=frames, count=frames, note="of é" if rng.random() < 0.3 else ""),
    ]
    if rng.random() < 0.7:
        low = round(rng.uniform(0, 1), 3)
        interval = Interval(low=low, high=round(low + 1, 3), level=0.95, method="jackknife-20")
        numbers.append(Measurement(definition=BLUR_P10, value=low, count=3, interval=interval))
    if rng.random() < 0.3:
        numbers += [Measurement(definition=SHARE, value=0.25, count=1, at={"joint": joint}) for joint in ("a", "b")]
    badge = rng.choice(["pass", "flagged", "reject", None])
    subject = Subject(
        id=name,
        kind="clip",
        path=f"takes/{name}.mp4",
        sha256=rng.choice([None, "ab" * 32]),
        facts={"media": {"fps": "25/1"}, "n": frames},
        badge=badge,
        reasons=("blurred (blur_score=3 < 20)", "late")[: rng.randrange(3)],
    )
    series = {"luma": np.arange(float(frames))} if rng.random() < 0.8 else {}
    return Entry(subject=subject, measurements=tuple(numbers), series=series)


def names(count: int, *, first: int = 0) -> list[str]:
    return [f"take{number:04d}" for number in range(first, first + count)]


def write_whole(folder: Path, ids: Sequence[str], *, seed: int = 0) -> Path:
    """In one piece."""
    with RunWriter(folder, instrument="clip", settings={}) as run:
        for name in ids:
            run.add(entry(name, seed=seed))
        run.finish(list(ids))
    return folder


def write_shards(folder: Path, ids: Sequence[str], *, size: int = 4, seed: int = 0, add: bool = False) -> Path:
    """In shards, as far as clips are not finished yet, in an order of its own."""
    mixed = list(ids)
    random.Random(7).shuffle(mixed)
    with ShardedWriter(
        folder, size=size, instrument="clip", settings={}, inputs=[f"takes/{n}.mp4" for n in ids], asked=["x"], add=add
    ) as run:
        todo = [name for name in mixed if run.finished(name) is None]
        run.plan(ids, todo)
        for name in todo:
            run.add(entry(name, seed=seed))
        run.finish(ids)
    return folder


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a run but `run.json`, which has the time."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "run.json")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}
