"""Making studies: from run directories, from CSV files, and what is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from rushes.core.errors import InputError
from rushes.core.machine.provenance import file_digest
from rushes.media import probe, write_clip
from rushes.storage.runs import Entry, RunWriter, Subject
from rushes.study import ExclusionRule, StudyError, StudyPlan
from rushes.study.material.clips import content_type, ready_clip
from rushes.study.material.places import from_runs, read_sources
from rushes.study.material.sources import from_csv

ON_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
"""About files and words: refused or made before anything is stored, so one database says it all."""


def write_run(folder: Path, clips: dict[str, Path]) -> Path:
    with RunWriter(folder, instrument="clip", settings={"tier": 0}) as run:
        for name, path in clips.items():
            subject = Subject(id=name, kind="clip", path=str(path), sha256=file_digest(path))
            run.add(Entry(subject=subject, measurements=()))
        run.finish(list(clips))
    return folder


@pytest.fixture
def runs(tmp_path, takes) -> list[Path]:
    """Runs alpha and beta over T1_p00 and T2_p02; beta has one clip more."""
    return [
        write_run(
            tmp_path / "runs" / system,
            {name: takes / f"{system}_{name}.mp4" for name in ("T1_p00", "T2_p02", *more)},
        )
        for system, more in (("alpha", ()), ("beta", ("T2_p03",)))
    ]


def table(tmp_path: Path, *rows: str, header: str = "sample_id,task_id,prompt_id,system,path") -> Path:
    path = tmp_path / "clips.csv"
    path.write_text("\n".join((header, *rows)) + "\n", encoding="utf-8")
    return path


def test_runs_are_matched_by_subject_id(runs, manifest):
    clips = from_runs(runs, prompts=manifest)
    assert [(c.system, c.sample, c.family, c.prompt_text) for c in clips] == [
        ("alpha", "T1_p00", "T1", "Prompt 0"),
        ("alpha", "T2_p02", "T2", "Prompt 2"),
        ("beta", "T1_p00", "T1", "Prompt 0"),
        ("beta", "T2_p02", "T2", "Prompt 2"),
    ]


def test_a_systems_name_before_the_id_is_left_out_when_matching(tmp_path, takes):
    folders = [
        write_run(tmp_path / system, {f"{system}_T1_p00": takes / f"{system}_T1_p00.mp4"})
        for system in ("alpha", "beta")
    ]
    assert {(c.sample, c.name) for c in from_runs(folders)} == {("T1_p00", "alpha_T1_p00"), ("T1_p00", "beta_T1_p00")}


def test_a_study_from_two_runs(service, runs):
    service.create_study(StudyPlan(name="s"), training=False)
    assert service.import_runs("s", runs) == 2
    assert [clip.id for clip in service.clips("s")] == [
        "alpha/T1_p00",
        "alpha/T2_p02",
        "beta/T1_p00",
        "beta/T2_p02",
    ]


@pytest.mark.parametrize("count", [0, 1])
def test_one_run_is_no_comparison(runs, count):
    with pytest.raises(StudyError, match="two or more runs"):
        from_runs(runs[:count])


def test_runs_that_do_not_fit(tmp_path, runs, takes):
    other = write_run(tmp_path / "gamma", {"elsewhere": takes / "gamma_T1_p00.mp4"})
    with pytest.raises(StudyError, match="no clip in common"):
        from_runs([runs[0], other])
    twin = write_run(tmp_path / "again" / "alpha", {"T1_p00": takes / "alpha_T1_p00.mp4"})
    with pytest.raises(StudyError, match="also called 'alpha'"):
        from_runs([runs[0], twin])
    with RunWriter(tmp_path / "pose", instrument="pose", settings={}) as run:
        run.finish([])
    with pytest.raises(StudyError, match="one of pose"):
        from_runs([runs[0], tmp_path / "pose"])
    with pytest.raises(InputError, match="run directory"):
        from_runs([runs[0], tmp_path / "nothing"])


def test_a_csv_of_clips_with_gold_and_own_training(service, tmp_path, takes):
    rows = [
        f"s{n},T1,{n},{system},{takes / f'{system}_T1_p0{n}.mp4'},," for n in (0, 1) for system in ("alpha", "beta")
    ]
    rows += [f"g,T2,2,{s},{takes / f'{s}_T2_p02.mp4'},gold,alpha" for s in ("alpha", "beta")]
    rows += [f"t,T2,3,{s},{takes / f'{s}_T2_p03.mp4'},training,beta" for s in ("alpha", "beta")]
    path = table(tmp_path, *rows, header="sample_id,task_id,prompt_id,system,path,kind,expected")
    summary = service.create_study(StudyPlan(name="s"), training=False, clips=from_csv(path))
    assert summary.pairs == 2
    session = service.accept_invite(service.invite("s")[0].token).token
    assert service.give_consent(session).stage == "training"
    assert service.training_task(session).family == "T2"


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["s,T1,1,alpha,{a}", "t,T1,1,alpha,{b}"], "got 1 (alpha)"),
        (["s,T1,1,alpha,{a}", "s,T1,1,alpha,{b}", "s,T1,1,beta,{b}"], "system alpha appears twice"),
        (["s,T1,1,alpha,{a}", "s,T1,1,beta,gone.mp4"], "there is no such file"),
        (["s,T1,1,alpha,{a}", "s,T1,1,beta,{a}"], "are the same file"),
        (["s,T1,1,alpha,{a}", "s,T2,1,beta,{b}"], "different task families"),
        (["s,T1,1,,{a}", "s,T1,1,beta,{b}"], "line 2: system is empty"),
        ([], "needs clips; got none"),
    ],
)
@ON_SQLITE
def test_what_a_csv_may_not_hold(service, tmp_path, takes, rows, words):
    files = {"a": takes / "alpha_T1_p00.mp4", "b": takes / "beta_T1_p00.mp4"}
    path = table(tmp_path, *(row.format(**files) for row in rows))
    service.create_study(StudyPlan(name="s"), training=False)
    with pytest.raises(StudyError) as error:
        service.import_csv("s", path)
    assert words in str(error.value)
    assert service.studies()[0].pairs == 0


@ON_SQLITE
def test_kinds_and_expected_answers_are_checked(service, tmp_path, takes):
    header = "sample_id,task_id,prompt_id,system,path,kind,expected,expected_tag"
    for kind, expected, tag, words in (
        ("silver", "", "", "kind is sample, gold, training"),
        ("gold", "", "", "names the system that must win"),
        ("gold", "gamma", "", "expected must be alpha, beta, Tie"),
        ("gold", "alpha", "Ugly", "not one of the rubric's tags"),
    ):
        rows = [f"g,T2,2,{s},{takes / f'{s}_T2_p02.mp4'},{kind},{expected},{tag}" for s in ("alpha", "beta")]
        with pytest.raises(StudyError) as error:
            service.create_study(
                StudyPlan(name="s"), training=False, clips=from_csv(table(tmp_path, *rows, header=header))
            )
        assert words in str(error.value)
    assert service.studies() == ()


def test_duplicate_pairs_are_refused_and_nothing_is_added(service, study, manifest, two_systems):
    before = service.studies()[0].pairs
    with pytest.raises(StudyError, match="already exists; nothing was imported"):
        service.import_csv(study, manifest, clips=two_systems)
    assert service.studies()[0].pairs == before


def test_other_files_are_refused(tmp_path, manifest, takes):
    with pytest.raises(StudyError, match="expected the columns"):
        from_csv(table(tmp_path, "1,2", header="a,b"))
    with pytest.raises(StudyError, match="expected a CSV file; it does not exist"):
        from_csv(tmp_path / "none.csv")
    with pytest.raises(StudyError, match="--clips FOLDER"):
        from_csv(manifest)
    with pytest.raises(StudyError, match="expected a folder"):
        from_csv(manifest, clips=tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(StudyError, match="no clip is named like"):
        from_csv(manifest, clips=tmp_path / "empty")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00a")
    with pytest.raises(StudyError, match="cannot be read as CSV"):
        read_sources([tmp_path / "binary.csv"])


def test_a_folder_with_a_hole_is_refused(tmp_path, manifest, two_systems):
    folder = tmp_path / "hole"
    shutil.copytree(two_systems, folder)
    (folder / "beta_T1_p01.mp4").unlink()
    with pytest.raises(StudyError, match="beta has no clip for T1_p01"):
        from_csv(manifest, clips=folder)
    shutil.copy(folder / "beta_T1_p00.mp4", folder / "beta_T9_p77.mp4")
    with pytest.raises(StudyError, match="beta_T9_p77.*expected SYSTEM_TASK_PROMPT"):
        from_csv(manifest, clips=folder)


def test_three_systems_make_three_pairs_a_prompt(service, manifest, takes):
    summary = service.create_study(StudyPlan(name="s"), training=False, clips=from_csv(manifest, clips=takes))
    assert summary.pairs == 18


def test_a_playable_clip_is_used_where_it_lies(tmp_path, two_systems):
    source = two_systems / "alpha_T1_p00.mp4"
    ready = ready_clip(source, media=tmp_path / "media", hide=["alpha"])
    assert ready.path == source.resolve() and not (tmp_path / "media").exists()
    assert (ready.duration_ms, ready.fps, ready.width, ready.height) == (480, 25.0, 48, 32)
    assert ready.sha256 == file_digest(source) and ready.size == source.stat().st_size


@pytest.mark.parametrize("ending", ["mkv", "avi", "mp4"])
def test_what_a_browser_cannot_play_is_canonicalised(tmp_path, ending):
    frames = [np.full((32, 48, 3), 9 * step, np.uint8) for step in range(12)]
    source = tmp_path / f"odd.{ending}"
    write_clip(source, frames, pix_fmt="yuv444p" if ending == "mp4" else "yuv420p")
    assert content_type(source, probe(source)) is None
    ready = ready_clip(source, media=tmp_path / "media", hide=[])
    assert ready.path.parent == (tmp_path / "media").resolve() and ready.content_type == "video/mp4"
    facts = probe(ready.path)
    assert facts.video is not None and (facts.video.codec, facts.video.pix_fmt) == ("h264", "yuv420p")
    assert ready.sha256 == file_digest(source)


def test_a_clip_that_tells_its_system_is_canonicalised(tmp_path, two_systems):
    source = tmp_path / "clip.mp4"
    source.write_bytes((two_systems / "alpha_T1_p00.mp4").read_bytes() + b"\x00\x00\x00\x17freeMade by SoRa2!!")
    assert content_type(source, probe(source)) == "video/mp4"
    ready = ready_clip(source, media=tmp_path / "media", hide=["sora2"])
    assert ready.path != source and b"sora2" not in ready.path.read_bytes().lower()


@ON_SQLITE
def test_a_clip_that_is_no_video_is_refused(service, tmp_path, takes):
    (tmp_path / "text.mp4").write_text("not a clip")
    path = table(tmp_path, f"s,T1,1,alpha,{takes / 'alpha_T1_p00.mp4'}", "s,T1,1,beta,text.mp4")
    with pytest.raises(InputError, match=r"text\.mp4"):
        service.create_study(StudyPlan(name="s"), training=False, clips=from_csv(path))
    assert service.studies() == ()


@ON_SQLITE
def test_plans_that_cannot_be(service):
    for plan in (
        StudyPlan(name="Bad Name"),
        StudyPlan(name=""),
        StudyPlan(name="s", min_raters=1),
        StudyPlan(name="s", quota=0),
        StudyPlan(name="s", gold_every=1),
        StudyPlan(name="s", repeat_every=-1),
    ):
        with pytest.raises(StudyError):
            service.create_study(plan, training=False)
    service.create_study(StudyPlan(name="s"), training=False)
    with pytest.raises(StudyError, match="already exists"):
        service.create_study(StudyPlan(name="s"), training=False)


def test_the_exclusion_rule_is_declared_before_the_votes(service, study, people):
    service.declare_exclusion(study, ExclusionRule(max_gold_errors=1))
    assert service.exclusion_rule(study) == "gold_errors>1"
    (one,) = people(1)
    one.vote(one.task())
    with pytest.raises(StudyError, match="before the first vote"):
        service.declare_exclusion(study, ExclusionRule())
