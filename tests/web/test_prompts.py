"""Which prompt a page shows for a clip: the recorded one, then the suite's, then a list beside the clip or the run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from rushes.storage.runs import Run, read_run
from rushes.web.runs.prompts import prompt_of

from .runsite import entry, write_run


def made(folder: Path, clips: Path) -> Run:
    one = entry("model__p1", 0.1)
    return read_run(
        write_run(folder, [replace(one, subject=replace(one.subject, path=str(clips / "model" / "p1.mp4")))])
    )


def listed(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "prompts.csv").write_text(f"prompt_id,prompt_text\np1,{text}\n", encoding="utf-8")


def test_nearer_lists_come_first(tmp_path: Path) -> None:
    run, clips = made(tmp_path / "out" / "model" / "clip", tmp_path / "clips"), tmp_path / "clips"
    subject = run.subjects[0]
    assert prompt_of(run, subject) == ""
    listed(tmp_path / "out", "beside the run")
    assert prompt_of(run, subject) == "beside the run"
    listed(clips, "above the clip")
    assert prompt_of(run, subject) == "above the clip"
    listed(clips / "model", "beside the clip")
    assert prompt_of(run, subject) == "beside the clip"
    suite = {"suite": {"prompts": [{"id": "p1", "text": "of the suite"}]}}
    (tmp_path / "out" / "suite.json").write_text(json.dumps(suite), encoding="utf-8")
    assert prompt_of(run, subject) == "of the suite"
    recorded = replace(subject, facts={**subject.facts, "prompt": "as recorded"})
    assert prompt_of(run, recorded) == "as recorded"


def test_a_table_of_something_else_and_a_damaged_suite_are_no_lists(tmp_path: Path) -> None:
    run = made(tmp_path / "out" / "clip", tmp_path / "clips")
    (tmp_path / "clips").mkdir()
    (tmp_path / "clips" / "prompts.csv").write_text("name,score\np1,3\n", encoding="utf-8")
    (tmp_path / "out" / "suite.json").write_text("{", encoding="utf-8")
    assert prompt_of(run, run.subjects[0]) == ""
