"""Every definition of the package is in the catalogue: what a page shows, `rushes metrics NAME` explains."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.core import Definition
from rushes.instruments.catalogue import INSTRUMENTS, catalog, families, find

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


def test_the_numbers_of_vbench_can_be_looked_up_by_name_and_family() -> None:
    listed = CliRunner().invoke(app, ["metrics", "vbench", "--json"])
    found = json.loads(listed.stdout)
    assert {"vbench_total", "vbench_i2v_total", "vbench_subject_consistency", "vbench_scene"} <= {
        d["name"] for d in found
    }
    assert {d["family"] for d in found} == {"vbench"} and len(found) == 6 + 2 * 19
    one = CliRunner().invoke(app, ["metrics", "vbench_imaging_quality"]).stdout
    assert "Family      vbench" in one and "level:video" in one and "level:set" in one
    whole = CliRunner().invoke(app, ["metrics"]).stdout
    assert "vbench_total" in whole and "comparison" in whole


def test_every_definition_has_a_family() -> None:
    assert families().keys() == catalog().keys()
    assert set(families().values()) == {*(name for name, _ in INSTRUMENTS.items()), "comparison", "vbench"}
