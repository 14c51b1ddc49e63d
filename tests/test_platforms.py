"""Linux and macOS by code; Windows is refused in one line, wherever it is met first."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rushes
from rushes.core.machine.files import take_lock

SOURCE = Path(__file__).parents[1] / "src" / "rushes"
REFUSAL = "Rushes runs on Linux and macOS"


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")


def run(code: str) -> subprocess.CompletedProcess[str]:
    """A fresh Python that believes it is on Windows and has no fcntl, once its own modules are loaded."""
    before = "import sys, typer, rich.console; sys.modules['fcntl'] = None; sys.platform = 'win32'; "
    return subprocess.run([sys.executable, "-c", before + code], capture_output=True, text=True)


def test_on_windows_the_import_works_and_the_errors_can_be_caught() -> None:
    done = run("import rushes; print(rushes.__version__, rushes.RushesError.__name__)")
    assert done.stdout.split() == [rushes.__version__, "RushesError"], done.stderr


@pytest.mark.parametrize("name", ["evaluate_clips", "write_report", "Run", "score_pose"])
def test_on_windows_everything_else_is_refused(windows: None, name: str) -> None:
    with pytest.raises(rushes.RushesError, match=REFUSAL):
        getattr(rushes, name)


def test_on_windows_a_lock_is_refused_before_a_file_is_made(windows: None, tmp_path: Path) -> None:
    with pytest.raises(rushes.RushesError, match=REFUSAL):
        take_lock(tmp_path / "lock")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [["--help"], ["clip", "x.mp4"], []])
def test_on_windows_the_command_says_one_line_and_exits_1(arguments: list[str]) -> None:
    done = run(f"sys.argv = ['rushes', *{arguments}]; from rushes.cli.main import main; main()")
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert done.stderr.startswith(f"rushes: {REFUSAL}") and len(done.stderr.splitlines()) == 1


LINUX_ONLY = {"sched_getaffinity", "sched_setaffinity", "memfd_create", "pidfd_open", "posix_fadvise", "sendfile"}
NAMED = LINUX_ONLY | {"fcntl"}
PLACES = {"core": {"fcntl", "memfd_create", "pidfd_open"}, "workers": {"sched_getaffinity"}}
"""Packages that may name what a system lacks, and do so behind a check; the others ask them."""


def lacking(path: Path) -> set[str]:
    """What a module names that a system may lack, and that is not its package's to name."""
    text = path.read_text(encoding="utf-8")
    if not any(name in text for name in NAMED):
        return set()
    tree = ast.parse(text)
    named = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    named |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return named & NAMED - PLACES.get(path.relative_to(SOURCE).parts[0], set())


def test_what_a_system_lacks_is_asked_for_in_one_place() -> None:
    found = {str(path.relative_to(SOURCE)): names for path in SOURCE.rglob("*.py") if (names := lacking(path))}
    assert not found
