"""`docs/api.md`: the Python API as a page, from signatures and docstrings.

`python scripts/api_page.py FILE` writes it; a test keeps it true."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import rushes
from rushes._lazy import VerbModule, public_names

_HEAD = """# The Python API

Made from signatures and docstrings by `make docs`; do not edit. Everything here is a name of `rushes`; a verb of the
command line is a function. Importing `rushes` loads nothing else: a name is loaded when it is first used.
"""
_WIDTH = 100
_BASES = ("rushes.study.", "rushes.core.estimate")
"""Where classes are that others are made of."""


def _uncached(thing: Any) -> Any:
    """The function behind one that keeps what it found."""
    return thing.__wrapped__ if hasattr(thing, "cache_info") else thing


def api_page() -> str:
    """The whole page as Markdown."""
    every = {name: getattr(rushes, name) for name in (*rushes.__all__, *public_names(str(rushes.__file__)))}
    shown: dict[int, str] = {}
    for name, thing in every.items():
        shown.setdefault(id(thing), name)  # what is listed comes first: another name of it is an old one
    old = {name: shown[id(thing)] for name, thing in every.items() if shown[id(thing)] != name}
    public = {name: _uncached(every[name]) for name in sorted(every) if name not in old}
    verbs = [name for name, thing in public.items() if inspect.isfunction(_called(thing))]
    errors = [name for name, thing in public.items() if inspect.isclass(thing) and issubclass(thing, BaseException)]
    types = [name for name, thing in public.items() if inspect.isclass(thing) and name not in errors]
    packages = [name for name, thing in public.items() if isinstance(thing, ModuleType) and name not in verbs]
    rest = [name for name in public if name not in (*verbs, *errors, *types, *packages)]
    sections = [
        _HEAD,
        "## Verbs\n",
        *(_function(name) for name in verbs),
        "### Other names\n",
        *(f"- `{name}` is `{new}`" for name, new in sorted(old.items())),
        "\n## What they give and take\n",
        *(_class(name) for name in types),
        *(f"### {name}\n\nA type: `{public[name]}`.\n" for name in rest),
        "## Errors\n",
        "The tree is in [errors](errors.md).\n",
        *(f"- `{name}`: {_doc(public[name]).splitlines()[0]}" for name in errors),
        "\n## Packages\n",
        *(_package(name, public[name]) for name in packages),
    ]
    return "\n".join(sections) + "\n"


def _function(name: str) -> str:
    function = _called(getattr(rushes, name))
    tree = _with_values(_tree(inspect.unwrap(function)), inspect.unwrap(function))
    tree.name = name
    return f"### {name}\n\n{_code(_signature(tree))}\n{_markdown(_doc(function))}"


def _called(thing: object) -> Any:
    """A verb that is a package too is the function that it calls."""
    return thing.__wrapped__ if isinstance(thing, VerbModule) else thing


def _class(name: str) -> str:
    members: dict[str, str] = {}
    for line in (line for part in _parts(getattr(rushes, name)) for line in _members(part)):
        members.setdefault(re.split(r"\W", line[1:], maxsplit=1)[0], f"- {line}")
    return f"### {name}\n\n{_markdown(_doc(getattr(rushes, name)))}\n" + "\n".join(members.values()) + "\n"


def _parts(thing: type) -> Iterator[type]:
    """The class itself, then what it is made of that has no entry of its own: `StudyService` and its administrators."""
    for part in thing.__mro__:
        if part is thing or (part.__module__.startswith(_BASES) and not hasattr(rushes, part.__name__)):
            yield part


def _package(name: str, package: ModuleType) -> str:
    names = [f"`{public}`" for public in getattr(package, "__all__", ())]
    listed = f" Names: {', '.join(names)}." if names else ""
    return f"- `rushes.{name}`: {_doc(package).splitlines()[0]}{listed}"


def _members(part: type) -> Iterator[str]:
    """Fields with the docstring under them, then properties and methods with the first line of theirs."""
    tree = _tree(part)
    assert isinstance(tree, ast.ClassDef)
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and not ast.unparse(node.target).startswith("_"):
            text = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
            yield f"`{ast.unparse(node.target)}: {ast.unparse(node.annotation)}`" + _after(str(text))
    for node in (_defined(part, node) for node in tree.body):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            written = inspect.unwrap(inspect.getattr_static(part, node.name))
            _with_values(node, getattr(written, "__func__", written))
            is_property = any("property" in ast.unparse(each) for each in node.decorator_list)
            shown = f"{node.name}: {ast.unparse(node.returns)}" if is_property and node.returns else _signature(node)
            yield f"`{' '.join(shown.split())}`" + _after((ast.get_docstring(node) or "").partition("\n")[0])


def _defined(part: type, node: ast.stmt) -> ast.stmt:
    """The definition behind `name = timed(WRITE, module.function)`, whose connection and time are not the caller's."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
        return node
    name = ast.unparse(node.targets[0])
    if not inspect.isfunction(vars(part)[name]):
        return node
    made = _tree(inspect.unwrap(vars(part)[name]))
    assert isinstance(made, ast.FunctionDef)
    made.name, made.args.args = name, [one for one in made.args.args if one.arg not in ("connection", "now")]
    return made


