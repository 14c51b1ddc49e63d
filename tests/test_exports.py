"""The public names are the truth, and importing them costs little and changes nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import rushes


@pytest.mark.parametrize("name", rushes.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(rushes, name) is not None


def test_the_list_is_sorted_and_typed() -> None:
    assert rushes.__all__ == sorted(rushes.__all__)
    tree = ast.parse(Path(rushes.__file__).read_text(encoding="utf-8"))
    typed = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert set(rushes.__all__) <= typed, "type checkers do not see these names"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'fvd2'"):
        _ = rushes.fvd2  # type: ignore[attr-defined]


def test_import_loads_nothing_heavy() -> None:
    code = (
        "import sys, rushes; print([m for m in ('numpy', 'av', 'cv2', 'torch', 'typer', 'scipy') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys, rushes.cli.main; print([m for m in ('numpy', 'av', 'cv2', 'torch', 'scipy', 'fastapi') "
        "if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_errors_are_one_tree() -> None:
    errors = import_module("rushes.errors")
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), errors.RushesError)
        assert name in errors.__doc__ and getattr(errors, name).__doc__
