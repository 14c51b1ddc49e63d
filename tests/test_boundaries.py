"""Who may import whom: a folder imports only those above it, instruments never import one another."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "rushes"

LAYERS = (
    "_lazy",
    "core",
    "native",
    "stats",
    "storage",
    "media",
    "vision",
    "workers",
    "present",
    "instruments",
    "study",
    "suite",
    "compare",
    "integrations",
    "web",
    "cli",
    "video_metrics",
    "__main__",
)
"""From the ground up: the folders of docs/architecture.md, in its order."""
RANK = {name: rank for rank, name in enumerate(LAYERS)}


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


@cache
def imports(path: Path) -> set[str]:
    """Every module a file imports, inside functions too; type-checking-only imports count as well."""
    found: set[str] = set()
    for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the layer"
            found.add(node.module or "")
            if node.module == "rushes":
                found |= {f"rushes.{alias.name}" for alias in node.names}
    return found


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Every statement below; no expression holds an import."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.expr):
            yield node
            yield from statements(node)


def part(path: Path) -> str:
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def misplaced(path: Path) -> Iterator[str]:
    """What a module imports from beside or below its own layer."""
    here = part(path)
    if here == "__init__":
        return  # the public surface names everything, lazily
    if here not in RANK:
        yield f"{here} has no layer: add it to LAYERS"
        return
    for name in sorted(imports(path)):
        there = name.split(".")[1] if name.startswith("rushes.") else here
        if there in RANK and there != here and RANK[there] >= RANK[here]:
            yield f"{path.relative_to(SOURCE)} imports {name}, which is not above {here}"
        if here == there == "instruments" and other_instrument(path, name):
            yield f"{path.relative_to(SOURCE)} imports {name}: instruments never import one another"


def other_instrument(path: Path, name: str) -> bool:
    """Whether a module of one instrument's folder imports one of another's."""
    ours, theirs = path.relative_to(SOURCE).parts[1:], name.split(".")[2:]
    return len(ours) > 1 and bool(theirs) and (SOURCE / "instruments" / theirs[0]).is_dir() and ours[0] != theirs[0]


def test_a_module_imports_only_from_above() -> None:
    found = [fault for path in modules() for fault in misplaced(path)]
    assert not found, "\n".join(found)


BANNED = {"numpy", "subprocess", "random", "uuid", "time", "datetime", "secrets"}
"""Chance, clocks and processes. `robustness/test_guardrails.py` asks the same, and more, of the specification's own."""


def test_core_uses_the_standard_library_alone_and_no_chance_no_clock_no_processes() -> None:
    found = [
        f"{path.relative_to(SOURCE)} imports {name}"
        for path in sorted((SOURCE / "core").rglob("*.py"))
        for name in sorted(imports(path))
        if (top := name.split(".")[0]) in BANNED or top not in {*sys.stdlib_module_names, "rushes"}
    ]
    assert not found, "\n".join(found)
