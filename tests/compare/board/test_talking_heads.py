"""Two systems of talking heads on one screen, as docs/face.md has it: from folders of clips to table and board."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.remembered_faces import remembered_faces  # noqa: F401
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.instruments.clip.demo.faces import HEADS, make_heads, read_portrait
from rushes.vision.models.cache import is_pulled
from rushes.vision.models.catalogue import group_named

pytestmark = pytest.mark.skipif(
    not all(is_pulled(group_named(name)) for name in ("face", "astronaut")), reason="rushes models pull face astronaut"
)
SYSTEMS = {"amber": "face_in_sync", "birch": "face_dead_mouth", "ground-truth": "face_in_sync"}


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [*map(str, words)])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory, remembered_faces: None) -> Path:  # noqa: F811
    """One clip each; of the instruments the clip's alone, since the others need networks and minutes."""
    home = tmp_path_factory.mktemp("heads")
    make_heads(home / "demo", read_portrait(), [head for head in HEADS if head.name in SYSTEMS.values()])
    for system, face in SYSTEMS.items():
        (home / "heads" / system).mkdir(parents=True)
        shutil.copy(home / "demo" / f"{face}.mp4", home / "heads" / system / "anna.mp4")
    run("suite", "init", home / "heads", "--for", "talking-head", "-o", home / "heads.toml")
    text = (home / "heads.toml").read_text("utf-8")
    assert "[instruments.voice]" in text and 'metrics = ["voice_similarity"]' in text
    (home / "heads.toml").write_text(text.partition("\n[instruments.fidelity]")[0], "utf-8")
    run("suite", "run", home / "heads.toml", "-o", home / "out", "--jobs", "1")
    return home / "out"


def test_the_table_has_a_row_per_question_and_what_people_say(suite: Path) -> None:
    text = run("table", suite, "--columns", "talking-head", "--agreement", "--format", "text", "--signatures", "none")
    rows = {line.split()[0]: line for line in text.splitlines() if "  " in line}
    assert rows["question"].split()[-6:] == ["amber", "birch", "ground-truth", "agrees", "with", "people"]
    assert rows["lips"].endswith("lip 93 % (65–99 %)") and "articulation_distance ↓" in rows["lips"]
    assert rows["head"].endswith("head 80 % (50–94 %)") and rows["in"].endswith("not known")
    amber, birch = (float(value) for value in rows["lips"].split()[3:5])
    assert amber + 1 < birch  # its mouth is dead
    assert "–" in rows["in"]  # and has no time to be in
    assert "Not measured: voice_similarity, word_error_rate, gaze_spread" in text
    assert "0.4 to 1.7" in text and "ADTH-QA: 5 prompts, 4 systems" in text


def test_the_same_numbers_as_json_and_metrics_as_rows_in_every_format(suite: Path) -> None:
    found = json.loads(run("table", suite, "--columns", "talking-head", "--agreement", "--json"))
    lips = next(cell for cell in found["cells"] if cell["column"] == "articulation_distance")
    assert [round(one["value"], 2) for one in lips["agreement"] if "pairs-right" in one["signature"]] == [0.93]
    for name, start in (("markdown", "| question | metric"), ("latex", "\\begin{table"), ("html", "<!doctype html>")):
        text = run("table", suite, "--columns", "talking-head", "--agreement", "--format", name)
        assert start in text and "lip 93" in text
        assert name != "html" or '<td class="words">lip 93 % (65–99 %)</td>' in text
    plain = json.loads(run("table", suite, "--columns", "talking-head", "--json"))
    assert "agreement" not in plain["cells"][0]
    asked = CliRunner().invoke(app, ["table", str(suite), "--columns", "gaze_spread"])
    assert asked.exit_code == 1  # by its own name it has to be there


def test_runs_without_a_suite_make_the_same_rows_and_compare_says_what_is_known(suite: Path) -> None:
    runs = [suite / name / "clip" for name in ("amber", "birch")]
    text = run("table", *runs, "--columns", "articulation_distance", "--agreement", "--format", "text")
    assert "lips      articulation_distance ↓" in text and "lip 93 % (65–99 %)" in text
    compared = " ".join(run("compare", *runs).split())
    assert "articulation_distance: lip 93 % (65–99 %, talking-head)" in compared


def test_the_board_begins_with_them(suite: Path, tmp_path: Path) -> None:
    run("board", suite, "-o", tmp_path / "board.html", "--strips", "0")
    html = (tmp_path / "board.html").read_text("utf-8")
    assert html.index("Talking heads at a glance") < html.index('id="board-head"')
    assert "in 93 % of pairs" in html and "asked about lip; 65 to 99 %" in html
