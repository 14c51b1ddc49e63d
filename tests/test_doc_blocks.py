"""Every Python and shell block of the README and of docs/ runs as printed.

The blocks of a page run one after the other in one folder, as a reader would type them. What lies there at the start,
the page says in a comment that only this test reads: `<!-- test: takes generated -->`, made by `doc_material`. A block
that cannot run here has `<!-- test: skip, REASON -->` above it; one with `pulled:NAME` runs where that group of models
has been pulled, and one with `serves:link` is a server, which runs until the link it prints has been opened. In a
block of a session (`$ …`) only the commands run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import pytest
from tests.doc_material import MATERIAL, NAMES
from tests.warm_command import warm_command

from rushes.vision.models.cache import is_pulled
from rushes.vision.models.catalogue import group_named

ROOT = Path(__file__).parents[1]
GENERATED = {"api.md", "commands.md", "metrics.md", "verdict-rates.md"}
WRITTEN = sorted(p for p in (ROOT / "docs").glob("*.md") if p.name not in GENERATED)
PAGES = [ROOT / "README.md", ROOT / "docs/site/sessions.md", *WRITTEN]
MOST_SKIPPED = 22
"""Blocks that need a bucket, a cluster, a GPU, a data set, a person or an endless server. A new one has to argue."""
_ANSWERS = {"RUSHES_ACCOUNT_PASSWORD": "as long as a password has to be"}
_BLOCK = re.compile(r"(?:^<!-- test: (?P<mark>[^>]*?) -->\n+)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
_COMMAND = re.compile(r"(?:\$ )?(rushes|make|pip|python|sh) ")


@dataclass(frozen=True)
class Block:
    line: int
    kind: str
    """ "python", "shell", or "" for what is not run: output, configuration, trees of files."""
    text: str
    mark: str

    @property
    def skipped(self) -> str:
        return self.mark.removeprefix("skip,").strip() if self.mark.startswith("skip") else ""

    @property
    def has_models(self) -> bool:
        wanted = [name.removeprefix("pulled:") for name in self.mark.split() if name.startswith("pulled:")]
        return all(is_pulled(group_named(name)) for name in wanted)

    def script(self) -> str:
        """The commands of a shell block; of a session those after a dollar sign, with the lines that continue them."""
        if not self.text.startswith("$ "):
            return self.text
        return "\n".join(re.findall(r"^\$ ((?:.*\\\n)*.*)$", self.text, re.MULTILINE))

    def shown(self) -> list[str]:
        """The output that a session shows."""
        if not self.text.startswith("$ "):
            return []
        return [line for line in re.sub(r"^\$ (?:.*\\\n)*.*$", "", self.text, flags=re.M).splitlines() if line.strip()]


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        kind = {"python": "python", "bash": "shell", "sh": "shell", "console": "shell"}.get(found["kind"], "")
        if not found["kind"] and _COMMAND.match(found["text"]):
            kind = "shell"
        yield Block(text[: found.start("text")].count("\n"), kind, found["text"], found["mark"] or "")


def marks(page: Path) -> list[str]:
    """What the page says it finds in its folder."""
    found = re.findall(r"<!-- test: ([^>]*?) -->", page.read_text(encoding="utf-8"))
    return [name for mark in found if not mark.startswith("skip") for name in mark.split() if ":" not in name]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """`rushes` on the path is this checkout's; what would ask for a new account's password finds one."""
    tools = tmp_path_factory.mktemp("bin")
    with warm_command(tools):
        path = f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        yield os.environ | {"PATH": path, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "100"} | _ANSWERS


def _page(page: Path) -> object:
    """The pages about distances run a network a dozen times; what the page about loops says, the examples do too; the
    sessions are two dozen commands, whose output other pages show as well."""
    is_slow = page.stem in ("distribution", "reproduce-fvd", "loop", "sessions")
    return pytest.param(page, id=page.stem, marks=[pytest.mark.soak] if is_slow else [])


@pytest.mark.parametrize("page", [_page(p) for p in PAGES if any(b.kind for b in blocks(p))])
def test_the_blocks_of_a_page_run_as_printed(
    page: Path, tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = marks(page)
    for name in given:
        MATERIAL[name]()
    before = "".join(NAMES.get(name, "") for name in given)
    failures = [
        f"{page.name}, line {block.line}: {fault}\n{block.text}"
        for block in blocks(page)
        if block.kind
        and not block.skipped
        and block.has_models
        and (fault := fault_of(run(block, before, environment), block))
    ]
    assert not failures, "\n\n".join(failures)


def fault_of(done: subprocess.CompletedProcess[str], block: Block) -> str:
    """What is wrong with what a block did; "" where nothing is. A session must print what the page shows."""
    if done.returncode or "Traceback" in done.stderr:
        return f"exit code {done.returncode}\n{done.stdout[-500:]}{done.stderr[-1500:]}"
    printed = [line.split() for line in (done.stdout + done.stderr).splitlines()]
    missing = [line for line in block.shown() if not any(is_same(line.split(), other) for other in printed)]
    return f"it does not print: {missing[0]}" if missing else ""


def is_same(shown: list[str], printed: list[str]) -> bool:
    """Word by word; the last digits of a number may differ from machine to machine, and "…" stands for anything."""
    if "…" in " ".join(shown):
        return " ".join(printed).startswith(" ".join(shown).partition("…")[0].rstrip())
    return len(shown) == len(printed) and all(map(_same_word, shown, printed))


def _same_word(shown: str, printed: str) -> bool:
    try:
        return float(printed) == pytest.approx(float(shown), rel=1e-3)
    except ValueError:
        return shown == printed


def run(block: Block, before: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A Python block is a file of its own; a shell block stops at its first error."""
    if block.kind == "python":
        Path("block.py").write_text(before + block.text, encoding="utf-8")
        command = ["rushes-python", "block.py"]
    else:
        command = ["bash", "-euo", "pipefail", "-c", block.script()]
    if "serves:link" in block.mark.split():
        return visited(command, environment | {"BROWSER": "true"})
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=250)


