"""Opening a sealed run of 10,000 clips against the same run without its seal: what the check costs, as a ratio.

    python benchmarks/bench_open.py [--rows 10000]

Both are opened in turn in one process, and the first number of the first and of the last clip is read: of a run in
shards the digest of a table is looked at when the table is first read. Seconds of the processor, medians of nine.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from bench_compare import SETTINGS
from bench_shards import made_up, template
from recording import record
from rushes.storage.integrity.seal import SEAL
from rushes.storage.runs import open_run, read_run
from rushes.storage.shards import reading

_TURNS = 9


def write(folder: Path, rows: int, shards: int) -> Path:
    """A complete run of made-up clips."""
    model = template(Path(tempfile.mkdtemp()))
    ids = [f"take{number:07d}" for number in range(rows)]
    with open_run(folder, instrument="clip", settings=SETTINGS, inputs=ids, asked=["x"], shards=shards) as run:
        if shards:
            run.plan(ids, ids)  # type: ignore[attr-defined]
        for packed in made_up(model, 0, rows):
            run.add(packed)
        run.finish(ids)
    return folder


def without_seal(folder: Path) -> Path:
    """A copy of the run as it was written before there were seals."""
    copy = folder.with_name(f"{folder.name}-unsealed")
    shutil.copytree(folder, copy)
    info = json.loads((copy / "run.json").read_text())
    del info[SEAL]
    (copy / "run.json").write_text(json.dumps(info, indent=1))
    return copy


def opening(folder: Path, *, checked: bool) -> float:
    """Seconds of the processor until the first and the last clip's numbers are there, nothing remembered."""
    reading._require_digest.cache_clear()
    most, reading.CHECKED_BYTES = reading.CHECKED_BYTES, reading.CHECKED_BYTES if checked else -1
    try:
        began = time.process_time()
        run = read_run(folder)
        assert run.entries[0].measurements and run.entries[len(run.subjects) - 1].measurements
        return time.process_time() - began
    finally:
        reading.CHECKED_BYTES = most


def main() -> None:
    """Measure, then write it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    rows, found = parser.parse_args().rows, []
    for what, shards in (("in one piece", 0), ("in shards of 1,000", 1000)):
        with tempfile.TemporaryDirectory() as home:
            sealed = write(Path(home) / "run", rows, shards)
            plain = without_seal(sealed)
            turns = [(opening(sealed, checked=True), opening(plain, checked=False)) for _ in range(_TURNS)]
            with_check, without = (statistics.median(side) for side in zip(*turns, strict=True))
            ratio = f"{with_check / without:.2f} ({with_check:.2f} s, {without:.2f} s without)"
            found.append((f"{rows:,} clips {what}", "≤ 1.3 ×", ratio))
    record("open", "Opening a sealed run", found, how=" ".join((__doc__ or "").split("\n\n")[-1].split()))


if __name__ == "__main__":
    main()
