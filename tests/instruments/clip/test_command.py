"""`rushes clip` as a user meets it: what it prints, writes and returns, and what bad input does."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.clips import noise, write_luma, write_sound
from typer.testing import CliRunner, Result

from rushes.cli.main import app
from rushes.instruments.clip import settings as clip_settings
from rushes.instruments.clip.bundle import KEYS
from rushes.instruments.clip.faces.models import FaceSettings
from rushes.storage.runs import read_run
from rushes.workers.engine import inline_work


def rushes(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def drifting(frames: int, *, seed: int = 0) -> list[np.ndarray]:
    """One texture that moves on by three pixels a frame: steady light, sharp, no repeat."""
    (texture,) = noise(1, size=(64, 48), seed=seed)
    return [np.roll(texture, 3 * t, axis=1) for t in range(frames)]


@pytest.fixture(scope="module")
def takes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two good clips, one frozen, one that is no video."""
    folder = tmp_path_factory.mktemp("takes of ünïcode")
    write_luma(folder / "good 1.mkv", drifting(6), "gray")
    write_luma(folder / "good 2.mkv", drifting(6, seed=1), "gray")
    write_luma(folder / "frozen.mkv", drifting(1) * 20, "gray")
    (folder / "broken.mp4").write_text("no video")
    return folder


def result_bytes(run: Path) -> dict[str, bytes]:
    files = [run / "subjects.jsonl", run / "measurements.jsonl", *sorted((run / "series").glob("*"))]
    return {file.name: file.read_bytes() for file in files}


