"""The seed's guardrails, checked on the syntax trees: no randomness, clock, process, numpy or r2l."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import rushes.instruments.robustness

FOLDER = Path(rushes.robustness.__file__).parent
OF_OUR_OWN = {
    *("charts", "demo", "evaluate", "instrument", "job", "pooling", "pools", "readings"),
    *("section", "sweep", "word_diff_svg"),
}
"""Files and folders that the specification does not have: they join it to statistics, runs, pages and the terminal, and
make sweeps of clips. They may use what the rest of Rushes uses; everything else, in every folder below, is its own."""
MODULES = sorted(
    path for path in FOLDER.rglob("*.py") if not OF_OUR_OWN & set(path.relative_to(FOLDER).with_suffix("").parts)
)
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
ALLOWED_OF_OURS = ("rushes._lazy", "rushes.core", "rushes.instruments.robustness")


def is_allowed(name: str) -> bool:
    """The standard library without what is forbidden, and the packages of ours that are as plain."""
    if name.startswith("rushes."):
        return any(f"{name}.".startswith(f"{package}.") for package in ALLOWED_OF_OURS) and not is_of_our_own(name)
    return name.split(".")[0] in sys.stdlib_module_names - FORBIDDEN


def is_of_our_own(name: str) -> bool:
    return name.removeprefix("rushes.robustness.").split(".")[0] in OF_OUR_OWN


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


def test_standard_library_only_and_nothing_forbidden():
    found = [
        f"{path.relative_to(FOLDER)} imports {name}"
        for path in MODULES
        for name in sorted(imported(ast.parse(path.read_text(encoding="utf-8"))))
        if not is_allowed(name)
    ]
    assert not found, "\n".join(found)


CLOCK_ENTROPY_WRITING = {"now", "utcnow", "today", "urandom", "getpid", "write_text", "write_bytes", "mkdir"}


def test_no_clock_entropy_or_writing():
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute):
                assert node.attr not in CLOCK_ENTROPY_WRITING, f"{path.name}, line {node.lineno}"
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open":
                modes = [argument.value for argument in node.args[1:] if isinstance(argument, ast.Constant)]
                assert modes == ["rb"], f"{path.name}, line {node.lineno}"


def test_public_names_are_loaded_when_used():
    for name in rushes.robustness.__all__:
        assert getattr(rushes.robustness, name) is not None
    code = "import sys, rushes.robustness; rushes.robustness.MetricsEngine; print('numpy' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout == "False\n"


def test_the_seeds_coverage_gates_run_with_the_tests():
    root = Path(__file__).parents[3]
    assert "scripts/coverage_gate.py" in (root / "Makefile").read_text(encoding="utf-8").partition("\ntest:")[2]
    gate = (root / "scripts/coverage_gate.py").read_text(encoding="utf-8")
    assert '{"metrics.py": 95.0, "metrics_engine.py": 90.0}' in gate
