"""docs/pose.md shows what the program prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.doc_material import MATERIAL
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.instruments.pose.files.skeletons import SKELETONS
from rushes.instruments.pose.measurements import DEFINITIONS
from rushes.instruments.pose.scores.normalization import norm_spellings

PAGE = (Path(__file__).parents[3] / "docs" / "pose.md").read_text(encoding="utf-8")


def test_the_three_way_table_is_real_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    MATERIAL["poses"]()
    monkeypatch.setenv("COLUMNS", "100")
    command = next(line for line in PAGE.splitlines() if line.startswith("$ rushes ")).removeprefix("$ rushes ")
    printed = [line.rstrip() for line in CliRunner().invoke(app, command.split()).stdout.splitlines()]
    block = re.search(r"```\n\$ rushes pose.*?\n(.*?)```", PAGE, re.DOTALL)
    assert block is not None
    shown = block[1].rstrip().removesuffix("…").rstrip().splitlines()
    assert len(shown) > 10
    assert printed[: len(shown)] == shown


def test_the_python_blocks_run_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 1
    for block in blocks:
        exec(compile(block, "docs/pose.md", "exec"), {"__name__": "__main__"})
    assert (tmp_path / "runs" / "pose" / "measurements.jsonl").is_file()


def test_every_metric_norm_and_skeleton_is_on_the_page() -> None:
    for name in [*(d.name for d in DEFINITIONS), *norm_spellings(), *SKELETONS]:
        assert f"`{name}`" in PAGE, name
