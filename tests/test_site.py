"""The site: its navigation holds every page once, no link is dead, and its metric pages say what the catalogue says."""

from __future__ import annotations

import ast
import inspect
import re
import shlex
import sys
from collections import Counter
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer.main

import rushes
from rushes.cli.main import app

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site() -> ModuleType:
    """The builder, which is a script and no part of the package."""
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        import build_site  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(ROOT / "scripts"))
    assert isinstance(build_site, ModuleType)
    return build_site


def test_the_navigation_holds_every_page_once(site: ModuleType) -> None:
    listed = Counter(site.listed())
    assert not [page for page, times in listed.items() if times > 1]
    wanted = set(site.pages()) - {"index"} | set(site.REPLACED.values())
    assert wanted - set(listed) == set(), "add the page to docs/site/navigation.toml"
    assert set(listed) - wanted == set(), "docs/site/navigation.toml names a page that is not there"


def anchors(text: str) -> set[str]:
    """The anchors that headings give, as GitHub and the site make them."""
    heads = re.findall(r"^#+ +(.*?)\s*$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_no_link_is_dead(site: ModuleType) -> None:
    dead = []
    for path in [ROOT / "README.md", *site.pages().values()]:
        text = path.read_text(encoding="utf-8")
        for target, anchor in re.findall(r"\]\((?![a-z]+:)([^)#\s]*)#?([^)\s]*)\)", text):
            aim = (path.parent / target) if target else path
            if not aim.exists() or (anchor and anchor not in anchors(aim.read_text(encoding="utf-8"))):
                dead.append(f"{path.relative_to(ROOT)}: {target}#{anchor}")
    assert not dead


def test_a_page_is_staged_with_the_links_of_the_site(site: ModuleType) -> None:
    text = "<!-- test: takes -->\n```\n$ rushes clip x\n```\n\n[a](../SECURITY.md) [b](metrics.md#fps) [c](clip.md#top) [d](https://x.org/a.md)\n"
    staged = site.staged("report", text, ROOT / "docs" / "report.md")
    assert staged == (
        "```console\n$ rushes clip x\n```\n\n[a](security.md) [b](metrics/fps.md) [c](clip.md#top) [d](https://x.org/a.md)\n"
    )
    assert (
        site.staged("examples", "[x](measure_clips.py)", ROOT / "examples" / "README.md")
        == "[x](files/measure_clips.py)"
    )


def test_every_metric_has_a_group_of_its_own_kind(site: ModuleType) -> None:
    """No metric that Rushes ships is left to "More about clips": a new file of metrics belongs to a group."""
    from pages.groups import groups, named  # type: ignore[import-not-found]

    listed = [name for _, names in groups() for name in names]
    assert sorted(listed) == sorted(named()) and len(listed) > 300
    more = {group.title: names for group, names in groups() if group.title.startswith("More")}
    assert more == {"More about clips": ["false_alarm_rate"], "More about references": ["lag_frames"]}


def test_every_metric_has_a_command_that_parses_a_line_of_python_that_binds_and_a_source(site: ModuleType) -> None:
    from pages.groups import named, sources, use_of

    for name in named():
        use = use_of(name)
        for line in use.command.splitlines():
            parse(line)
        bind(use.python, name)
        assert use.takes and f'"{re.split("_|-", name)[0]}' in sources()[name].read_text(encoding="utf-8"), name


def parse(line: str) -> None:
    """The command line takes it: names of commands and options, and what an option allows."""
    program, *words = shlex.split(line)
    assert program == "rushes"
    command: Any = typer.main.get_command(app)
    with command.make_context("rushes", words, resilient_parsing=False) as context:
        while hasattr(command, "commands"):
            name, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
            assert command is not None, line
            context = command.make_context(name, list(rest), parent=context)


def bind(line: str, name: str) -> None:
    """The first call of the line has arguments that the function takes."""
    if line:
        call = next(node for node in ast.walk(ast.parse(line)) if isinstance(node, ast.Call))
        while isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):
            call = call.func.value
        function = attrgetter(ast.unparse(call.func).removeprefix("rushes."))(rushes)
        function = getattr(function, "__wrapped__", function)
        given = {word.arg: ast.literal_eval(word.value) for word in call.keywords}
        inspect.signature(function).bind(*(ast.literal_eval(one) for one in call.args), **given)


