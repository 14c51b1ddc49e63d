"""Whatever a metric of another package does wrong costs its own value, and says so."""

from __future__ import annotations

import json
from pathlib import Path

from tests.plugins.conftest import Rushes

NOTES = {
    "exits": "exits failed: SystemExit: bye",
    "fails_at_add": "fails_at_add failed: ZeroDivisionError: division by zero",
    "fails_at_finish": "fails_at_finish failed: ValueError: boom and a second line",
    "fails_at_start": "fails_at_start failed: ValueError: boom and a second line",
    "gives_a_float": "gives_a_float failed: DefinitionError: expected a Measurement of gives_a_float; got float",
    "measures_wrongly": (
        "measures_wrongly failed: AttributeError: 'Observation' object has no attribute 'no_such_series'"
    ),
    "other_input": "other_input failed: DefinitionError: `input` is set by Rushes for every clip metric; rename it",
    "takes_a_series": "takes_a_series failed: DefinitionError: the series 'time_ms' needs a name of its own",
}


def clip(rushes: Rushes, take: Path, run: Path, *names: str) -> dict[str, object]:
    flags = [flag for name in names for flag in ("--metric", name)]
    done = rushes("clip", take, "-o", run, "--json", "--jobs", 1, *flags, plugins="faulty")
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)["clips"][0]
    return found


def test_each_failure_is_a_note_and_the_other_numbers_stand(rushes: Rushes, takes: Path, tmp_path: Path) -> None:
    alone = clip(rushes, takes / "full.mkv", tmp_path / "alone")
    beside = clip(rushes, takes / "full.mkv", tmp_path / "beside", *NOTES)
    count = len(alone["measurements"])  # type: ignore[arg-type]
    assert beside["measurements"][:count] == alone["measurements"]  # type: ignore[index]
    failed = beside["measurements"][count:]  # type: ignore[index]
    assert {m["signature"].split("|")[0]: m["note"] for m in failed} == NOTES
    assert {(m["value"], m["count"]) for m in failed} == {(None, 0)}
    assert beside["badge"] == alone["badge"]


def test_a_package_that_cannot_be_loaded_is_left_out_of_the_catalogue(rushes: Rushes) -> None:
    listed = rushes("metrics", "--json", plugins="faulty")
    assert listed.returncode == 0, listed.stderr
    names = {definition["name"] for definition in json.loads(listed.stdout)}
    assert {"fails_at_add", "blur_score"} <= names and not {"does_not_import", "has_input", "is_no_metric"} & names


def test_asking_for_one_that_is_none_is_one_line(rushes: Rushes, takes: Path, tmp_path: Path) -> None:
    for name, says in (
        ("is_no_metric", "got int"),
        ("does_not_import", "cannot be loaded"),
        ("has_input", "'has_input' sets `input`, which Rushes sets"),
    ):
        done = rushes("clip", takes, "--metric", name, "-o", tmp_path / "run", plugins="faulty")
        assert done.returncode == 1 and says in done.stderr and done.stderr.count("\n") == 1
