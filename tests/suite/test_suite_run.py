"""`rushes suite run`: every system under every instrument, what is missing alone, and what fails is said."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.compare.board.board_runs import CALM, clip_run, number
from tests.study.conftest import HandClock
from tests.study.test_methods import Judge
from typer.testing import CliRunner

import rushes
import rushes.instruments.clip.job as clip_job
import rushes.instruments.distribution.job as distribution_job
from rushes.cli.main import app
from rushes.compare.readings.collect import collect_board
from rushes.core.errors import InputError, RunError
from rushes.instruments.preference.methods.method import method
from rushes.instruments.preference.methods.questions import rubric_of_method
from rushes.instruments.preference.votes import Vote
from rushes.media import write_clip
from rushes.storage.runs import Entry, RunWriter, Subject, read_run
from rushes.study import StudyPlan, VoteForm, open_service
from rushes.suite.folder import read_suite_folder, run_suite
from rushes.suite.study_material import study_material
from rushes.workers.engine import inline_work
from rushes.workers.job import Job

SUITE = """
name = "takes"
[systems]
amber = "amber"
"birch wood" = "birch"
[reference]
clips = "real"
[instruments.clip]
[instruments.fidelity]
metrics = ["psnr"]
"""


def clips(folder: Path, *names: str, light: int = 0) -> None:
    folder.mkdir(parents=True)
    for n, name in enumerate(names):
        rng = np.random.default_rng(n)
        scene = rng.integers(40, 200, (24, 32, 3), dtype=np.uint8)
        write_clip(folder / f"{name}.mp4", [np.roll(scene, t, axis=1) + np.uint8(light) for t in range(6)], fps=10)


CLIPS_ALONE = '[systems]\namber = "amber"\nbirch = "birch"\n[instruments.clip]\n'


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("material")
    clips(folder / "real", "p1", "p2")
    clips(folder / "amber", "p1", "p2", light=2)
    clips(folder / "birch", "p1", "p2", light=9)
    (folder / "suite.toml").write_text(SUITE, encoding="utf-8")
    return folder


@pytest.fixture
def home(material: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(material, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def planted(clips: str, *, run: Path, overwrite: bool, canon: bool = False, **rest: object) -> None:
    """In place of `evaluate_clips`: a number per clip, without a worker."""
    found = sorted(Path(clips).glob("*.mp4"))
    if not found:
        raise InputError(f"{clips}: expected clips in this folder; found none")
    with RunWriter(run, instrument="clip", settings={"canon": canon}, asked=[clips], overwrite=overwrite) as writer:
        for clip in found:
            subject = Subject(id=clip.stem, kind="clip", path=str(clip), sha256=f"{clips}-{clip.stem}")
            writer.add(Entry(subject=subject, measurements=(number(CALM, float(len(clips))),)))
        writer.finish([clip.stem for clip in found])


@pytest.fixture
def without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clip_job, "evaluate_clips", planted)


def files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_suite_goes_from_folders_to_a_board_and_measures_only_what_is_missing(home: Path) -> None:
    begun: list[str] = []
    (home / "suite.toml").write_text(SUITE.replace('"birch wood" = "birch"\n', ""), encoding="utf-8")
    assert not run_suite("suite.toml", "out", jobs=1, started=lambda step: begun.append(step.folder)).failed
    assert begun == ["amber/clip", "amber/fidelity", "real/clip"]
    before = files(home / "out")
    stamps = {path: os.stat(home / "out" / path).st_mtime_ns for path in before if path.endswith(".npz")}
    assert len(stamps) == 6

    (home / "suite.toml").write_text(SUITE, encoding="utf-8")  # a system joins
    with inline_work(False):  # real workers, whose rows join those that were measured here
        done = run_suite("suite.toml", "out", jobs=2)
    assert done.complete and not done.failed and done == read_suite_folder("out")
    assert {path: os.stat(home / "out" / path).st_mtime_ns for path in stamps} == stamps
    after = files(home / "out")
    rows = [name for name in before if name.endswith(".jsonl")]
    assert {name: before[name] for name in rows} == {name: after[name] for name in rows}
    assert read_run("out/birch_wood/clip").status == "complete"  # each is an ordinary run
    assert read_run("out/birch_wood/clip").subjects[0].path == "birch/p1.mp4"

    board = collect_board("out")
    assert board.names == ("amber", "birch wood", "real") and [p.id for p in board.prompts] == ["p1", "p2"]
    (psnr,) = [reading for reading in board.readings if reading.label == "PSNR"]
    values = [board.whole[name, psnr.key].value for name in board.names]
    assert values[2] is None  # a reference is not held against itself
    # The light is off by 2 and by 9 of 255: 20 lg(255 / 2) = 42.1 dB and 20 lg(255 / 9) = 29.0 dB, less what x264 lost.
    assert isinstance(values[0], float) and isinstance(values[1], float) and 42.2 > values[0] > values[1] > 25
    assert board.clips["birch wood", "p2"].subject == "p2"
    assert all(board.whole[name, reading.key] for name in board.names for reading in board.readings)


@pytest.mark.usefixtures("without_workers")
def test_what_fails_for_one_system_is_said_and_does_not_end_the_others(home: Path) -> None:
    for clip in (home / "amber").iterdir():
        clip.unlink()
    text = SUITE.replace("metrics =", 'protocol = "no-such"\nmetrics =')
    (home / "suite.toml").write_text(text, encoding="utf-8")
    done = CliRunner().invoke(app, ["suite", "run", "suite.toml", "-o", "out", "--jobs", "1"])
    assert done.exit_code == 1 and "Traceback" not in done.output
    assert "amber/clip: amber: expected clips in this folder; found none" in done.output
    assert "birch_wood/fidelity: " in done.output and "rushes board out" in done.output
    board = collect_board("out")
    assert any(remark.startswith("amber/clip: could not be measured") for remark in board.remarks)
    assert "amber has no run: it has no number on this board" in board.remarks
    assert [name for (name, prompt) in board.clips if prompt == "p1"] == ["birch wood", "real"]


@pytest.mark.usefixtures("without_workers")
def test_other_settings_are_refused_until_the_runs_start_anew(home: Path) -> None:
    text = '[systems]\namber = "amber"\n[instruments.clip]\n'
    (home / "suite.toml").write_text(text, encoding="utf-8")
    run_suite("suite.toml", "out", jobs=1)
    (home / "suite.toml").write_text(text + "canon = true\n", encoding="utf-8")
    (failed,) = run_suite("suite.toml", "out", jobs=1).failed
    assert failed.folder == "amber/clip" and "canon" in failed.why
    assert not run_suite("suite.toml", "out", jobs=1, overwrite=True).failed


def test_a_folder_of_something_else_is_left_alone(home: Path) -> None:
    (home / "full").mkdir()
    (home / "full" / "notes.txt").touch()
    with pytest.raises(RunError, match=r"expected an empty folder or one of rushes suite run; it holds notes\.txt"):
        run_suite("suite.toml", "full")
    with pytest.raises(RunError, match="this is a file"):
        run_suite("suite.toml", "suite.toml")
    (home / "bare.toml").write_text('[systems]\namber = "amber"\n', encoding="utf-8")
    with pytest.raises(InputError, match="expected an instrument"):
        run_suite("bare.toml", "out")
    (home / "bare.toml").write_text('[systems]\nfeatures = "amber"\n[instruments.clip]\n', encoding="utf-8")
    with pytest.raises(InputError, match="features is already the name of a folder"):
        run_suite("bare.toml", "out")


def test_an_interrupted_suite_goes_on(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "suite.toml").write_text('name = "takes"\n' + CLIPS_ALONE, encoding="utf-8")
    steps = []

    def stop(*given: object, **settings: object) -> None:
        steps.append(given)
        if len(steps) == 2:
            raise KeyboardInterrupt
        planted(*given, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(clip_job, "evaluate_clips", stop)
    with pytest.raises(KeyboardInterrupt):
        run_suite("suite.toml", "out", jobs=1)
    half = read_suite_folder("out")
    assert not half.complete
    assert any("birch/clip: not measured yet" in remark for remark in collect_board("out").remarks)
    assert run_suite("suite.toml", "out", jobs=1).complete
    (home / "suite.toml").write_text('name = "others"\n' + CLIPS_ALONE, encoding="utf-8")
    with pytest.raises(RunError, match="holds the suite 'takes'; this file is of 'others'"):
        run_suite("suite.toml", "out")


@pytest.mark.usefixtures("without_workers")
def test_runs_made_elsewhere_are_systems_too(home: Path) -> None:
    clip_run(home / "runs" / "amber", {"p1": {CALM: 1.0}, "p2": {CALM: 2.0}})
    (home / "suite.toml").write_text('[systems]\nours = "runs/amber"\nbirch = "birch"\n[instruments.clip]\n', "utf-8")
    done = CliRunner().invoke(app, ["suite", "run", "suite.toml", "-o", "out", "--jobs", "1", "--json"])
    assert done.exit_code == 0 and [run["run"] for run in json.loads(done.stdout)["runs"]] == ["out/birch/clip"]
    board = collect_board("out")
    assert board.names == ("ours", "birch") and len(board.clips) == 4


def test_poses_sweeps_and_votes_run_from_a_suite(home: Path) -> None:
    points = [[float(x), float(y)] for x, y in np.random.default_rng(1).uniform(0, 90, (17, 2))]
    for side in ("real", "amber"):
        for clip in ("p1", "p2"):
            rows = [{"frame": n, "keypoints": points} for n in range(2)]
            (home / side / f"{clip}.mp4").unlink()
            (home / side / f"{clip}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    text = '[systems]\namber = "amber"\n[reference]\nclips = "real"\non_board = false\n'
    text += '[instruments.pose]\nnorms = "torso-diameter"\nks = 20\nskeleton = "coco-17"\n'
    (home / "suite.toml").write_text(text, encoding="utf-8")
    done = run_suite("suite.toml", "out")
    assert not done.failed, done.failed
    board = collect_board("out")
    (pck,) = [reading for reading in board.readings if reading.definition.name == "pck"]
    assert pck.per_prompt and board.whole["amber", pck.key].value == 1.0 and board.whole["amber", pck.key].count == 2

    open_service(home / "votes.db").close()
    (home / "birch" / "p2.mp4").unlink()
    text = '[systems]\nbirch = "birch"\n[instruments.robustness]\naxes.crf = [20, 40]\n'
    text += '[instruments.preference]\ndb = "votes.db"\nstudy = "nobody"\n'
    (home / "suite.toml").write_text(text, encoding="utf-8")
    done = run_suite("suite.toml", "out2", jobs=1)
    (failed,) = done.failed  # the study is not there; the sweeps are
    assert failed.folder == "preference" and "nobody" in failed.why
    board = collect_board("out2")
    esi = [reading for reading in board.readings if reading.label.startswith("ESI")]
    assert [(reading.at, reading.per_prompt) for reading in esi] == [
        ((("axis", "crf"),), False)
    ]  # one sweep, and no clips
    assert isinstance(board.whole["birch", esi[0].key].value, float)


@pytest.mark.usefixtures("without_workers")
def test_votes_of_a_study_are_a_column(home: Path) -> None:
    with open_service(home / "votes.db") as service:
        service.create_study(StudyPlan(name="takes"), training=False)
        winners = [("x", "a"), ("x", "a"), ("y", "a"), ("y", "b")]
        pair = {"system_a": "amber", "system_b": "birch", "family": "T1"}
        votes = [Vote(sample=f"s{n}", rater=rater, winner=who, **pair) for n, (rater, who) in enumerate(winners)]
        service.import_ratings("takes", votes)
    text = '\n[instruments.preference]\ndb = "votes.db"\nstudy = "takes"\n'
    (home / "suite.toml").write_text(CLIPS_ALONE + text, encoding="utf-8")
    assert not run_suite("suite.toml", "out").failed
    board = collect_board("out")
    (elo,) = [reading for reading in board.readings if reading.label == "Elo"]
    # Three of four: the odds are 3, so the two are 400 lg 3 = 190.85 Elo apart around 1000.
    values = [board.whole[name, elo.key].value for name in ("amber", "birch")]
    assert values == pytest.approx([1095.4243, 904.5757], abs=1e-3)
    assert elo.instrument == "preference" and not elo.per_prompt


@pytest.mark.usefixtures("without_workers")
def test_ratings_of_single_clips_are_columns(home: Path) -> None:
    clock = HandClock()
    (home / "suite.toml").write_text(CLIPS_ALONE, encoding="utf-8")
    with open_service(home / "votes.db", clock=clock) as service:
        asked = method("acr-9")
        plan = StudyPlan(name="takes", method=asked, rubric=rubric_of_method(asked), repeat_every=0, audio_check=False)
        service.create_study(plan, training=False, clips=study_material([home / "suite.toml"]).clips)
        for invitation in service.invite("takes", count=2):
            rater = Judge(service, clock, "takes", invitation)
            while (task := service.next_task(rater.session)) is not None:
                score = 8 if "/amber/" in service.media(task.a.token).source else 5
                rater.send(task, VoteForm(ratings_a={"overall": score}))
    text = '\n[instruments.preference]\ndb = "votes.db"\nstudy = "takes"\n'
    (home / "suite.toml").write_text(CLIPS_ALONE + text, encoding="utf-8")
    assert not run_suite("suite.toml", "out").failed
    board = collect_board("out")
    (column,) = [reading for reading in board.readings if "overall" in reading.label]
    assert "scale:1-9" in column.definition.signature and column.per_prompt
    assert [board.whole[name, column.key].value for name in ("amber", "birch")] == [8.0, 5.0]


def test_a_distance_keeps_its_features_for_all_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, object]] = []
    monkeypatch.setattr(distribution_job, "compare_sets", lambda gen, gt, **rest: seen.append(rest | {"gen": gen}))
    settings = {"metrics": ["fvd"]}
    shared = {"jobs": 1, "engine": rushes.Engine(), "overwrite": False, "progress": print, "warn": print}
    job = Job(clips="a", reference="b", out=tmp_path, features=tmp_path / "features", settings=settings, **shared)
    distribution_job.measure(job)
    assert seen[0]["cache"] == tmp_path / "features" and seen[0]["metrics"] == ["fvd"] and seen[0]["gen"] == "a"


def test_python_shows_progress_by_default(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: object) -> None:
    """A call of minutes was silent: in a notebook there is a line per step."""
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    (home / "alone.toml").write_text(CLIPS_ALONE, encoding="utf-8")
    with inline_work():
        run_suite(home / "alone.toml", home / "shown")
        shown = capsys.readouterr().err  # type: ignore[attr-defined]
        run_suite(home / "alone.toml", home / "silent", progress=lambda done, total, step: None)
    assert "2 of 2" in shown or "2/2" in shown, shown
    assert not capsys.readouterr().err  # type: ignore[attr-defined]
