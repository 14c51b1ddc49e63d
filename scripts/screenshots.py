"""Pictures: `python scripts/screenshots.py [DEMO]`.

Runs the demo where DEMO (default `demo`) holds no runs. Into docs/images go the few pictures of the README and the
documentation; into screenshots/, which git ignores, every page of `tests/web/gallery.py` at four widths, light and
dark, with screenshots/index.html to look at them one by one. `--docs` makes the first only, `--pages` the second;
names of pages after it make those alone.
"""

from __future__ import annotations

import html
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.web.gallery import PAGES, SCHEMES, WIDTHS, Gallery, served_gallery, settle  # noqa: E402

from rushes.compare.board.board import write_board  # noqa: E402
from rushes.compare.failures.cases import failures  # noqa: E402
from rushes.compare.report import write_report  # noqa: E402
from rushes.compare.runs.page.page import write_comparison  # noqa: E402

WIDTH, HEIGHT = 1280, 980
TALLEST = 6000
"""Pixels of a picture; a longer page is cut."""


def main(demo: Path, *, docs: bool, pages: bool, only: Sequence[str]) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("screenshots need chromium: apt install chromium")
    if not runs_of(demo):
        subprocess.run([sys.executable, "-m", "rushes", "demo", "-o", str(demo)], check=True)
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        if docs:
            docs_pictures(browser, demo, Path("docs/images"))
        if pages:
            with tempfile.TemporaryDirectory() as folder, demo_gallery(demo.resolve(), Path(folder)) as gallery:
                print(every_page(browser, gallery, Path("screenshots"), only))
        browser.close()


def runs_of(demo: Path) -> list[Path]:
    """The demo's runs in the order the instruments are told about; other folders hold samples."""
    order = ("clip", "face", "distribution", "fidelity", "pose", "preference", "robustness")
    found = [demo / name / inner for name in order for inner in ("", "run")]
    return [folder for folder in found if (folder / "run.json").is_file()]


@contextmanager
def demo_gallery(demo: Path, folder: Path) -> Iterator[Gallery]:
    """The demo's runs and board, a study over two of its systems, and its pages as files."""
    suite = demo / "board" / "suite"
    pair = [suite / name / "fidelity" for name in ("amber", "birch")]
    runs = [*runs_of(demo), *pair]
    write_report(runs_of(demo), folder / "report.html", title="Demo report")
    write_comparison(pair, folder / "compare.html")
    write_board(suite, folder / "board.html", title="Which system is better?")
    failures(suite, "psnr", top=2).save(folder / "failures.html")
    systems = {name: demo / "board" / name for name in ("amber", "birch")}
    site = {"site": str(ROOT / "site")} if (ROOT / "site" / "index.html").is_file() else {}
    names = {"take": "walker_freeze", "shared": "p00", "board": suite.name, **site}
    with served_gallery(folder, runs=runs, suite=suite, systems=systems, names=names) as gallery:
        called = {path.resolve(): name for name, path in gallery.runs.items()}
        named = {run.relative_to(demo).parts[0]: called[run.resolve()] for run in runs_of(demo)}
        a, b = (called[run.resolve()] for run in pair)
        gallery.names.update({**named, "run": named["clip"], "a": a, "b": b})  # type: ignore[attr-defined]
        yield gallery


def every_page(browser: Browser, gallery: Gallery, target: Path, only: Sequence[str]) -> Path:
    """One picture per page, width and scheme, and an index of them."""
    target.mkdir(parents=True, exist_ok=True)
    lines = []
    for page in PAGES:
        if not gallery.has(page) or (only and page.name not in only):
            continue
        links = []
        for scheme in SCHEMES:
            context = browser.new_context(color_scheme=scheme, reduced_motion="reduce")
            context.add_cookies(gallery.cookies(page))  # type: ignore[arg-type]
            tab = context.new_page()
            tab.goto(gallery.address(page))
            settle(tab)
            for width, height in WIDTHS:
                tab.set_viewport_size({"width": width, "height": height})
                tab.wait_for_timeout(300)
                tall = min(TALLEST, max(height, int(tab.evaluate("document.documentElement.scrollHeight"))))
                tab.set_viewport_size({"width": width, "height": tall})
                tab.wait_for_timeout(200)
                name = f"{page.name}_{width}_{scheme}.png"
                tab.screenshot(path=target / name)
                links.append(f'<a href="{name}"><img src="{name}" alt="{name}" loading="lazy" height="240"></a>')
            context.close()
        lines.append(f"<h2>{html.escape(page.name)}</h2><p>{' '.join(links)}</p>")
        print(page.name)
    head = '<!doctype html><meta charset="utf-8"><title>Every page</title>'
    (target / "index.html").write_text(head + "\n".join(lines), encoding="utf-8")
    return target / "index.html"


def docs_pictures(browser: Browser, demo: Path, images: Path) -> None:
    """The pictures that are kept with the documentation."""
    report = write_report(runs_of(demo), demo / "screenshots.html", title="Demo report").path
    images.mkdir(parents=True, exist_ok=True)
    with opened(browser, report, "light") as page:
        page.screenshot(path=images / "report-summary.png")
        clip_picture(page, images / "report-clip.png")
    with opened(browser, report, "dark") as page:
        clip_picture(page, images / "report-clip-dark.png")
    report.unlink()
    for picture in sorted(images.glob("report-*.png")):
        print(picture)


@contextmanager
def opened(browser: Browser, report: Path, scheme: str) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
    page.goto(report.resolve().as_uri())
    page.wait_for_selector("html[data-ready]")
    yield page
    page.close()


def clip_picture(page: Page, target: Path) -> None:
    """An open row with a fault to see, brought to the top of the window."""
    first, second = (page.locator("button.open", has_text=name) for name in ("face_lost", "walker_freeze"))
    button = first.or_(second)
    button.last.click()
    button.last.evaluate("element => element.scrollIntoView({ block: 'start' })")
    page.mouse.wheel(0, -60)
    page.wait_for_timeout(400)
    page.screenshot(path=target)


if __name__ == "__main__":
    os.chdir(ROOT)  # so that the paths in the pictures are relative ones
    flags = {word for word in sys.argv[1:] if word.startswith("--")}
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    folder = Path(words.pop(0)) if words and Path(words[0]).is_dir() else Path("demo")
    main(folder, docs="--pages" not in flags, pages="--docs" not in flags, only=words)
