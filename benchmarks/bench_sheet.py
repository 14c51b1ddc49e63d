"""The page of a run of 5,000 clips: how soon it answers, and how smoothly its contact sheet scrolls.

`python benchmarks/bench_sheet.py` records into RESULTS.md. Twenty real clips lie there under 5,000 names, so that every
picture is made from a file of its own. The sheet is scrolled in Chromium by so many pixels a frame; a frame's time is
the difference of two `requestAnimationFrame` stamps. The first pass finds no picture made, the second all of them. A
page with nothing on it is scrolled the same way: what it loses is the machine's share, not the sheet's.
"""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx
import numpy as np
import uvicorn
from playwright.sync_api import Page, sync_playwright

from recording import record
from rushes.core.machine.provenance import file_digest
from rushes.instruments.clip.frames.observe import Observation
from rushes.instruments.clip.metrics import metrics_of
from rushes.media import write_clip
from rushes.storage.runs import Entry, RunWriter, Subject
from rushes.study.service import open_service
from rushes.web.app import create_app
from rushes.web.clips import thumbnails
from rushes.web.serving import server_config

CLIPS = 5000
_FRAMES, _PASSWORD = 50, "scrolling is a joy"
_SCROLL = """async ([frames, pixels]) => {
  const times = [];
  await new Promise((done) => {
    const step = (now) => {
      times.push(now);
      scrollBy(0, pixels);
      if (times.length <= frames) requestAnimationFrame(step); else done();
    };
    requestAnimationFrame(step);
  });
  return times.slice(1).map((now, place) => now - times[place]);
}"""


def make_clips(folder: Path, count: int) -> list[Path]:
    """Files of their own with one of twenty contents: two seconds of 320 × 180."""
    folder.mkdir()
    rng = np.random.default_rng(5)
    made = []
    for number in range(20):
        tile = np.kron(rng.integers(0, 255, (18, 32, 3), dtype=np.uint8), np.ones((10, 10, 1), np.uint8))
        path = folder / f"source_{number}.mp4"
        write_clip(path, (np.roll(tile, 4 * n, axis=1) for n in range(_FRAMES)), fps=25)
        made.append(path)
    clips = [folder / f"clip_{number:05d}.mp4" for number in range(count)]
    for number, clip in enumerate(clips):
        os.link(made[number % 20], clip)
    return clips


def make_run(folder: Path, clips: list[Path]) -> Path:
    """Every tier-0 number of each clip, made up; a third flagged, a third rejected."""
    digests = [file_digest(clip) for clip in clips[:20]]
    rng = np.random.default_rng(1)
    names = [str(clip) for clip in clips]
    with RunWriter(folder, instrument="clip", settings={"tier": 0, "profile": "general"}, inputs=names) as writer:
        for number, clip in enumerate(clips):
            diffs = rng.uniform(2.0, 6.0, _FRAMES - 1)
            seen = Observation(
                frames=_FRAMES,
                time_ms=np.arange(_FRAMES) * 40.0,
                luma_mean=rng.uniform(90, 130, _FRAMES),
                luma_diff=diffs,
                mafd=diffs / 2.56,
                laplacian_variance=rng.uniform(30, 60, _FRAMES),
                measured_duration_ms=_FRAMES * 40.0,
                audio_duration_ms=_FRAMES * 40.0,
            )
            badge = ("pass", "flagged", "reject")[number % 3]
            reasons = () if badge == "pass" else (f"frozen 0.4–0.9 s (longest_freeze_ms={500 + number % 90}.00 > 450)",)
            subject = Subject(
                id=clip.stem,
                kind="clip",
                path=str(clip),
                sha256=digests[number % 20],
                badge=badge,
                reasons=reasons,
                facts={"media": {"duration_ms": 2000.0, "video": {"width": 320, "height": 180}}},
            )
            numbers = tuple(metric.measure(seen) for metric in metrics_of(0).values() if metric.measure is not None)
            writer.add(Entry(subject=subject, measurements=numbers))
        writer.finish([clip.stem for clip in clips])
    return folder


