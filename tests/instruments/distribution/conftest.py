"""Small sets and a stand-in for the network, so that most tests run in milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from rushes.core.machine.files import file_stamp
from rushes.instruments.distribution.features import extraction as features
from rushes.instruments.distribution.features import weights as weights_files
from rushes.instruments.distribution.features.random_weights import write_random_checkpoint
from rushes.instruments.distribution.features.weights import Weights, read_weights
from rushes.media import write_clip


def pictures(count: int, *, level: float = 100.0, size: tuple[int, int] = (24, 32)) -> list[np.ndarray]:
    """Frames whose mean rises with time, so that order and padding show."""
    y, x = np.mgrid[0 : size[0], 0 : size[1]]
    wave = 20 * np.sin(x / 3) + 15 * np.cos(y / 4)
    return [np.clip(np.stack([level + 2 * t + wave] * 3, axis=-1), 0, 255).astype(np.uint8) for t in range(count)]


@pytest.fixture(scope="session")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """gen/ and gt/ with five clips each, of 10 to 40 frames."""
    root = tmp_path_factory.mktemp("sets")
    for side, base in (("gen", 90.0), ("gt", 60.0)):
        (root / side).mkdir()
        for number, count in enumerate((16, 17, 40, 10, 20), 1):
            write_clip(root / side / f"take{number * 3}.mp4", pictures(count, level=base + 9 * number), fps=25)
    return root


@pytest.fixture(scope="session")
def few(sets: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """gen/ and gt/ with three of these clips each, of 16, 17 and 20 frames: enough for every protocol."""
    root = tmp_path_factory.mktemp("few")
    for side in ("gen", "gt"):
        (root / side).mkdir()
        for name in ("take3.mp4", "take6.mp4", "take15.mp4"):
            (root / side / name).symlink_to(sets / side / name)
    return root


@pytest.fixture(scope="session")
def random_weights(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Seeded checkpoints of both networks."""
    folder = tmp_path_factory.mktemp("weights")
    return {
        "i3d": write_random_checkpoint("i3d", folder / "i3d.pt"),
        "r3d50": write_random_checkpoint("r3d50", folder / "r3d.pt"),
    }


class Averages:
    """In place of a network: the first features are the segment's mean, first and last frame, the rest 0."""

    preparation = None

    def __init__(self, width: int) -> None:
        self.width = width
        self.segments = 0

    def features(self, segments: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
        for segment in segments:
            self.segments += 1
            vector = np.zeros(self.width, np.float32)
            vector[:4] = segment.mean(), segment[0].mean(), segment[-1].mean(), segment.std()
            yield vector


@pytest.fixture
def stand_in() -> Callable[[int], Averages]:
    """Makes an `Averages` of a width."""
    return Averages


@lru_cache(maxsize=4)
def _read_once(path: Path, stamp: tuple[int, int]) -> Weights:
    return read_weights(path)


def _remembered(path: Path | str) -> Weights:
    """`read_weights`, which reads and digests hundreds of megabytes, once for a file as it is."""
    return _read_once(Path(path), file_stamp(Path(path))) if Path(path).is_file() else read_weights(path)


@pytest.fixture
def averages(monkeypatch: pytest.MonkeyPatch) -> list[Averages]:
    """Every extractor made from here on is an `Averages`; the list says which were made. No file of weights that one
    of them was asked for is read twice."""
    monkeypatch.setattr(weights_files, "read_weights", _remembered)
    made: list[Averages] = []

    def make(weights: object, recipe: object, **options: object) -> Averages:
        made.append(Averages(recipe.d))  # type: ignore[attr-defined]
        return made[-1]

    monkeypatch.setattr(features, "make_extractor", make)
    return made


@pytest.fixture
def make_clip(tmp_path: Path) -> Callable[..., Path]:
    """Writes a clip of so many frames."""

    def make(name: str, count: int, **look: object) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_clip(path, pictures(count, **look), fps=25)  # type: ignore[arg-type]
        return path

    return make
