"""Every page of Rushes, once: the browser tests, the read-back of numbers and `make screenshots` go by this list.

A new page is one line in `PAGES`. Words in braces stand for what the material has: `{run}` and its clip `{take}`, two
runs `{a}` and `{b}` with the clip `{shared}`, `{board}`, `{study}`, `{invitation}`, a judge's run `{judge}` with the
clip `{judged}`, and in the demo a run of every other kind, `{fidelity}`. A page whose word the material does not have
is left out. A file is opened from the disk.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any, Literal

from rushes.compare.board.board import write_board
from rushes.compare.failures.cases import failures
from rushes.compare.report import write_report
from rushes.compare.runs.page.page import write_comparison
from rushes.study import StudyPlan
from rushes.study.service import open_service
from rushes.web.app import create_app

from .livesite import Site, Study, vote_through
from .runsite import judged_run, measured_runs, owner, suite_of

WIDTHS = ((390, 844), (900, 900), (1440, 900), (2560, 1440))
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryPage:
    """One page: where it is and who looks at it."""

    name: str
    address: str
    who: Literal["owner", "trainee", "rater", "nobody", "file"] = "owner"
    status: int = 200
    main: bool = False
    """Looked at on every run of the tests; the others in `make soak`."""


PAGES: tuple[GalleryPage, ...] = (
    GalleryPage(name="home", address="/", main=True),
    GalleryPage(name="run", address="/runs/{run}", main=True),
    GalleryPage(name="run-table", address="/runs/{run}?view=table"),
    GalleryPage(name="run-filtered", address="/runs/{run}?q=nothing-like-this"),
    GalleryPage(name="run-faces", address="/runs/{face}"),
    GalleryPage(name="run-distribution", address="/runs/{distribution}"),
    GalleryPage(name="run-fidelity", address="/runs/{fidelity}"),
    GalleryPage(name="run-pose", address="/runs/{pose}"),
    GalleryPage(name="run-preference", address="/runs/{preference}"),
    GalleryPage(name="run-robustness", address="/runs/{robustness}"),
    GalleryPage(name="clip", address="/runs/{run}/clip?id={take}", main=True),
    GalleryPage(name="clip-judged", address="/runs/{judge}/clip?id={judged}", main=True),
    GalleryPage(name="pair", address="/compare?a={a}/{shared}&b={b}/{shared}", main=True),
    GalleryPage(name="pair-of-four", address="/compare?a={a}/{shared}&b={b}/{shared}&c={a}/{shared}&d={b}/{shared}"),
    GalleryPage(name="comparison", address="/compare/runs?a={a}&b={b}", main=True),
    GalleryPage(name="board", address="/boards/{board}", main=True),
    GalleryPage(name="board-grid", address="/boards/{board}/grid"),
    GalleryPage(name="grid", address="/grid?runs={a},{b}"),
    GalleryPage(name="map", address="/runs/{distribution}/map"),
    GalleryPage(name="study-new", address="/studies/new"),
    GalleryPage(name="study", address="/studies/{study}"),
    GalleryPage(name="study-raters", address="/studies/{study}/raters"),
    GalleryPage(name="study-running", address="/studies/{study}/running"),
    GalleryPage(name="study-disagreements", address="/studies/{study}/disagreements"),
    GalleryPage(name="study-adjudication", address="/studies/{study}/adjudication"),
    GalleryPage(name="study-faults", address="/studies/{study}/faults"),
    GalleryPage(name="study-results", address="/studies/{study}/results"),
    GalleryPage(name="study-export", address="/studies/{study}/export"),
    GalleryPage(name="study-log", address="/studies/{study}/log"),
    GalleryPage(name="account", address="/account"),
    GalleryPage(name="not-found", address="/nowhere", status=404),
    GalleryPage(name="login", address="/login", who="nobody"),
    GalleryPage(name="invitation", address="{invitation}", who="nobody"),
    GalleryPage(name="rater-instructions", address="/rate/instructions", who="rater"),
    GalleryPage(name="rater-pair", address="/rate/training", who="trainee"),
    GalleryPage(name="rater-done", address="/rate", who="rater"),
    GalleryPage(name="report", address="report.html", who="file", main=True),
    GalleryPage(name="compare-page", address="compare.html", who="file"),
    GalleryPage(name="board-page", address="board.html", who="file"),
    GalleryPage(name="failures", address="failures.html", who="file"),
    GalleryPage(name="docs", address="{site}/index.html", who="file"),
)


@dataclass(frozen=True, kw_only=True)
class Gallery:
    """A live site with something on every page, and the files beside it."""

    site: Site
    study: Study
    runs: Mapping[str, Path]
    """By the name that the workbench gives them."""
    suite: Path
    files: Path
    names: Mapping[str, str]
    """What the words in braces stand for."""

    def has(self, page: GalleryPage) -> bool:
        """Whether the material has what the page is about."""
        wanted = {word for _, word, _, _ in Formatter().parse(page.address) if word}
        return wanted <= {*self.names, "invitation"}

    def address(self, page: GalleryPage) -> str:
        """Where a browser goes for it."""
        words = {**self.names, "invitation": ""}
        if "{invitation}" in page.address:
            words["invitation"] = self.study.invitation()
        place = page.address.format(**words)
        return (self.files / place).resolve().as_uri() if page.who == "file" else self.site.url + place

    def cookies(self, page: GalleryPage) -> list[dict[str, str]]:
        """What signs this page's reader in."""
        if page.who == "owner":
            return [{"name": "rushes_admin", "value": owner(self.site).cookies["rushes_admin"], "url": self.site.url}]
        if page.who in ("trainee", "rater"):  # every pair has its votes; the training pair waits for each rater
            rater = self.study.rater(stage="work" if page.who == "rater" else "training")
            return [{"name": "rushes_rater", "value": rater.cookies["rushes_rater"], "url": self.site.url}]
        return []


