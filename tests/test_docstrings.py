"""`help(rushes.fvd)` is enough: every argument with its default, what is returned, what is raised, an example.

The example is parsed and bound to the function's signature: it names no argument that is not there, and no older name.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest

import rushes

VERBS = [
    name for name in rushes.__all__ if callable(getattr(rushes, name)) and not inspect.isclass(getattr(rushes, name))
]
SECTION = r"^{}:\n(?P<text>(?:(?:    .*)?\n)+?)(?=^\S|\Z)"


def doc(name: str) -> str:
    thing = getattr(rushes, name)
    return (inspect.getdoc(inspect.unwrap(thing)) or "") + "\n"


def section(name: str, head: str) -> str:
    found = re.search(SECTION.format(head), doc(name), re.MULTILINE)
    assert found is not None, f"rushes.{name}: no section {head}"
    return found["text"]


def arguments(name: str) -> dict[str, str]:
    """What the docstring says of each argument; "first, second: …" speaks of both."""
    told: dict[str, str] = {}
    for entry in re.split(r"^    (?=\S)", section(name, "Args"), flags=re.MULTILINE)[1:]:
        names, _, text = entry.partition(": ")
        told |= {one.strip(): " ".join(text.split()) for one in names.split(",")}
    return told


def examples(name: str) -> Iterator[ast.Call]:
    """Calls of `rushes.NAME` in the indented code before the sections."""
    opening = doc(name).partition("\nArgs:\n")[0]
    code = "\n".join(line for line in opening.splitlines() if line.startswith("    "))
    for node in ast.walk(ast.parse(textwrap.dedent(code))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == f"rushes.{name}":
            yield node


@pytest.mark.parametrize("name", VERBS)
def test_every_argument_has_its_words(name: str) -> None:
    told = arguments(name)
    parameters = inspect.signature(getattr(rushes, name)).parameters
    more = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    assert not parameters.keys() - told.keys() and all(told.values())
    assert more or not told.keys() - parameters.keys()


@pytest.mark.parametrize("name", VERBS)
def test_a_default_that_is_named_is_the_real_one(name: str) -> None:
    """Numbers and words are named; None, False and nothing are said in other words."""
    told = arguments(name)
    for key, parameter in inspect.signature(getattr(rushes, name)).parameters.items():
        default: Any = parameter.default
        if isinstance(default, (int, float, str)) and not isinstance(default, bool) and default != "":
            value = f'"{default}"' if isinstance(default, str) else str(default)
            assert re.search(rf"(?<![\d.]){re.escape(value)}(?![\d.]*\d)", told[key]) and "default" in told[key], (
                f"rushes.{name}({key}={default!r}): {told[key]}"
            )


@pytest.mark.parametrize("name", VERBS)
def test_results_and_errors_are_named(name: str) -> None:
    assert section(name, "Returns").strip()
    for line in section(name, "Raises").splitlines():
        if line and not line.startswith("     "):
            error = getattr(rushes, line.strip().partition(":")[0])
            assert issubclass(error, rushes.RushesError), line


@pytest.mark.parametrize("name", VERBS)
def test_the_example_can_be_called(name: str) -> None:
    calls = list(examples(name))
    assert calls, f"no example of rushes.{name}"
    for call in calls:
        given = {word.arg: word.value for word in call.keywords if word.arg is not None}
        inspect.signature(getattr(rushes, name)).bind(*call.args, **given)


@pytest.mark.parametrize("name", [name for name in rushes.__all__ if name not in VERBS])
def test_types_and_packages_say_what_they_are(name: str) -> None:
    text = (inspect.getdoc(getattr(rushes, name)) or "").strip()
    assert text and text[0].isupper() and text.splitlines()[0].endswith((".", ":", "?"))
