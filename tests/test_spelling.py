"""One module spells the names of metrics for output: `core/selection.py`.

A bare `m.name` in a sentence, a cell or a label would print a PCK without its normalisation. What may use the bare name
is listed here with the reason; a new module asks `reading_names`, `machine_names` or `full_name`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "rushes"

ALLOWED = {
    "core/words/notebook_repr.py": "the line ends in the whole signature, and the table says what belongs to the name",
    "compare/runs/set_distances.py": "distances between sets, whose protocol stands beside the name",
    "cli/compare/import_scores.py": "imported numbers have the names that their tools gave them",
    "cli/measure/pose.py": "a note on frames that could not be scored, with its normalisation; it has no number",
    "instruments/catalogue.py": "looks names up",
    "instruments/clip/demo/samples.py": "names of sample clips",
    "instruments/robustness/readings.py": "heads of its own, by name",
    "instruments/robustness/show/tables.py": "heads of its own, by name",
    "instruments/pose/show/tables.py": "PCK goes another way there: PCK@k, normalisation",
}
"""Modules that put a bare name into a text, and why that is right."""
_HOLDERS = {"m", "measurement", "definition", "reading", "sample", "number"}
"""What a measurement, a reading or a definition is called in this package."""


def holds_name(node: ast.AST) -> bool:
    """Whether this is `m.name`, `reading.name`, `anything.definition.name` or the like."""
    if not isinstance(node, ast.Attribute) or node.attr != "name":
        return False
    owner = node.value
    return (isinstance(owner, ast.Name) and owner.id in _HOLDERS) or (
        isinstance(owner, ast.Attribute) and owner.attr in {"definition", "reading", "first", "second", "sample"}
    )


def spelt_names(tree: ast.AST) -> Iterator[int]:
    """Lines on which a bare name goes into a text, a cell of a table or a place of a number; errors may name it."""
    raised = {
        id(node) for statement in ast.walk(tree) if isinstance(statement, ast.Raise) for node in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if id(node) in raised:
            continue
        parts: list[ast.AST] = []
        if isinstance(node, ast.JoinedStr):
            parts = [value.value for value in node.values if isinstance(value, ast.FormattedValue)]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Cell":
            parts = list(node.args)
        elif isinstance(node, ast.Dict):
            keyed = zip(node.keys, node.values, strict=True)
            parts = [value for key, value in keyed if isinstance(key, ast.Constant) and key.value == "metric"]
        for part in parts:
            if any(holds_name(inner) for inner in (part, *ast.iter_child_nodes(part))):
                yield node.lineno


def test_no_module_beside_the_speller_puts_a_bare_name_into_output() -> None:
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        if path.name != "selection.py" and (lines := list(spelt_names(ast.parse(path.read_text(encoding="utf-8"))))):
            found[path.relative_to(SOURCE).as_posix()] = lines
    assert {path: lines for path, lines in found.items() if path not in ALLOWED} == {}
    assert set(ALLOWED) <= set(found), "a module that is allowed to has no bare name any more: take it off the list"


def test_the_check_sees_what_it_is_about() -> None:
    leaks = ('f"{m.name} rose"', "Cell(reading.name)", '{"metric": one.definition.name}')
    assert all(list(spelt_names(ast.parse(leak))) for leak in leaks)
    assert not list(spelt_names(ast.parse('raise InputError(f"no {m.name}")')))
    assert not list(spelt_names(ast.parse('f"{path.name}: {full_name(m.definition)}"')))