@contextmanager
def small_gallery(folder: Path) -> Iterator[Gallery]:
    """Two systems over three takes, a board of them, a study of them with votes, and the four pages as files."""
    first, second = measured_runs(folder)
    suite = suite_of(folder / "board", {"model_a": first, "model_b": second})
    names = {
        "run": "model_a", "take": "take_1", "a": "model_a", "b": "model_b", "shared": "take_1", "board": "board",
        "judge": "judge", "judged": "take_1",
    }  # fmt: skip
    write_report([first, second], folder / "report.html", jobs=1)
    write_comparison([first, second], folder / "compare.html", jobs=1)
    write_board(suite, folder / "board.html", jobs=1)
    failures(suite, "sharpness", top=1).save(folder / "failures.html", jobs=1)
    systems = {name: folder / "takes" / name for name in ("model_a", "model_b")}
    runs = (first, second, judged_run(folder))
    with served_gallery(folder, runs=runs, suite=suite, systems=systems, names=names) as gallery:
        yield gallery


@contextmanager
def served_gallery(
    folder: Path, *, runs: Sequence[Path], suite: Path, systems: Mapping[str, Path], names: Mapping[str, str]
) -> Iterator[Gallery]:
    """A server on these runs and this suite, with a study over the first clips of these systems' folders."""
    ahead = [0]
    service = open_service(str(folder / "studies.db"), clock=lambda: 1_790_000_000_000 + ahead[0])
    app = create_app(service=service, runs=runs, suites=(suite,))
    app.state.pass_time = lambda ms: ahead.__setitem__(0, ahead[0] + round(ms))
    site = Site(app)
    try:
        study = _study(site, folder, systems)
        named: dict[str, Path] = dict(app.state.workbench.runs)
        yield Gallery(
            site=site, study=study, runs=named, suite=suite, files=folder, names={**names, "study": study.name}
        )
    finally:
        site.close()
        service.close()


def _study(site: Site, folder: Path, systems: Mapping[str, Path]) -> Study:
    """Three samples in two task families, three raters, and disputes among them."""
    site.service.create_study(StudyPlan(name="bars", title="Bars that cross", gold_every=0, repeat_every=0))
    clips = sorted(path.name for path in next(iter(systems.values())).glob("*.mp4"))[:3]
    with open(folder / "pairs.csv", "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(("sample_id", "task_id", "prompt_id", "system", "path", "prompt_text"))
        for number, (family, clip) in enumerate(zip(("T1", "T1", "T2"), clips, strict=True)):
            for system, home in systems.items():
                prompt = f"Something crosses the picture, take {number}."
                writer.writerow((f"{family}_p{number}", family, f"p{number}", system, str(home / clip), prompt))
    site.service.import_csv("bars", folder / "pairs.csv")
    study = Study(site=site, name="bars")
    for winner in ("A", "A", "Tie"):  # two see the sides swapped: samples are disputed
        vote_through(study, study.rater(), lambda task, chosen=winner: chosen)
    return study


def settle(page: Any) -> None:
    """Wait until a page shows what it has to show: scripts have run and no request is open."""
    page.wait_for_load_state("load")
    page.wait_for_load_state("networkidle")


def watch(page: Any, site: str) -> list[str]:
    """A list that fills with what goes wrong: script errors, console errors, requests to another host."""
    faults: list[str] = []

    def asked(request: Any) -> None:
        if request.url.startswith(("http:", "https:")) and not request.url.startswith(site):
            faults.append(f"asked another server: {request.url}")

    def told(message: Any) -> None:
        if message.type == "error" and "the server responded with a status of" not in message.text:
            faults.append(message.text)

    page.on("request", asked)
    page.on("console", told)
    page.on("pageerror", lambda error: faults.append(str(error)))
    return faults
