"""A run of made-up clips in shards: writing, finishing, reading in parts, questions, memory.

    python benchmarks/bench_shards.py [--rows 100000] [--writers 2] [--folder FOLDER] [--soak]

A row is one clip: its subject and 24 numbers as `rushes clip` makes them at tier 0 (3.7 kB of JSON), and 1.8 kB of
series. A writer is a process that appends rows to its spool and makes a shard of every 10,000, as a worker does; making
the numbers up is not counted. Finishing is what one process does after the last shard is made: the index, the digest of
the whole, `run.json`. Memory is the most that a fresh process held that opened the run and asked; the first filter pays
for loading DuckDB. Then `rushes view` serves the run and its pages are asked for in turn, and a report is written; the
figures are those of a fresh process each. `--soak` also compares the answer with a plain loop's, and records under a
name of its own.
"""

from __future__ import annotations

import argparse
import json
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
from rushes.instruments.clip.clip_task import packed_result
from rushes.instruments.clip.evaluate import evaluate_clip
from rushes.media import write_clip
from rushes.storage.query.sql import query
from rushes.storage.runs import Packed, read_run
from rushes.storage.shards.build import ShardJob, build_shard
from rushes.storage.shards.index import Shard
from rushes.storage.shards.spool import Span, SpoolWriter, Stored
from rushes.storage.shards.writer import SIZE, ShardedWriter
from shard_server import look

_BADGES = ("pass", "pass", "pass", "flagged", "reject")
_FILTER = "select path from clips where blur_score < 20 and badge = 'pass'"


def template(folder: Path) -> Packed:
    """A real clip's entry, of which every made-up one is a copy with numbers of its own."""
    rng = np.random.default_rng(0)
    clip = write_clip(folder / "model.mp4", [rng.integers(0, 256, (64, 64, 3), dtype=np.uint8) for _ in range(8)])
    return packed_result("TAKE", evaluate_clip(clip))


def made_up(model: Packed, first: int, count: int) -> Iterator[Packed]:
    """Entries with other values, ids, paths, digests and badges, the same for the same number."""
    line = json.loads(model.line)
    line["subject"] |= {"id": "\0id\0", "path": "\0path\0", "sha256": "\0sha\0", "badge": "\0badge\0"}
    for row in line["measurements"]:
        row["subject"] = "\0id\0"
        if isinstance(row["value"], float):
            row["value"] = "\0blur\0" if row["signature"].startswith("blur_score") else "\0share\0"
    text = json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
    pieces = text.replace("\\u0000", "\0")
    for word in ("blur", "share"):
        pieces = pieces.replace(f'"\0{word}\0"', f"\0{word}\0")
    parts = pieces.split("\0")
    for number in range(first, first + count):
        rng, name = random.Random(number), f"take{number:07d}"
        words = {"id": name, "path": f"takes/{number // 1000:04d}/{name}.mp4", "sha": f"{rng.getrandbits(256):064x}"}
        words["badge"] = rng.choice(_BADGES)
        most = {"blur": 100.0, "share": 1.0}
        made = [
            part if place % 2 == 0 else words[part] if part in words else repr(round(rng.uniform(0.001, most[part]), 6))
            for place, part in enumerate(parts)
        ]
        yield Packed(name, "".join(made).encode(), model.definitions, model.series)


def writer_process(folder: str, token: str) -> None:
    """One writer: for each shard it is given, append its rows, then make it; says how long each took."""
    model = template(Path(tempfile.mkdtemp()))
    spool = SpoolWriter(Path(folder), 1, token)
    for order in sys.stdin:
        kind, number, rows = order.split()
        if kind == "append":
            packed = list(made_up(model, int(number) * SIZE, int(rows)))
            began, cpu = time.perf_counter(), time.process_time()
            stored = [spool.store(one) for one in packed]
            said: list[object] = [[s.span.spool, s.span.start, s.span.line, s.span.series] for s in stored]
        else:
            began, cpu = time.perf_counter(), time.process_time()
            made = build_shard(ShardJob(folder, int(number)))
            assert made is not None
            said = [made.as_dict(made.readings)]
        print(json.dumps([time.perf_counter() - began, time.process_time() - cpu, said]), flush=True)


