"""The demo's scenes: the same pixels every time, always moving, described by a prompt of their own."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.media.scenes import SCENES, scene_of
from rushes.media.scenes.canvas import canvas, disc, edge, limb, mix
from rushes.media.scenes.sound import RATE, surf


def test_the_grid_is_in_units_of_the_height() -> None:
    on = canvas(4, 2)
    assert on.x[0].tolist() == [-0.75, -0.25, 0.25, 0.75] and on.y[:, 0].tolist() == [0.25, 0.75] and on.pixel == 0.5


def test_shapes_are_signed_distances_with_soft_edges() -> None:
    on = canvas(4, 2)
    assert disc(on, (0.25, 0.25), 0.5)[0].tolist() == [0.5, 0.0, -0.5, 0.0]
    assert limb(on, (-0.75, 0.25), (0.75, 0.25), 0.1)[1] == pytest.approx([0.4] * 4)
    assert edge(np.array([-1.0, 0.0, 0.25, 1.0]), 0.5).tolist() == [1.0, 0.5, 0.0, 0.0]
    assert mix(np.zeros((1, 3)), (1, 0, 0.5), 0.5).tolist() == [[0.5, 0.0, 0.25]]


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_moves_in_every_step_and_is_drawn_the_same_again(name: str) -> None:
    frames = [frame.astype(int) for frame in SCENES[name].frames(6, width=96, height=64)]
    assert frames[0].shape == (64, 96, 3)
    steps = [np.abs(a - b).mean() for a, b in zip(frames, frames[1:], strict=False)]
    assert min(steps) > 0.2 and max(steps) < 4 * min(steps)
    again = list(SCENES[name].frames(6, width=96, height=64))
    assert all(np.array_equal(a, b) for a, b in zip(frames, again, strict=True))


def test_every_number_has_a_scene_and_a_prompt_of_its_own() -> None:
    prompts = [scene.prompt(look) for scene, look in map(scene_of, range(16))]
    assert len(set(prompts)) == 16 and prompts[0] == "A red ball rolls across a black and white chequered floor"
    first = [
        next(scene.frames(1, look=look, width=48, height=32)).tobytes() for scene, look in map(scene_of, range(16))
    ]
    assert len(set(first)) == 16


def test_faster_shows_more_in_the_same_time() -> None:
    slow = list(SCENES["ball"].frames(5, width=48, height=32))
    fast = list(SCENES["ball"].frames(3, width=48, height=32, speed=2))
    assert all(np.array_equal(a, b) for a, b in zip(slow[::2], fast, strict=True))


def test_surf_is_neither_silent_nor_clipped() -> None:
    sound = surf(2.0).samples
    assert len(sound) == 2 * RATE and 0.1 < np.abs(sound).max() < 0.7 and np.abs(sound.mean()) < 0.01
    assert np.array_equal(sound, surf(2.0).samples)
