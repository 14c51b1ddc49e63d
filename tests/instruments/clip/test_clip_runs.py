"""A run of clips keeps what it has: other clips, other sound, clips that come and go, and what each is called."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.clips import noise, tone, write_luma, write_sound
from typer.testing import CliRunner, Result

import rushes
from rushes.cli.main import app
from rushes.core.errors import RunError
from rushes.media import AudioTrack, write_clip
from rushes.storage.runs import Run
from rushes.workers.engine import inline_work


def command(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def clip(path: Path, seed: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_luma(path, noise(3, size=(32, 24), seed=seed), "gray")


def ids(run: Run) -> list[str]:
    return [subject.id for subject in run.subjects]


def results(folder: Path) -> dict[str, bytes]:
    files = [folder / "subjects.jsonl", folder / "measurements.jsonl", *sorted((folder / "series").glob("*"))]
    return {file.name: file.read_bytes() for file in files}


def sound_length(run: Run, subject: str) -> tuple[object, str]:
    found = run.one("audio_duration_ms", subject=subject)
    return found.value, found.note


@pytest.fixture
def takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`takes/a.mkv` and `takes/b.mkv` in the working directory."""
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate("ab"):
        clip(tmp_path / "takes" / f"{name}.mkv", number)
    return Path("takes")


def test_other_clips_into_a_finished_run_are_refused_in_one_line(takes: Path) -> None:
    assert command("clip", takes / "a.mkv", takes / "b.mkv", "-o", "run", "--jobs", 1).exit_code == 0
    before = results(Path("run"))
    clip(Path("c.mkv"))
    for named in (Path("c.mkv"), takes / "a.mkv"):
        refused = command("clip", named, "-o", "run")
        assert refused.exit_code == 1 and refused.stderr.count("\n") == 1
        assert f"already contains a run of takes/a.mkv, takes/b.mkv. Use --add to add {named}" in refused.stderr
        assert "--overwrite to replace the run" in refused.stderr
    assert results(Path("run")) == before


def test_add_and_overwrite(takes: Path) -> None:
    clip(Path("c.mkv"), 2)
    assert command("clip", takes, "-o", "run", "--jobs", 1).exit_code == 0
    assert command("clip", "c.mkv", "-o", "run", "--add", "--jobs", 1).exit_code == 0
    rushes.evaluate_clips(["takes", "c.mkv"], run="whole", jobs=1)
    assert results(Path("run")) == results(Path("whole"))
    info = json.loads(Path("run/run.json").read_text())
    assert (info["inputs"], info["asked"]) == (["takes/a.mkv", "takes/b.mkv", "c.mkv"], ["takes", "c.mkv"])
    assert ids(rushes.evaluate_clips("c.mkv", run="run", overwrite=True, jobs=1)) == ["c"]
    assert not Path("run/series/a.npz").exists()
    both = command("clip", "c.mkv", "-o", "run", "--add", "--overwrite")
    assert both.exit_code == 2 and "give one" in both.output


def test_add_needs_a_run_to_add_to(takes: Path) -> None:
    done = command("clip", "takes", "--add")
    assert done.exit_code == 1 and "give -o RUN" in done.stderr


def test_overwrite_measures_what_was_finished_again(takes: Path) -> None:
    def measured(**how: bool) -> int:
        steps: list[int] = []
        rushes.evaluate_clips("takes", run="run", jobs=1, progress=lambda done, *_: steps.append(done), **how)
        return len(steps) - 1

    assert [measured(), measured(), measured(overwrite=True)] == [2, 0, 2]


def test_the_same_folder_may_gain_and_lose_clips(takes: Path) -> None:
    rushes.evaluate_clips("takes", run="run", jobs=1)
    (takes / "a.mkv").unlink()
    clip(takes / "c.mkv", 2)
    remarks: list[str] = []
    run = rushes.evaluate_clips("takes/", run="run", jobs=1, warn=remarks.append)
    assert ids(run) == ["b", "c", "a"]
    assert remarks == ["1 clip of this run is no longer among these paths; results are kept: a"]
    said = command("clip", "takes", "-o", "run").stderr
    assert said == f"{remarks[0]}\n"
    # The same clips, named from the root of the file system, are the same clips.
    again = rushes.evaluate_clips(takes.resolve(), run="run", jobs=1)
    assert ids(again) == ["b", "c", "a"] and again.subjects[0].path == "takes/b.mkv"


