"""A run of made-up clips in shards: writing, finishing, reading in parts, questions, memory.

    python benchmarks/bench_shards.py [--rows 100000] [--folder FOLDER] [--soak]

A row is one clip: its subject and 24 numbers as `rushes clip` makes them at tier 0 (about 5 kB of JSON), and 1.8 kB of
series. A writer is a process that appends rows to its spool and makes shards of them, as a worker does; making the
numbers up is not counted. Finishing is what one process does after the last shard is made: the index, the digest of the
whole, `run.json`. `--soak` stops at the first answer that is not the plain loop's.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from recording import record
from rushes.clip.evaluate import _packed, evaluate_clip
from rushes.media import write_clip
from rushes.runs import Packed, read_run
from rushes.runs.shards.build import build_shard
from rushes.runs.shards.spool import SpoolWriter, Stored
from rushes.runs.shards.writer import SIZE, ShardedWriter

_BADGES = ("pass", "pass", "pass", "flagged", "reject")


def template(folder: Path) -> Packed:
    """A real clip's entry, of which every made-up one is a copy with numbers of its own."""
    rng = np.random.default_rng(0)
    clip = write_clip(folder / "model.mp4", [rng.integers(0, 256, (64, 64, 3), dtype=np.uint8) for _ in range(8)])
    return _packed("TAKE", evaluate_clip(clip))


def made_up(model: Packed, first: int, count: int) -> Iterator[Packed]:
    """Entries with other values, ids, paths, digests and badges, the same for the same number."""
    line = json.loads(model.line)
    line["subject"] |= {"id": "TAKE", "path": "PATH", "sha256": "DIGEST", "badge": "BADGE"}
    for number, row in enumerate(line["measurements"]):
        row["subject"] = "TAKE"
        if isinstance(row["value"], float):
            row["value"] = f"VALUE{number:02d}"
    text = json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
    parts = text.replace("TAKE", "\0id\0").replace("PATH", "\0path\0").replace("DIGEST", "\0sha\0")
    parts = parts.replace("BADGE", "\0badge\0")
    for number in range(len(line["measurements"])):
        parts = parts.replace(f'"VALUE{number:02d}"', "\0value\0")
    pieces = parts.split("\0")
    for number in range(first, first + count):
        rng = random.Random(number)
        name = f"take{number:07d}"
        words = {"id": name, "path": f"takes/{number // 1000:04d}/{name}.mp4", "sha": f"{rng.getrandbits(256):064x}"}
        words["badge"] = rng.choice(_BADGES)
        made = [
            piece if place % 2 == 0 else words[piece] if piece in words else f"{rng.uniform(0, 100):.8g}"
            for place, piece in enumerate(pieces)
        ]
        yield Packed(name, "".join(made).encode(), model.definitions, model.series)


def writer_process(folder: str, numbers: str, token: str) -> None:
    """One writer: for each shard, append its rows and make it; prints the seconds it took."""
    model = template(Path(tempfile.mkdtemp()))
    spool = SpoolWriter(Path(folder), 1, token)
    spent = 0.0
    for number in map(int, numbers.split(",")):
        rows = list(made_up(model, number * SIZE, SIZE))
        began = time.perf_counter()
        stored = [spool.store(packed) for packed in rows]
        spent += time.perf_counter() - began
        print(json.dumps([[s.subject_id, s.span.spool, s.span.start, s.span.line, s.span.series] for s in stored]))
        sys.stdout.flush()
        sys.stdin.readline()  # the driver has the recipe ready
        began = time.perf_counter()
        assert build_shard(ShardedWriter.job_of(folder, number)) is not None
        spent += time.perf_counter() - began
    print(json.dumps(spent))


def write(folder: Path, rows: int, writers: int) -> tuple[float, float]:
    """A whole run; rows/s of a writer, and seconds of finishing."""
    raise NotImplementedError


if __name__ == "__main__":
    sys.exit(argparse and record and read_run and resource and shutil and subprocess and os and Stored and 0)
