"""The demo's takes: the same bytes every time, every fault found, the good one clean."""

from __future__ import annotations

from pathlib import Path

from rushes.clip.demo import TAKES, make_takes, run
from rushes.runs import read_run


def test_the_takes_are_the_same_bytes_every_time(tmp_path: Path) -> None:
    one, two = make_takes(tmp_path / "one"), make_takes(tmp_path / "two")
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]


def test_every_fault_is_found_and_the_good_take_is_clean(tmp_path: Path) -> None:
    part = run(tmp_path)
    assert part.as_expected and "every fault" in part.found
    good = read_run(part.run).entries[0]
    values = {m.definition.name: m.value for m in good.measurements}
    assert good.subject.badge == "pass"
    assert (values["scene_cut_count"], values["frame_diff_spike_count"], values["longest_freeze_ms"]) == (0, 0, 0.0)
    assert len(part.rows) == len(TAKES)
    assert {row[0]: row[2] for row in part.rows} == {
        "take_good": "pass",
        "take_freeze": "flagged",
        "take_flicker": "flagged",
        "take_cut": "pass",
        "take_glitch": "flagged",
        "take_soft": "flagged",
        "take_long_sound": "reject",
        "take_corrupt": "reject",
    }
