"""The package, every Python block of the README and of docs/, the examples, and what `rushes new` writes: their types.

    python scripts/typed_pages.py

A block is a file of its own, in which its lines have the numbers they have on the page. mypy has the settings of
`pyproject.toml` and looks at the package and these files in one run: each would read the types of the packages that
they import. pyright looks at these files with its standard settings. Part of `make check`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KNOWN = {
    ("ci.md", "[no-untyped-def]"): "tests as people write them",
    ("loop.md", "savez"): "numpy: a dictionary of arrays may hold its allow_pickle, for a type checker",
    ("training_loop.py", '"backward"'): "torch: a function without types",
}
"""What a type checker may say of a page or an example, by a part of it, and why."""
_PYRIGHT = {
    "pythonVersion": "3.11",
    "typeCheckingMode": "standard",
    "extraPaths": [str(ROOT / "src")],
    "reportUnusedExpression": False,  # the last line of a page's block is shown
}
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """The Python blocks of a page, each with as many empty lines before it as the page has lines; and that number."""
    for found in _BLOCK.finditer(text):
        above = text[: found.start(1)].count("\n")
        yield above, "\n" * above + found[1]


def write_blocks(folder: Path) -> dict[str, str]:
    """Write every block into the folder; file name → page name."""
    written = {}
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for line, code in blocks(page.read_text(encoding="utf-8")) if page.name != "api.md" else ():
            name = f"{page.stem.replace('-', '_').lower()}_{line}.py"
            (folder / name).write_text(code, encoding="utf-8")
            written[name] = page.name
    return written


def write_examples(folder: Path) -> list[str]:
    """Write the examples beside the blocks; the names of their files."""
    examples = sorted((ROOT / "examples").glob("*.py"))
    for file in examples:
        (folder / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    return [file.name for file in examples]


def write_starters(folder: Path) -> list[str]:
    """Write what `rushes new` writes of each kind, and its test, beside the blocks; the names of their files."""
    from rushes.cli.workbench.new import KINDS, write_package

    written = []
    for kind in KINDS:
        package = write_package(kind, "mine", folder / kind)
        for file in sorted(package.glob("*.py")):
            file.rename(folder / file.name)
            written.append(file.name)
    return written


def mypy(folder: Path, names: list[str]) -> list[tuple[str, str]]:
    """What mypy says of the package and of these files: of which, and what."""
    files = ("src", *(str(folder / name) for name in names))
    command = [sys.executable, "-m", "mypy", "--no-error-summary", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stdout + done.stderr)
    said = (line.partition(":") for line in done.stdout.splitlines() if ": error:" in line)
    return [(name if name.startswith("src/") else Path(name).name, what) for name, _, what in said]


def pyright(folder: Path) -> list[tuple[str, str]]:
    """What pyright says of every file of a folder: of which, and what."""
    (folder / "pyrightconfig.json").write_text(json.dumps(_PYRIGHT), encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "-p", str(folder), "--pythonpath", sys.executable, "--outputjson"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYRIGHT_PYTHON_NO_UPDATE": "1"})
    if done.returncode not in (0, 1):
        raise SystemExit(done.stdout + done.stderr)
    found = [one for one in json.loads(done.stdout)["generalDiagnostics"] if one["severity"] == "error"]
    return [
        (Path(one["file"]).name, f"{one['range']['start']['line'] + 1}: error: {one['message']}  [{one.get('rule')}]")
        for one in found
    ]


def complaints(said: list[tuple[str, str]], pages: dict[str, str]) -> list[str]:
    """A checker's errors as lines of pages and files, without what is known."""
    named = [(pages.get(name, name), what) for name, what in said]
    return [
        f"{page}:{what}" for page, what in named if not any(page == known and part in what for known, part in KNOWN)
    ]


def main() -> int:
    """Check them all, by each checker in one run; 1 where one has an error."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages = write_blocks(folder)
        names = [*pages, *write_examples(folder), *write_starters(folder)]
        wrong = [f"mypy: {line}" for line in complaints(mypy(folder, names), pages)]
        wrong += [f"pyright: {line}" for line in complaints(pyright(folder), pages)]
    if wrong:
        print("\n".join(wrong))
        return 1
    blocks = f"{len(pages)} blocks of {len(set(pages.values()))} pages"
    print(f"the package, {blocks}, {len(names) - len(pages)} files of examples and starters: every type is right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
