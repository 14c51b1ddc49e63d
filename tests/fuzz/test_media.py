"""Damaged clips end in a row: some of the cases that `make fuzz` runs by the thousand, and what those have found."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.damage import DAMAGES, KINDS, Case, measure_damaged, write_sources

from rushes.workers.limits import Limits
from rushes.workers.local import Crash, run_tasks

CASES = 150
FOUND = [
    (1, 5348),  # a header that states a negative duration
    (1, 271),  # sound packets without a duration in Matroska: asked for the frame rate, which sound has not
]
"""(seed, number) of cases that once ended in an exception."""


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    write_sources(folder)
    return folder


def test_damaged_clips_end_in_a_result(sources: Path) -> None:
    cases = [Case(str(sources), 0, number) for number in range(CASES)]
    results = dict(run_tasks(measure_damaged, cases, jobs=2, limits=Limits(120, 1500)))
    assert len(results) == CASES
    faults = {n: r for n, r in results.items() if isinstance(r, Crash) or r[0] == "surprise"}
    assert not faults
    badges = {r[0] for r in results.values() if not isinstance(r, Crash)}
    assert "reject" in badges and badges - {"reject"}, "the damage should break some clips and not all"


@pytest.mark.parametrize(("seed", "number"), FOUND)
def test_what_was_found_once_stays_mended(sources: Path, seed: int, number: int) -> None:
    kind, why = measure_damaged(Case(str(sources), seed, number))
    assert kind in ("pass", "flagged", "reject"), why


def test_a_case_is_always_the_same_file(sources: Path) -> None:
    assert Case(str(sources), 3, 7).damaged() == Case(str(sources), 3, 7).damaged()
    assert Case(str(sources), 3, 7).damaged() != Case(str(sources), 4, 7).damaged()


def test_every_container_takes_part(sources: Path) -> None:
    assert {path.suffix for path in sources.iterdir()} >= {".mp4", ".mkv", ".webm", ".gif", ".mpg", ".avi"}
    assert len({Case(str(sources), 0, n).source for n in range(len(KINDS))}) == len(KINDS) and len(DAMAGES) == 7