def visited(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Start a server, open the link that it prints, and stop it."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    link = process.stdout.readline().strip()
    try:
        with urlopen(link, timeout=200) as answer:
            status = answer.status
    except (OSError, ValueError) as error:
        status = error
    process.terminate()
    out, errors = process.communicate(timeout=200)
    return subprocess.CompletedProcess(command, 0 if status == 200 else 1, link + out, f"{errors}{status}")


def test_few_blocks_are_left_out_and_each_says_why() -> None:
    skipped = [(page.name, block) for page in PAGES for block in blocks(page) if block.mark.startswith("skip")]
    assert len(skipped) <= MOST_SKIPPED
    assert all(len(block.skipped.split()) > 2 and block.kind for _, block in skipped), skipped


def test_pages_ask_for_what_there_is() -> None:
    assert {name for page in PAGES for name in marks(page)} <= set(MATERIAL)


def test_what_counts_as_a_block(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- test: skip, needs a GPU -->\n```\nrushes fvd a b\n```\n\n"
        "```\n$ rushes clip x\n 0.50 pass\n```\n\n```toml\na = 1\n```\n"
    )
    first, second, third = blocks(page)
    assert [(b.kind, b.skipped) for b in (first, second, third)] == [("shell", "needs a GPU"), ("shell", ""), ("", "")]
    assert (second.script(), second.shown()) == ("rushes clip x", [" 0.50 pass"])
    assert is_same(["0.5000", "pass"], ["0.50004", "pass"]) and not is_same(["0.50"], ["0.51"])
    assert is_same(["fvd|a:1|…|v:1"], ["fvd|a:1|b:2|v:1"]) and not is_same(["kvd|…"], ["fvd|a"])
