"""Who may import whom: a folder imports only those above it, instruments never import one another."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "rushes"

LAYERS: tuple[tuple[str, ...], ...] = (
    ("_lazy",),
    ("errors",),
    ("core",),
    ("remote",),
    ("media",),
    ("models",),
    ("runs",),
    ("workers",),
    ("landmarks",),
    ("terminal",),
    ("report",),
    ("ci",),
    ("paired",),
    ("clip", "distribution", "fidelity", "pose", "preference", "robustness"),
    ("instruments",),
    ("loop",),
    ("suite",),
    ("trackers",),
    ("web",),
    ("cli", "pytest_plugin", "video_metrics"),
    ("__main__",),
)
"""From the ground up; folders of one layer do not import each other."""
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def imports(path: Path) -> set[str]:
    """Every module a file imports, inside functions too; type-checking-only imports count as well."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the layer"
            found.add(node.module or "")
            if node.module == "rushes":
                found |= {f"rushes.{alias.name}" for alias in node.names}
    return found


def part(path: Path) -> str:
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_a_module_imports_only_from_above(path: Path) -> None:
    here = part(path)
    if here == "__init__":
        return  # the public surface names everything, lazily
    assert here in RANK, f"{here} has no layer: add it to LAYERS"
    for name in imports(path):
        if name == "rushes" or not name.startswith("rushes."):
            continue
        there = name.split(".")[1]
        if there in RANK and there != here:
            assert RANK[there] < RANK[here], f"{path.relative_to(SOURCE)} imports {name}, which is not above {here}"


ROUND_ABOUT = {"charts", "command", "demo", "evaluate", "instrument", "section", "word_diff_svg"}
"""Files of the robustness folder that join it to runs, pages and the terminal; the rest is the specification's."""


def plain(folder: str) -> list[Path]:
    return [path for path in sorted((SOURCE / folder).glob("*.py")) if path.stem not in ROUND_ABOUT]


@pytest.mark.parametrize("folder", ["core", "robustness"])
def test_standard_library_only(folder: str) -> None:
    for path in plain(folder):
        for name in imports(path):
            top = name.split(".")[0]
            assert top in sys.stdlib_module_names or top == "rushes", f"{path.name} imports {name}"


@pytest.mark.parametrize("folder", ["core", "robustness"])
def test_no_chance_no_clock_no_processes(folder: str) -> None:
    for path in plain(folder):
        banned = {"numpy", "subprocess", "random", "uuid", "time", "datetime", "secrets"}
        assert not banned & {name.split(".")[0] for name in imports(path)}, path.name
