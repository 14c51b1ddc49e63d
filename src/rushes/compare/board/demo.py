"""The demo's last page: three made-up systems against references, one better by construction, two that are equal.

amber is the reference, coded well. birch and cedar shake and are grainy, both by the same amount, drawn anew for every
clip: whichever is ahead on a clip is so by chance. The board has to put amber first and must not rank birch and cedar.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rushes.compare.board.board import write_board
from rushes.compare.board.judging import judge_board
from rushes.compare.readings.collect import collect_board
from rushes.media import write_clip
from rushes.media.scenes import Frame, scene_of
from rushes.suite.folder import run_suite

PROMPTS = 14
_WIDTH, _HEIGHT, _FRAMES, _FPS = 192, 112, 16, 10
_NOISE = {"amber": 0.0, "birch": 9.0, "cedar": 9.0}
"""Levels of grain; a system with grain also shakes by a pixel or two."""
_SUITE = """name = "demo"

[systems]
amber = "amber"
birch = "birch"
cedar = "cedar"

[reference]
clips = "reference"
on_board = false

[prompts]
file = "prompts.csv"

[instruments.fidelity]
metrics = ["psnr", "ssim"]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoBoard:
    """The page, what it says, and whether that is what was put in."""

    path: Path
    found: str
    as_expected: bool
    winner: str
    """The system that is first on every reading; "" where there is none."""


def board(folder: Path) -> DemoBoard:
    """Make the systems, measure them as a suite, and write the board."""
    home = folder / "board"
    _make(home)
    run_suite(home / "suite.toml", home / "suite", jobs=2, overwrite=True)
    data = collect_board(home / "suite")
    verdicts = judge_board(data)
    page = write_board(home / "suite", folder / "board.html", title="Which system is better?", verdicts=verdicts)
    ranks = [verdict.ranks for verdict in verdicts.values() if verdict.ranks]
    right = bool(ranks) and all(r["amber"] == (1, 1) and r["birch"] == r["cedar"] == (2, 3) for r in ranks)
    first = [system for system in _NOISE if ranks and all(r[system] == (1, 1) for r in ranks)]
    return DemoBoard(path=Path(page.path), found=page.found, as_expected=right, winner=first[0] if first else "")


def _make(home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "suite.toml").write_text(_SUITE, encoding="utf-8")
    for name in ("reference", *_NOISE):
        (home / name).mkdir(exist_ok=True)
    lines = ["prompt_id,prompt_text"]
    for prompt in range(PROMPTS):
        scene, look = scene_of(prompt)
        lines.append(f"p{prompt:02d},{scene.prompt(look)}")
        frames = list(scene.frames(_FRAMES, look=look, fps=_FPS, width=_WIDTH, height=_HEIGHT))
        write_clip(home / "reference" / f"p{prompt:02d}.mp4", frames, fps=_FPS, crf=8)
        for number, (name, grain) in enumerate(_NOISE.items()):
            rng = np.random.default_rng([prompt, number])
            drawn = [_shaken(frame, rng, grain) for frame in frames] if grain else frames
            write_clip(home / name / f"p{prompt:02d}.mp4", drawn, fps=_FPS, crf=16)
    (home / "prompts.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _shaken(frame: Frame, rng: np.random.Generator, grain: float) -> Frame:
    """The frame moved by up to two pixels, with grain."""
    moved = np.roll(frame, rng.integers(-2, 3, 2), axis=(0, 1))
    return np.clip(np.rint(moved + rng.normal(0, grain, frame.shape[:2])[..., np.newaxis]), 0, 255).astype(np.uint8)