def test_a_metric_page_says_what_the_catalogue_says(site: ModuleType) -> None:
    from pages.groups import groups, named
    from pages.metrics import escaped, metric_page

    group = next(group for group, names in groups() if "longest_freeze_ms" in names)
    (freeze,) = named()["longest_freeze_ms"]
    text = metric_page("longest_freeze_ms", [freeze], group)
    assert text.startswith("---\norphan: true\n---\n# longest_freeze_ms\n")
    for words in (freeze.summary, freeze.edge_cases, freeze.raised_by[0], freeze.reference, *freeze.history):
        assert escaped(words) in text
    for words in (freeze.signature, "rushes clip takes/", "rushes.clips(", "false alarms on"):
        assert words in text
    assert "src/rushes/instruments/clip/metrics/stillness.py" in text and "../source/" in text


def test_variants_are_headed_by_what_differs(site: ModuleType) -> None:
    from pages.groups import groups, named
    from pages.metrics import metric_page

    text = metric_page("flicker_score", named()["flicker_score"], groups()[0][0])
    assert "### statistic std\n" in text and "### statistic mean-abs-delta\n" in text


def test_a_formula_is_typeset(site: ModuleType) -> None:
    from pages.formulas import typeset

    assert typeset("#(d_t < eps); d_t = |Y_t − Y_{t−1}|^2, psnr_y") == (
        '<div class="formula"><p>#(d<sub>t</sub> &lt; eps)</p>'
        "<p>d<sub>t</sub> = |Y<sub>t</sub> − Y<sub>t−1</sub>|<sup>2</sup>, psnr_y</p></div>"
    )


def test_the_first_mention_of_a_metric_leads_to_its_page(site: ModuleType) -> None:
    from pages.metrics import linked_names

    text = "# `fvd`\n\n`fvd` and `fvd`, [`ssim`](x.md)\n```\n`lpips`\n```\n`takes`"
    assert linked_names("decisions/a", text) == text.replace("`fvd` and", "[`fvd`](../metrics/fvd.md) and")


def test_text_of_a_definition_is_no_markup(site: ModuleType) -> None:
    from pages.metrics import escaped

    assert escaped("a*b*c <x> `d*e` snake_case") == r"a\*b\*c \<x\> `d*e` snake\_case"


def test_values_on_pictures_are_those_of_the_clips(site: ModuleType, tmp_path: Path) -> None:
    """A shift by one pixel costs more SSIM than 10 levels of brightness, and an undamaged frame costs nothing."""
    from pages import pictures  # type: ignore[import-not-found]

    html = pictures._pair_figures(tmp_path)["fidelity-pixels"]
    ssim = [float(value) for value in re.findall(r"<br>ssim <b>([^<]*)</b>", html)]
    assert ssim[0] == 1.0 and ssim[3] < ssim[4]
    assert len(list(tmp_path.glob("*.jpg"))) == len(ssim) == len(pictures.DAMAGE)


def test_what_a_browser_would_fetch_from_elsewhere_is_found(site: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="https://x.org">x</a><img src="own.png"><link href="own.css">')
    assert site.requests_outside(tmp_path) == []
    (tmp_path / "b.html").write_text('<link rel="stylesheet" href="https://fonts.example.org/css">')
    (tmp_path / "c.css").write_text(
        "@import 'https://cdn.example.org/c.css'; p { background: url(https://x.org/p.png) }"
    )
    assert [line.partition(":")[0] for line in site.requests_outside(tmp_path)] == ["b.html", "c.css", "c.css"]
