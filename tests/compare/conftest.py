"""A small suite that is really measured, once for all tests of tables, figures, failure cases and supplements."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rushes.compare.paper.evaluation import Evaluation, open_evaluation
from rushes.media import write_clip
from rushes.suite.folder import run_suite

NOISE = {"truth": 0, "amber": 4, "birch": 24, "cedar": 60}
"""How far the pictures of a system are from the reference, in grey levels."""
RATED = {"truth": 5, "amber": 4, "birch": 3, "cedar": 2}
PROMPTS = tuple(f"p{n}" for n in range(10))
SUITE = """
name = "small"
[systems]
amber = "clips/amber"
birch = "clips/birch"
cedar = "clips/cedar"
[reference]
clips = "clips/truth"
on_board = true
[prompts]
file = "prompts.csv"
[ratings]
file = "ratings.csv"
[votes]
file = "votes.csv"
[instruments.clip]
[instruments.fidelity]
metrics = ["psnr"]
"""


def _clip(path: Path, prompt: int, noise: int) -> None:
    """A bright square that crosses a ramp, with noise of its own."""
    draw = np.random.default_rng([prompt, noise])
    frames = []
    for place in range(6):
        picture = np.tile(np.linspace(40, 180, 48, dtype=np.float64)[:, None], (1, 64))
        picture[16:32, 4 + 6 * place : 20 + 6 * place] = 230 - 10 * prompt
        picture += draw.uniform(-noise, noise, picture.shape)
        frames.append(np.repeat(np.clip(picture, 0, 255).astype(np.uint8)[..., None], 3, axis=2))
    write_clip(path, np.stack(frames), fps=10)


@pytest.fixture(scope="session")
def measured_suite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Three systems, one better than the next in every prompt, and a reference; ratings and counted votes agree."""
    home = tmp_path_factory.mktemp("suite")
    for name, noise in NOISE.items():
        (home / "clips" / name).mkdir(parents=True)
        for n, prompt in enumerate(PROMPTS):
            _clip(home / "clips" / name / f"{prompt}.mp4", n, noise)
    texts = [f"{prompt},a square crosses ramp {n}" for n, prompt in enumerate(PROMPTS)]
    (home / "prompts.csv").write_text("\n".join(["prompt_id,prompt_text", *texts]) + "\n")
    rows = [
        f"{prompt},{name},r{rater},{min(5, score + (n + rater) % 2 * (name != 'truth'))}"
        for n, prompt in enumerate(PROMPTS)
        for name, score in RATED.items()
        for rater in range(3)
    ]
    (home / "ratings.csv").write_text("\n".join(["prompt_id,system,rater,look", *rows]) + "\n")
    votes = [
        f"motion,{prompt},{a},{b},{5 + n % 2},{1 + n % 3}"
        for n, prompt in enumerate(PROMPTS)
        for a, b in (("amber", "birch"), ("amber", "cedar"), ("birch", "cedar"))
    ]
    (home / "votes.csv").write_text("\n".join(["question,prompt_id,system_a,system_b,votes_a,votes_b", *votes]) + "\n")
    (home / "suite.toml").write_text(SUITE)
    yield run_suite(home / "suite.toml", home / "out").path


@pytest.fixture(scope="session")
def small_evaluation(measured_suite: Path) -> Evaluation:
    return open_evaluation(measured_suite)
