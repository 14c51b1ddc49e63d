"""What a study can be made of: suites, runs of suites, named runs, folders of clips; prompts matched by id."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.study.test_command import done, rushes
from tests.study.test_importing import write_run

from rushes.study import StudyError, open_service
from rushes.study.material.places import from_runs, named_places
from rushes.study.material.prompts import PromptBook, PromptRow
from rushes.study.material.sources import from_csv
from rushes.suite.folder import run_suite
from rushes.suite.study_material import study_material

PROMPTS = "task_id,prompt_id,prompt_text\nactions,p005,rabbits are running\nkinetic_motions,p001,a horse race\n"


@pytest.fixture
def systems(tmp_path, takes) -> Path:
    """Folders alpha, beta and ground-truth with the clips p001 and p005, and their prompts."""
    folder = tmp_path / "takes"
    for system, source in (("alpha", "alpha"), ("beta", "beta"), ("ground-truth", "gamma")):
        (folder / system).mkdir(parents=True)
        for prompt, name in (("p001", "T1_p00"), ("p005", "T1_p01")):
            shutil.copy(takes / f"{source}_{name}.mp4", folder / system / f"{prompt}.mp4")
    (folder / "prompts.csv").write_text(PROMPTS, encoding="utf-8")
    return folder


@pytest.fixture
def suite(systems) -> Path:
    file = systems.parent / "suite.toml"
    file.write_text(
        'name = "s"\n[systems]\nfirst = "takes/alpha"\nsecond = "takes/beta"\n[reference]\n'
        'clips = "takes/ground-truth"\n'
        '[prompts]\nfile = "takes/prompts.csv"\n[instruments.clip]\n',
        encoding="utf-8",
    )
    return file


def facts(clips):
    return {(clip.system, clip.sample, clip.family, clip.prompt_text) for clip in clips}


def expected(*names: str):
    texts = {"p001": ("kinetic_motions", "a horse race"), "p005": ("actions", "rabbits are running")}
    return {(system, prompt, *texts[prompt]) for system in names for prompt in texts}


def test_a_suite_file_a_suite_folder_and_a_folder_of_systems_are_one_study(suite, systems, tmp_path):
    done = run_suite(suite, tmp_path / "out", jobs=1)
    assert not done.failed
    for place in (suite, tmp_path / "out"):
        found = study_material([place])
        assert facts(found.clips) == expected("first", "second")
        assert "ground-truth is left out" in found.remarks[0]
    assert facts(study_material([systems]).clips) == expected("alpha", "beta")
    hidden = study_material([suite], with_reference=True)
    assert facts(hidden.clips) == expected("first", "second", "ground-truth") and not hidden.remarks
    (systems / "alpha").rename(tmp_path / "moved")  # then the suite's own runs know the clips
    runs = [tmp_path / "out/first/clip", tmp_path / "out/second/clip"]
    assert set(named_places(runs)) == {"first", "second"}


def test_clips_are_shown_by_the_suites_own_rule(suite, systems, tmp_path):
    db = tmp_path / "studies.db"
    made = ["study", "create", "s", str(suite), "--alike", "suite", "--db", str(db)]
    refused = rushes(*made)
    assert (
        refused.exit_code == 1
        and "--alike suite needs a suite's folder or file with an [alike] table" in refused.stderr
    )
    rule = '[alike]\nsize = "25x17"\nfps = 5\nseconds = 0.4\n'
    suite.write_text(suite.read_text(encoding="utf-8").replace("[instruments.clip]", f"{rule}[instruments.clip]"))
    done(*made)
    with open_service(db) as service:
        assert service.studies()[0].alike == "24x16@5,0.4s,crop"  # video has even sides
        said = service.audit("s", limit=1)[0].detail["remarks"]
    assert said[-1].endswith(
        "ll clips are shown at 24x16, 5 fps, as long as the shortest clip of the prompt, 0.4 s at most."
    )
    assert rushes("study", "create", "t", systems, "--alike", "suite", "--db", db).exit_code == 1


def test_runs_by_name_and_prompts_by_id(systems, tmp_path, takes):
    runs = [
        write_run(tmp_path / n / "clip", {p: systems / n / f"{p}.mp4" for p in ("p001", "p005")})
        for n in ("alpha", "beta")
    ]
    given = [f"ours={runs[0]}", f"theirs={runs[1]}"]
    assert facts(study_material(given, prompts=systems / "prompts.csv").clips) == expected("ours", "theirs")
    assert facts(from_runs(runs, prompts=systems / "prompts.csv")) == expected("alpha", "beta")
    told = study_material(given).remarks
    assert told == (
        "All of 2 samples have no prompt text, such as p001: raters see these clips without a prompt. "
        "--prompts FILE adds the texts.",
    )


def test_a_manifest_that_matches_nothing_is_refused(systems, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("prompt_id,prompt_text\nq1,something else\n", encoding="utf-8")
    with pytest.raises(StudyError, match="no clip belongs to one of its prompts.*'p001'.*'q1'"):
        study_material([systems], prompts=other)
    other.write_text("prompt_id,prompt_text\np001,a horse race\n", encoding="utf-8")
    assert "1 of 2 samples have no prompt text, such as p005" in study_material([systems], prompts=other).remarks[1]


def test_clips_named_by_system_task_and_prompt(systems, tmp_path):
    flat = tmp_path / "flat"
    flat.mkdir()
    for name, prompt in (("actions_p005", "p005"), ("kinetic_motions_p1", "p001")):
        for system in ("alpha", "beta"):
            shutil.copy(systems / system / f"{prompt}.mp4", flat / f"{system}_{name}.mp4")
    clips = from_csv(systems / "prompts.csv", clips=flat)
    assert {(c.system, c.sample, c.prompt) for c in clips} == {
        (s, *rest) for s in ("alpha", "beta") for rest in (("actions_p005", "p005"), ("kinetic_motions_p1", "p001"))
    }


def test_two_digit_tasks_keep_their_prompt():
    book = PromptBook.of([PromptRow("T10", "p01", "ten"), PromptRow("T1", "p01", "one")])
    assert [book.find(name).text for name in ("T10_p01", "T1_p1", "amber_T10_1")] == ["ten", "one", "ten"]
    with pytest.raises(StudyError, match="has two rows"):
        PromptBook.of([PromptRow("T1", "p01", "a"), PromptRow("T1", "1", "b")], "prompts.csv")


def test_a_system_that_lacks_clips_is_named(systems):
    (systems / "beta" / "p005.mp4").unlink()
    (systems / "gamma").mkdir()
    shutil.copy(systems / "ground-truth" / "p005.mp4", systems / "gamma")
    assert "beta has no clip for 1 of 2 samples, such as p005." in study_material([systems]).remarks
