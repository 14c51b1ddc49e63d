"""Pictures of the demo's report for the README and the documentation: `python scripts/screenshots.py [DEMO] [IMAGES]`.

Runs the demo where DEMO (default `demo`) holds no runs, writes its report and photographs it with the system's
Chromium.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from rushes.suite.report import write_report

ROOT = Path(__file__).parents[1]
WIDTH, HEIGHT = 1280, 980


def main(demo: Path, images: Path) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("screenshots need chromium: apt install chromium")
    if not runs_of(demo):
        subprocess.run([sys.executable, "-m", "rushes", "demo", "-o", str(demo)], check=True)
    report = write_report(runs_of(demo), demo / "screenshots.html", title="Demo report").path
    images.mkdir(parents=True, exist_ok=True)
    with opened(chromium, report, "light") as page:
        page.screenshot(path=images / "report-summary.png")
        clip_picture(page, images / "report-clip.png")
    with opened(chromium, report, "dark") as page:
        clip_picture(page, images / "report-clip-dark.png")
    report.unlink()
    for picture in sorted(images.glob("report-*.png")):
        print(picture)


def runs_of(demo: Path) -> list[Path]:
    """The demo's runs in the order the instruments are told about; other folders hold samples."""
    order = ("clip", "face", "distribution", "fidelity", "pose", "preference", "robustness")
    found = [demo / name / inner for name in order for inner in ("", "run")]
    return [folder for folder in found if (folder / "run.json").is_file()]


@contextmanager
def opened(chromium: str, report: Path, scheme: str) -> Iterator[Page]:
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
        page.goto(report.resolve().as_uri())
        page.wait_for_selector("html[data-ready]")
        yield page
        browser.close()


def clip_picture(page: Page, target: Path) -> None:
    """An open row with a fault to see, brought to the top of the window."""
    button = page.locator("button.open", has_text="face_lost").or_(page.locator("button.open", has_text="take_freeze"))
    button.last.click()
    button.last.evaluate("element => element.scrollIntoView({ block: 'start' })")
    page.mouse.wheel(0, -60)
    page.wait_for_timeout(400)
    page.screenshot(path=target)


if __name__ == "__main__":
    os.chdir(ROOT)  # so that the paths in the pictures are relative ones
    given = [Path(text) for text in sys.argv[1:]]
    main(given[0] if given else Path("demo"), given[1] if len(given) > 1 else Path("docs/images"))
