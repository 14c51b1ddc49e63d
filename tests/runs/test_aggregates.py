"""Counts, histograms, pages and samples: what a loop over the clips gives, of runs in one piece and in shards."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("duckdb")

from tests.runs.shard_material import names, write_shards, write_whole

from rushes.errors import InputError
from rushes.report.subjects import reason_metric
from rushes.runs import Run, read_run
from rushes.runs.aggregates import badge_counts, histogram, page, reason_counts, sample, worst


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    return {"whole": write_whole(folder / "whole", names(17)), "shards": write_shards(folder / "shards", names(17))}


@pytest.fixture(params=["whole", "shards"])
def run(request: pytest.FixtureRequest, places: dict[str, Path]) -> Run:
    return read_run(places[request.param])


def blurs(run: Run) -> dict[str, float | None]:
    found = {}
    for entry in run.entries:
        value = entry.measurements[0].value
        found[entry.subject.id] = None if value is None else float(value)
    return found


def test_counts(run: Run) -> None:
    assert badge_counts(run) == Counter(subject.badge for subject in run.subjects)
    reasons = [reason for subject in run.subjects for reason in subject.reasons]
    assert reason_counts(run) == Counter(map(reason_metric, reasons)) and "late" in reason_counts(run)


def test_a_histogram(run: Run) -> None:
    """Four bins of 25 from 0 to 100; 100 itself belongs to the last."""
    values = [value for value in blurs(run).values() if value is not None]
    found = histogram(run, "blur_score", bins=4, range=(0, 100))
    wanted = [sum(low <= v < low + 25 or (v == 100 and low == 75) for v in values) for low in (0, 25, 50, 75)]
    assert (list(found.counts), found.edges) == (wanted, (0.0, 25.0, 50.0, 75.0, 100.0))
    assert (found.missing, found.outside) == (17 - len(values), 0)
    assert found.definition.signature == "blur_score|v:1"
    assert histogram(run, "blur_score", bins=2, range=(1e6, 2e6)).outside == len(values)
    one = histogram(run, "frame_count", bins=3)
    assert (one.edges[0], one.edges[-1], sum(one.counts)) == (4.0, 5.0, 17)
    for wrong, line in (("path", "no column path with numbers"), ("nix", "there are blur_score")):
        with pytest.raises(InputError, match=line):
            histogram(run, wrong)


def test_pages(run: Run) -> None:
    ids = [subject.id for subject in run.subjects]
    assert [row["id"] for row in page(run, size=5).rows] == ids[:5]
    assert [row["id"] for row in page(run, first=15, size=5).rows] == ids[15:]
    found = blurs(run)
    sort = sorted(ids, key=lambda name: (found[name] is None, found[name] or 0.0))
    assert [row["id"] for row in page(run, columns=["id"], sort="blur_score", size=99).rows] == sort
    rejected = page(run, where="badge = 'reject'", size=1)
    assert (len(rejected.rows), rejected.total) == (1, sum(s.badge == "reject" for s in run.subjects))
    with pytest.raises(InputError, match="a page begins at 0"):
        page(run, first=-1)


def test_the_worst(run: Run) -> None:
    """Lower is better: the greatest come first."""
    found = {name: value for name, value in blurs(run).items() if value is not None}
    rows = worst(run, "blur_score", 3).rows
    assert [row["blur_score"] for row in rows] == sorted(found.values(), reverse=True)[:3]


def test_a_sample(run: Run) -> None:
    assert sample(run, 5, seed=1) == sample(run, 5, seed=1) != sample(run, 5, seed=2)
    ids = [entry.subject.id for entry in sample(run, 5, seed=1)]
    assert ids == sorted(set(ids)) and len(ids) == 5
    assert len(sample(run, 99)) == 17
