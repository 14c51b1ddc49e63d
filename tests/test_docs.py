"""Documentation cannot drift: the metrics page is generated, every verb and error is described."""

from __future__ import annotations

import doctest
import inspect
import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer.main

import rushes
import rushes.core.errors
from rushes.cli.main import app
from rushes.core.errors import InputError
from rushes.instruments.catalogue import catalog, find
from rushes.present.terminal.help import OLD_NAMES

ROOT = Path(__file__).parents[1]
METRICS_PAGE: str = runpy.run_path(str(ROOT / "scripts" / "metrics_page.py"))["metrics_page"]()
COMMANDS_SCRIPT = runpy.run_path(str(ROOT / "scripts" / "commands_page.py"))
COMMANDS_PAGE: str = COMMANDS_SCRIPT["commands_page"]()
API_PAGE: str = runpy.run_path(str(ROOT / "scripts" / "api_page.py"))["api_page"]()
VERBS = sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


def test_the_metrics_page_is_current() -> None:
    assert (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8") == METRICS_PAGE, "run `make docs`"


def test_the_api_page_is_current() -> None:
    assert (ROOT / "docs" / "api.md").read_text(encoding="utf-8") == API_PAGE, "run `make docs`"


def test_the_api_page_has_defaults_one_can_type() -> None:
    """`margin: float = 0.2`, where the source has the name of a constant; an engine is an object and has its name."""
    named = re.findall(r"(\w+): [^=\n]* = (?:\w+\.)*([A-Z][A-Z_]+)\b", API_PAGE)
    assert set(named) <= {("engine", "LOCAL")}
    assert "margin: float = 0.2," in API_PAGE and "- `margin`: " in API_PAGE


def test_the_commands_page_is_current() -> None:
    assert (ROOT / "docs" / "commands.md").read_text(encoding="utf-8") == COMMANDS_PAGE, "run `make docs`"


def every_command() -> Iterator[tuple[str, Any]]:
    """Each command and subcommand with its path, as a user types it."""
    waiting = [("rushes", COMMANDS_SCRIPT["root_command"]())]
    while waiting:
        path, command = waiting.pop()
        if not command.hidden:
            yield path, command
            waiting += [(f"{path} {name}", below) for name, below in getattr(command, "commands", {}).items()]


@pytest.mark.parametrize(
    ("path", "command"),
    sorted(every_command(), key=lambda pair: pair[0]),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_option_is_on_the_commands_page_with_words(path: str, command: Any) -> None:
    section = COMMANDS_PAGE.split(f"### {path}\n", 1)[1].split("\n### ", 1)[0]
    for param in command.params:
        option = param.param_type_name == "option"
        if option and (param.hidden or param.name in ("help", "install_completion", "show_completion")):
            continue
        name = max(set(param.opts) - OLD_NAMES, key=len) if option else COMMANDS_SCRIPT["argument_name"](param)
        shown = re.escape(name.replace("|", "\\|"))
        assert re.search(rf"^\| `(-[\w-]+, )*{shown}[^`]*` \| \w.+ \|$", section, re.MULTILINE), (
            f"{path}: {name} has no words"
        )


@pytest.mark.parametrize("name", rushes.__all__)
def test_every_public_name_is_on_the_api_page_with_words(name: str) -> None:
    assert re.search(rf"^(### {name}\n|- `(rushes\.)?{name}`: \S)", API_PAGE, re.MULTILINE)
    assert name == "Progress" or inspect.getdoc(getattr(rushes, name))


def test_every_definition_is_complete() -> None:
    for definition in catalog().values():
        assert definition.summary.endswith("."), definition.signature
        assert definition.reference and definition.edge_cases, definition.signature


def test_a_name_finds_all_its_readings_and_a_typo_is_helped() -> None:
    assert [d.name for d in find("flicker_score")] == ["flicker_score"] * 2
    assert find("av_duration_delta_ms|input:<…>|v:2")[0].name == "av_duration_delta_ms"
    with pytest.raises(InputError, match="Did you mean `blur_score"):
        find("blurr_score")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example_and_is_in_the_docs(verb: str) -> None:
    command = typer.main.get_command(app).commands[verb]  # type: ignore[attr-defined]
    helps = [command.help or ""] + [sub.help or "" for sub in getattr(command, "commands", {}).values()]
    assert any("Example" in text for text in helps), f"rushes {verb} --help has no example"
    pages = "".join(page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    assert f"rushes {verb}" in pages, f"rushes {verb} is in no page of docs/"


@pytest.mark.parametrize("name", rushes.errors.__all__)
def test_every_error_is_in_the_docs(name: str) -> None:
    assert name in (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")


def test_links_between_pages_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_one_version_everywhere() -> None:
    """What is cited, changed, shown in the examples and installed is one release."""
    text = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("CITATION.cff", "CHANGELOG.md", "docs/ci.md")}
    assert f"\nversion: {rushes.__version__}\n" in text["CITATION.cff"]
    newest = re.search(r"^## (\S+) \((\d{4}-\d\d-\d\d)\)$", text["CHANGELOG.md"], re.MULTILINE)
    released = re.search(r"^date-released: (\S+)$", text["CITATION.cff"], re.MULTILINE)
    assert newest and released and newest.groups() == (rushes.__version__, released[1])
    examples = [
        text["docs/ci.md"],
        *(path.read_text(encoding="utf-8") for path in (ROOT / "examples/ci").glob("*.y*ml")),
    ]
    tags = [tag for example in examples for tag in re.findall(r"(?:@|rev: )v(\d\S*\.\d\S*\.\d\S*)", example)]
    assert len(tags) == 4 and set(tags) == {rushes.__version__}


def test_issue_templates_ask_for_what_helps() -> None:
    yaml = pytest.importorskip("yaml")
    for path in sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")):
        template = yaml.safe_load(path.read_text(encoding="utf-8"))
        if path.name != "config.yml":
            assert set(template) == {"name", "description", "labels", "body"}, path.name
            assert len({part["id"] for part in template["body"]}) == len(template["body"]) > 1, path.name
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)


def test_the_metric_of_the_contributors_page_works_as_printed() -> None:
    """Its module runs, its doctest and its tests pass, and the list that it joins is spelt as the page says."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    module, entry, tests = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    darkness = ModuleType("rushes.instruments.clip.metrics.darkness")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, darkness.__name__, darkness)
        exec(compile(module, "darkness.py", "exec"), vars(darkness))
        assert doctest.testmod(darkness).attempted == 1 and doctest.testmod(darkness).failed == 0
        checks: dict[str, Any] = {}
        exec(compile(tests, "test_darkness.py", "exec"), checks)
        found = [check for name, check in checks.items() if name.startswith("test_")]
        assert len(found) == 2
        for check in found:
            check()
    assert darkness.DARK_RATIO_METRIC.on_request
    listed = (ROOT / "src/rushes/instruments/clip/metrics/__init__.py").read_text(encoding="utf-8")
    assert re.sub(r'"[^"]*"', '"…"', entry) in re.sub(r'"[^"]*"', '"…"', listed)


def test_two_first_pages_do_not_share_a_run() -> None:
    """Whoever does README and tutorial in one folder must not be told that the run holds other clips."""
    pages = [(ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "docs/tutorial.md")]
    runs = [set(re.findall(r"-o (runs/\S+)", page)) for page in pages]
    assert runs[0] and runs[1] and not runs[0] & runs[1]


def test_no_run_of_the_readme_is_in_the_way_of_the_tutorial() -> None:
    """Whoever does both in one folder would read "already contains a run of …"."""
    asked: dict[str, set[str]] = {}
    for page in ("README.md", "docs/tutorial.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        for measured, run in re.findall(r"^(?:\$ )?rushes clip (.+?) -o (\S+)", text, re.MULTILINE):
            asked.setdefault(run, set()).add(measured)
    assert len(asked) >= 2
    assert {run: clips for run, clips in asked.items() if len(clips) > 1} == {}
