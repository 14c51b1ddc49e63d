"""`rushes verify`: one line for a run that is as it was written, and the file's name for one that is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.storage.runs.shard_material import names, write_whole
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.storage.integrity.seal import allow_damaged


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_whole(tmp_path / "run", names(3))


def asked(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(word) for word in words])
    allow_damaged(False)
    return done.exit_code, done.output


def test_an_intact_run(run: Path) -> None:
    code, text = asked("verify", run)
    assert code == 0 and text.startswith(f"{run}: intact\n") and "3 subjects" in text and "digest " in text
    code, text = asked("verify", run, "--json")
    (told,) = json.loads(text)
    assert code == 0 and told["sound"] and len(told["digest"]) == 64


def test_a_damaged_run_is_exit_1_and_names_the_file(run: Path) -> None:
    with open(run / "measurements.jsonl", "a") as file:
        file.write("{}\n")
    code, text = asked("verify", run)
    assert code == 1 and f"{run}: damaged\n  {run}/measurements.jsonl: changed after the run was complete" in text
    code, text = asked("report", run, "-o", run.parent / "r.html")
    assert code == 1 and "measurements.jsonl: changed" in " ".join(text.split())
    code, text = asked("--damaged", "report", run, "-o", run.parent / "r.html")
    assert code == 0 and "This run is damaged" in (run.parent / "r.html").read_text()


def test_one_signature_with_two_directions_is_refused(run: Path, tmp_path: Path) -> None:
    from tests.reseal import reseal

    from rushes.compare.runs.compare import compare_two
    from rushes.core.errors import InputError

    other = write_whole(tmp_path / "other", names(3), seed=1)
    info = json.loads((other / "run.json").read_text())
    for facts in info["definitions"].values():
        facts["better"] = "higher"
    (other / "run.json").write_text(json.dumps(info))
    reseal(other)
    with pytest.raises(InputError, match=r"better is 'lower' in .*run and 'higher' in .*other"):
        compare_two(run, other)


def test_a_gate_asks_for_the_baseline_that_was_agreed_on(run: Path, tmp_path: Path) -> None:
    other = write_whole(tmp_path / "other", names(3), seed=1)
    digest = json.loads(asked("verify", other, "--json")[1])[0]["digest"]
    code, text = asked("gate", run, other, "--baseline-digest", digest)
    assert code == 1 and f"expected the run with digest {digest}" in " ".join(text.split())
    digest = json.loads(asked("verify", run, "--json")[1])[0]["digest"]
    code, text = asked("gate", run, other, "--baseline-digest", digest[:12])
    assert "expected the run with digest" not in " ".join(text.split())
