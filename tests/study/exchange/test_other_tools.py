"""Label Studio, Potato and FiftyOne: each file read back by the fields that the tool's documentation names."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from rushes.study.exchange import export_study
from rushes.study.exchange.formats import portable_paths

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@pytest.fixture
def voted(service, study, people):
    """Two raters on every pair: alpha wins what the first sees, beta what the second does."""
    for person, system in zip(people(2), ("alpha", "beta"), strict=True):
        while (task := service.next_task(person.session)) is not None:
            person.vote_for(task, system)
    return study


def test_label_studio(service, voted, tmp_path) -> None:
    """guide/task_format: a list of tasks with `data` and `annotations`, whose results have from_name, to_name, type and
    value; values of choices and text areas are lists."""
    made = export_study(service, voted, tmp_path / "tasks.json", form="label-studio")
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    assert len(tasks) == 6 and [task["id"] for task in tasks] == [1, 2, 3, 4, 5, 6]
    for task in tasks:
        assert {"video_a", "video_b", "prompt", "system_a", "system_b"} <= task["data"].keys()
        assert all(Path(made.root, task["data"][name]).is_file() for name in ("video_a", "video_b"))
        winners = []
        for annotation in task["annotations"]:
            results = {one["from_name"]: one for one in annotation["result"]}
            assert all(one["to_name"] == "video_a" and isinstance(one["id"], str) for one in results.values())
            assert results["winner"]["type"] == "choices" and results["rater"]["type"] == "textarea"
            winners += results["winner"]["value"]["choices"]
        assert Counter(winners) == {"A": 1, "B": 1}


def test_potato(service, voted, tmp_path) -> None:
    """annotated_instances.jsonl: user_id, instance_id, displayed_text, label_annotations by scheme and label."""
    made = export_study(service, voted, tmp_path / "annotated_instances.jsonl", form="potato")
    lines = [json.loads(line) for line in (tmp_path / "annotated_instances.jsonl").read_text().splitlines()]
    assert len(lines) == 12
    assert Counter(one["user_id"] for one in lines) == {"rater_01": 6, "rater_02": 6}
    for one in lines:
        assert one["displayed_text"].startswith("Prompt") and one["span_annotations"] == {}
        (winner,) = one["label_annotations"]["winner"]
        assert winner in ("A", "B") and Path(made.root, one["video_a"]).is_file()


def test_fiftyone(service, voted, tmp_path) -> None:
    """CSVDataset: one row per sample, `filepath` relative to the data path, the other columns fields."""
    made = export_study(service, voted, tmp_path / "clips.csv", form="fiftyone")
    with open(tmp_path / "clips.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12 and len({row["filepath"] for row in rows}) == 12
    assert all(Path(made.root, row["filepath"]).is_file() for row in rows)
    assert {(row["votes"], row["wins"], row["losses"], row["win_share"]) for row in rows} == {("2", "1", "1", "0.5")}


def test_paths_do_not_depend_on_where_clips_lie(service, voted, tmp_path) -> None:
    for form in ("dpo", "label-studio", "potato", "fiftyone"):
        export_study(service, voted, tmp_path / form, form=form)
        assert str(tmp_path.parent) not in (tmp_path / form).read_text()
    here = {"x": "/data/fetv/a/1.mp4", "y": "/data/fetv/b/1.mp4"}
    moved = {name: path.replace("/data/fetv", "/mnt/other/place") for name, path in here.items()}
    assert portable_paths(here)[1] == portable_paths(moved)[1]
