"""What people come for, as they type it: one command each, two for the board, and the answer in the first lines.

Each runs in a terminal of 80 columns (`tests/present/terminal/on_terminal.py`), on clips whose answer is known. FVD is
in `tests/instruments/distribution/test_command.py`, with a network that costs nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.clips import noise, write_luma
from tests.present.terminal.on_terminal import command, plain, seen
from tests.warm_command import PRELOADED

import rushes

FIRST = 6
"""Lines in which the answer has to be."""
PROMPTS = 8
"""As many as it takes for a difference to be significant."""


def started(*words: str) -> Callable[[], object]:
    """The command in a Python of its own: torch and charts must not run in a fork of a process that has used them."""

    def run() -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.execv(sys.executable, [sys.executable, "-m", "rushes", *words])

    return run


def lines(*words: str, run: Callable[..., Callable[[], object]] = command) -> list[str]:
    text = plain(seen(run(*words), 80))
    for line in text.splitlines():
        assert len(line) <= 80 or line.startswith(("%", "\\")), f"LaTeX and its comments aside, 80 columns: {line}"
    return text.splitlines()


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """A command runs in a fork of this process: what is imported here is not imported again by each."""
    for name in (*PRELOADED, "rushes.compare.paper.paper", "rushes.storage.query.one_file"):
        pytest.importorskip(name)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two systems and their references: birch is a copy, amber a copy with noise; two raters saw that."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.RandomState(0)
    scores = {"amber": 2, "birch": 4}
    rows = ["prompt_id,system,rater,quality"]
    for prompt in range(PROMPTS):
        frames = np.stack(noise(4, seed=prompt, size=(64, 64)))
        added = np.clip(frames.astype(int) + rng.randint(-40, 41, frames.shape), 0, 255).astype(np.uint8)
        for system, picture in (("amber", added), ("birch", frames), ("ground-truth", frames)):
            target = tmp_path / "systems" / system
            target.mkdir(parents=True, exist_ok=True)
            write_luma(target / f"p{prompt}.mkv", picture, "yuv420p")
        rows += [f"p{prompt},{name},r{n},{score + (prompt + n) % 2}" for name, score in scores.items() for n in (1, 2)]
    (tmp_path / "systems" / "ratings.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def test_which_clips_are_broken(folder: Path) -> None:
    (folder / "systems" / "amber" / "p9.mp4").write_bytes(b"no video at all")
    shown = lines("clip", "systems/amber", "-o", "runs/amber", "--jobs", "1")
    assert shown[0].startswith("9 clips: 1 reject")
    assert "p9" in " ".join(shown[:FIRST]) and "cannot be decoded" in " ".join(shown[:FIRST])


def test_which_system_is_better(folder: Path) -> None:
    shown = lines("suite", "run", "systems", "-o", "out", "--jobs", "1", run=started)
    assert any("rushes board out" in line for line in shown), "the second command is named"
    assert (folder / "out.toml").is_file()
    answer = lines("board", "out", "--strips", "0", "--timelines", "0", run=started)
    assert "birch" in " ".join(answer[:2]), answer
    assert (folder / "out" / "board.html").is_file()


def test_a_latex_table(folder: Path) -> None:
    words = ("paper", "systems/amber", "systems/birch", "--gt", "systems/ground-truth", "--columns", "psnr,ssim")
    shown = lines(*words, "--latex", "--jobs", "1")
    assert "\\begin{table}" in " ".join(shown[:FIRST])
    rows = [line for line in shown if line.startswith(("amber", "birch"))]
    assert len(rows) == 2 and all(row.rstrip().endswith("\\\\") for row in rows)
    assert not [line for line in shown if "|" in line and not line.startswith("%")], "signatures are comments"


def test_all_numbers_in_one_file(folder: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="comes with the extra query")
    pytest.importorskip("xlsxwriter", reason="comes with the extra query")
    rushes.clips("systems/birch", run="runs/birch", jobs=1)
    for ending in ("parquet", "csv", "xlsx", "jsonl"):
        shown = lines("export", "runs/birch", "-o", f"all.{ending}")
        assert shown[0] == f"all.{ending}" and (folder / shown[0]).is_file()
    table = parquet.read_table(folder / "all.parquet")
    assert table.num_rows == PROMPTS and {"id", "review_signal", "sharpness"} <= set(table.column_names)
