"""Fixtures every suite shares."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path

# Rushes is a pytest plugin too, and pytest would rewrite every assertion of its 700 modules, which have none, for each
# worker anew. This has to come before any of them is imported.
for _finder in sys.meta_path:
    getattr(_finder, "_must_rewrite", set()).discard("rushes")

import pytest
import typer.main
import typer.testing
from hypothesis import settings
from tests.browsers import browser  # noqa: F401
from tests.failed_commands import commands, pytest_runtest_makereport  # noqa: F401

from rushes.workers import engine, local

collect_ignore = ["oracle"]  # scripts for environments of their own, see oracle/README.md

# Machines are shared and slow at times: a slow example is no failure. The same examples each time, so that a change is
# blamed for what it broke; `make fuzz` looks for new ones in clips and requests.
settings.register_profile("rushes", deadline=None, print_blob=True, derandomize=True)
settings.load_profile("rushes")

# A fifth of a second for every command line otherwise: Typer reads the signatures of all sixty commands each time.
typer.main.get_command = typer.testing._get_command = cache(typer.main.get_command)  # type: ignore[assignment]


SLOW_FIRST = (
    "test_doc_blocks.py",
    "workers/test_local.py",
    "vision/landmarks/test_clips.py",
    "web/test_browser.py",
    "storage/runs/test_query.py",
    "present/pages/test_browser.py",
    "web/test_every_page.py",
    "web/test_runs_browser.py",
    "present/terminal/test_on_terminal.py",
    "web/test_rate_page.py",
    "test_examples.py",
    "web/test_sheet_browser.py",
    "web/test_runs.py",
    "web/test_accessibility.py",
    "media/test_oracles.py",
    "web/test_methods_browser.py",
    "web/test_admin.py",
    "web/test_rater_path.py",
    "specifications/test_001_video_metrics.py",
    "web/test_owner_methods.py",
    "vision/landmarks/test_real_faces.py",
    "plugins/test_faulty.py",
    "study/test_work.py",
    "study/test_methods.py",
    "study/test_database.py",
    "web/test_clips_browser.py",
    "web/test_workers.py",
    "web/test_api.py",
    "instruments/clip/test_command.py",
    "instruments/distribution/test_video_metrics.py",
    "compare/gate/test_ruined.py",
    "compare/test_planted.py",
    "faults/test_kills.py",
)
"""Files that take longest: begun last, one of them would keep a worker going while the other has nothing left."""


def pytest_configure(config: pytest.Config) -> None:
    """xdist would begin with the files of most tests, whatever these take, and end with the slow ones."""
    config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    rank = {here / name: number for number, name in enumerate(SLOW_FIRST)}
    items.sort(key=lambda item: rank.get(item.path, len(rank)))


def pytest_collection_finish() -> None:
    """Thousands of collected tests live to the end: every full collection would walk them again for nothing."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Fixtures included: a test and what it measures runs in this process, unless it is marked as about workers."""
    commands.clear()
    with engine.inline_work(item.get_closest_marker("workers") is None):
        return (yield)


class _OneCore:
    """`rushes.workers.local` on a machine of one core."""

    def cpu_count(self) -> int:
        return 1

    def __getattr__(self, name: str) -> object:
        return getattr(local, name)


@pytest.fixture(scope="session", autouse=True)
def _one_core() -> Iterator[None]:
    """Where a test about workers does not say how many: a second one takes longer to start than clips to measure."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "local", _OneCore())
        yield


def _shared() -> Path:
    return Path(os.environ.get("RUSHES_SHARED", Path(__file__).parents[2] / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference clips and goldens beside the checkout; the test is skipped where there is none."""
    folder = _shared()
    if not folder.is_dir():
        pytest.skip("the reference material (../shared, or RUSHES_SHARED) is not here")
    return folder
