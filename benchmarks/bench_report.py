"""Writing a report of 1,000 clips, its size, and the first paint of one with 5,000.

`python benchmarks/bench_report.py` records into RESULTS.md. The runs are made up (tier 0 and faces, 250 frames a clip),
their clips are not there; film strips are timed on real clips.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from recording import record
from rushes.compare.report import write_report
from rushes.instruments.clip.evaluate import evaluate_clips
from rushes.instruments.clip.frames.observe import Observation
from rushes.instruments.clip.metrics import metrics_of
from rushes.media import write_clip
from rushes.storage.runs import Entry, RunWriter, Subject

FRAMES = 250
_TIMES = """() => ({
  paint: performance.getEntriesByName("first-contentful-paint")[0].startTime,
  ready: performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd,
})"""


def make_run(folder: Path, count: int, *, one_by_one: bool = False) -> Path:
    """A run as large as a real one: every tier-0 number, and series for all lanes of the timeline.

    `one_by_one`: its clips were given each by its own path, and not by their folder.
    """
    ids = [f"clip_{number:05d}" for number in range(count)]
    rng = np.random.default_rng(1)
    settings = {"tier": 1, "profile": "general"}
    asked = [f"gone/{name}.mp4" for name in ids] if one_by_one else ["gone"]
    with RunWriter(folder, instrument="clip", settings=settings, inputs=ids, asked=asked) as writer:
        for number, name in enumerate(ids):
            diffs = rng.uniform(2.0, 6.0, FRAMES - 1)
            seen = Observation(
                frames=FRAMES,
                time_ms=np.arange(FRAMES) * 40.0,
                luma_mean=rng.uniform(90, 130, FRAMES),
                luma_diff=diffs,
                mafd=diffs / 2.56,
                laplacian_variance=rng.uniform(30, 60, FRAMES),
                measured_duration_ms=FRAMES * 40.0,
                audio_duration_ms=FRAMES * 40.0,
            )
            names = ("time_ms", "luma_mean", "luma_diff", "mafd", "laplacian_variance")
            series = {key: getattr(seen, key) for key in names}
            for key in ("mouth_openness", "audio_envelope", "face_count"):
                series[key] = rng.uniform(0, 1, FRAMES)
            badge = ("pass", "flagged", "reject")[number % 3]
            reasons = () if badge == "pass" else (f"blur_score={number}.00 < 20.0",)
            subject = Subject(
                id=name, kind="clip", path=f"gone/{name}.mp4", sha256="0" * 64, badge=badge, reasons=reasons
            )
            numbers = tuple(metric.measure(seen) for metric in metrics_of(0).values() if metric.measure is not None)
            writer.add(Entry(subject=subject, measurements=numbers, series=series))
        writer.finish(ids)
    return folder


def timed_report(run: Path, target: Path, **options: int) -> tuple[float, float]:
    """Seconds and megabytes."""
    start = time.perf_counter()
    made = write_report([run], target, **options)
    return time.perf_counter() - start, made.bytes / 1e6


def first_paint(page: Path, repeats: int = 5) -> tuple[float, float]:
    """Median milliseconds to the first contentful paint and to the working table, each in a fresh browser."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    found = []
    with sync_playwright() as tool:
        for _ in range(repeats):
            browser = tool.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            tab = browser.new_page(viewport={"width": 1440, "height": 900})
            tab.goto(page.as_uri())
            tab.wait_for_selector("html[data-ready]")
            found.append(tab.evaluate(_TIMES))
            browser.close()
    return statistics.median(f["paint"] for f in found), statistics.median(f["ready"] for f in found)


def strips(folder: Path, count: int = 100) -> tuple[float, float, float]:
    """Seconds without and with film strips, and megabytes with, for real clips of 512×512, 4 s."""
    takes = folder / "takes"
    takes.mkdir()
    rng = np.random.default_rng(3)
    frames = [np.kron(rng.integers(0, 255, (16, 16, 3), dtype=np.uint8), np.ones((32, 32, 1), np.uint8))] * 100
    write_clip(takes / "t0.mp4", (np.roll(frame, 4 * n, axis=1) for n, frame in enumerate(frames)), fps=25)
    for number in range(1, count):
        shutil.copy(takes / "t0.mp4", takes / f"t{number}.mp4")
    run = folder / "strip-run"
    evaluate_clips([takes], run=run)
    plain, _ = timed_report(run, folder / "plain.html", strips=0)
    full, size = timed_report(run, folder / "full.html", strips=count)
    return plain, full, size


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_report([make_run(folder / "warm", 5)], folder / "warm.html", strips=0)
        thousand = make_run(folder / "thousand", 1000)
        seconds, size = timed_report(thousand, folder / "thousand.html", strips=0)
        large_seconds, large = timed_report(make_run(folder / "large", 5000), folder / "large.html", strips=0)
        paint, ready = first_paint(folder / "large.html")
        plain, full, strip_size = strips(folder)
    record(
        "report",
        "Report",
        [
            ("1,000 clips, written", "≤ 20 s", f"{seconds:.1f} s"),
            ("1,000 clips, size without film strips", "≤ 15 MB", f"{size:.1f} MB"),
            ("5,000 clips, written", "", f"{large_seconds:.1f} s, {large:.1f} MB"),
            ("5,000 clips, first paint", "≤ 1 s", f"{paint:.0f} ms"),
            ("5,000 clips, table works", "", f"{ready:.0f} ms"),
            ("100 clips of 4 s at 512×512, with film strips", "", f"{full:.1f} s, {strip_size:.1f} MB"),
            ("the same without", "", f"{plain:.1f} s"),
        ],
        how="`python benchmarks/bench_report.py`: made-up runs of 250 frames a clip with six series each; Debian's "
        "Chromium, a fresh browser each time, opened from disk, median of five.",
    )


if __name__ == "__main__":
    sys.exit(main())
