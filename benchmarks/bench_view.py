"""`rushes view` on 50 runs of 1,000 clips: from the start of the process to the first paint, and the home page warm.
Then the page of a run of a million clips in shards, when it is first opened.

    python benchmarks/bench_view.py [--runs 50] [--clips 1000] [--starts 5] [--rows 1000000]

The folder is made up: real `run.json` files and subjects' lines, no clips. The browser is open already, and goes to the
link as soon as the command has printed it; the clock starts before the process does. The first start reads the files
into the system's cache, and is shown by itself. Of the large run, five shards are written and linked to under as many
names as it takes. Seconds of processor are the server's own, which other work on the machine does not change much.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.request import HTTPCookieProcessor, build_opener

from bench_shards import write
from recording import record
from rushes.core.canonical import canonical_json
from rushes.core.machine.provenance import file_digest
from rushes.storage.runs import RunWriter

MEDIA = {
    "audio": {"channels": 1, "codec": "aac", "duration_ms": 3000.0, "rate": 16000},
    "container": "mov,mp4,m4a,3gp,3g2,mj2",
    "duration_ms": 3000.0,
    "video": {"bits": 8, "codec": "h264", "color_range": "limited", "fps": "25/1", "height": 240, "width": 320},
    "video_streams": 1,
}
REASON = {
    "cause": "rule",
    "comparison": "above",
    "metric": "longest_freeze_ms",
    "signature": "longest_freeze_ms|beside:0.15|blocks:16|eps:0.1|input:raw|plane:luma|range:full|window_ms:360.0|v:3",
    "span": [1000.0, 2360.0],
    "threshold": 350,
    "words": "frozen",
}


def made_up(folder: Path, *, runs: int, clips: int) -> None:
    """Runs of the same clips by as many models, a tenth of the clips flagged and a hundredth rejected."""
    seeded = random.Random(5)
    for number in range(runs):
        run = folder / f"week{number // 10}" / f"model_{number:02d}"
        names = [f"prompt_{clip:05d}" for clip in range(clips)]
        inputs = [f"clips/model_{number:02d}/{name}.mp4" for name in names]
        with RunWriter(run, instrument="clip", settings={"tier": 0, "profile": "general"}, inputs=inputs) as writer:
            writer.finish([])
        with open(run / "subjects.jsonl", "w") as out:
            for name, path in zip(names, inputs, strict=True):
                badge = seeded.choices(("reject", "flagged", "pass"), (1, 10, 89))[0]
                reasons = [] if badge == "pass" else [REASON | {"level": badge, "value": seeded.randint(351, 3000)}]
                facts = {"bundle": "MetricBundleV1/1", "luma_converted": False, "media": MEDIA, "not_judged": []}
                row = {"badge": badge, "facts": facts, "id": name, "kind": "clip", "path": path, "reasons": reasons}
                out.write(canonical_json(row | {"sha256": f"{seeded.getrandbits(256):064x}"}) + "\n")


PAINT = """() => new Promise((found) => {
  const look = () => performance.getEntriesByName("first-contentful-paint")[0];
  if (look()) return found(performance.timeOrigin + look().startTime);
  new PerformanceObserver(() => { if (look()) found(performance.timeOrigin + look().startTime); })
    .observe({ type: "paint", buffered: true });
})"""


def processor(process: subprocess.Popen[str]) -> float:
    """Seconds that a process has worked so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start(folder: Path, browser: Any) -> tuple[float, float, list[float], float]:
    """Seconds from the start of the process to the link and to the first paint; the home page warm, in ms; seconds of
    the processor up to the first paint."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.goto("about:blank")
    begun = time.time()
    process = subprocess.Popen(
        [sys.executable, "-m", "rushes", "view", str(folder), "--json"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        link = json.loads(process.stdout.readline())["link"]
        printed = time.time() - begun
        page.goto(link, wait_until="commit")
        painted = page.evaluate(PAINT) / 1000 - begun
        worked = processor(process)
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(4000)  # the rest of the app is imported meanwhile
        warm = [page.evaluate(WARM) for _ in range(15)]
        page.context.close()
    finally:
        process.terminate()
        process.wait()
    return printed, painted, warm, worked


def in_shards(folder: Path, rows: int) -> Path:
    """A run of so many clips: shards of five times 10,000, linked to again and again."""
    written, run = folder / "written", folder / "served" / "large"
    write(written, 50_000, 1)
    (run / "shards").mkdir(parents=True)
    index, info = (json.loads((written / name).read_bytes()) for name in ("index.json", "run.json"))
    shards = [dict(index["shards"][number % 5], number=number) for number in range(rows // 10_000)]
    for number in range(len(shards)):
        for ending in ("parquet", "series"):
            os.link(written / f"shards/{number % 5:05d}.{ending}", run / f"shards/{number:05d}.{ending}")
    (run / "index.json").write_text(canonical_json(index | {"shards": shards}), encoding="utf-8")
    info["seal"]["files"] = {"index.json": file_digest(run / "index.json")}
    (run / "run.json").write_text(canonical_json(info), encoding="utf-8")
    return run.parent


def first_opening(folder: Path) -> tuple[float, float, float]:
    """Seconds of a large run's page when it is first opened, of the processor meanwhile, and the second time."""
    command = [sys.executable, "-m", "rushes", "view", str(folder), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        host, _, token = json.loads(process.stdout.readline())["link"].partition("/?token=")
        visitor = build_opener(HTTPCookieProcessor())
        visitor.open(f"{host}/?token={token}").read()
        time.sleep(6)  # the rest of the app is imported meanwhile
        found: list[float] = []
        worked: list[float] = []
        before = processor(process)
        for _ in range(2):
            begun = time.time()
            visitor.open(f"{host}/runs/large").read()
            found.append(time.time() - begun)
            worked.append(processor(process) - before)
        process.terminate()
    return found[0], worked[0], found[1]


WARM = """async () => {
  const begun = performance.now();
  await (await fetch("/", { cache: "no-store" })).text();
  return performance.now() - begun;
}"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--clips", type=int, default=1000)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--dry", action="store_true", help="print, and leave RESULTS.md alone")
    given = parser.parse_args()
    from playwright.sync_api import sync_playwright

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as home:
        served = in_shards(Path(home), given.rows)
        opening, busy, again = sorted(first_opening(served) for _ in range(3))[1]
    with tempfile.TemporaryDirectory() as home, sync_playwright() as tool:
        made_up(Path(home), runs=given.runs, clips=given.clips)
        browser = tool.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        found = [start(Path(home), browser) for _ in range(given.starts + 1)]
        browser.close()
    first, later = found[0], found[1:]
    printed = statistics.median(one[0] for one in later)
    painted = sorted(one[1] for one in later)
    warm = sorted(ms for one in found for ms in one[2])
    rows = [
        ("the link is printed, median", "–", f"{printed:.2f} s"),
        ("first contentful paint, median of starts", "≤ 0.8 s", f"{statistics.median(painted):.2f} s"),
        ("seconds of processor up to it", "–", f"{statistics.median(one[3] for one in later):.2f} s"),
        ("first contentful paint, quickest to slowest", "–", f"{painted[0]:.2f} to {painted[-1]:.2f} s"),
        ("the very first start", "–", f"{first[1]:.2f} s"),
        ("home page warm, median", "≤ 100 ms", f"{statistics.median(warm):.0f} ms"),
        ("home page warm, 95th of 100", "–", f"{warm[int(0.95 * len(warm))]:.0f} ms"),
        (f"page of a run of {given.rows:,} clips, first opened, median of 3", "≤ 1 s", f"{opening:.2f} s"),
        ("seconds of processor for it", "–", f"{busy:.2f} s"),
        ("the same page again", "–", f"{1000 * again:.0f} ms"),
    ]
    if given.dry:
        print(*(" | ".join(row) for row in rows), sep="\n")
        return
    how = (
        f"`rushes view` on a folder of {given.runs} runs of {given.clips:,} clips, {given.starts} starts of the "
        "real command, in an open Chromium: from the start of the process to the first contentful paint of the home "
        "page. Warm: the whole page fetched again by the browser, fifteen times for each start. Programs that waited "
        f"for the processor meanwhile, on average: {os.getloadavg()[1]:.0f}."
    )
    record("view", "Looking at many runs", rows, how=how)


if __name__ == "__main__":
    main()