def _after(text: str) -> str:
    words = " ".join(text.split())
    return f": {words}" if words else ""


def _tree(thing: object) -> ast.stmt:
    return ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]  # type: ignore[arg-type]


def _with_values(node: ast.stmt, function: object) -> ast.FunctionDef:
    """The definition with its defaults' values where the source has the name of a constant."""
    assert isinstance(node, ast.FunctionDef)
    if inspect.isfunction(function):
        given = inspect.signature(function).parameters
        every = node.args
        node.args.defaults = (
            [
                _value(default, given[one.arg].default)
                for one, default in zip(
                    [*every.posonlyargs, *every.args][-len(every.defaults) :], every.defaults, strict=True
                )
            ]
            if every.defaults
            else []
        )
        node.args.kw_defaults = [
            default and _value(default, given[one.arg].default)
            for one, default in zip(every.kwonlyargs, every.kw_defaults, strict=True)
        ]
    return node


def _value(written: ast.expr, value: object) -> ast.expr:
    """The constant's value; the name where there is no short way to write it, as for a function."""
    if not isinstance(written, ast.Name | ast.Attribute):
        return written
    value = value.value if isinstance(value, Enum) else dict(value) if isinstance(value, MappingProxyType) else value
    try:
        ast.literal_eval(repr(value))
    except (SyntaxError, ValueError):
        return written
    return ast.parse(repr(value), mode="eval").body


def _signature(node: ast.stmt) -> str:
    """The call as the source has it; one argument a line where it is long."""
    assert isinstance(node, ast.FunctionDef)
    arguments = node.args
    arguments.args = [each for each in arguments.args if each.arg not in ("self", "cls")]
    each = [re.sub(r"^(\w+: [^=]*)=", r"\1 = ", one.strip()) for one in _split(ast.unparse(arguments))]
    gives = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    text = f"{node.name}({', '.join(each)}){gives}"
    return text if len(text) <= _WIDTH else "\n".join([f"{node.name}(", *(f"    {one}," for one in each), f"){gives}"])


def _split(arguments: str) -> Iterator[str]:
    """Arguments apart, at the commas that are in no bracket.

    >>> list(_split("a: dict[str, int], *, b=(1, 2)"))
    ['a: dict[str, int]', ' *', ' b=(1, 2)']
    """
    depth, start = 0, 0
    for place, letter in enumerate(arguments):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            yield arguments[start:place]
            start = place + 1
    yield arguments[start:]


def _doc(thing: object) -> str:
    return inspect.getdoc(thing) or ""


def _markdown(doc: str) -> str:
    """Paragraphs as they are, code and aligned lines as code."""
    return "\n".join(_paragraph(part) for part in re.split(r"\n\s*\n", doc))


def _listed(text: str) -> str:
    """`Args:`, `Returns:` and `Raises:` with a line for each thing that is named there.

    >>> print(_listed("Args:\\n    k: how many,\\n        at least 1.\\n    seed: of the draw."))
    **Args**
    <BLANKLINE>
    - `k`: how many, at least 1.
    - `seed`: of the draw.
    <BLANKLINE>
    """
    head, _, body = text.partition(":\n")
    items = re.split(r"\n(?=\S)", textwrap.dedent(body))
    named = (re.match(r"(\*{0,2}\w+): ", item) for item in items)
    lines = [f"- `{name[1]}`: {item[name.end() :]}" if name else item for name, item in zip(named, items, strict=True)]
    return f"**{head}**\n\n" + "\n".join(" ".join(line.split()) for line in lines) + "\n"


def _paragraph(text: str) -> str:
    if re.match(r"(Args|Returns|Raises|Yields):\n", text):
        return _listed(text)
    is_aligned = text.startswith((">>>", "    ")) or re.search(r"^(\w+ ?\w*) {2,}\S", text, re.MULTILINE)
    return (
        _code(textwrap.dedent(text), "text" if not text.startswith("    ") else "python") if is_aligned else f"{text}\n"
    )


def _code(text: str, language: str = "python") -> str:
    return f"```{language}\n{text}\n```\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(api_page(), encoding="utf-8")
