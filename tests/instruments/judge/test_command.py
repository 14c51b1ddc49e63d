"""`rushes judge` from the command line, and what the rest of Rushes makes of its runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.instruments.judge.judged_world import Judge, make_clip, make_prompts
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.instruments.judge.evaluate import judge_clips


def run(*words: object):
    return CliRunner().invoke(app, [str(word) for word in words], prog_name="rushes")


@pytest.fixture(scope="module")
def recorded(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Answers of a perfect judge about amber, and its run."""
    home = tmp_path_factory.mktemp("recorded")
    given = {"prompts": world / "prompts.csv", "frames": 3, "side": 64, "repeats": 1}
    judge_clips(world / "amber", judge=Judge(), run=home / "run", record=home / "answers.jsonl", **given)
    systems = {name: world / name for name in ("amber", "birch")}
    judge_clips(systems, judge=Judge(), form="pairs", run=home / "pairs", **given)
    judge_clips(systems, judge=Judge(), run=home / "both", **given)
    return home


SMALL = ("--frames", 3, "--side", 64, "--repeats", 1)


def test_the_judges_worth_is_the_first_thing_that_is_said(world, recorded, tmp_path):
    done = run(
        *("judge", world / "amber", "--prompts", world / "prompts.csv", *SMALL),
        *("--replay", recorded / "answers.jsonl", "-o", tmp_path / "run"),
    )
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("This judge follows the prompt: ")
    assert done.stderr.startswith("Plan: 48 calls about 12 clips, 144 frames, about ")
    assert done.stdout.splitlines()[-1] == str(tmp_path / "run")
    assert "judge_grade (follows_prompt)" in done.stdout


def test_json_and_a_dry_run(world, recorded, tmp_path):
    words = ("judge", world / "amber", "--prompts", world / "prompts.csv", *SMALL, "--json")
    done = run(*words, "--replay", recorded / "answers.jsonl", "-o", tmp_path / "run")
    found = json.loads(done.stdout)
    assert found["words"][0].startswith("This judge follows") and len(found["subjects"]) == 12
    dry = run(
        *words, "--judge", "openai:https://judge.invalid/v1#eye", "--dry-run", "--price-in", 2, "-o", tmp_path / "x"
    )
    plan = json.loads(dry.stdout)
    assert (plan["calls"], plan["destination"]) == (48, "judge.invalid") and plan["cost"] > 0
    assert not (tmp_path / "x").exists()


def test_a_host_is_not_sent_anything_without_a_yes(world, tmp_path):
    words = ("judge", world / "amber", "--prompts", world / "prompts.csv", "-o", tmp_path / "run")
    done = run(*words, "--judge", "openai:https://judge.invalid/v1#eye")
    assert done.exit_code == 1 and "judge.invalid; nothing was sent. To agree, give --yes" in done.stderr
    assert "name one judge" in run(*words).stderr


def test_reports_queries_and_boards_take_a_judges_run(world, recorded, tmp_path):
    page = tmp_path / "report.html"
    assert run("report", recorded / "run", recorded / "pairs", "-o", page).exit_code == 0
    text = page.read_text()
    for words in (
        "How reliable this judge is",
        "This judge follows the prompt",
        "Questions, answers, reasons",
        "hue 0",
    ):
        assert words in text
    assert "Ranking by judge:" in text
    found = rushes.query(recorded / "run", "SELECT count(*) AS n FROM measurements WHERE name = 'judge_grade'")
    assert found.to_pylist() == [{"n": 36}]
    board = rushes.collect_board([recorded / "both/amber", recorded / "both/birch", recorded / "pairs"])
    labels = [reading.label for reading in board.readings]
    assert any(label.startswith("judge:") for label in labels) and "Judge (follows_prompt)" in labels, labels
    assert not board.people and not board.asked, "a judge's pairs are no people's votes"


