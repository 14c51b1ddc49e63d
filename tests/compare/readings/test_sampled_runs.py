"""Numbered samples of declared prompts count once in compare, gate and believe too, under a name that says so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.compare.agreement.rated import write_csv
from tests.compare.board.board_runs import CALM, clip_run
from tests.compare.readings.test_collect import suite_of
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.compare.readings.sampled_runs import sample_means
from rushes.storage.runs import read_run
from rushes.suite.prompts import Prompt

NAMES = tuple(f"p{n:02d}" for n in range(9))
PROMPTS = tuple(Prompt(id=name) for name in NAMES)
SIGNATURE = "calm|samples:3|window:7|within:sample-mean|v:1"


def systems(folder: Path, *, samples: int = 3, suite: bool = True, shift: float = 0.5) -> tuple[Path, Path]:
    """Two systems whose prompts differ, each with samples that hardly do; the second is `shift` better."""
    rng = np.random.default_rng(4)
    level = rng.normal(size=len(NAMES))
    places = []
    for system, extra in (("amber", 0.0), ("birch", shift)):
        rows = {
            f"{name}-{k}": {CALM: float(level[n] + extra + rng.normal(scale=0.3))}
            for n, name in enumerate(NAMES)
            for k in range(samples)
        }
        places.append(clip_run(folder / system / "clip", rows, system=system))
    if suite:
        suite_of(folder, "amber", "birch", prompts=PROMPTS)
    return places[0], places[1]


def test_compare_counts_a_prompt_once(tmp_path: Path) -> None:
    a, b = systems(tmp_path)
    found = rushes.compare_runs(a, b)
    (metric,) = found.find("calm")
    assert found.paired == NAMES and metric.reading.signature == SIGNATURE and metric.difference.count == 9
    one, other = read_run(a), read_run(b)
    means = [
        np.mean([run.measurements[f"{name}-{k}"][0].value for k in range(3)]) for run in (other, one) for name in NAMES
    ]
    assert metric.difference.value == pytest.approx(np.mean(means[:9]) - np.mean(means[9:]))
    assert found.remarks[0].startswith("3 samples of every prompt are averaged within the prompt")
    three = rushes.compare_runs(a, b, clip_run(tmp_path / "cedar" / "clip", _one_more(other), system="cedar"))
    assert {m.reading.signature for m in three.judged} == {SIGNATURE}


def _one_more(run: rushes.Run) -> dict[str, dict]:
    return {subject.id: {CALM: float(run.measurements[subject.id][0].value or 0) + 1} for subject in run.subjects}


def test_without_declared_prompts_nothing_changes(tmp_path: Path) -> None:
    a, b = systems(tmp_path, suite=False)
    found = rushes.compare_runs(a, b)
    (metric,) = found.find("calm")
    assert len(found.paired) == 27 and metric.reading.signature == "calm|window:7|v:1" and not found.remarks
    prompts = write_csv(tmp_path / "prompts.csv", ("prompt_id",), [(name,) for name in NAMES])
    declared = rushes.compare_runs(a, b, prompts=prompts)
    assert declared.paired == NAMES and declared.find("calm")[0].reading.signature == SIGNATURE


def test_prompts_with_one_clip_each_change_nothing_either(tmp_path: Path) -> None:
    runs = [clip_run(tmp_path / s / "clip", {n: {CALM: 1.0} for n in NAMES}, system=s) for s in ("amber", "birch")]
    suite_of(tmp_path, "amber", "birch", prompts=PROMPTS)
    opened = [read_run(run) for run in runs]
    assert sample_means(opened)[0] == opened


def test_a_prompt_with_a_clip_of_its_own_and_samples_stays_as_it_is(tmp_path: Path) -> None:
    rows = {"p00": {CALM: 1.0}, "p00-1": {CALM: 2.0}, "p01-0": {CALM: 3.0}, "p01-1": {CALM: 5.0}, "other": {CALM: 9.0}}
    run = read_run(clip_run(tmp_path / "amber", rows))
    ((found,), _) = sample_means([run], PROMPTS)
    assert [subject.id for subject in found.subjects] == ["p00", "p00-1", "p01", "other"]
    assert found.measurements["p01"][0].value == 4.0 and found.measurements["p01"][0].note == "mean of 2 samples"
    assert found.measurements["other"] == run.measurements["other"]


def test_a_sample_without_a_value_leaves_its_prompt_without_one(tmp_path: Path) -> None:
    run = read_run(clip_run(tmp_path / "amber", {"p00-0": {CALM: 1.0}, "p00-1": {CALM: "no face"}}))
    ((found,), _) = sample_means([run], PROMPTS)
    assert found.measurements["p00"][0].value is None and "no face" in found.measurements["p00"][0].note


def test_the_gate_counts_prompts(tmp_path: Path) -> None:
    a, b = systems(tmp_path, shift=0.0)
    report = rushes.check_regression(a, b, metrics={"calm": 2.0})
    assert report.clips == 9 and report.remarks[0].startswith("3 samples of every prompt are averaged")
    assert report.metrics[0].reading.definition.signature == SIGNATURE
    done = CliRunner().invoke(app, ["gate", str(a), str(b), "--metric", "calm:2"])
    assert done.exit_code == 0 and "9 clips" in done.output


@pytest.mark.parametrize("rated", ["prompt", "sample"])
def test_believe_counts_prompts_and_averages_ratings_of_samples(tmp_path: Path, rated: str) -> None:
    systems(tmp_path)
    clip_run(tmp_path / "cedar" / "clip", _one_more(read_run(tmp_path / "birch" / "clip")), system="cedar")
    suite_of(tmp_path, "amber", "birch", "cedar", prompts=PROMPTS)
    rng, rows = np.random.default_rng(0), []
    for name in NAMES:
        for k, system in enumerate(("amber", "birch", "cedar")):
            for sample in [name] if rated == "prompt" else [f"{name}-{n}" for n in range(3)]:
                rows += [(sample, system, r, int(np.clip(k + 2 + rng.integers(-1, 2), 1, 5))) for r in ("r0", "r1")]
    ratings = write_csv(tmp_path / "ratings.csv", ("prompt_id", "system", "rater", "quality"), rows)
    found = rushes.believe(tmp_path, ratings)
    (one,) = found.believed
    assert one.clips == 27 and one.prompts == 9 and one.metric.definition.signature == SIGNATURE
    humans = "mean-rating,sample-mean" if rated == "sample" else "mean-rating"
    assert f"|humans:{humans}|" in one.numbers["clip", "spearman"].signature
    assert any(line.startswith("3 samples of every prompt") for line in found.remarks)
