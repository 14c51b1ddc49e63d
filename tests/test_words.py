"""Plain English in pages, templates, scripts, the demo and help: no stumbling words, no names of our own papers."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
import typer.main
from tests.present.terminal.test_help import commands

from rushes.cli.main import app

ROOT = Path(__file__).parents[1]
GENERATED = {"api.md", "commands.md", "metrics.md", "models.md", "scale.md"}
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


PRIVATE = re.compile(
    r"\breadings?\b|\bbadges?\b|\bsurely\b|\b(told|tell) (them |it |the two )?apart\b|\btold from\b|\bmove[sd]?\b"
    r"|\b(held|hold|holds|holding) against\b|\bstores?\b|\bpassed over\b|\bcame\b|\bwhen left out\b|\banew\b"
    r"|\bplaces?\b|\b(?:the|these|those|of|your|each|every|all|two|some|no|which|other|few) takes?\b"
)
"""Words of our own that docs/glossary.md has a common one for."""
SPOKEN = ("cli", "compare", "core", "present/ci", "present/terminal", "present/verdict", "storage", "suite", "workers")
"""Folders whose strings people read: help, terminal, errors, headlines. Definitions may speak of things that move."""
MEANT = {
    "compare/definitions/comparisons.py": "how a value is made is told in the terms of its formula",
    "core/definition.py": "`places` is a field of a definition",
    "storage/query/sql.py": "the columns of the stored table are called so",
    "suite/imports/vbench_scores.py": "a picture that hardly moves",
}
"""Files with such a word that is meant as it stands, and why."""
OTHERS = {
    *("board.html", "subjects.html"),  # keys that move the selection
    *("consent.html", "instructions.html", "new.html"),  # "reading" is the name of a width
    *("parts.html", "player.html", "running.html"),  # a file that was moved, places of a study
    "results.html",
}
"""Templates in which such a word is meant as it stands, or whose pages are written elsewhere."""


@cache
def shown_and_raised(path: Path) -> tuple[list[str], list[str]]:
    """The strings of a module with spaces in them, each f-string as one, without docstrings; and what its `raise`s say.

    Each module is read once for all tests.
    """
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    notes = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    found, raised = [], []
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            notes |= {id(part) for part in node.values}
            found.append("".join(p.value if isinstance(p, ast.Constant) else "{}" for p in node.values))
        elif isinstance(node, ast.Raise) and node.exc is not None:
            texts = (part.value for part in ast.walk(node.exc) if isinstance(part, ast.Constant))
            raised += [f"{path.name}:{node.lineno}: {text!r}" for text in texts if isinstance(text, str)]
    found += [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in notes]
    return [one for one in found if " " in one], raised


def shown_whole(path: Path) -> list[str]:
    return shown_and_raised(path)[0]


def test_help_uses_no_private_words() -> None:
    for words, command in commands(typer.main.get_command(app)):
        texts = [getattr(command, "help", None) or "", *(getattr(p, "help", None) or "" for p in command.params)]  # type: ignore[attr-defined]
        for text in texts:
            bare = re.sub(r"Example: .*|rushes study \w+ takes|\btakes/", " ", text)
            hit = PRIVATE.search(bare)
            assert hit is None or tuple(words)[-1:] == ("relocate",), (
                f"rushes {' '.join(words)}: {hit and hit[0]!r} in {text!r}"
            )


def test_terminal_and_errors_use_no_private_words() -> None:
    source = ROOT / "src/rushes"
    found = [
        f"{path.relative_to(source)}: {hit[0]!r} in {text!r}"
        for folder in SPOKEN
        for path in sorted((source / folder).rglob("*.py"))
        if path.relative_to(source).as_posix() not in MEANT
        for text in shown_whole(path)
        if (hit := PRIVATE.search(text))
    ]
    assert not found, "\n".join(found)


def test_what_is_meant_is_there() -> None:
    source = ROOT / "src/rushes"
    for name in MEANT:
        texts = shown_whole(source / name)
        assert any(map(PRIVATE.search, texts)), f"{name} needs no exception any more"


@pytest.mark.parametrize("path", [p for p in TEMPLATES if p.name not in OTHERS], ids=lambda p: p.name)
def test_templates_use_no_private_words(path: Path) -> None:
    hit = PRIVATE.search(prose(path.read_text(encoding="utf-8")))
    assert hit is None, hit and hit[0]


def test_errors_everywhere_use_no_private_words() -> None:
    """What is raised, in every folder: the literal parts of the message."""
    plain = re.compile(r"\breadings?\b|\bbadges?\b|\bsurely\b|\btold apart\b|\bheld against\b|\bpassed over\b|\bcame\b")
    paths = sorted((ROOT / "src/rushes").rglob("*.py"))
    found = [said for path in paths for said in shown_and_raised(path)[1] if plain.search(said.partition(": ")[2])]
    assert not found, "\n".join(found)


def test_the_glossary_and_the_test_are_one() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    banned = page.partition("## Words we do not use")[2]
    rows = [row.split("|")[1].strip() for row in banned.splitlines() if row.startswith("| ") and "not |" not in row]
    words = [re.sub(r" \(.*\)", "", row).split(",")[0] for row in rows if not row.startswith("-")]
    assert len(words) >= 10
    for word in words:
        assert PRIVATE.search(f"the {word}"), f"{word} is in the glossary and not in the test"
    for word in ("clip", "metric", "run", "suite", "board", "signature", "profile", "review signal", "severity"):
        assert f"\n| {word} |" in page, f"{word} is not explained"


AMERICAN = re.compile(
    r"\b\w*(?:custom|normal|quant|optim|summar|recogn|canonical|visual|random|synthes|initial|serial|organ|minim|maxim)iz"
    r"(?:e[sdr]?|ing|ation)\b|\banalyz\w*|\b(?:colors?|colored|gr[a]y(?!\b, CV)|centers?|centered|behaviors?|favorites?"
    r"|labeled|labeling|canceled|modeling|modeled|neighbors?)\b"
)
"""The spelling is British: "customize" beside "quantised" is two."""
QUOTED = {"methods.md": "behavior", "style.py": "color", "page.py": "color", "image.py": "gray"}
"""A title, style sheets and a formula that are spelt as they are."""


def test_one_spelling_in_help_pages_and_messages() -> None:
    found = []
    for words, command in commands(typer.main.get_command(app)):
        command.get_help(typer.Context(command))  # type: ignore[attr-defined, arg-type]  # puts our words for Typer's
        texts = [getattr(command, "help", None) or "", *(getattr(p, "help", None) or "" for p in command.params)]  # type: ignore[attr-defined]
        found += [f"rushes {' '.join(words)}: {hit[0]}" for text in texts for hit in AMERICAN.finditer(text)]
    for path in (*PAGES, *TEMPLATES, *sorted((ROOT / "src/rushes").rglob("*.py"))):
        if path.name in GENERATED:
            continue
        for shown in shown_whole(path) if path.suffix == ".py" else [prose(path.read_text(encoding="utf-8"))]:
            hits = (hit[0] for hit in AMERICAN.finditer(shown) if hit[0] != QUOTED.get(path.name))
            found += [f"{path.relative_to(ROOT)}: {hit}" for hit in hits]
    assert not found, "\n".join(found)
