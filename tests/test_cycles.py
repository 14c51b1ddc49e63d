"""Modules that import each other in a circle: what they are, and that there are no more of them.

An import inside a function counts too: it hides a circle from Python and not from a reader. Imports for type checking
alone do not count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import rushes

ROOT = Path(rushes.__file__).parent
MOST = {"": 16, "compare": 0, "suite": 0}
"""Modules that lie on a circle, at most: in all of the package, and below a folder."""


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def imported(tree: ast.AST) -> Iterator[str]:
    """Every module, or name of a module, that is imported anywhere in the tree; no expression holds an import."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            yield from imported(ast.Module(body=node.orelse, type_ignores=[]))
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        yield from imported(node)


def homes() -> dict[str, str]:
    """By name that a package gives lazily ("rushes.core.Measurement"), the module that has it, as its stub says."""
    found = {}
    for stub in ROOT.rglob("__init__.pyi"):
        for node in ast.parse(stub.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                package = module_name(stub)
                found |= {f"{package}.{alias.asname or alias.name}": node.module for alias in node.names}
    return found


def edges() -> dict[str, set[str]]:
    """By module, the modules of the package that it imports."""
    lazy = homes()
    found: dict[str, set[str]] = {}
    for name, path in FILES.items():
        texts = imported(ast.parse(path.read_text(encoding="utf-8")))
        targets = {text if text in FILES else lazy.get(text, text.rpartition(".")[0]) for text in texts}
        found[name] = {one for one in targets if one in FILES and one != name and FILES[one].name != "__init__.py"}
    return found


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected components of two modules or more (Tarjan 1972)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        number[name] = low[name] = len(number)
        stack.append(name)
        for other in sorted(graph[name]):
            if other not in number:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], number[other])
        if low[name] == number[name]:
            place = stack.index(name)
            if len(stack) - place > 1:
                found.append(sorted(stack[place:]))
            del stack[place:]

    for name in graph:
        if name not in number:
            visit(name)
    return found


def test_by_hand() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "e"}, "e": set()}
    assert circles(graph) == [["a", "b", "c"]]
    tree = ast.parse("if TYPE_CHECKING:\n    import x\nelse:\n    import y\ndef f():\n    from z import w")
    assert list(imported(tree)) == ["y", "z.w"]


def test_no_new_circles() -> None:
    found = circles(edges())
    for folder, most in MOST.items():
        under = f"rushes.{folder}." if folder else "rushes."
        on = [[name for name in circle if name.startswith(under)] for circle in found]
        assert sum(map(len, on)) <= most, [circle for circle in found if any(name.startswith(under) for name in circle)]
