"""The demo's last page: three made-up systems against references, one better by construction, two that are equal.

amber is the reference, coded well. birch and cedar have the same amount of noise, drawn anew for every clip: whichever
comes out ahead on a clip does so by chance. The board has to put amber first and must not tell birch from cedar.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.compare.board.board import write_board
from rushes.compare.board.judging import judge_board
from rushes.compare.readings.collect import collect_board
from rushes.media import write_clip
from rushes.suite.folder import run_suite

PROMPTS = 14
_SIZE, _FRAMES, _FPS = (96, 64), 8, 10
_NOISE = {"amber": 0.0, "birch": 5.0, "cedar": 5.0}
_SUITE = """name = "demo"

[systems]
amber = "amber"
birch = "birch"
cedar = "cedar"

[reference]
clips = "reference"
on_board = false

[instruments.fidelity]
metrics = ["psnr", "ssim"]
"""

Pixels = NDArray[np.uint8]


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
    for prompt in range(PROMPTS):
        frames = _scene(prompt)
        write_clip(home / "reference" / f"p{prompt:02d}.mp4", frames, fps=_FPS, crf=8)
        for place, (name, spread) in enumerate(_NOISE.items()):
            rng = np.random.default_rng([prompt, place])
            drawn = [_noisy(frame, rng, spread * (1 + 0.2 * rng.normal())) for frame in frames]
            write_clip(home / name / f"p{prompt:02d}.mp4", drawn, fps=_FPS, crf=16)


def _scene(prompt: int) -> list[Pixels]:
    """Soft colours that drift, and a disc that crosses them."""
    width, height = _SIZE
    rng = np.random.default_rng(prompt)
    ground = cv2.GaussianBlur(rng.integers(0, 256, (height, 2 * width, 3), dtype=np.uint8), (0, 0), 6)
    ground = cv2.normalize(ground, None, 40, 215, cv2.NORM_MINMAX)  # type: ignore[call-overload]
    frames = []
    for index in range(_FRAMES):
        frame = np.ascontiguousarray(ground[:, 3 * index : 3 * index + width])
        centre = (round(width * (0.2 + 0.6 * index / _FRAMES)), height // 2 + prompt % 7 - 3)
        cv2.circle(frame, centre, 12, (200, 60 + 10 * prompt, 40), -1, cv2.LINE_AA)
        frames.append(frame)
    return frames


def _noisy(frame: Pixels, rng: np.random.Generator, spread: float) -> Pixels:
    if spread <= 0:
        return frame
    return np.clip(np.rint(frame + rng.normal(0, spread, frame.shape)), 0, 255).astype(np.uint8)
