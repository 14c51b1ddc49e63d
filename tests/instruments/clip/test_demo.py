"""The demo's clips: the same bytes every time, every fault found, the good one clean."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushes.core.instrument import DemoPart
from rushes.instruments.clip.demo.samples import SAMPLES, make_samples, run
from rushes.storage.runs import read_run


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> DemoPart:
    return run(tmp_path_factory.mktemp("demo"))


def test_the_clips_are_the_same_bytes_every_time(part: DemoPart, tmp_path: Path) -> None:
    again = make_samples(tmp_path, SAMPLES[-3:])
    assert len(again) == 3 and all(
        path.read_bytes() == (part.run.parent / "clips" / path.name).read_bytes() for path in again
    )


def test_every_fault_is_found_and_the_good_clip_is_clean(part: DemoPart) -> None:
    assert part.as_expected and "every fault" in part.found
    good = read_run(part.run).entries[0]
    values = {m.definition.name: m.value for m in good.measurements}
    assert good.subject.badge == "pass"
    assert (values["scene_cut_count"], values["frame_diff_spike_count"]) == (0, 0)
    assert values["longest_freeze_ms"] < 300
    assert len(part.rows) == len(SAMPLES)
    assert {row[0]: row[2] for row in part.rows} == {
        "ball": "pass",
        "walker_freeze": "flagged",
        "waves_flicker": "flagged",
        "hills_cut": "pass",
        "ball_glitch": "flagged",
        "hills_soft": "flagged",
        "waves_long_sound": "reject",
        "walker_corrupt": "reject",
    }
