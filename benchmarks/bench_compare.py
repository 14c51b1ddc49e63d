"""Runs of 200,000 clips in shards, compared, gated, put on a board, compared with people's ratings and written as CSV
by the public commands: seconds and memory.

    python benchmarks/bench_compare.py [--rows 200000] [--keep FOLDER] [--board | --believe]

`--board` measures a board of six such runs in place of comparisons of two, `--believe` two runs with ratings of every
clip.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench_shards import made_up, template
from recording import record
from rushes.storage.runs import Packed
from rushes.storage.shards.writer import ShardedWriter

SYSTEMS = ("amber", "birch", "cedar", "dogwood", "elm", "fir")
SETTINGS = {"tier": 0, "profile": "general", "profile_sha256": "ab" * 32, "input": "raw"}


def moved(rows: Iterator[Packed], system: str) -> Iterator[Packed]:
    """The same clips by another system: in its own folder, other files, and some with another review signal."""
    rng = random.Random(system)
    for row in rows:
        line = row.line.replace(b'"path":"takes/', f'"path":"{system}/'.encode())
        if rng.random() < 0.5:
            line = line.replace(b'"value":0.1', b'"value":0.2')
        yield Packed(row.subject_id, line, row.definitions, None)


def write(folder: Path, rows: int, system: str) -> None:
    """A complete run in shards of 10,000."""
    model = template(Path(tempfile.mkdtemp()))
    ids = [f"take{number:07d}" for number in range(rows)]
    with ShardedWriter(folder, instrument="clip", settings=SETTINGS, inputs=ids, asked=[system]) as run:
        run.plan(ids, ids)
        for packed in moved(made_up(model, 0, rows), system):
            run.add(packed)
        run.finish(ids)


def write_ratings(file: Path, rows: int) -> Path:
    """Two raters' ratings of every clip of two systems."""
    rng = random.Random(0)
    with file.open("w") as out:
        out.write("prompt_id,system,rater,quality\n")
        for number in range(rows):
            for system in SYSTEMS[:2]:
                for rater in ("r0", "r1"):
                    out.write(f"take{number:07d},{system},{rater},{rng.randint(1, 5)}\n")
    return file


def timed(command: list[str]) -> tuple[float, float, float]:
    """Seconds of the processor, of the clock, and the most memory in MB, of a command in a process of its own."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    assert status in (0, 3 << 8, 1 << 8), f"{command}: ended with {status}"
    return used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / 1024


def main() -> None:
    """Measure, then write it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--keep", type=Path, help="a folder to make the runs in, or with runs made before")
    parser.add_argument("--board", action="store_true", help="measure a board of six runs, and nothing else")
    parser.add_argument("--believe", action="store_true", help="measure agreement with ratings, and nothing else")
    rows, keep = (given := parser.parse_args()).rows, given.keep
    rushes = [sys.executable, "-m", "rushes"]
    with tempfile.TemporaryDirectory() as scratch:
        home = keep or Path(scratch)
        for system in SYSTEMS if given.board else SYSTEMS[:2]:
            if not (home / system / "index.json").exists():
                write(home / system, rows, system)
        a, b = str(home / "amber"), str(home / "birch")
        commands = {
            "rushes compare A B": ([*rushes, "compare", a, b], "≤ 5 s, ≤ 800 MB"),
            "rushes compare A B --json": ([*rushes, "compare", a, b, "--json"], "–"),
            "rushes gate A B": ([*rushes, "gate", a, b, "--metric", "sharpness:5%"], "–"),
            "rushes query A --csv": (
                [*rushes, "query", a, "select * from clips", "--csv", "-o", f"{scratch}/clips.csv"],
                "–",
            ),
        }
        if given.board:
            board = [*rushes, "board", *(f"{one}={home / one}" for one in SYSTEMS), "-o"]
            commands = {
                "rushes board, the page": ([*board, f"{scratch}/board.html", "--strips", "0"], "≤ 20 s, ≤ 1.5 GB"),
                "rushes board, the table in Markdown": ([*board, f"{scratch}/board.md"], "≤ 20 s, ≤ 1.5 GB"),
            }
        if given.believe:
            ratings = str(write_ratings(Path(scratch, "ratings.csv"), rows))
            believe = [*rushes, "believe", f"amber={a}", f"birch={b}", "--ratings", ratings]
            commands = {
                "rushes believe A B, one metric": ([*believe, "--metrics", "sharpness"], "–"),
                "rushes believe A B, every metric": (believe, "–"),
            }
        found = {what: (asked, timed(words)) for what, (words, asked) in commands.items()}
    section, title = ("compare", "Two large runs compared")
    if given.board:
        section, title = "board-large", "A board of six large runs"
    elif given.believe:
        section, title = "believe-large", "Two large runs and ratings of every clip"
    record(
        section,
        title,
        [
            (what, asked, f"{cpu:.1f} s ({wall:.1f} s on the clock), {memory:.0f} MB")
            for what, (asked, (cpu, wall, memory)) in found.items()
        ],
        how=f"{6 if given.board else 2} × {rows:,} clips in shards, by the public commands, each in a process of its "
        "own with its start; they keep no series per frame. "
        f"Seconds of the processor. Load average {os.getloadavg()[0]:.0f}.",
    )


if __name__ == "__main__":
    main()
