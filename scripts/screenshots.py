"""Pictures: `python scripts/screenshots.py [DEMO] [--suite FOLDER]`.

Runs the demo where DEMO (default `demo`) holds no runs. Into docs/images go the few pictures of the README and the
documentation; into screenshots/, which git ignores, every page of `tests/web/gallery.py` and the first pages of
`rushes view` at four widths, light and dark, with screenshots/index.html to look at them one by one. `--docs` makes the
first only, `--pages` the second; names of pages after it make those alone. `--suite` takes real clips as well: a folder
with one folder per system, measured into screenshots/suite and shown by `rushes view`.
"""

from __future__ import annotations

import argparse
import html
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

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


def main(demo: Path, *, docs: bool, pages: bool, only: Sequence[str], suite: Path | None) -> None:
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
            camera = Camera(browser=browser, target=Path("screenshots"), only=only)
            with tempfile.TemporaryDirectory() as folder, demo_gallery(demo.resolve(), Path(folder)) as gallery:
                every_page(camera, gallery)
            view_pages(camera, demo, "view")
            with tempfile.TemporaryDirectory() as folder:
                view_pages(camera, Path(folder), "view-empty")
            if suite is not None:
                view_pages(camera, measured(suite, Path("screenshots/suite")), "suite")
            print(camera.index())
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


@dataclass(kw_only=True)
class Camera:
    """Takes pictures of pages into one folder."""

    browser: Browser
    target: Path
    only: Sequence[str]
    """Names of pages; of all where there are none."""

    def shoot(self, name: str, address: str, cookies: Sequence[Mapping[str, str]] = ()) -> None:
        """One picture per width and scheme."""
        if self.only and name not in self.only:
            return
        self.target.mkdir(parents=True, exist_ok=True)
        for scheme in SCHEMES:
            context = self.browser.new_context(color_scheme=scheme, reduced_motion="reduce")
            context.add_cookies(list(cookies))  # type: ignore[arg-type]
            tab = context.new_page()
            tab.goto(address)
            settle(tab)
            for width, height in WIDTHS:
                tab.set_viewport_size({"width": width, "height": height})
                tab.wait_for_timeout(300)
                tall = min(TALLEST, max(height, int(tab.evaluate("document.documentElement.scrollHeight"))))
                tab.set_viewport_size({"width": width, "height": tall})
                tab.wait_for_timeout(200)
                tab.screenshot(path=self.target / f"{name}_{width}_{scheme}.png")
            context.close()
        print(name)

    def index(self) -> Path:
        """A page with all pictures of the folder."""
        names = sorted({picture.stem.rsplit("_", 2)[0] for picture in self.target.glob("*_*_*.png")})
        lines = []
        for name in names:
            pictures = [f"{name}_{width}_{scheme}.png" for scheme in SCHEMES for width, _ in WIDTHS]
            shown = (
                f'<a href="{one}"><img src="{one}" alt="{one}" loading="lazy" height="240"></a>' for one in pictures
            )
            lines.append(f"<h2>{html.escape(name)}</h2><p>{' '.join(shown)}</p>")
        head = '<!doctype html><meta charset="utf-8"><title>Every page</title>'
        (self.target / "index.html").write_text(head + "\n".join(lines), encoding="utf-8")
        return self.target / "index.html"


def every_page(camera: Camera, gallery: Gallery) -> None:
    """The pages of the gallery that its material has."""
    for page in PAGES:
        if gallery.has(page) and (not camera.only or page.name in camera.only):
            camera.shoot(page.name, gallery.address(page), gallery.cookies(page))


def measured(suite: Path, out: Path) -> Path:
    """The folder of this suite's runs, measured where they are not there yet."""
    subprocess.run(
        [sys.executable, "-m", "rushes", "suite", "run", str(suite), "-o", str(out / suite.name)], check=True
    )
    return out


def view_pages(camera: Camera, folder: Path, prefix: str) -> None:
    """What `rushes view` shows first: home; of what is there a run, its worst clip, a board, a comparison."""
    with viewed(camera.browser, folder) as pages:
        for name, address in pages.items():
            camera.shoot(f"{prefix}-{name}", address)


