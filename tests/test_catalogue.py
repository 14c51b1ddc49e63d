"""Every definition of the package is in the catalogue: what a page shows, `rushes metrics NAME` explains."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from rushes.core import Definition
from rushes.instruments.catalogue import catalog, find

SOURCE = Path(__file__).parents[1] / "src"


def definitions() -> Iterator[tuple[str, Definition]]:
    """Every definition that a module of the package holds, alone or in a tuple, list or dictionary."""
    for path in sorted((SOURCE / "rushes").rglob("*.py")):
        if "efinition(" not in path.read_text(encoding="utf-8") or path.stem.startswith("__"):
            continue
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for name, value in vars(import_module(module)).items():
            held = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else [value]
            yield from ((f"{module}.{name}", one) for one in held if isinstance(one, Definition))


def parameters(definition: Definition) -> set[tuple[str, str]]:
    return {*definition.params, *((key, "<…>") for key in definition.open_params)}


def test_every_definition_is_in_the_catalogue_or_the_template_of_one_that_is() -> None:
    """A template is a definition that the catalogue has with more parameters: `input`, or how frames were paired."""
    known = catalog()
    found = list(definitions())
    missing = [
        name
        for name, one in found
        if one.signature not in known
        and not any(parameters(one) <= parameters(other) for other in known.values() if other.name == one.name)
    ]
    assert not missing and len({one.name for _, one in found}) > 100


def test_the_overall_score_of_a_board_can_be_looked_up() -> None:
    (found,) = find("overall_score")
    assert found.signature == "overall_score|weights:<…>|v:1"
