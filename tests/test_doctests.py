"""The examples in docstrings say what the code does.

Here and not by pytest's `--doctest-modules`: that would load every module of the product in every test process.
"""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
PLACES = [path for path in sorted(SOURCE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


def _name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("name", [_name(path) for path in PLACES])
def test_the_examples_of_a_module(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    tried = doctest.testmod(import_module(name))
    assert tried.attempted and not tried.failed, capsys.readouterr().out
