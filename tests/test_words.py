"""Plain English in pages, templates, scripts, the demo and help: no stumbling words, no names of our own papers."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import typer.main
from tests.present.terminal.test_help import commands

from rushes.cli.main import app

ROOT = Path(__file__).parents[1]
GENERATED = {"api.md", "metrics.md", "models.md", "scale.md"}
"""Made from the source, or of measured figures."""
PAGES = [ROOT / "README.md", ROOT / "examples/README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEMPLATES = sorted((ROOT / "src/rushes").rglob("*.html"))
SCRIPTS = sorted((ROOT / "src/rushes").rglob("*.js"))
DEMOS = sorted((ROOT / "src/rushes").rglob("demo*.py"))
STUMBLES = re.compile(r"going on with|\bsettled\b|turns out|\bsaid\b|\balive\b|\bADR-")
EXPLAINED = {
    "MetricBundleV1": r"MetricBundleV1[^.]*\bformat\b|\bformat\b[^.]*MetricBundleV1",
    "genhoi": r"genhoi\*{0,2}`?[^.]*default",
}
"""Names that a page may use where it says once what they are."""


def prose(text: str) -> str:
    """A page or a template without code, comments and marks of its language."""
    for marks in (r"^```.*?^```$", r"<!--.*?-->", r"\{%.*?%\}", r"\{#.*?#\}", r"\{\{.*?\}\}", r"`[^`\n]*`", r"<[^>]*>"):
        text = re.sub(marks, " ", text, flags=re.M | re.S)
    return text


@pytest.mark.parametrize(
    "path", [p for p in (*PAGES, *TEMPLATES) if p.name not in GENERATED], ids=lambda p: p.relative_to(ROOT).as_posix()
)
def test_a_page_uses_common_words(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = [
        f"{hit[0]}: …{prose(text)[max(hit.start() - 40, 0) : hit.end() + 20]!r}"
        for hit in STUMBLES.finditer(prose(text))
    ]
    assert not found
    for name, words in EXPLAINED.items():
        assert name not in prose(text) or re.search(words, text, re.S), f"{name} is not explained"


def test_help_uses_common_words() -> None:
    for words, command in commands(typer.main.get_command(app)):
        texts = [getattr(command, "help", None) or "", *(getattr(p, "help", None) or "" for p in command.params)]  # type: ignore[attr-defined]
        for text in texts:
            assert not STUMBLES.search(text) and "MetricBundleV1" not in text, f"rushes {' '.join(words)}: {text}"


def shown_by_script(text: str) -> list[str]:
    """The strings of a script that hold more than one word; without comments and names of classes."""
    bare = re.sub(r"/\*.*?\*/|(?:^|(?<=\s))//[^\n]*", " ", text, flags=re.S)
    return [found for found in re.findall(r"\"[^\"\n]*\"|'[^'\n]*'|`[^`]*`", bare) if " " in found]


def shown_by_demo(text: str) -> list[str]:
    """The strings of a module, without docstrings, which only its readers see."""
    tree = ast.parse(text)
    notes = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    strings = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in notes]
    return [node.value for node in strings if isinstance(node.value, str)]


def test_scripts_and_the_demo_use_common_words() -> None:
    assert SCRIPTS and DEMOS
    for paths, shown in ((SCRIPTS, shown_by_script), (DEMOS, shown_by_demo)):
        for path in paths:
            for text in shown(path.read_text(encoding="utf-8")):
                assert not STUMBLES.search(text), f"{path.name}: {text}"


def test_what_counts_as_shown() -> None:
    assert shown_by_script('// "said"\nconst a = "said", b = `two words`; /* "said" */') == ["`two words`"]
    assert shown_by_demo('"""said"""\na = f"two {a}"\n') == ["two "]
