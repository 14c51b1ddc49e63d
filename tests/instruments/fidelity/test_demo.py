"""The demo finds the lag and the blurred frames that it put in."""

from __future__ import annotations

from pathlib import Path

from rushes.instruments.fidelity.demo import BLURRED, LATE, run


def test_it_finds_what_it_put_in(tmp_path: Path) -> None:
    part = run(tmp_path)
    assert part.as_expected and part.run == tmp_path / "fidelity" / "run"
    assert f"{LATE} were found" in part.found and any(f"its worst is {frame}." in part.found for frame in BLURRED)
    assert part.rows[0][0] == "blurred"
