"""Every Python block of the README and of docs/, the examples, and what `rushes new` writes, under mypy --strict.

    python scripts/typed_pages.py

A block is a file of its own, in which its lines have the numbers they have on the page. The settings are those of
`pyproject.toml`, so that after `mypy` itself only the blocks are left to check. Part of `make check`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KNOWN = {
    ("ci.md", "[no-untyped-def]"): "tests as people write them",
    ("loop.md", 'to "savez"'): "numpy: a dictionary of arrays may hold its allow_pickle, for a type checker",
}
"""What mypy may say of a page, by a part of it, and why."""
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


def complaints(said: str, pages: dict[str, str]) -> list[str]:
    """mypy's errors as lines of pages, without what is known."""
    found = []
    for line in said.splitlines():
        name, _, rest = line.partition(":")
        page = pages.get(Path(name).name, name)
        if ": error:" in line and not any(page == known and part in rest for known, part in KNOWN):
            found.append(f"{page}:{rest}")
    return found


def main() -> int:
    """Check them all in one run; 1 where one has an error."""
    with tempfile.TemporaryDirectory() as name:
        pages = write_blocks(Path(name))
        command = [sys.executable, "-m", "mypy", *(str(Path(name, file)) for file in pages)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    wrong = complaints(done.stdout, pages)
    if wrong or done.returncode not in (0, 1):
        print("\n".join(wrong) or done.stdout + done.stderr)
        return 1
    print(f"{len(pages)} blocks of {len(set(pages.values()))} pages: every type is right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
