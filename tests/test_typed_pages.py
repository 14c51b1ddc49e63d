"""The types of the pages' Python: blocks keep their lines, and an error is said of its page."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

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
    said = [
        ("loop_50.py", '60: error: Argument 2 to "savez" has incompatible type  [arg-type]'),
        ("loop_50.py", '61: error: Argument 1 to "as_torchmetric" has incompatible type  [arg-type]'),
        ("ci_79.py", "80: error: Function is missing a type annotation  [no-untyped-def]"),
        ("mine_judge.py", "3: error: no"),
    ]
    assert typed_pages.complaints(said, pages) == [
        'loop.md:61: error: Argument 1 to "as_torchmetric" has incompatible type  [arg-type]',
        "mine_judge.py:3: error: no",
    ]


def test_pyright_names_the_file_and_the_line(tmp_path: Path) -> None:
    pytest.importorskip("pyright", reason="`make check` installs it")
    (tmp_path / "right.py").write_text("import rushes\n\nprint(rushes.read_run('runs').summary)\n")
    (tmp_path / "wrong.py").write_text("import rushes\n\nrushes.evaluate_clip(5)\n")
    ((name, what),) = typed_pages.pyright(tmp_path)
    assert name == "wrong.py" and what.startswith("3: error: ") and "reportArgumentType" in what


def test_examples_and_what_rushes_new_writes_are_checked(tmp_path: Path) -> None:
    examples, starters = typed_pages.write_examples(tmp_path), typed_pages.write_starters(tmp_path)
    assert {"training_loop.py", "lightning_callback.py"} <= set(examples)
    assert len(starters) == 14 and {"mine_clip_metric.py", "test_mine_judge.py"} <= set(starters)
    assert all((tmp_path / name).is_file() for name in (*examples, *starters))


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
