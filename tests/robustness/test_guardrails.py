"""The seed's guardrails, checked on the syntax trees: no randomness, clock, process, numpy or r2l."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rushes.robustness

FOLDER = Path(rushes.robustness.__file__).parent
ROUND_ABOUT = {"charts", "command", "demo", "evaluate", "instrument", "section", "word_diff_svg"}
"""What joins the instrument to runs, pages and the terminal; the rest is the specification's."""
MODULES = sorted(path for path in FOLDER.glob("*.py") if path.stem not in ROUND_ABOUT)
FORBIDDEN = {
    "asyncio",
    "concurrent",
    "datetime",
    "multiprocessing",
    "numpy",
    "r2l",
    "random",
    "secrets",
    "socket",
    "subprocess",
    "threading",
    "time",
    "urllib",
    "uuid",
}
ALLOWED_OF_OURS = {"_lazy", "core", "errors", "robustness"}


def imported(tree: ast.AST) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports would hide what is imported"
            names.add(node.module or "")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in {"__import__", "eval", "exec"}
    return names


def test_the_seeds_modules_are_there():
    assert {"metrics.py", "metrics_engine.py", "levenshtein.py", "sweep_dir.py"} <= {path.name for path in MODULES}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_standard_library_only_and_nothing_forbidden(path):
    for name in imported(ast.parse(path.read_text(encoding="utf-8"))):
        root, _, rest = name.partition(".")
        assert root not in FORBIDDEN, name
        if root == "rushes":
            assert rest.partition(".")[0] in ALLOWED_OF_OURS, name
        else:
            assert root in sys.stdlib_module_names, name


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_no_clock_entropy_or_writing(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            assert node.attr not in {
                "now",
                "utcnow",
                "today",
                "urandom",
                "getpid",
                "write_text",
                "write_bytes",
                "mkdir",
            }
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open":
            assert [argument.value for argument in node.args[1:] if isinstance(argument, ast.Constant)] == ["rb"]


def test_public_names_are_loaded_when_used():
    for name in rushes.robustness.__all__:
        assert getattr(rushes.robustness, name) is not None
    code = "import sys, rushes.robustness; rushes.robustness.MetricsEngine; print('numpy' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout == "False\n"


def test_the_seeds_coverage_gates_run_with_the_tests():
    root = Path(__file__).parents[2]
    assert "scripts/coverage_gate.py" in (root / "Makefile").read_text(encoding="utf-8").partition("\ntest:")[2]
    gate = (root / "scripts/coverage_gate.py").read_text(encoding="utf-8")
    assert '{"metrics.py": 95.0, "metrics_engine.py": 90.0}' in gate
