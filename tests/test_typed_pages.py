"""The types of the pages' Python: blocks keep their lines, and an error is said of its page. `make check` runs mypy."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))
import typed_pages

ROOT = typed_pages.ROOT


def test_a_block_keeps_the_lines_of_its_page() -> None:
    page = "# Title\n\n```python\nimport rushes\n```\n\n```text\nno\n```\n\n```python\nx = 1\n```\n"
    (first, one), (second, two) = typed_pages.blocks(page)
    assert (first, second) == (3, 11)
    assert one.splitlines()[3] == page.splitlines()[3] == "import rushes"
    assert two.splitlines()[11] == page.splitlines()[11] == "x = 1"


def test_an_error_names_the_page_and_what_is_known_is_left_out() -> None:
    pages = {"loop_50.py": "loop.md", "ci_79.py": "ci.md"}
    said = (
        '/tmp/x/loop_50.py:60: error: Argument 2 to "savez" has incompatible type  [arg-type]\n'
        '/tmp/x/loop_50.py:61: error: Argument 1 to "as_torchmetric" has incompatible type  [arg-type]\n'
        "/tmp/x/ci_79.py:80: error: Function is missing a type annotation  [no-untyped-def]\n"
        "/tmp/x/ci_79.py:80: note: see the documentation\n"
    )
    assert typed_pages.complaints(said, pages) == [
        'loop.md:61: error: Argument 1 to "as_torchmetric" has incompatible type  [arg-type]'
    ]


def test_every_block_of_the_documented_pages_is_checked(tmp_path: Path) -> None:
    pages = typed_pages.write_blocks(tmp_path)
    assert {"README.md", "loop.md", "own-instrument.md", "pose.md"} <= set(pages.values())
    assert any("as_torchmetric(" in (tmp_path / name).read_text() for name in pages)


def test_a_type_checker_finds_every_documented_package() -> None:
    """At run time it is one module under two names; on disk a stub has to say so."""
    from rushes._lazy import DOORS

    for name, home in DOORS.items():
        if name != "pytest_plugin":  # for pytest alone
            stub = (ROOT / "src" / "rushes" / f"{name}.pyi").read_text(encoding="utf-8")
            assert stub.endswith(f"from {home} import *\n"), name
