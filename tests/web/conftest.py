"""A small study with real clips, and a live server on it."""

from __future__ import annotations

import csv
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.quick_studies import quick_clips, quick_passwords, quick_tables  # noqa: F401

from rushes.media import write_clip
from rushes.study import StudyPlan
from rushes.study.material.training_clips import training_clips
from rushes.study.service import open_service
from rushes.web.app import create_app

from .livesite import SYSTEMS, Site, Study
from .runsite import measured_runs

FPS, FRAMES = 25, 25


def moving_bar(shade: int, sample: int) -> Iterator[np.ndarray]:
    """One second of a bar that crosses the picture; every clip differs from every other."""
    for number in range(FRAMES):
        frame = np.full((90, 160, 3), 30 + 10 * sample, np.uint8)
        left = 6 * number
        frame[20:70, left : left + 12] = (shade, 200 - 20 * (sample % 9), 90)
        yield frame


@pytest.fixture(scope="session")
def clip_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CSV of three samples by two systems, with its clips beside it."""
    folder = tmp_path_factory.mktemp("secret-folder")
    rows = []
    for sample, family in enumerate(("T1", "T2", "T4")):
        for shade, system in zip((230, 120), SYSTEMS, strict=True):
            path = folder / f"{system}_{family}_p0{sample}.mp4"
            write_clip(path, moving_bar(shade, sample), fps=FPS)
            text = f"A bar crosses the picture, take {sample}."
            rows.append((f"{family}_p0{sample}", family, f"p0{sample}", system, path.name, text))
    with open(folder / "pairs.csv", "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(("sample_id", "task_id", "prompt_id", "system", "path", "prompt_text"))
        writer.writerows(rows)
    return folder / "pairs.csv"


@pytest.fixture(scope="session")
def training_pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built-in training clips: the same bytes every time, and a quarter of a second to make."""
    media = tmp_path_factory.mktemp("made-once")
    training_clips(media)
    return media / "training"


@pytest.fixture
def make_site(tmp_path: Path, training_pair: Path) -> Iterator[Callable[..., Site]]:
    """Makes live sites, whose service has a clock that tests can move, and closes them."""
    sites: list[tuple[Site, Any]] = []

    def make(**options: Any) -> Site:
        ahead = [0]
        shutil.copytree(training_pair, tmp_path / f"studies{len(sites)}.media" / "training")
        service = open_service(
            str(tmp_path / f"studies{len(sites)}.db"), clock=lambda: int(time.time() * 1000) + ahead[0]
        )

        def pass_time(ms: float) -> None:
            ahead[0] += round(ms)

        app = create_app(service=service, **options)
        app.state.pass_time = pass_time
        site = Site(app)
        sites.append((site, service))
        return site

    yield make
    for site, service in sites:
        site.close()
        service.close()


@pytest.fixture
def site(make_site: Callable[..., Site]) -> Site:
    return make_site()


@pytest.fixture
def study(site: Site, clip_table: Path) -> Study:
    site.service.create_study(StudyPlan(name="bars", title="Bars that cross", gold_every=0, repeat_every=0))
    site.service.import_csv("bars", clip_table)
    return Study(site=site, name="bars")


@pytest.fixture
def visit(browser: Any, study: Study) -> Iterator[Callable[..., Any]]:
    """Makes people's browsers, and looks at the end that no script failed and nothing came from elsewhere."""
    from .visitor import Visitor

    visitors: list[Visitor] = []

    def make(of: Study = study, **options: object) -> Visitor:
        visitors.append(Visitor(browser, of, **options))
        return visitors[-1]

    yield make
    for visitor in visitors:
        visitor.close()


@pytest.fixture(autouse=True)
def kept_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where pictures of clips are kept during a test: not among the user's own."""
    from rushes.web.clips import thumbnails

    folder = tmp_path / "pictures"
    monkeypatch.setattr(thumbnails, "thumbnail_folder", lambda: folder)
    return folder


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two measured runs that are only looked at; a test that marks clips takes a run of its own."""
    return measured_runs(tmp_path_factory.mktemp("measured"))
