"""`rushes clip` on clips in a store: the same numbers as on the same files here, and what happens to those it loses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.core.errors import InputError
from rushes.media.find.clips import match_audio, search_clips
from rushes.storage.remote import store as remote
from rushes.storage.runs import Run
from rushes.workers.engine import inline_work

from .conftest import Bucket, left_behind


def clips_of(paths):
    return list(search_clips(paths).clips)


def rows(run: Run) -> list[dict[str, Any]]:
    text = (run.path / "subjects.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def told_here(run: Run, address: str, folder: Path) -> list[dict[str, Any]]:
    """The rows with the addresses back to paths and without what only an object has."""
    text = (run.path / "subjects.jsonl").read_text(encoding="utf-8").replace(address, f"{folder}/")
    found = [json.loads(line) for line in text.splitlines()]
    for row in found:
        row["facts"].pop("remote", None), row["facts"].pop("audio_remote", None)
    return found


@pytest.mark.workers
def test_the_same_bytes_as_the_same_files_here(
    bucket: Bucket, here: Path, tmp_path: Path, settings: dict[str, str]
) -> None:
    url = bucket.put_folder("takes", here)
    with inline_work():
        local = rushes.evaluate_clips([here], run=tmp_path / "local", audio=here / "speech.wav")
    far = rushes.evaluate_clips([url], run=tmp_path / "far", audio=f"{url}speech.wav", jobs=1)
    assert [s.path for s in far.subjects] == [
        f"{url}{name}" for name in ("broken.mp4", "more/take10.mkv", "take2.mkv", "take 1.mkv")
    ]
    mine, theirs = ((run.path / "measurements.jsonl").read_text(encoding="utf-8") for run in (local, far))
    assert mine == theirs.replace(url, f"{here}/")
    assert told_here(far, url, here) == rows(local)
    for subject in local.subjects:
        series = [run.path / "series" / f"{subject.id}.npz" for run in (local, far)]
        assert series[0].exists() == series[1].exists() == (subject.id != "broken")
        if subject.id != "broken":
            assert series[0].read_bytes() == series[1].read_bytes()
    assert left_behind(settings) == []
    everything = "".join(path.read_text(encoding="utf-8") for path in far.path.glob("*.json*"))
    assert settings["TMPDIR"] not in everything
    assert settings["AWS_SECRET_ACCESS_KEY"] not in everything and settings["AWS_ACCESS_KEY_ID"] not in everything


def test_one_clip_in_python(bucket: Bucket, here: Path) -> None:
    near = rushes.evaluate_clip(here / "take2.mkv")
    far = rushes.evaluate_clip(bucket.put("take2.mkv", here / "take2.mkv"))
    assert far.path == bucket.url("take2.mkv") and far.sha256 == near.sha256
    assert far.measurements == near.measurements and far.reasons == near.reasons
    with pytest.raises(InputError, match="no such object"):
        rushes.evaluate_clip(bucket.url("take3.mkv"))
    with pytest.raises(InputError, match="no such object"):
        rushes.evaluate_clip(here / "take2.mkv", audio=bucket.url("none.wav"))


def test_an_object_and_a_pattern_count_a_clip_once(bucket: Bucket, here: Path) -> None:
    url = bucket.put_folder("takes", here)
    found = clips_of([f"{url}take2.mkv", here / "take2.mkv", f"{url}take*.mkv"])
    assert [str(clip) for clip in found] == [f"{url}take2.mkv", str(here / "take2.mkv"), f"{url}take 1.mkv"]


def test_sound_by_stem(bucket: Bucket, here: Path) -> None:
    bucket.put("sound/take2.wav", here / "speech.wav")
    url = bucket.put_folder("takes", here)
    with_sound, without = match_audio(clips_of([f"{url}take*.mkv"]), bucket.url("sound/"))
    assert with_sound.path == bucket.url("sound/take2.wav") and with_sound.remote == remote.stat(with_sound.path)
    assert without.path is None and without.missing == f"no sound for 'take 1' in {bucket.url('sound/')}"
    bucket.put("sound/take2.mp3", b"another")
    with pytest.raises(InputError, match="both fit clip 'take2'; keep one"):
        match_audio(clips_of([f"{url}take*.mkv"]), bucket.url("sound/"))


def test_finished_clips_are_not_fetched_again(
    bucket: Bucket, here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = bucket.put_folder("takes", here)
    question: Any = {"run": tmp_path / "run", "audio": f"{url}speech.wav", "jobs": 1}
    taken: list[str] = []

    def spied(work: Any, tasks: Any, **options: Any) -> Any:
        taken.extend(task.path for task in tasks)
        return enumerate(work(task) for task in tasks)

    monkeypatch.setattr("rushes.instruments.clip.evaluate.run_tasks", spied)
    first = rushes.evaluate_clips([f"{url}take*.mkv"], **question)
    before = (first.path / "subjects.jsonl").read_bytes()
    assert len(taken) == 2
    taken.clear()
    assert (rushes.evaluate_clips([f"{url}take*.mkv"], **question).path / "subjects.jsonl").read_bytes() == before
    assert taken == []
    bucket.put("takes/take2.mkv", here / "take 1.mkv")
    again = rushes.evaluate_clips([f"{url}take*.mkv"], **question)
    assert taken == [f"{url}take2.mkv"]
    assert again.subjects[0].sha256 == again.subjects[1].sha256
    taken.clear()
    bucket.put("takes/speech.wav", (here / "speech.wav").read_bytes() + b"\0\0")
    rushes.evaluate_clips([f"{url}take*.mkv"], **question)
    assert taken == [f"{url}take2.mkv", f"{url}take 1.mkv"]


def test_an_object_that_vanished_is_a_reject_row(
    bucket: Bucket, here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = bucket.put_folder("takes", here)
    look = remote.list_objects

    def listed_then_gone(address: str) -> remote.Listing:
        found = look(address)
        bucket.delete("takes/take2.mkv")
        return found

    monkeypatch.setattr("rushes.media.find.clips.list_objects", listed_then_gone)
    run = rushes.evaluate_clips([url], run=tmp_path / "run")
    lost = next(subject for subject in run.subjects if subject.id == "take2")
    assert lost.badge == "reject" and lost.sha256 is None and "given_up" not in lost.facts
    assert lost.reasons == (f"cannot be decoded: {url}take2.mkv: no such object (decode_ok=false)",)
    assert len(run.subjects) == 4


def test_a_clip_the_network_kept_back_is_tried_again_by_the_next_run(
    bucket: Bucket, here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = bucket.put_folder("takes", here)
    whole = rushes.evaluate_clips([url], run=tmp_path / "whole")
    store = remote.filesystem(url)
    get_file = store.get_file

    def flaky(path: str, local: str) -> None:
        if path.endswith("take2.mkv"):
            raise ConnectionResetError("connection reset by peer")
        get_file(path, local)

    with monkeypatch.context() as patch:
        patch.setattr(store, "get_file", flaky)
        cut = rushes.evaluate_clips([url], run=tmp_path / "run")
    lost = next(subject for subject in cut.subjects if subject.id == "take2")
    assert lost.badge == "reject" and lost.facts["given_up"] is True
    assert "the bucket does not answer (connection reset by peer)" in lost.reasons[0]
    mended = rushes.evaluate_clips([url], run=tmp_path / "run")
    for name in ("subjects.jsonl", "measurements.jsonl"):
        assert (mended.path / name).read_bytes() == (whole.path / name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["s3://nobody-has-this/takes/"], "no bucket"),
        (["s3://takes/empty/"], "expected clips below this address; found none among 0 objects"),
        (["s3://takes/*.mp4"], "the pattern matches no object"),
        (["s3://takes/none.mp4"], "no such object"),
        (["s3:///takes"], "the bucket is missing"),
        (["https://takes/a.mp4"], "expected a path or an address that begins with s3://"),
        (["s3://key:secret@takes/a.mp4"], "must not contain a user name or key"),
        (["s3://takes/a.mkv", "--audio", "s3://takes/none.wav"], "no such object"),
    ],
)
def test_the_command_line_says_it_in_one_line(
    bucket: Bucket, here: Path, tmp_path: Path, arguments: list[str], told: str
) -> None:
    bucket.put("a.mkv", here / "take2.mkv")
    result = CliRunner().invoke(app, ["clip", *arguments, "-o", str(tmp_path / "run")])
    assert result.exit_code == 1
    assert result.stderr.startswith("rushes: ") and result.stderr.count("\n") == 1 and told in result.stderr
    assert "secret" not in result.stderr


def test_canon_takes_and_gives_addresses(bucket: Bucket, here: Path, tmp_path: Path, settings: dict[str, str]) -> None:
    url = bucket.put("take.mkv", here / "take2.mkv")
    sound = bucket.put("speech.wav", here / "speech.wav")
    runner = CliRunner()
    near = runner.invoke(
        app,
        ["canon", str(here / "take2.mkv"), "--audio", str(here / "speech.wav"), "-o", str(tmp_path / "a.mp4")],
    )
    far = runner.invoke(app, ["canon", url, "--audio", sound, "-o", bucket.url("out/a.mp4")])
    assert near.exit_code == far.exit_code == 0, far.output
    assert bucket.get("out/a.mp4") == (tmp_path / "a.mp4").read_bytes()
    assert far.stdout.splitlines()[-1] == bucket.url("out/a.mp4")
    assert left_behind(settings) == []
    broken = runner.invoke(app, ["canon", bucket.put("x.mp4", b"nothing"), "-o", bucket.url("y.mp4")])
    assert broken.exit_code == 1 and broken.stderr.startswith(f"rushes: {bucket.url('x.mp4')}: ")
    same = runner.invoke(app, ["canon", url, "-o", url])
    assert same.exit_code == 1 and "would be overwritten" in same.stderr