def test_the_default_run_is_that_of_the_same_question(takes: Path) -> None:
    first = rushes.evaluate_clips("takes", jobs=1)
    clip(takes / "c.mkv", 2)
    assert rushes.evaluate_clips("takes/", jobs=1).path == first.path
    write_sound(Path("s.wav"), tone(0.5)[None])
    assert rushes.evaluate_clips("takes", audio="s.wav", jobs=1).path != first.path


def test_audio_that_came_or_went_never_leaves_a_stale_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Own track 2000 ms; `speech/` has no file for b: b's length is then missing, in either order of the commands."""
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        Path("takes").mkdir(exist_ok=True)
        write_clip(Path("takes") / f"{name}.mov", noise(50, size=(32, 24)), audio=AudioTrack.of(tone(2.0), 16000))
    Path("speech").mkdir()
    write_sound(Path("speech/a.wav"), np.zeros((1, 16000), np.float32))
    own = rushes.evaluate_clips("takes", jobs=1)
    given = rushes.evaluate_clips("takes", audio="speech", jobs=1)
    assert own.path != given.path
    assert sound_length(own, "b")[0] == pytest.approx(2000, abs=130)
    assert sound_length(given, "b") == (None, "no sound for 'b' in speech")
    assert [run.info["settings"]["audio"] for run in (own, given)] == ["own", "speech"]
    for run, audio, says in ((own, "speech", "audio own, not speech"), (given, None, "audio speech, not own")):
        with pytest.raises(RunError, match=f"already contains a run with {says}. Choose another run"):
            rushes.evaluate_clips("takes", run=run.path, audio=audio, jobs=1)
    # Within one answer to --audio: a sound file that comes, or goes, is noticed.
    write_sound(Path("speech/b.wav"), np.zeros((1, 8000), np.float32))
    assert sound_length(rushes.evaluate_clips("takes", audio="speech", jobs=1), "b") == (500.0, "")
    Path("speech/b.wav").unlink()
    assert sound_length(rushes.evaluate_clips("takes", audio="./speech", jobs=1), "b")[0] is None


def test_ids_come_from_the_path_below_the_folder(tmp_path: Path) -> None:
    for name in ("A/p1/out.mkv", "A/p2/out.mkv", "A/flat.mkv", "A/c.mkv", "A/c.avi"):
        clip(tmp_path / name) if not name.endswith("avi") else shutil.copy(tmp_path / "A/c.mkv", tmp_path / name)
    run = rushes.evaluate_clips(tmp_path / "A", run=tmp_path / "run", jobs=1)
    assert ids(run) == ["c.avi", "c.mkv", "flat", "p1__out", "p2__out"]
    assert sorted(path.name for path in (tmp_path / "run" / "series").iterdir()) == [f"{name}.npz" for name in ids(run)]
    assert set(run.series("c.avi")) == set(run.series("p1__out"))
    # Fewer clips beside them change no name; measured again, a run's clips keep theirs.
    assert ids(rushes.evaluate_clips(tmp_path / "A", run=tmp_path / "again", jobs=1)) == ids(run)
    shutil.rmtree(tmp_path / "A" / "p1")
    assert ids(rushes.evaluate_clips(tmp_path / "A", run=tmp_path / "fewer", jobs=1))[-1] == "p2__out"
    assert ids(rushes.evaluate_clips(rushes.read_run(tmp_path / "fewer"), run=tmp_path / "rerun", jobs=1)) == [
        "c.avi",
        "c.mkv",
        "flat",
        "p2__out",
    ]


def test_ids_stay_when_namesakes_are_added(takes: Path) -> None:
    for folder in ("p1", "p2"):
        clip(Path(folder) / "a.mkv", 5)
    rushes.evaluate_clips("takes/a.mkv", run="run", jobs=1)
    assert ids(rushes.evaluate_clips("p1/a.mkv", run="run", add=True, jobs=1)) == ["a", "p1__a"]
    assert ids(rushes.evaluate_clips("p2", run="run", add=True, jobs=1)) == ["a", "p1__a", "p2__a"]


