"""The audit of the pins: what it finds, and that it never calls unchecked what it could not check."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))
import audit

GOOD: dict[str, Any] = {"vulnerabilities": [], "urls": [{"yanked": False}]}
WEAK = GOOD | {
    "vulnerabilities": [{"id": "PYSEC-1", "summary": "runs pickles", "fixed_in": ["2.1"], "withdrawn": None}]
}
WITHDRAWN = GOOD | {"vulnerabilities": [{"id": "PYSEC-2", "withdrawn": "2026-01-01", "fixed_in": []}]}
YANKED = {"vulnerabilities": [], "urls": [{"yanked": True, "yanked_reason": "broken"}]}
HALF_YANKED = {"vulnerabilities": [], "urls": [{"yanked": True}, {"yanked": False}]}


@pytest.mark.parametrize(
    ("release", "code", "says"),
    [
        (GOOD, 0, "1 of 1 pins checked"),
        (WEAK, 1, "PYSEC-1 runs pickles (mended in 2.1)"),
        (WITHDRAWN, 0, "0 known weaknesses"),
        (YANKED, 1, "one==1.0: yanked (broken)"),
        (HALF_YANKED, 0, "0 known weaknesses"),
        (OSError("no route to host"), 3, "NOT checked"),
        (ValueError("not JSON"), 3, "0 of 1 pins checked"),
    ],
)
def test_what_is_known_of_a_pin(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], release: Any, code: int, says: str
) -> None:
    def fetch(name: str, version: str) -> dict[str, Any]:
        assert (name, version) == ("one", "1.0")
        if isinstance(release, Exception):
            raise release
        return release  # type: ignore[no-any-return]

    pins = tmp_path / "constraints.txt"
    pins.write_text("# a comment\n\none==1.0\n")
    assert audit.main(pins, fetch) == code
    assert says in capsys.readouterr().out


def test_a_list_without_pins_is_not_checked(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("# nothing\n")
    assert audit.main(tmp_path / "empty.txt", lambda name, version: GOOD) == 3


def test_every_pin_of_ours_is_asked_about() -> None:
    asked: list[tuple[str, str]] = []

    def fetch(name: str, version: str) -> dict[str, Any]:
        asked.append((name, version))
        return GOOD

    assert audit.main(fetch=fetch) == 0
    lines = [line for line in audit.CONSTRAINTS.read_text().splitlines() if line.strip() and not line.startswith("#")]
    assert sorted(f"{name}=={version}" for name, version in asked) == sorted(lines)
