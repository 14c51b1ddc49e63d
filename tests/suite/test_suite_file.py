"""The suite file: what it may say, what is wrong in one line, and what `rushes suite init` writes."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.compare.board.board_runs import CALM, clip_run
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.core.errors import InputError
from rushes.suite.draft import draft_suite
from rushes.suite.file import read_suite
from rushes.suite.prompts import read_prompts

WHOLE = """
name = "takes"
[systems]
amber = "amber"
older = ["runs/older", "old clips"]
[reference]
clips = "real"
[prompts]
file = "prompts.csv"
[ratings]
file = "ratings.csv"
[instruments.clip]
motion = true
profile = "strict.toml"
[instruments.fidelity]
cut = "shortest"
lag = "auto"
[instruments.fvd-disco]
instrument = "distribution"
metrics = ["fvd"]
weights = ["i3d.pt"]
[instruments.preference]
db = "votes.db"
study = "takes"
[instruments.robustness]
axes.crf = [18, 28]
[overall]
psnr = 0.75
bt_elo = -0.25
"""


def folders(root: Path, *names: str, clips: tuple[str, ...] = ("p1", "p2")) -> None:
    for name in names:
        for clip in clips:
            target = root / name / f"{clip}.mp4"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.touch()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folders(tmp_path, "amber", "old clips", "real")
    clip_run(tmp_path / "runs" / "older", {"p1": {CALM: 1.0}})
    (tmp_path / "prompts.csv").write_text("task_id,prompt_id,prompt_text\nx,p1,a horse\n", encoding="utf-8")
    for name in ("ratings.csv", "strict.toml", "i3d.pt"):
        (tmp_path / name).write_text("", encoding="utf-8")
    return tmp_path


def write(home: Path, text: str) -> Path:
    (home / "suite.toml").write_text(text, encoding="utf-8")
    return home / "suite.toml"


def test_everything_a_suite_may_say_is_read(home: Path) -> None:
    suite = read_suite(write(home, WHOLE))
    amber, older, real = suite.systems
    assert (amber.name, amber.clips, amber.runs) == ("amber", str(home / "amber"), ())
    assert (older.clips, older.runs) == (str(home / "old clips"), (str(home / "runs/older"),))
    assert real.is_reference and real.name == "real" and suite.reference == real.clips
    assert suite.prompts[0].text == "a horse" and suite.prompts[0].group == "x"
    assert suite.ratings == str(home / "ratings.csv")
    plans = {plan.name: plan for plan in suite.instruments}
    assert list(plans) == ["clip", "fidelity", "fvd-disco", "preference", "robustness"]
    assert plans["clip"].settings == {"motion": True, "profile": str(home / "strict.toml")}
    assert plans["fvd-disco"].instrument == "distribution"
    assert plans["fvd-disco"].settings["weights"] == [str(home / "i3d.pt")]
    assert plans["preference"].settings == {"db": "votes.db", "study": "takes"}
    assert suite.overall == {"psnr": 0.75, "bt_elo": -0.25}
    assert suite.overall_label == "0.75 × psnr + -0.25 × bt_elo"


AMBER = '[systems]\namber = "amber"\n'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = [", "expected TOML"),
        ('[sytems]\namber = "amber"', "there is no 'sytems'. Did you mean `systems`"),
        ("name = 3\n" + AMBER, "name is a text; got 3"),
        ('name = "x"', "with a line per system"),
        ('[systems]\namber = "nowhere"', "nowhere: no such folder"),
        ('[systems]\namber = ["amber", "real"]', "has one folder of clips, beside runs"),
        ("[systems]\namber = []", "got an empty list"),
        ("[systems]\namber = 3", "is a text; got 3"),
        ('systems = "amber"', r"\[systems\] is a table"),
        (AMBER + '[reference]\nclip = "real"', "there is no 'clip'. Did you mean `clips`"),
        (AMBER + '[reference]\nclips = "real"\non_board = 1', "on_board is true or false"),
        (AMBER + '[reference]\nclips = "real"\nname = "amber"', "both called 'amber'"),
        (AMBER + '[reference]\nclips = "real"\ndifferences = "calm"', "differences is a list of metrics"),
        (AMBER + '[reference]\nclips = "real"\ndifferences = [3]', "differences is a text; got 3"),
        (AMBER + '[reference]\nclips = "real"\non_board = false\ndifferences = ["calm"]', "set on_board = true"),
        (AMBER + '[prompts]\nfile = "gone.csv"', "gone.csv: no such file"),
        (AMBER + '[ratings]\npath = "x"', "there is no 'path'"),
        (AMBER + "[instruments.clips]", "no instrument is called 'clips'. Did you mean `clip`"),
        (
            AMBER + "[instruments.clip]\nmotoin = true",
            r"\[instruments.clip\]: there is no 'motoin'. Did you mean `motion`",
        ),
        (AMBER + "[instruments.clip]\njobs = 2", "there is no 'jobs'"),
        (AMBER + '[instruments.clip]\nmotion = "yes"', "motion is true or false; got 'yes'"),
        (AMBER + "[instruments.clip]\ntier = 7", "tier is 0 or 1 or 2; got 7"),
        (AMBER + "[instruments.clip]\ntier = true", "tier is 0 or 1 or 2; got True"),
        (AMBER + "[instruments]\nclip = true", "is a table of settings"),
        (AMBER + "[instruments.fidelity]", r"needs a reference: add \[reference\]"),
        (AMBER + '[reference]\nclips = "real"\n[instruments.pose]', "expected norms"),
        (AMBER + "[instruments.preference]", r"\[instruments.preference\] db is a text; got None"),
        (AMBER + '[instruments."a/b"]\ninstrument = "clip"', "its name becomes a folder"),
        (AMBER + "[instruments.robustness]\naxes = 3", "axes is a table; got 3"),
        (AMBER + "[overall]\npsnr = 0", "a number that is not 0"),
        (AMBER + "[overall]\npsnr = nan", "a number that is not 0"),
    ],
)
def test_what_is_wrong_is_one_line(home: Path, text: str, line: str) -> None:
    with pytest.raises(InputError, match=line) as caught:
        read_suite(write(home, text))
    assert "\n" not in str(caught.value) and "suite.toml" in str(caught.value)


def test_a_damaged_file_is_one_line(home: Path) -> None:
    rng = np.random.default_rng(7)
    refused = 0
    for _ in range(150):
        start, other = (
            rng.integers(len(WHOLE)),
            str(rng.choice(['"', "3", "[", "=", "\n", "", "é", "1979-05-27", "{}"])),
        )
        try:
            read_suite(write(home, WHOLE[:start] + other + WHOLE[start + int(rng.integers(1, 9)) :]))
        except InputError as error:
            refused += 1
            assert "\n" not in str(error)
    assert refused > 100


def test_a_file_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read as a suite"):
        read_suite(tmp_path / "gone.toml")
    (tmp_path / "x.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="expected TOML"):
        read_suite(tmp_path / "x.toml")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("prompt,text\na,b\n", "expected a column prompt_id"),
        ("prompt_ids\na\n", "expected a column prompt_id; got prompt_ids"),
        ("prompt_id\np1\np1\n", "line 3: the prompt p1 appears twice"),
        ("prompt_id,prompt\n,x\n", "line 2: expected a prompt_id; it is empty"),
        ("prompt_id\n", "there is none below the header"),
        ("", "no header"),
    ],
)
def test_prompts_that_cannot_be_are_one_line(tmp_path: Path, text: str, line: str) -> None:
    (tmp_path / "p.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=line):
        read_prompts(tmp_path / "p.csv")


def test_prompts_keep_their_order_and_a_byte_order_mark_is_no_letter(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text('\ufeffprompt_id,prompt\nb,"two, words"\na\n', encoding="utf-8")
    assert [(p.id, p.text) for p in read_prompts(tmp_path / "p.csv")] == [("b", "two, words"), ("a", "")]


def test_init_finds_systems_reference_prompts_and_ratings(tmp_path: Path) -> None:
    folders(tmp_path / "set", "birch", "a mber", "Ground-Truth")
    folders(tmp_path / "set", "notes", clips=("other",))
    folders(tmp_path / "set", "cedar", clips=("p1",))
    for name in ("prompts.csv", "ratings.csv"):
        (tmp_path / "set" / name).write_text("prompt_id\np1\np2\n", encoding="utf-8")
    made = draft_suite(tmp_path / "set", tmp_path / "suite.toml")
    assert list(made.systems) == ["a mber", "birch", "cedar"] and made.reference == tmp_path / "set" / "Ground-Truth"
    assert [remark.rpartition("set/")[2] for remark in made.remarks] == [
        "notes: skipped, no other folder has a clip of the same name",
        "cedar: lacks 1 of 2 clips, such as p2",
    ]
    suite = read_suite(made.path)
    assert [system.name for system in suite.systems] == ["a mber", "birch", "cedar", "Ground-Truth"]
    assert suite.name == "set" and len(suite.prompts) == 2 and suite.ratings
    assert suite.instruments[0].settings == {"motion": True} and not suite.overall
    assert 'birch = "set/birch"' in made.path.read_text(encoding="utf-8")
    shutil.move(tmp_path, moved := tmp_path.with_name(f"{tmp_path.name}-moved"))  # the paths are seen from the file
    assert read_suite(moved / "suite.toml").systems[0].clips == str(moved / "set" / "a mber")


def test_init_takes_systems_one_by_one_and_runs(tmp_path: Path) -> None:
    folders(tmp_path / "x", "out")
    folders(tmp_path / "y", "out")
    clip_run(tmp_path / "r1", {"p1": {CALM: 1.0}}, system="cedar")
    clip_run(tmp_path / "r2", {"p1": {CALM: 1.0}}, system="cedar")
    made = draft_suite([tmp_path / "x/out", tmp_path / "y/out", tmp_path / "r1", tmp_path / "r2"], tmp_path / "s.toml")
    suite = read_suite(made.path)
    assert [system.name for system in suite.systems] == ["x/out", "y/out", "cedar"]
    assert len(suite.systems[2].runs) == 2 and not suite.systems[2].clips


def test_init_says_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty: expected clips, or folders of clips; found none"):
        draft_suite(tmp_path / "empty", tmp_path / "s.toml")
    with pytest.raises(InputError, match="expected a folder; it does not exist"):
        draft_suite(tmp_path / "gone", tmp_path / "s.toml")
    folders(tmp_path / "only", "gt")
    with pytest.raises(InputError, match="found none beside the reference"):
        draft_suite(tmp_path / "only", tmp_path / "s.toml")
    folders(tmp_path / "turned", "p1", "p2", clips=("amber", "birch"))
    (tmp_path / "turned" / "prompts.csv").write_text("prompt_id\np1\np2\n", encoding="utf-8")
    with pytest.raises(InputError, match="called like prompts"):
        draft_suite(tmp_path / "turned", tmp_path / "s.toml")
    (tmp_path / "s.toml").touch()
    with pytest.raises(InputError, match="already exists"):
        draft_suite(tmp_path / "turned", tmp_path / "s.toml")


def test_init_on_the_command_line(tmp_path: Path) -> None:
    folders(tmp_path, "amber", "birch")
    done = CliRunner().invoke(app, ["suite", "init", str(tmp_path), "-o", str(tmp_path / "suite.toml")])
    assert done.exit_code == 0 and "rushes suite run" in done.output and "birch" in done.output
    again = CliRunner().invoke(app, ["suite", "init", str(tmp_path), "-o", str(tmp_path / "suite.toml")])
    assert again.exit_code == 1 and "already exists" in again.output