def test_believe_takes_a_judges_runs(world, recorded, tmp_path):
    ratings = tmp_path / "ratings.csv"
    rows = [
        f"{s},p{n},r{r},{5 - n % 3 - (s == 'birch')}" for s in ("amber", "birch") for n in range(12) for r in (1, 2)
    ]
    ratings.write_text("system,prompt,rater,quality\n" + "\n".join(rows) + "\n")
    done = run("believe", recorded / "both/amber", recorded / "both/birch", "--ratings", ratings, "--json")
    assert done.exit_code == 0, done.output
    assert "judge_grade" in done.stdout and "judge_control_wins" not in done.stdout


def test_a_suite_measures_with_a_judge(world, tmp_path, monkeypatch):
    """Settings are the arguments of `judge_clips`; files are seen from the suite's own."""
    monkeypatch.chdir(tmp_path)
    head = "from tests.instruments.judge.judged_world import Judge"
    Path("eye.py").write_text(f"{head}\n\n\ndef answer(request):\n    return Judge()(request)\n")
    Path("suite.toml").write_text(
        f'name = "colours"\n[systems]\namber = "{world / "amber"}"\nbirch = "{world / "birch"}"\n'
        f'[instruments.judge]\njudge = "python:eye:answer"\nprompts = "{world / "prompts.csv"}"\n'
        "repeats = 1\nframes = 3\nside = 64\n"
    )
    done = run("suite", "run", "suite.toml", "-o", "out")
    assert done.exit_code == 0, done.output
    assert rushes.runs.read_run("out/amber/judge").status == "complete"
    assert "one system's clips" not in done.output, "the control was passed"
    labels = [reading.label for reading in rushes.collect_board("out").readings]
    assert "Judge (follows_prompt)" in labels
    words = ("judge", "out", "--prompts", world / "prompts.csv", "--judge", "python:eye:answer", *SMALL)
    done = run(*words, "--form", "pairs", "-o", "pairs")
    assert done.exit_code == 0 and "amber" in done.stdout and "birch" in done.stdout, done.output


def test_a_suite_warns_of_a_control_that_one_systems_clips_fail(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    head = "from tests.instruments.judge.judged_world import Judge"
    Path("eye.py").write_text(f"{head}\n\n\ndef answer(request):\n    return Judge()(request)\n")
    make_prompts(tmp_path / "prompts.csv", 4)
    for hue in range(4):
        make_clip(tmp_path / f"clips/other/p{hue}.mkv", hue + 6)
    Path("suite.toml").write_text(
        'name = "colours"\n[systems]\nother = "clips/other"\n[instruments.judge]\njudge = "python:eye:answer"\n'
        'prompts = "prompts.csv"\nrepeats = 1\nframes = 3\nside = 64\n'
    )
    done = run("suite", "run", "suite.toml", "-o", "out")
    assert done.exit_code == 0 and "This control is of one system's clips" in " ".join(done.output.split()), done.output


def test_robust_takes_a_judges_run_with_planted_degradations(world, recorded, tmp_path):
    """One of twelve clips: shuffled frames change nothing but what is asked about motion."""
    given = {"prompts": world / "prompts.csv", "frames": 3, "side": 64, "repeats": 1}
    judge_clips(world / "amber", judge=Judge(), run=tmp_path / "run", plant=6, **given)
    found = rushes.measure_robustness(tmp_path / "run", run=tmp_path / "robust")
    assert len(found) == 6 and {report.path for report in found} <= {f"{tmp_path / 'run'}/p{n}" for n in range(12)}
    by_axis = {m.place["axis"]: m.value for m in found[0].measurements if m.name == "esi_one_axis" and len(m.at) == 1}
    # of clip, mild and strong one answers as the clip: 1/3
    assert set(by_axis) == {"blur", "noise", "shuffle"} and by_axis["shuffle"] == pytest.approx(1 / 3, abs=1e-4)
    refused = run("robust", recorded / "run", "-o", tmp_path / "x")
    assert refused.exit_code == 1 and "expected a sweep, or a run of rushes judge --plant N" in refused.stderr
