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
    "takes_a_series": "takes_a_series failed: DefinitionError: the series 'time_ms' needs its own name",
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


def test_a_verb_that_cannot_be_loaded_costs_itself_alone(rushes: Rushes, takes: Path, tmp_path: Path) -> None:
    for words in (("--version",), ("--help",), ("metrics", "blur_score"), ("doctor", "-v")):
        done = rushes(*words, plugins="faulty", fresh=True)
        assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    broken = rushes("faulty-verb", plugins="faulty", fresh=True)
    assert (
        broken.returncode == 1
        and broken.stderr.count("\n") == 1
        and "No module named 'faulty.nowhere'" in broken.stderr
    )
    # a package does not take the name of a built-in verb
    assert clip(rushes, takes / "full.mkv", tmp_path / "run")["badge"] in ("pass", "flagged")


def test_doctor_lists_what_packages_add(rushes: Rushes) -> None:
    pieces = json.loads(rushes("doctor", "--json", plugins="faulty").stdout)["pieces"]
    added = {piece["name"]: piece for piece in pieces if piece["kind"] == "package"}
    assert added["fails_at_add"]["here"] and added["fails_at_add"]["detail"] == "clip metric of faulty 0.1"
    assert not added["does_not_import"]["here"] and "cannot be loaded" in added["does_not_import"]["detail"]
    shown = rushes("doctor", plugins="faulty").stdout
    assert "Packages: " in shown and "does_not_import" in shown
    assert "Packages: " not in rushes("doctor", plugins="").stdout


def test_doctor_says_who_takes_a_name_that_is_taken(rushes: Rushes) -> None:
    shown = " ".join(rushes("doctor", "-v", plugins="faulty").stdout.split())
    assert "the clip metric 'sharpness' of faulty 0.1 takes a name that Rushes has" in shown
    assert "the command 'clip' of faulty 0.1 takes a name that is taken" in shown


def test_numbers_of_numpy_are_numbers(rushes: Rushes, takes: Path, tmp_path: Path) -> None:
    found = clip(rushes, takes / "full.mkv", tmp_path / "run", "gives_numpy")
    (row,) = [m for m in found["measurements"] if m["signature"].startswith("gives_numpy")]  # type: ignore[attr-defined]
    assert row["value"] == 0.5 and row["count"] == 6


def test_what_failed_is_told_at_the_end_and_strict_is_exit_1(rushes: Rushes, takes: Path, tmp_path: Path) -> None:
    words = ("clip", takes, "-o", tmp_path / "run", "--jobs", 1, "--metric", "fails_at_add")
    done = rushes(*words, plugins="faulty")
    assert done.returncode == 0 and "fails_at_add failed on 2 of 2 clips (fails_at_add failed: Zero" in done.stderr
    assert rushes(*words, "--strict", plugins="faulty").returncode == 1
    assert rushes("clip", takes, "-o", tmp_path / "ours", "--jobs", 1, "--strict", plugins="faulty").returncode == 0


def test_a_metric_that_ends_its_worker_costs_its_own_value(rushes: Rushes, takes: Path, tmp_path: Path) -> None:
    alone = clip(rushes, takes / "full.mkv", tmp_path / "alone")
    words = ("clip", takes, "-o", tmp_path / "run", "--json", "--jobs", 2, "--timeout", 5)
    done = rushes(*words, "--metric", "crashes", "--metric", "hangs", plugins="faulty", fresh=True)
    assert done.returncode == 0, done.stderr
    rows = {row["id"]: row for row in json.loads(done.stdout)["clips"]}
    count = len(alone["measurements"])  # type: ignore[arg-type]
    assert rows["full"]["measurements"][:count] == alone["measurements"] and rows["full"]["badge"] == alone["badge"]
    for row in rows.values():
        notes = {m["signature"].split("|")[0]: m["note"] for m in row["measurements"][count:]}
        assert notes == {
            "crashes": "crashes failed: crashed (SIGSEGV)",
            "hangs": "hangs failed: took longer than 5 s",
        }
    assert "crashes failed on 2 of 2 clips" in done.stderr and "hangs failed on 2 of 2 clips" in done.stderr