def test_what_is_passed_over_is_said_last_on_stderr(takes: Path) -> None:
    (takes / "notes.txt").touch()
    (takes / "gone.mp4").symlink_to("nowhere.mp4")
    done = command("clip", "takes", "-o", "run", "--json", "--jobs", 1)
    assert done.stderr == "Skipped 1 non-video file (.txt), 1 broken link\n"
    assert len(json.loads(done.stdout)["clips"]) == 2


@pytest.mark.parametrize("arguments", [[""], ["takes", "--audio", ""], ["takes", "-o", ""], ["takes", "--csv", ""]])
def test_an_empty_argument_is_one_line(takes: Path, arguments: list[str]) -> None:
    done = command("clip", *arguments)
    assert done.exit_code == 1 and "a variable that is not set?" in done.stderr and done.stderr.count("\n") == 1
    assert sorted(path.name for path in Path().iterdir()) == ["takes"]


def test_csv_on_stdout_and_an_error_that_names_the_file(takes: Path) -> None:
    done = command("clip", "takes", "-o", "run", "--csv", "-", "--jobs", 1)
    assert done.exit_code == 0 and [line.split(",")[0] for line in done.stdout.splitlines()] == ["id", "a", "b"]
    assert not Path("-").exists()
    assert command("clip", "takes", "-o", "run", "--csv", "-", "--json").exit_code == 2
    missing = command("clip", "takes", "-o", "run", "--csv", "no/where/all.csv")
    assert missing.exit_code == 1 and missing.stderr == "rushes: no/where/all.csv: No such file or directory\n"


@pytest.mark.workers
def test_a_run_in_shards_has_the_rows_of_one_in_one_piece(tmp_path: Path) -> None:
    """Five clips in shards of two, one of them no clip: two workers write and make them, and nothing is made twice."""
    pytest.importorskip("pyarrow")
    folder, run = tmp_path / "takes", tmp_path / "shards"
    folder.mkdir()
    for number in range(4):
        clip(folder / f"take{number}.mp4", seed=number)
    (folder / "broken.mp4").write_bytes(b"no clip")
    with inline_work():
        whole = rushes.evaluate_clips([folder], run=tmp_path / "whole")
    shards = rushes.evaluate_clips([folder], run=run, jobs=2, shards=2)
    assert sorted(path.name for path in (run / "shards").glob("*.parquet")) == [f"0000{n}.parquet" for n in range(3)]
    assert shards.digest == whole.digest and list(shards.entries) == list(whole.entries)
    before = {path.name: path.read_bytes() for path in (run / "shards").iterdir()}
    told: list[tuple[int, int]] = []

    def progress(done: int, total: int, unit: str) -> None:
        told.append((done, total))

    with inline_work():
        rushes.evaluate_clips([folder], run=run, progress=progress)
    assert told == [(5, 5)] and {path.name: path.read_bytes() for path in (run / "shards").iterdir()} == before


def test_the_run_that_a_call_returns_is_the_one_in_the_folder(takes: Path) -> None:
    """Whether all of it was measured now, nothing, some of it, or clips of another folder are in it as well."""
    (takes / "c.mkv").write_bytes(b"no clip")
    with inline_work():
        for more in ({}, {}, {"add": True}):
            paths = takes if not more else clip(Path("other/d.mkv"), 7)
            run = rushes.clips(paths, run="run", **more)
            assert run == rushes.read_run("run") and run.status == "complete"
            assert all(one.definition is other.definition for one, other in zip(*same_metric(run), strict=True))
        (takes / "b.mkv").unlink()
        clip(takes / "b.mkv", 9)
        assert rushes.clips(takes, run="run", overwrite=True) == rushes.read_run("run")
    assert ids(run)[-1].endswith("d")


def same_metric(run: Run) -> list[tuple[object, ...]]:
    """The measurements of the first two clips."""
    return [run.measurements[name] for name in ids(run)[:2]]
