"""Every command's tables on a terminal of 80 and 140 columns: no line too long, no name broken, few signatures."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from tests.doc_material import MATERIAL
from tests.present.terminal.on_terminal import command, plain, seen

from rushes.present.terminal.wrapping import cell_width

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # the child prints and ends

COMMANDS: dict[str, tuple[str, ...]] = {
    "clip": ("clip", "takes", "-o", "runs/clip", "--jobs", "1"),
    "fidelity": ("fidelity", "takes", "takes", "--metric", "psnr", "l1", "-o", "runs/fid", "--jobs", "1"),
    "pose": ("pose", "pred.npz", "gt.npz", "--norm", "all", "--px", "0.08", "-o", "runs/pose"),
    "robust": ("robust", "sweep", "-o", "runs/robust"),
    "compare": ("compare", "runs/last-week", "runs/this-week"),
    "gate": ("gate", "runs/last-week", "runs/this-week", "--metric", "psnr:1"),
    "fvd": ("fvd", "a.npy", "b.npy", "--extractor", "own-net", "--interval", "jackknife", "-o", "runs/fvd"),
    "import-scores": ("import-scores", "scores.csv", "-o", "scored", "--definitions", "scores.toml"),
    "believe": ("believe", "scored", "--ratings", "ratings.csv"),
    "rank": ("rank", "votes.csv"),
    "study status": ("study", "status", "takes"),
    "study report": ("study", "report", "takes", "-o", "runs/study"),
    "study adjudicate": ("study", "adjudicate", "takes"),
    "study plan": ("study", "plan", "--runs", "20"),
    "metrics": ("metrics",),
    "metrics NAME": ("metrics", "longest_freeze_ms"),
    "models": ("models", "list"),
    "doctor": ("doctor",),
    "suite init": ("suite", "init", "systems", "-o", "suite.toml", "--overwrite"),
    "help": ("--help",),
    "clip help": ("clip", "--help"),
}
"""By name: the words; each is run after those before it."""
NAMES = {"longest_freeze_ms", "take0", "take1", "torso-diameter", "absolute-px", "clip_score", "luma_alternation"}
LOADED = (
    "rushes.cli.study.running",
    "rushes.study.evaluate",
    "rushes.study",
    "rushes.compare.agreement.tables",
    "rushes.compare.ranking.formats",
    "rushes.compare.runs.page.page",
    "rushes.compare.gate.gate",
    "rushes.compare.gate.report",
    "rushes.instruments.distribution.features.files",
    "rushes.instruments.fidelity.evaluate",
    "rushes.instruments.pose.evaluate",
    "sqlalchemy.dialects.sqlite",
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with what the commands need."""
    folder, before = tmp_path_factory.mktemp("terminal"), Path.cwd()
    os.chdir(folder)
    for name in ("votes", "votes_csv", "scores", "takes", "poses", "two_weeks", "systems"):
        MATERIAL[name]()
    for module in LOADED:  # once here, not in each child
        import_module(module)
    rng = np.random.default_rng(0)
    for name, at in (("a", 0.0), ("b", 0.4)):
        np.save(f"{name}.npy", rng.normal(at, 1.0, (40, 8)))
    from rushes.cli.main import app

    for words in (
        ("sweep", "takes/take0.mp4", "--axis", "brightness=1.0,0.5", "-o", "sweep", "--jobs", "1"),
        COMMANDS["clip"],  # from here on, runs are continued and not measured again
        COMMANDS["fidelity"],
        COMMANDS["import-scores"],
    ):
        app(list(words), standalone_mode=False)
    yield folder
    os.chdir(before)


def broken(text: str, names: set[str]) -> list[str]:
    """Names of which a piece stands at the end of a line and the rest at the start of the next."""
    joined = text.replace("\n", "")
    return [name for name in names if joined.count(name) > text.count(name)]


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_wider_than_the_window_and_no_name_is_broken(name: str, home: Path) -> None:
    for columns in (80, 140):  # prose has a column of its own from 110 on; `test_layout.py` has every width
        text = plain(seen(command(*COMMANDS[name]), columns))
        # A command that is to be pasted is one line, however long it is.
        lines = [line for line in text.splitlines() if not line.startswith("Next: ")]
        too_long = [line for line in lines if cell_width(line) > columns]
        assert not too_long, f"{columns} columns: {too_long[0]}"
        assert not broken(text, NAMES), text
        words = [word for word in text.split() if re.fullmatch(r"[\w.]+(\|[\w]+:[^|]+)+\|v:\d+", word)]
        assert not words or name == "metrics NAME", f"a signature without -v: {words[0]}"
        assert text.count("Next: ") <= 1


@pytest.mark.parametrize(
    "name", ["clip", "compare", "pose", "fidelity", "robust", "fvd", "believe", "rank", "study report"]
)
def test_v_shows_signatures_whole(name: str, home: Path) -> None:
    text = plain(seen(command(*COMMANDS[name], "-v"), 140))
    assert re.search(r"(^\s*|of |: )\w+(\|\S+)+\|v:\d+$", text, re.MULTILINE), text


def test_signals_have_colours_on_a_terminal_and_words_everywhere(home: Path) -> None:
    words = command(*COMMANDS["clip"])
    coloured = seen(words, 80)
    assert "\x1b[32mpass\x1b[0m" in coloured
    assert seen(words, 80, env={"NO_COLOR": "1"}) == plain(coloured)
    assert "\x1b" not in seen(words, 80, env={"TERM": "dumb"})
    assert "\x1b[32mbetter\x1b[0m" in seen(command(*COMMANDS["compare"]), 140)


def test_a_pipe_is_100_columns_or_what_columns_says(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from rushes.cli.main import app

    widths = {}
    for columns in (None, "60"):
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("COLUMNS", raising=False)
            if columns:
                patch.setenv("COLUMNS", columns)
            app(["metrics"], standalone_mode=False)
        text = capfd.readouterr().out
        assert "\x1b" not in text
        widths[columns] = max(map(cell_width, text.splitlines()))
    assert widths[None] <= 100 and widths["60"] <= 60
