"""The pose part of the demo finds what was put in, the same every time."""

from __future__ import annotations

from pathlib import Path

from rushes import read_run
from rushes.instruments.pose.demo import key_proof, run


def test_the_demo_finds_the_broken_joint(tmp_path: Path) -> None:
    part = run(tmp_path)
    assert part.as_expected and "left wrist" in part.found
    assert [row[0] for row in part.rows] == ["torso-diameter", "bbox-diagonal", "absolute-px(12)"]
    assert read_run(part.run).status == "complete"
    again = run(tmp_path / "again")
    for name in ("measurements.jsonl",):
        assert (part.run / name).read_bytes() == (again.run / name).read_bytes()


def test_the_key_proof() -> None:
    assert key_proof() == (0.5, 1.0, 0.75)