def write(folder: Path, rows: int, writers: int) -> dict[str, float]:
    """A whole run by so many writers at once; seconds at work in all, from first to last, and of finishing."""
    ids = [f"take{number:07d}" for number in range(rows)]
    shards = [(number, min(SIZE, rows - number * SIZE)) for number in range(-(-rows // SIZE))]
    command = [sys.executable, __file__, "--writer", str(folder)]
    figures = {"busy": 0.0, "cpu": 0.0, "wall": 0.0, "finish": 0.0}
    with ShardedWriter(folder, instrument="clip", settings={}, inputs=ids, asked=["takes"]) as run:
        run.plan(ids, ids)
        definitions = template(Path(tempfile.mkdtemp())).definitions
        pipe = subprocess.PIPE
        workers = [subprocess.Popen([*command, f"w{n}"], stdin=pipe, stdout=pipe, text=True) for n in range(writers)]

        def tell(worker: subprocess.Popen[str], order: str) -> None:
            assert worker.stdin is not None
            worker.stdin.write(order + "\n")
            worker.stdin.flush()

        def hear(worker: subprocess.Popen[str]) -> list[object]:
            assert worker.stdout is not None
            wall, cpu, said = json.loads(worker.stdout.readline())
            figures["busy"] += wall
            figures["cpu"] += cpu
            spans.append(wall)
            return list(said)

        for start in range(0, len(shards), writers):
            batch = list(zip(workers, shards[start : start + writers], strict=False))
            for kind in ("append", "make"):
                spans: list[float] = []
                for worker, (number, count) in batch:
                    tell(worker, f"{kind} {number} {count}")
                for worker, (number, _) in batch:
                    for position, one in enumerate(hear(worker)):
                        if kind == "append":
                            run.add(Stored(ids[number * SIZE + position], Span(*one), definitions))  # type: ignore[misc]
                        else:
                            keys = _readings(folder, number)
                            run.built(Shard.from_dict(one, keys))  # type: ignore[arg-type]
                figures["wall"] += max(spans)
        for worker in workers:
            worker.communicate()
        began = time.perf_counter()
        run.finish(ids)
        figures["finish"] = time.perf_counter() - began
    return figures


def _readings(folder: Path, number: int) -> list[object]:
    from rushes.storage.shards.index import read_markers

    return list(next(shard for shard in read_markers(folder).shards if shard.number == number).readings)


def ask(folder: Path) -> dict[str, float]:
    """In this process: what opening and asking cost, and the most memory it ever held."""
    figures: dict[str, float] = {}

    def timed(name: str, action: object) -> None:
        began = time.perf_counter()
        action()  # type: ignore[operator]
        figures[name] = time.perf_counter() - began

    timed("open", lambda: read_run(folder))
    run = read_run(folder)
    many = len(run.subjects)
    timed("first filter", lambda: query(run, _FILTER))
    timed("second filter", lambda: query(run, _FILTER))
    timed("badges", lambda: query(run, "select badge, count(*) from clips group by badge"))
    bins = "select floor(blur_score / 10) as bin, count(*) from clips group by bin order by bin"
    timed("histogram", lambda: query(run, bins))
    rejects = "select id, blur_score from clips where badge = 'reject' order by blur_score, number limit 100"
    timed("page", lambda: query(run, rejects))
    timed("one clip", lambda: run.one("sharpness", subject=f"take{many // 2:07d}"))
    timed("series of one clip", lambda: run.series(f"take{many // 3:07d}"))
    figures["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return figures


def write_page(folder: Path) -> tuple[float, float]:
    """In this process: seconds of a report without film strips, and the most memory in MB."""
    from rushes.compare.report import write_report

    began = time.perf_counter()
    write_report(folder, folder.parent / "report.html", strips=0)
    return time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def compare(folder: Path) -> int:
    """Hold the filter's answer against a plain loop over every row; how many rows it has. Raises where they differ."""
    wanted = []
    run = read_run(folder)
    for line in run.shards.lines() if run.shards is not None else ():
        row = json.loads(line)
        blur = next(m["value"] for m in row["measurements"] if m["signature"].startswith("blur_score|"))
        if blur < 20 and row["subject"]["badge"] == "pass":
            wanted.append(row["subject"]["path"])
    found = query(run, f"{_FILTER} order by number").column(0).to_pylist()
    assert found == wanted, f"{len(found)} rows came, {len(wanted)} were wanted"
    return len(wanted)


def main() -> None:
    """Measure, then write it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--writers", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--soak", action="store_true")
    parser.add_argument("--writer", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--ask", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--report", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.writer:
        return writer_process(*asked.writer)
    if asked.ask:
        print(json.dumps(ask(asked.ask)))
        return None
    if asked.report:
        print(json.dumps(write_page(asked.report)))
        return None
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="shards-"))
    rows, many = [], asked.rows
    one = None if asked.soak else write(folder / "one", many, 1)
    figures = write(folder / "run", many, asked.writers)
    if one is not None:
        both = [read_run(folder / name).digest for name in ("one", "run")]
        rows.append(("digest of the run, by one writer and by two", "equal", "equal" if len(set(both)) == 1 else "no"))
        rows.append(("one writer", "≥ 5,000 rows/s", f"{many / one['wall']:,.0f} rows/s"))
        ratio = one["wall"] / figures["wall"]
        rows.append((f"{asked.writers} writers against one", "≥ 1.8", f"{ratio:.2f}"))
    rows.append(("each writer, of its own processor time", "–", f"{many / figures['cpu']:,.0f} rows/s"))
    rows.append((f"finishing {many:,} rows", "≤ 60 s for a million", f"{figures['finish']:.1f} s"))
    size = sum(file.stat().st_size for file in (folder / "run/shards").glob("*.parquet"))
    series = sum(file.stat().st_size for file in (folder / "run/shards").glob("*.series"))
    rows.append(("on disk: numbers, series", "–", f"{size / many:.0f} + {series / many:.0f} bytes a clip"))
    command = [sys.executable, __file__, "--ask", str(folder / "run")]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    limits = {"first filter": "≤ 1 s", "open": "≤ 200 ms", "memory": "≤ 500 MB"}
    for name, value in told.items():
        text = f"{value:.0f} MB" if name == "memory" else f"{value * 1e3:.0f} ms"
        rows.append((name, limits.get(name, "–"), text))
    served = folder / "served"
    served.mkdir()
    (served / "run").symlink_to(folder / "run")  # alone, as its memory is what is asked for
    for name, value in look(served, f"take{many // 2:07d}").items():
        if name == "memory":
            rows.append(("`rushes view`: the most memory its server held", "≤ 500 MB", f"{value:.0f} MB"))
        elif name != "clips that match":
            asked_for = {"home": "≤ 200 ms", "first filter": "≤ 1 s"}.get(name, "–")
            rows.append((f"`rushes view`: {name}", asked_for, f"{value * 1e3:,.0f} ms"))
    report = [sys.executable, __file__, "--report", str(folder / "run")]
    seconds, memory = json.loads(subprocess.run(report, check=True, capture_output=True, text=True).stdout)
    rows.append(("`rushes report --no-strips`, its memory", "–, ≤ 500 MB", f"{seconds:.1f} s, {memory:.0f} MB"))
    if asked.soak:
        rows.append(("the filter's rows against a plain loop's", "equal", f"{compare(folder / 'run'):,} equal"))
    if asked.folder is None:
        shutil.rmtree(folder)
    how = "Made-up clips of 24 numbers and 1.8 kB of series each, shards of 10,000."
    how += f" `python benchmarks/bench_shards.py --rows {many}{' --soak' if asked.soak else ''}`."
    title = f"{many:,} clips in shards" + (", against a plain loop" if asked.soak else "")
    record("shards-soak" if asked.soak else "shards", title, rows, how=how)
    return None


if __name__ == "__main__":
    main()
