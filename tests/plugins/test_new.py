"""`rushes new`: every kind of package works as it is written, and is found by Rushes."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main
from tests.plugins.conftest import metadata
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.cli.workbench.new import KINDS, write_package


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of each kind, and the metadata pip would write for them."""
    folder = tmp_path_factory.mktemp("new")
    for number, kind in enumerate(KINDS):
        made = write_package(kind, f"mine_{number}", folder / f"p{number}")
        metadata(made, folder / "site")
    return folder


def environment(home: Path) -> dict[str, str]:
    places = [str(home / "site"), *(str(home / f"p{number}") for number in range(len(KINDS)))]
    return os.environ | {"PYTHONPATH": os.pathsep.join([*places, *sys.path]), "COLUMNS": "200"}


def test_the_test_of_every_kind_passes(home: Path) -> None:
    tests = [str(file) for file in sorted(home.glob("p*/test_*.py"))]
    assert len(tests) == len(KINDS) == 7
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={home}", *tests]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(home), cwd=home, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr


def test_doctor_finds_each_of_them(home: Path) -> None:
    command = [sys.executable, "-m", "rushes", "doctor", "-v"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(home), timeout=240)
    lines = [line for line in done.stdout.splitlines() if "mine_" in line]
    assert len(lines) == len(KINDS) and all(" yes " in line for line in lines), done.stdout


def test_every_file_is_python_and_says_what_it_is(home: Path) -> None:
    for file in home.glob("p*/*.py"):
        text = file.read_text()
        assert ast.get_docstring(ast.parse(text)) and "@name@" not in text and "@module@" not in text


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("clip-metrik", "a"), "Did you mean `clip-metric`"),
        (("judge", "No-Name"), "a name is lower-case letters"),
        (("judge", "here", "-o", "."), "exists already"),
    ],
)
def test_what_will_not_do_is_one_line(words: tuple[str, ...], says: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["new", *words])
    assert done.exit_code == 1 and says in " ".join(done.output.split()) and not list(tmp_path.iterdir())


def test_the_command_says_what_to_do_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["new", "clip-metric", "letterbox_ratio"])
    assert done.exit_code == 0 and "pip install -e letterbox_ratio" in done.output
    assert "rushes clip CLIPS --metric letterbox_ratio" in done.output


@pytest.mark.parametrize(
    "kind", sorted(set(KINDS) - {"instrument", "backbone"})
)  # these two parse once they are installed
def test_the_line_that_uses_it_is_a_whole_command(kind: str) -> None:
    program, *words = KINDS[kind][2].format(name="mine").split()
    assert program == "rushes"
    command: Any = typer.main.get_command(app)
    context = command.make_context("rushes", words)
    while hasattr(command, "commands"):
        name, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        context = command.make_context(name, list(rest), parent=context)  # UsageError: something is missing
