"""`rushes board` on the command line, over data made up by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.compare.board import board
from rushes.compare.board.model import BoardData
from rushes.compare.comparison import Refused

from .board_made import board_data, reading, verdict

FLICKER = reading("flicker", label="Flicker")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What the command collected from; data and verdicts are planted."""
    given: list[object] = []
    data = board_data(refused=(Refused(name="blur_score", why="plane differs"),), remarks=("cedar lacks p001",))

    def collected(place: Iterable[str] | str) -> BoardData:
        given.append(place)
        return data

    monkeypatch.setattr(board, "collect_board", collected)
    monkeypatch.setattr(
        board, "judge_board", lambda *_, **__: {FLICKER.key: verdict(data, FLICKER, [["amber"], ["birch", "cedar"]])}
    )
    return given


def test_prints_what_was_found_and_where(asked: list[object], tmp_path: Path) -> None:
    out = tmp_path / "board.html"
    done = CliRunner().invoke(app, ["board", "amber=runs/a", "birch=runs/b", "-o", str(out)])
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].startswith("amber is better") and lines[-1] == str(out) and out.is_file()
    assert asked == [["amber=runs/a", "birch=runs/b"]]


def test_v_prints_the_whole_opening(asked: list[object], tmp_path: Path) -> None:
    brief, full = (
        CliRunner().invoke(app, ["board", str(tmp_path), *more], env={"COLUMNS": "500"}).stdout for more in ([], ["-v"])
    )
    assert "If all systems were equal" in full and "If all systems were equal" not in brief
    assert "-v prints its opening in full" in brief and brief.splitlines()[0] == full.splitlines()[0]


def test_a_suite_keeps_its_board(asked: list[object], tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["board", str(tmp_path)])
    assert done.exit_code == 0 and (tmp_path / "board.html").is_file() and asked == [str(tmp_path)]


def test_json_alone(asked: list[object], tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["board", str(tmp_path), "--json"])
    told = json.loads(done.stdout)
    assert told["systems"] == ["amber", "birch", "cedar"] and told["prompts"] == 4
    assert told["refused"] == [{"name": "blur_score", "why": "plane differs"}] and told["remarks"] == [
        "cedar lacks p001"
    ]
    assert told["bytes"] == (tmp_path / "board.html").stat().st_size