@contextmanager
def viewed(browser: Browser, folder: Path) -> Iterator[dict[str, str]]:
    """The addresses of the first pages of a running `rushes view`, by name."""
    command = [sys.executable, "-m", "rushes", "view", str(folder), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            link = json.loads(server.stdout.readline())["link"]
            host, _, token = link.partition("/?token=")
            context = browser.new_context()
            home = context.request.get(f"{host}/home.json?token={token}").json()
            context.close()
            pages = {name: (address, "&" if "?" in address else "?") for name, address in _first_pages(home)}
            yield {name: f"{host}{address}{sign}token={token}" for name, (address, sign) in pages.items()}
        finally:
            server.terminate()


def _first_pages(home: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "home", "/"
    clips = [run for run in home["runs"] if run["worst"]]
    for run in clips[:1]:
        yield "run", run["address"]
        yield "clip", run["worst"][0]["address"]
    for board in home["boards"][:1]:
        inside = [run["name"] for run in home["runs"] if run["suite"] == board["name"]]
        yield "board", board["address"]
        yield "grid", f"{board['address']}/grid"
        if len(inside) > 1:
            yield "comparison", f"/compare/runs?a={quote(inside[0])}&b={quote(inside[1])}"


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
    suite = demo / "board" / "suite"
    with tempfile.TemporaryDirectory() as folder:
        board = write_board(suite, Path(folder) / "board.html", title="Which system is better?").path
        with opened(browser, board, "light", ready="main") as page:
            page.set_viewport_size({"width": WIDTH, "height": 1240})
            page.screenshot(path=images / "board.png")
            page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
            page.locator(".matrix tbody button, .matrix tbody summary").first.click()
            player_picture(page, images / "board-players.png")
        two = write_comparison(
            [suite / name / "fidelity" for name in ("amber", "birch")], Path(folder) / "two.html"
        ).path
        with opened(browser, two, "light", ready="main") as page:
            page.set_viewport_size({"width": WIDTH, "height": 1740})
            page.screenshot(path=images / "compare.png")
        live_pictures(browser, demo, images, Path(folder))
    for picture in sorted(images.glob("*.png")):
        print(picture)


def live_pictures(browser: Browser, demo: Path, images: Path, folder: Path) -> None:
    """The viewer on the demo's clips, and the page that raters see, light and dark."""
    shutil.copytree(demo / "clip", folder / "runs" / "clips")  # a run alone would be opened without the home page
    with viewed(browser, folder / "runs") as pages:
        frozen = pages["clip"].replace("walker_corrupt", "walker_freeze")
        for name, address, height in (("viewer", pages["run"], 600), ("viewer-clip", frozen, 860)):
            for scheme in SCHEMES:
                target = images / f"{name}{'' if scheme == 'light' else '-dark'}.png"
                live_picture(browser, address, scheme, target, height=height)
    with demo_gallery(demo.resolve(), folder) as gallery:
        pair = next(page for page in PAGES if page.name == "rater-pair")
        target = images / "rater.png"
        live_picture(browser, gallery.address(pair), "light", target, gallery.cookies(pair), height=HEIGHT)


def live_picture(
    browser: Browser, address: str, scheme: str, target: Path, cookies: Sequence[Mapping[str, str]] = (), *, height: int
) -> None:
    size = {"width": WIDTH, "height": height}
    context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    context.add_cookies(list(cookies))  # type: ignore[arg-type]
    tab = context.new_page()
    tab.goto(address)
    settle(tab)
    tab.wait_for_timeout(1500)
    tab.screenshot(path=target)
    context.close()


def player_picture(page: Page, target: Path) -> None:
    """The dialog of an open prompt: its clips on one clock."""
    shown = page.locator("dialog[open]")
    shown.locator("video").first.wait_for()
    page.wait_for_timeout(1500)
    shown.screenshot(path=target)


@contextmanager
def opened(browser: Browser, report: Path, scheme: str, *, ready: str = "html[data-ready]") -> Iterator[Page]:
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
    page.goto(report.resolve().as_uri())
    page.wait_for_selector(ready)
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
    parser = argparse.ArgumentParser()
    parser.add_argument("demo", nargs="?", type=Path, default=Path("demo"))
    parser.add_argument("only", nargs="*")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--pages", action="store_true")
    parser.add_argument("--suite", type=Path)
    given = parser.parse_args()
    main(given.demo, docs=not given.pages, pages=not given.docs, only=given.only, suite=given.suite)