def test_the_closing_table_is_worst_first_and_ends_with_the_path(
    takes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")  # no line is broken, however long the folder's name is
    done = rushes("clip", takes, "-o", tmp_path / "run", "-v")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("4 clips: 1 reject, 1 flagged, 2 pass (profile general)\nLook first at:\n")
    lines = done.stdout.partition("\n\n")[2].splitlines()
    names = [line.split()[0] for line in lines if line.startswith(("broken", "frozen", "good"))]
    assert names == ["broken", "frozen", "good_1", "good_2"]
    assert lines[-2].startswith("Next: ") and lines[-2].endswith(f"rushes report {tmp_path / 'run'}")
    assert "longest_freeze_ms|beside:0.15|blocks:16|eps:0.1|input:raw|plane:luma|range:full|share:0.04" in done.stdout
    assert lines[-1] == str(tmp_path / "run")


def test_json_is_alone_on_stdout(takes: Path, tmp_path: Path) -> None:
    done = rushes("clip", takes, "-o", tmp_path / "run", "--json")
    data = json.loads(done.stdout)
    assert data["review_signals"] == {"flagged": 1, "pass": 2, "reject": 1}
    assert {m["signature"].split("|")[0] for m in data["clips"][0]["measurements"]} >= set(KEYS[:11])


def test_bundles_and_csv(takes: Path, tmp_path: Path) -> None:
    done = rushes("clip", takes, "-o", tmp_path / "run", "--bundle", tmp_path / "b", "--csv", tmp_path / "all.csv")
    assert done.exit_code == 0, done.output
    bundle = json.loads((tmp_path / "b" / "frozen.metrics.json").read_text())
    assert tuple(bundle) == (*KEYS, "about")
    assert (bundle["freeze_frame_ratio"], bundle["status_badge"]) == (1.0, "flagged")
    rows = list(csv.DictReader((tmp_path / "all.csv").read_text().splitlines()))
    assert [row["id"] for row in rows] == ["broken", "frozen", "good_1", "good_2"]
    assert rows[1]["freeze_frame_ratio"] == "1.0" and rows[0]["decode_ok"] == "false" and rows[0]["fps"] == ""
    signatures = {
        row["column"]: row for row in csv.DictReader((tmp_path / "all.signatures.csv").read_text().splitlines())
    }
    assert signatures["freeze_frame_ratio"]["signature"].startswith("freeze_frame_ratio|eps:1.0|input:raw|plane:luma|")
    assert set(rows[0]) - set(signatures) == {"id", "path", "review_signal", "severity", "reasons"}


@pytest.mark.parametrize(("gate", "code"), [("reject", 3), ("flagged", 3), (None, 0)])
def test_the_gate(takes: Path, tmp_path: Path, gate: str | None, code: int) -> None:
    flags = ["--fail-on", gate] if gate else []
    assert rushes("clip", takes, "-o", tmp_path / "run", *flags).exit_code == code


def test_a_gate_that_holds(takes: Path, tmp_path: Path) -> None:
    assert rushes("clip", takes / "good 1.mkv", "-o", tmp_path / "run", "--fail-on", "flagged").exit_code == 0
    flagged = rushes("clip", takes / "frozen.mkv", "-o", tmp_path / "two", "--fail-on", "reject")
    assert flagged.exit_code == 0


@pytest.mark.workers
def test_same_bytes_twice_and_for_any_number_of_jobs(takes: Path, tmp_path: Path) -> None:
    assert rushes("clip", takes, "-o", tmp_path / "two", "--jobs", 2).exit_code == 0
    with inline_work():
        assert rushes("clip", takes, "-o", tmp_path / "none").exit_code == 0
    assert result_bytes(tmp_path / "two") == result_bytes(tmp_path / "none")


def test_finished_clips_are_not_measured_again_but_changed_ones_are(takes: Path, tmp_path: Path) -> None:
    clip = tmp_path / "a.mkv"
    write_luma(clip, noise(4), "gray")
    assert rushes("clip", clip, "-o", tmp_path / "run").exit_code == 0
    before = (tmp_path / "run" / "series" / "a.npz").stat().st_mtime_ns
    assert rushes("clip", clip, "-o", tmp_path / "run").exit_code == 0
    assert (tmp_path / "run" / "series" / "a.npz").stat().st_mtime_ns == before
    write_luma(clip, noise(5), "gray")
    data = json.loads(rushes("clip", clip, "-o", tmp_path / "run", "--json").stdout)
    counts = [m["value"] for m in data["clips"][0]["measurements"] if m["signature"].startswith("frame_count")]
    assert counts == [5]


def test_sound_by_stem(takes: Path, tmp_path: Path) -> None:
    sounds = tmp_path / "sounds"
    sounds.mkdir()
    write_sound(sounds / "frozen.wav", np.zeros((1, 16000), np.float32))
    data = json.loads(rushes("clip", takes, "--audio", sounds, "-o", tmp_path / "run", "--json").stdout)
    notes = {c["id"]: m for c in data["clips"] for m in c["measurements"] if m["signature"].startswith("audio_dur")}
    assert notes["frozen"]["value"] == 1000.0
    assert notes["good_1"]["value"] is None and "no sound for 'good 1'" in notes["good_1"]["note"]


def test_two_inputs_of_one_name_keep_apart(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write_luma(tmp_path / folder / "x.mkv", noise(3, seed=ord(folder)), "gray")
    data = json.loads(rushes("clip", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "run", "--json").stdout)
    assert [clip["id"] for clip in data["clips"]] == ["a__x", "b__x"]
    assert data["clips"][0]["sha256"] != data["clips"][1]["sha256"]
    assert sorted(p.name for p in (tmp_path / "run" / "series").iterdir()) == ["a__x.npz", "b__x.npz"]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["nowhere.mp4"], 1, "rushes: nowhere.mp4: no such file or folder"),
        (["--profile", "nope.toml"], 1, "nope.toml"),
        (["--audio", "nope.wav"], 1, "nope.wav"),
        (["--fail-on", "maybe"], 2, "is not one of"),
        (["--jobs", "0"], 2, "jobs"),
    ],
)
def test_bad_arguments_are_one_line(takes: Path, tmp_path: Path, arguments: list[str], code: int, says: str) -> None:
    done = rushes("clip", takes, "-o", tmp_path / "run", *arguments)
    assert done.exit_code == code
    assert says in done.output and "Traceback" not in done.output
    if code == 1:
        assert len(done.stderr.strip().splitlines()) == 1


