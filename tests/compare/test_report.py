"""`write_report` takes one run or several, by path or read, and tells how far it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.clips import noise, write_luma

import rushes
from rushes.compare.report import write_report
from rushes.instruments.clip.evaluate import evaluate_clips

pytest.importorskip("jinja2", reason="the report needs jinja2 (pip install 'rushes[report]')")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> rushes.Run:
    folder = tmp_path_factory.mktemp("takes")
    for number in range(2):
        write_luma(folder / f"take{number}.mkv", noise(6, seed=number), "gray")
    return evaluate_clips([folder], run=folder.parent / "run", jobs=1)


def test_one_run_by_path_or_read_gives_one_page(run: rushes.Run, tmp_path: Path) -> None:
    pages = [tmp_path / f"{number}.html" for number in range(4)]
    for given, page in zip((run, run.path, str(run.path), [run]), pages, strict=True):
        made = write_report(given, page, strips=0)
        assert (made.path, len(made.runs)) == (page, 1)
    assert len({page.read_bytes() for page in pages}) == 1


def test_several_runs(run: rushes.Run, tmp_path: Path) -> None:
    assert len(write_report((run, str(run.path)), tmp_path / "two.html", strips=0).runs) == 2


def test_progress_begins_at_none_and_ends_with_all(run: rushes.Run, tmp_path: Path) -> None:
    steps: list[tuple[int, int, str]] = []
    write_report(run, tmp_path / "r.html", jobs=1, progress=lambda *step: steps.append(step))
    assert steps == [(0, 2, "film strips"), (1, 2, "film strips"), (2, 2, "film strips")]
