"""The demo's sweep finds where the badge tips over, and can be run again."""

from __future__ import annotations

import pytest

from rushes.instruments.robustness import demo
from rushes.instruments.robustness.demo import run
from rushes.storage.runs import read_run


def test_the_badge_tips_over_with_the_blur_in_a_folder_with_another_demo(tmp_path, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as older:
        older.setattr(demo, "_AXES", {"gaussian_blur": [0.0, 3.0]})
        assert run(tmp_path).as_expected
    part = run(tmp_path)
    assert part.as_expected
    rows = {(axis, value): esi for axis, value, esi, *_ in part.rows}
    assert (rows["gaussian_blur", "0.0"], rows["gaussian_blur", "3.0"]) == ("1", "0")
    stored = read_run(part.run)
    assert stored.subjects[0].facts["runs"] == 8
    # ESI; drift of places and of runs; variance and gradient of each; each axis by itself, ranges, gradients by value;
    # answers and failures
    assert len(stored.info["definitions"]) == 15