def test_an_unreadable_file_is_a_row(takes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clip = tmp_path / "locked.mkv"
    write_luma(clip, noise(3), "gray")
    clip.chmod(0)
    if os.access(clip, os.R_OK):  # root reads everything: a dangling link is the nearest thing
        clip.unlink()
        clip.symlink_to(tmp_path / "gone.mkv")
    data = json.loads(rushes("clip", clip, takes / "good 1.mkv", "-o", tmp_path / "run", "--json").stdout)
    assert [c["badge"] for c in data["clips"]] == ["reject", "pass"]
    assert data["clips"][0]["sha256"] is None


def test_a_run_directory_that_cannot_be_made_is_one_line(takes: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = rushes("clip", takes, "-o", tmp_path / "file" / "run")
    assert done.exit_code == 1 and done.stderr.startswith("rushes: ") and "Traceback" not in done.output


def given_up(run: Path) -> list[tuple[str, str]]:
    rows = [json.loads(line) for line in (run / "subjects.jsonl").read_text().splitlines()]
    return [(row["badge"], row["facts"].get("error", "")) for row in rows]


@pytest.mark.workers
@pytest.mark.parametrize(
    ("flags", "frames", "says"),
    [
        (["--timeout", 0.1], 160, "took longer than 0.1 s"),  # of half a second; time to start is not the clip's
        (["--memory", 5], 16, "used more than 5 MB of memory"),  # Python alone needs more than that
    ],
)
def test_a_limit_is_a_reject_row_and_a_wider_one_measures_again(
    tmp_path: Path, flags: list[object], frames: int, says: str
) -> None:
    clip, run = tmp_path / "large.mkv", tmp_path / "run"
    write_luma(clip, [np.kron(frame, np.ones((16, 16), np.uint8)) for frame in drifting(frames)], "gray")
    assert rushes("clip", clip, "-o", run, "--fail-on", "reject", *flags).exit_code == 3
    assert given_up(run) == [("reject", says)]
    with inline_work():
        assert rushes("clip", clip, "-o", run).exit_code == 0
        assert given_up(run) == [("flagged", "")]  # large blocks, the same again and again
        assert rushes("clip", clip, "-o", tmp_path / "fresh").exit_code == 0
    assert result_bytes(run) == result_bytes(tmp_path / "fresh")


def test_a_named_pipe_is_a_row_and_nobody_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.mp4")
    assert rushes("clip", tmp_path / "pipe.mp4", "-o", tmp_path / "run").exit_code == 0
    ((badge, error),) = given_up(tmp_path / "run")
    assert badge == "reject" and "not a regular file" in error


def test_a_file_name_that_is_not_utf8_costs_that_file_alone(tmp_path: Path) -> None:
    write_luma(tmp_path / "good.mkv", noise(3), "gray")
    try:
        os.link(tmp_path / "good.mkv", os.fsencode(tmp_path) + b"/take\xff.mkv")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    done = subprocess.run(
        [sys.executable, "-m", "rushes", "clip", str(tmp_path), "-o", str(tmp_path / "run")], capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"Skipped 1 whose name is not UTF-8\n")
    assert [clip.id for clip in read_run(tmp_path / "run").subjects] == ["good"]


def test_many_bundles_say_how_many_more_there_are(takes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    done = rushes("clip", takes, "-o", tmp_path / "run", "--bundle", tmp_path / "b", "--csv", tmp_path / "all.csv")
    lines = done.stdout.splitlines()
    shown = [line for line in lines if line.endswith(".metrics.json")]
    assert len(shown) == 3 and lines[lines.index(shown[-1]) + 1] == f"… and 1 more in {tmp_path / 'b'}"
    assert str(tmp_path / "all.csv") in lines
    assert len(list((tmp_path / "b").iterdir())) == 4


@pytest.mark.parametrize("columns", [40, 60, 80, 100, 140])
def test_a_flagged_clip_never_loses_its_reason(
    takes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    # 27 letters, too short to be set as prose under its row, were a column that gave way.
    (tmp_path / "s.toml").write_text('name = "s"\n[flagged]\nblur_score = { above = 0.1 }\n')
    monkeypatch.setenv("COLUMNS", str(columns))
    done = rushes("clip", takes / "good 1.mkv", "--motion", "--profile", tmp_path / "s.toml", "-o", tmp_path / "run")
    assert "blur_score=" in done.stdout and "column (reasons)" not in done.stdout
    table = done.stdout.partition("─")[2]
    assert "> 0.1" in " ".join(table.split())


def test_the_specifications_profile_shows_its_own_metrics(
    takes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    asked = ("clip", takes / "good 1.mkv", "--profile", "metricbundle-v1", "--tier", 0)
    done = rushes(*asked, "-o", tmp_path / "run", "-v")
    head = next(line for line in done.stdout.splitlines() if line.startswith("clip "))
    assert head.split() == ["clip", "review", "signal", "flicker_score", "freeze_frame_ratio", "blur_score"], (
        "tier 0 has no mouth"
    )
    assert "flicker_score|input:raw|" in done.stdout and "sharpness|" not in done.stdout


def test_tier_2_without_weights_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clip that cannot be opened needs no face model, and the sentence is about the command."""
    given = FaceSettings(
        tier=2, model=None, model_digest="m", weights=None, weights_digest="none", weights_missing="no SyncNet weights"
    )
    monkeypatch.setattr(clip_settings, "load_face_settings", lambda tier, **files: given if tier == 2 else None)
    (tmp_path / "x.mp4").write_text("no video")
    done = rushes("clip", tmp_path / "x.mp4", "--tier", 2, "-o", tmp_path / "run", "--bundle", tmp_path / "b")
    assert "lse_d and lse_c are null: no SyncNet weights" in " ".join(done.stderr.split())
    assert "lse" in json.loads((tmp_path / "b" / "x.metrics.json").read_text())["about"]["signatures"]["lse_d"]
    quiet = rushes("clip", tmp_path / "x.mp4", "--tier", 0, "-o", tmp_path / "other")
    assert "lse" not in quiet.stderr


def test_the_rate_of_the_canonical_form(takes: Path, tmp_path: Path) -> None:
    clip = takes / "good 1.mkv"
    done = rushes("clip", clip, "--canon", "--fps", "30000/1001", "-o", tmp_path / "run", "--json")
    (row,) = json.loads(done.stdout)["clips"]
    assert all("|input:canon-2-30000/1001fps|" in m["signature"] for m in row["measurements"])
    for wrong in (("--canon", "--fps", "fast"), ("--fps", "25")):
        done = rushes("clip", clip, *wrong, "-o", tmp_path / "other")
        assert done.exit_code == 1 and len(done.stderr.splitlines()) == 1, done.stderr


def test_a_rule_that_needs_sound_is_not_skipped_where_clips_have_none(takes: Path, tmp_path: Path) -> None:
    """Nothing is missing from a silent clip; a rule that did lack a value says for how many clips."""
    silent = rushes("clip", takes, "-o", tmp_path / "run")
    assert silent.exit_code == 0 and "Rules skipped" not in silent.output and "av_duration" not in silent.output
    faces = tmp_path / "faces.toml"
    faces.write_text('name = "faces"\n[flagged]\nface_present_ratio = { below = 0.5 }\n')
    done = rushes("clip", takes, "--profile", faces, "--tier", 0, "-o", tmp_path / "tier0")
    assert "Rules skipped for lack of a value: face_present_ratio (3 of 3 clips)" in " ".join(done.output.split())


def test_a_table_beside_the_clips_is_not_measured_as_one(tmp_path: Path) -> None:
    (tmp_path / "prompts.csv").write_text("prompt_id,prompt\np1,a dog\n")
    done = rushes("clip", tmp_path / "prompts.csv", "-o", tmp_path / "run")
    assert done.exit_code == 1 and done.stderr.count("\n") == 1 and not (tmp_path / "run").exists()
    assert done.stderr.endswith("expected a clip, a folder or a glob; this is a .csv file\n")
