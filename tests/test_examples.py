"""Every example runs as it is, from an empty folder, and says something.

Most run in forks of a process that has everything imported (`warm_command`).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.warm_command import warm_command

ROOT = Path(__file__).parents[1]
COLD = ("measure_clips", "training_loop", "lightning_callback")
"""Run in interpreters of their own: one with worker processes and without a main guard, and those that train."""
EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.py") if path.stem != "samples")


def _example(path: Path) -> object:
    """The training loop runs FVD on random weights too."""
    return pytest.param(path, id=path.stem, marks=[pytest.mark.soak] if path.stem == "fvd_random_weights" else [])


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What runs a script without the start of an interpreter."""
    with warm_command(tmp_path_factory.mktemp("bin")) as program:
        yield str(program.with_name("rushes-python"))


@pytest.mark.parametrize("example", [_example(path) for path in EXAMPLES])
def test_an_example_runs(example: Path, tmp_path: Path, warm: str) -> None:
    if example.stem.startswith("fvd"):
        pytest.importorskip("torch", reason="FVD needs torch (pip install 'rushes[fvd]')")
    if example.stem.startswith("curate"):
        pytest.importorskip("duckdb", reason="queries need DuckDB (pip install 'rushes[query]')")
    if example.stem in ("training_loop", "lightning_callback"):
        pytest.importorskip("torchmetrics", reason="needs torchmetrics (pip install 'rushes[loop]')")
    if example.stem.startswith("lightning"):
        pytest.importorskip("lightning", reason="needs lightning")
    strict = "default" if example.stem.startswith("lightning") else "error"  # Lightning warns of its own choices
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONWARNINGS": strict}
    command = [sys.executable if example.stem in COLD else warm, str(example)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() and "Traceback" not in done.stderr


def test_every_example_is_listed() -> None:
    page = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert EXAMPLES and all(f"({example.name})" in page for example in EXAMPLES)