def median_ms(client: httpx.Client, address: str, repeats: int = 9) -> float:
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        client.get(address).raise_for_status()
        found.append(1000 * (time.perf_counter() - start))
    return statistics.median(found)


def scrolled(page: Page, *, frames: int, pixels: int) -> tuple[float, float]:
    """Share of frames within 16.7 ms (a stamp is rounded to 0.1 ms), and the longest frame."""
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(1500)
    times = page.evaluate(_SCROLL, [frames, pixels])
    return sum(one <= 16.8 for one in times) / len(times), max(times)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else CLIPS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        thumbnails.thumbnail_folder = lambda: folder / "pictures"  # none is made yet
        run = make_run(folder / "run", make_clips(folder / "clips", count))
        service = open_service(str(folder / "studies.db"))
        service.set_admin_password(_PASSWORD)
        listener = socket.create_server(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        server = uvicorn.Server(server_config(create_app(service=service, runs=[run]), log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        rows = measured(url, count)
        server.should_exit = True
        thread.join(timeout=10)
        service.close()
    if count == CLIPS and "--dry" not in sys.argv:
        record("sheet", f"Contact sheet of {count:,} clips", rows, how=" ".join((__doc__ or "").split()))
    else:
        print(*rows, sep="\n")


def measured(url: str, count: int) -> list[tuple[str, str, str]]:
    with httpx.Client(base_url=url, headers={"origin": url}, timeout=60) as client:
        token = client.get("/csrf.json").json()["csrf"]
        client.post("/login", data={"password": _PASSWORD, "csrf_token": token})
        start = time.perf_counter()
        client.get("/runs/run").raise_for_status()
        cold = time.perf_counter() - start
        sheet, table = median_ms(client, "/runs/run"), median_ms(client, "/runs/run?view=table")
        ranged = median_ms(client, "/runs/run?view=table&min.sharpness=0.1&q=clip_0&sort=id")
        piece = median_ms(client, f"/runs/run/tiles?page={count // 60}")
        cookies = [{"name": key, "value": value, "url": url} for key, value in client.cookies.items()]
    with sync_playwright() as tool:
        found = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = tool.chromium.launch(executable_path=found, args=["--no-sandbox"])
        context = browser.new_context(base_url=url, viewport={"width": 1440, "height": 900})
        context.add_cookies(cookies)
        page = context.new_page()
        page.goto("/runs/run")
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        first, longest_first = scrolled(page, frames=600, pixels=40)
        again, longest = scrolled(page, frames=600, pixels=40)
        flick, longest_flick = scrolled(page, frames=300, pixels=400)
        page.goto("about:blank")
        page.set_content("<div></div>")
        page.evaluate("document.querySelector('div').style.height = '200000px'")
        empty, longest_empty = scrolled(page, frames=600, pixels=40)
        browser.close()
    return [
        ("the page warm: sheet, table, filtered and sorted", "≤ 300 ms", f"{sheet:.0f}, {table:.0f}, {ranged:.0f} ms"),
        ("the page the first time, the run being read", "", f"{cold:.1f} s"),
        ("one more piece of the sheet, 60 clips", "", f"{piece:.0f} ms"),
        ("first contentful paint", "", f"{paint:.0f} ms"),
        ("frames ≤ 16.7 ms, 2,400 px/s, pictures made", "60 fps", f"{again:.1%}, longest {longest:.0f} ms"),
        ("the same while pictures are being made", "", f"{first:.1%}, longest {longest_first:.0f} ms"),
        ("the same of an empty page", "", f"{empty:.1%}, longest {longest_empty:.0f} ms"),
        ("frames ≤ 16.7 ms, 24,000 px/s", "", f"{flick:.1%}, longest {longest_flick:.0f} ms"),
    ]


if __name__ == "__main__":
    main()
