"""Two published evaluations through every command that makes a paper: FETV's ratings, ADTH-QA's counted votes.

In `make soak`: tests/compare/test_evaluation_sections.py takes made clips through the same commands each time.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.suite.folder import run_suite

TOML = """
name = "{name}"
[systems]
{systems}
[reference]
clips = "{home}/ground-truth"
on_board = true
[{asked}]
file = "{asked}.csv"
[instruments.clip]
[instruments.fidelity]
metrics = ["psnr"]
cut = "shortest"
resize_to = "gt"
pair = "index"
"""


def suite_of(shared: Path, folder: Path, name: str, asked: str, prompts: tuple[str, ...]) -> Path:
    """The published clips of these prompts as links, with the answers about them."""
    source, home = shared / "suites" / name, folder / "clips"
    systems = sorted(place.name for place in source.iterdir() if place.is_dir())
    for system in systems:
        (home / system).mkdir(parents=True)
        for prompt in prompts:
            (home / system / f"{prompt}.mp4").symlink_to(source / system / f"{prompt}.mp4")
    with (source / f"{asked}.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if {*prompts} & {*row.values()}]
    with (folder / f"{asked}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    lines = "\n".join(f'{system} = "{home / system}"' for system in systems if system != "ground-truth")
    (folder / "suite.toml").write_text(TOML.format(name=name, systems=lines, home=home, asked=asked))
    return run_suite(folder / "suite.toml", folder / "out").path


def walk(suite: Path, folder: Path, columns: str, question: str) -> None:
    """Every command once; each must write what it says."""
    commands = [
        ["table", suite, "--columns", columns, "--interval", "under", "--width", "one", "-o", folder / "table.tex"],
        ["table", suite, "-o", folder / "table.html"],
        *(
            ["figure", kind, suite, "-o", folder / f"fig-{kind}.svg"]
            for kind in ("ratings", "ranking", "forest", "curves")
        ),
        ["figure", "scatter", suite, "--columns", f"psnr,{question}", "-o", folder / "scatter.pdf"],
        ["figure", "strips", suite, "--width", "two", "-o", folder / "strips.pdf"],
        ["failures", suite, "--by", question, "--top", 1, "-o", folder / "failures.html"],
        ["board", suite, "--with-clips", "--strips", 0, "-o", folder / "supplement"],
    ]
    for words in commands:
        answer = CliRunner().invoke(app, [*map(str, words)])
        assert answer.exit_code == 0, (words, answer.output)
        assert Path(str(words[-1])).exists()


@pytest.mark.soak
def test_fetv(shared: Path, tmp_path: Path) -> None:
    suite = suite_of(shared, tmp_path, "fetv", "ratings", ("p001", "p023", "p122"))
    walk(suite, tmp_path, "rating:temporal_quality,psnr,luma_alternation,signals", "rating:temporal_quality")


@pytest.mark.soak
def test_adth(shared: Path, tmp_path: Path) -> None:
    suite = suite_of(shared, tmp_path, "adth", "votes", ("french", "ger1"))
    walk(suite, tmp_path, "elo:lip,wins:render,psnr,luma_alternation,signals", "wins:lip")
