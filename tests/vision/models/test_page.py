"""docs/models.md shows every group as the catalogue has it."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_page_is_up_to_date() -> None:
    spec = spec_from_file_location("models_page", ROOT / "scripts" / "models_page.py")
    assert spec is not None and spec.loader is not None
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    text = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    assert script.page(text) == text, "run: python scripts/models_page.py docs/models.md"
