"""`make site`: the documentation as a site, in `site/`. `python scripts/build_site.py [TARGET]`.

The pages under docs/ are written to be read in the repository too. So they are copied first, and the copies get what
only a site needs: the order of the pages, pages made from the catalogue in place of the long docs/metrics.md, and the
repository's own pages (security, changes …) beside them. Sphinx then builds the copies; a warning is an error, and a
link that leads nowhere is a warning.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from pages.groups import named
from pages.metrics import linked_names, write_metric_pages
from pygments.lexers import find_lexer_class_by_name
from pygments.util import ClassNotFound

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
ROOT_PAGES = {
    "contributing": "CONTRIBUTING.md",
    "security": "SECURITY.md",
    "changelog": "CHANGELOG.md",
    "examples": "examples/README.md",
    "speed": "benchmarks/RESULTS.md",
}
"""Pages that lie outside docs/: what the site calls them, and where they are."""
REPLACED = {"metrics": "metrics/index"}
"""Pages of docs/ that the site has in another form."""
_PLAIN = ("changelog", "commands", "glossary")
"""Pages whose mentions of metrics stay plain: names of older releases, and tables of words."""
_LINK = re.compile(r"(?<=\]\()(?![a-z]+://|#)([^)#\s]+)(#[^)\s]*)?(?=\))")
_PICTURE = re.compile(r"!\[([^\]]*)\]\((images/[\w-]+\.png)\)")
_FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.M | re.S)
_FETCHED = re.compile(
    r"""(?:src|srcset|data)="https?://[^"]*|<link[^>]*href="https?://[^"]*|(?:url\(|@import )["']?https?://[^"')]*"""
)
_COMMAND = re.compile(r"(?:rushes|make|pip|python|sh) ")


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the navigation, and its entries in order: the name of a page, or "Title <page>"."""

    title: str
    pages: list[str]
    below: str = "index"
    """The page that lists it."""


def navigation() -> list[Section]:
    text = (DOCS / "site" / "navigation.toml").read_text(encoding="utf-8")
    return [Section(**section) for section in tomllib.loads(text)["section"]]


def listed() -> list[str]:
    """The pages of the navigation, by name."""
    entries = [entry for section in navigation() for entry in section.pages]
    return [re.sub(r".*<(.*)>$", r"\1", entry) for entry in entries]


@cache
def pages() -> dict[str, Path]:
    """Every page written by hand: its name on the site, and its file."""
    found = sorted(path for path in DOCS.rglob("*.md") if DOCS / "site" not in path.parents)
    named = {path.relative_to(DOCS).with_suffix("").as_posix(): path for path in found}
    return {name: path for name, path in named.items() if name not in REPLACED} | {
        name: ROOT / path for name, path in ROOT_PAGES.items()
    }


def staged(name: str, text: str, origin: Path) -> str:
    """A page as the site has it: links to the pages of the site, no marks for tests, a kind for each block."""
    text = re.sub(r"^<!-- test: .*? -->\n+", "", text, flags=re.M | re.S)
    text = _FENCE.sub(lambda found: f"```{_kind(found[1], found[2])}\n{found[2]}```", text)
    text = _LINK.sub(lambda found: _target(name, found[1], found[2] or "", origin), text)
    text = _PICTURE.sub(lambda found: _both_themes(found, origin), text)
    return text if name in _PLAIN else linked_names(name, text)


def _both_themes(found: re.Match[str], origin: Path) -> str:
    """A picture that lies there light and dark, as the site shows it: the one that fits the reader's theme."""
    text, place = found[1], found[2]
    dark = re.sub(r"\.png$", "-dark.png", place)
    if not (origin.parent / dark).is_file():
        return found[0]
    return f"![{text}]({place}){{.only-light}}\n![{text}]({dark}){{.only-dark}}"


def _kind(stated: str, block: str) -> str:
    """What a block is coloured as: what it says it is, where that is known; else by how it begins."""
    if stated:
        return stated if _is_language(stated) else "text"
    if block.startswith("$ "):
        return "console"
    return "bash" if _COMMAND.match(block) else "text"


def _is_language(name: str) -> bool:
    try:
        return bool(find_lexer_class_by_name(name))
    except ClassNotFound:
        return False


def _target(name: str, link: str, anchor: str, origin: Path) -> str:
    """Where a link leads on the site. A file that is no page of it is offered as a download."""
    aim = (origin.parent / link).resolve()
    up = "../" * name.count("/")
    if page := _page_of().get(aim):
        return f"{up}{page}.md{anchor}"
    if aim == DOCS / "metrics.md":
        metric = anchor.removeprefix("#")
        return f"{up}metrics/{metric if metric in named() else 'index'}.md"
    if aim == ROOT / "README.md":
        return f"{up}index.md"
    return f"{link}{anchor}" if DOCS in aim.parents else f"{up}files/{aim.name}"


@cache
def _page_of() -> dict[Path, str]:
    """The page that each file is."""
    return {path.resolve(): page for page, path in pages().items()}


def toctrees(page: str) -> str:
    """What a page lists: in the sidebar, or for a page other than the home page on itself."""
    hidden = ":hidden:\n" if page == "index" else ":maxdepth: 1\n"
    return "".join(
        f"\n```{{toctree}}\n{hidden}:caption: {section.title}\n\n" + "\n".join(section.pages) + "\n```\n"
        for section in navigation()
        if section.below == page
    )


def stage(folder: Path) -> None:
    """Write the sources that Sphinx reads."""
    for name in ("images", "figures"):
        shutil.copytree(DOCS / name, folder / name)
    shutil.copytree(DOCS / "site" / "static", folder / "static")
    for name in ("conf.py", "scorer.js"):
        shutil.copy(DOCS / "site" / name, folder)
    for name, path in pages().items():
        target = folder / f"{name}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        text = staged(name, path.read_text(encoding="utf-8"), path)
        target.write_text(text + toctrees(name), encoding="utf-8")
    (folder / "files").mkdir()
    found = [path for pattern in ("*.py", "*.ipynb", "ci/*.*") for path in (ROOT / "examples").glob(pattern)]
    for example in sorted(found):
        shutil.copy(example, folder / "files")
    write_metric_pages(folder)


def requests_outside(target: Path) -> list[str]:
    """What a browser would fetch from elsewhere while it shows a page. Links that a reader may follow are not meant."""
    found = []
    for path in sorted(path for path in target.rglob("*") if path.suffix in (".html", ".css")):
        found += [
            f"{path.relative_to(target)}: {hit[0]}" for hit in _FETCHED.finditer(path.read_text(encoding="utf-8"))
        ]
    return found


def main(target: Path) -> int:
    with TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        source.mkdir()
        stage(source)
        shutil.rmtree(target, ignore_errors=True)
        doctrees = str(Path(folder) / "doctrees")
        command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-d", doctrees]
        done = subprocess.run([*command, str(source), str(target)], cwd=ROOT)
    if done.returncode:
        return done.returncode
    if outside := requests_outside(target):
        print("\n".join(["these would be fetched from the network; keep a copy in docs/site/static:", *outside]))
        return 1
    print(target / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if sys.argv[1:] else ROOT / "site")))
