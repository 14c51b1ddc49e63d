"""What people are compared with is the same of runs in shards and in one piece, and of shards nothing but columns."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.compare.agreement.rated import write_csv
from tests.compare.runs.test_stored_columns import CLIPS, write
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.compare.agreement.clip_values import ClipColumns
from rushes.compare.agreement.metric_scores import scores_of_runs
from rushes.core.errors import InputError
from rushes.storage.runs import read_run
from rushes.storage.shards import scanning
from rushes.storage.shards.reading import Shards
from rushes.suite.file import Suite, SuitePlan, SuiteSystem
from rushes.suite.folder import SuiteRun, SuiteStep
from rushes.suite.prompts import Prompt

pytest.importorskip("pyarrow")
SYSTEMS = {"amber": 1, "birch": 2, "cedar": 3}
LACKING = {"birch": CLIPS[3:4], "cedar": [CLIPS[3], CLIPS[17]]}
WAYS = {"whole": 0, "parts": 5}


@pytest.fixture
def both_ways(tmp_path: Path) -> Path:
    """Three systems, of which two lack clips, in one piece below `whole` and in shards below `parts`."""
    for way, shards in WAYS.items():
        for name, seed in SYSTEMS.items():
            write(tmp_path / way / name, seed, shards=shards, clips=_clips(name))
    return tmp_path


def _clips(system: str) -> list[str]:
    return [clip for clip in CLIPS if clip not in LACKING.get(system, [])]


def _ratings(folder: Path) -> Path:
    """Of two raters, who leave out some clips, and rate one that nobody measured."""
    rng, rows = random.Random(4), [("gone", "amber", "r0", 3, 4)]
    for clip in CLIPS[:20]:
        rows += [
            (clip, system, rater, rng.randint(1, 5), rng.randint(1, 5)) for system in SYSTEMS for rater in ("r0", "r1")
        ]
    return write_csv(folder / "ratings.csv", ("prompt_id", "system", "rater", "quality", "motion"), rows)


def _votes(folder: Path) -> Path:
    rng = random.Random(5)
    pairs = (("amber", "birch"), ("birch", "cedar"), ("cedar", "amber"))
    rows = [(clip, *pair, rng.choice(("model_a", "model_b", "tie")), "j0") for clip in CLIPS for pair in pairs]
    return write_csv(folder / "votes.csv", ("question_id", "model_a", "model_b", "winner", "judge"), rows)


def _opinions(folder: Path) -> Path:
    """Means of clips that are called by their paths."""
    rng = random.Random(6)
    rows = [(f"{system}/{clip}.mp4", rng.randint(10, 50) / 10) for system in SYSTEMS for clip in _clips(system)]
    return write_csv(folder / "opinions.csv", ("clip", "mos"), rows)


def _told(folder: Path, arguments: list[str]) -> Iterator[str]:
    """What the command writes of runs in one piece, and of runs in shards."""
    for way in WAYS:
        answer = CliRunner().invoke(app, ["believe", *(text.replace("WAY", str(folder / way)) for text in arguments)])
        assert answer.exit_code == 0, answer.output
        yield answer.output.replace(f"/{way}/", "/")


@pytest.mark.parametrize("asked", [_ratings, _votes, _opinions])
@pytest.mark.parametrize(
    "more", [[], ["--json"], ["--format", "csv"], ["--metrics", "share,sized", "--format", "latex"]]
)
def test_agreement_with_runs_in_shards_has_the_bytes_of_runs_in_one_piece(
    both_ways: Path, asked: object, more: list[str]
) -> None:
    file = asked(both_ways)  # type: ignore[operator]
    runs = [f"{name}=WAY/{name}" for name in SYSTEMS]
    whole, parts = _told(both_ways, [*runs, "--ratings", str(file), *more])
    assert parts == whole and len(whole) > 300
    assert ("blur_score" in whole) is ("--metrics" not in more)


def test_a_suite_of_runs_in_shards_and_its_differences(both_ways: Path) -> None:
    for way, shards in WAYS.items():
        folder = both_ways / way / "suite"
        systems = tuple(SuiteSystem(name=name, clips=name, is_reference=name == "cedar") for name in SYSTEMS)
        for name, seed in SYSTEMS.items():
            write(folder / name / "clip", seed, shards=shards, clips=_clips(name))
        plan = SuitePlan(name="clip", instrument="clip")
        suite = Suite(name="s", systems=systems, ratings=str(_ratings(both_ways)), instruments=(plan,))
        steps = [SuiteStep(system=name, plan="clip", instrument="clip", folder=f"{name}/clip") for name in SYSTEMS]
        SuiteRun(path=folder, suite=suite, steps=tuple(steps), complete=True).write()
    for more in ([], ["--metrics", "diff:blur_score,sized", "--json"]):
        whole, parts = _told(both_ways, ["WAY/suite", *more])
        assert parts == whole
    assert "reference_difference" in whole


def test_of_runs_in_shards_nothing_is_read_but_columns(both_ways: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, parts = (
        [f"{name}={both_ways / way / name}" for name in SYSTEMS if (both_ways / way / name).is_dir()] for way in WAYS
    )
    held = scores_of_runs(whole)
    for name in ("lines", "line_of"):
        monkeypatch.setattr(Shards, name, lambda *given: pytest.fail("the lines of a run are read"))
    found = scores_of_runs(parts, prompts=[Prompt(id=clip) for clip in CLIPS])
    assert [one.same for one in found.metrics] == [one.same for one in held.metrics]
    for ours, theirs in zip(found.metrics, held.metrics, strict=True):
        assert isinstance(ours.per_clip, ClipColumns) and not isinstance(theirs.per_clip, ClipColumns)
        assert list(ours.per_clip.items()) == list(theirs.per_clip.items())
        assert len(ours.per_clip) == len(theirs.per_clip) and ("amber", "none") not in ours.per_clip
        assert (ours.by_system, ours.systems, ours.one_per_system) == (
            theirs.by_system,
            theirs.systems,
            theirs.one_per_system,
        )
    assert (
        not found.prompts
        and found.clips == held.clips
        and found.systems == held.systems
        and found.remarks == held.remarks
    )
    wanted = {CLIPS[0], f"{CLIPS[5]}.mp4", f"birch/{CLIPS[1]}.mp4", f"cedar__{CLIPS[2]}", "none"}
    assert found.named(wanted) == held.named(wanted)
    assert found.named(wanted)[CLIPS[0]] == {(name, CLIPS[0]) for name in SYSTEMS}
    assert found.named(wanted)[f"cedar__{CLIPS[2]}"] == {("cedar", CLIPS[2])}


def test_several_runs_of_one_system_and_a_run_of_several(tmp_path: Path) -> None:
    joined = [f"{name}__{clip}" for name in SYSTEMS for clip in CLIPS[:4]]
    for way, shards in WAYS.items():
        write(tmp_path / way / "first", 1, shards=shards, clips=CLIPS[:9])
        write(tmp_path / way / "rest", 1, shards=shards, clips=CLIPS[9:])
        write(tmp_path / way / "again", 1, shards=shards, clips=CLIPS[4:12])
        write(tmp_path / way / "other", 2, shards=shards, clips=CLIPS[4:12])
        write(tmp_path / way / "joined", 1, shards=shards, clips=joined)
    given = [[f"amber={tmp_path / way / name}" for name in ("first", "rest", "again")] for way in WAYS]
    mixed = [given[0][0], given[1][1], given[0][2]]
    one, *others = ([dict(m.per_clip) for m in scores_of_runs(runs).metrics] for runs in (*given, mixed))
    assert all(other == one for other in others)
    for way, runs in zip(WAYS, given, strict=True):
        with pytest.raises(InputError, match=r"here but differs in an earlier run"):
            scores_of_runs([*runs, f"amber={tmp_path / way / 'other'}"])
    whole, parts = (scores_of_runs([read_run(tmp_path / way / "joined")], systems=list(SYSTEMS)) for way in WAYS)
    assert parts.systems == whole.systems == tuple(SYSTEMS)
    assert [(m.by_system, m.systems) for m in parts.metrics] == [(m.by_system, m.systems) for m in whole.metrics]


def test_samples_of_a_prompt_are_averaged_in_shards_too(tmp_path: Path) -> None:
    prompts = [Prompt(id="dog"), Prompt(id="cat")]
    clips = [f"{prompt.id}-{number}" for prompt in prompts for number in range(3)]
    runs = [write(tmp_path / way / "amber", 1, shards=shards, clips=clips) for way, shards in WAYS.items()]
    whole, parts = (scores_of_runs([run], prompts=prompts) for run in runs)
    assert parts.clips == whole.clips == {("x", "dog"), ("x", "cat")}
    assert [(m.same, dict(m.per_clip)) for m in parts.metrics] == [(m.same, dict(m.per_clip)) for m in whole.metrics]
    assert parts.prompts == whole.prompts == tuple(prompts)


def test_of_named_metrics_no_other_column_is_read(both_ways: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def watched(shards: Shards, columns: Sequence[str]) -> list[np.ndarray]:
        asked.extend(columns)
        return values(shards, columns)

    values = scanning.values
    monkeypatch.setattr(scanning, "values", watched)
    monkeypatch.setattr("rushes.storage.columns._TOGETHER", 1)
    runs = [f"{name}={both_ways / 'parts' / name}" for name in SYSTEMS]
    answer = CliRunner().invoke(app, ["believe", *runs, "--ratings", str(_ratings(both_ways)), "--metrics", "sized"])
    assert answer.exit_code == 0, answer.output
    assert {name.partition("|")[0] for name in asked} == {"value:sized"}
