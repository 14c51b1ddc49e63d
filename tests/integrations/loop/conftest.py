"""Weights, and a stand-in for the network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushes


class Averages:
    """In place of a network: a few sums of the segment, the rest 0."""

    preparation = None

    def __init__(self, width: int) -> None:
        self.width = width

    def features(self, segments: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
        for segment in segments:
            vector = np.zeros(self.width, np.float32)
            vector[:4] = segment.mean(), segment[0].mean(), segment[-1].mean(), segment.std()
            yield vector


@pytest.fixture(scope="session")
def random_i3d(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch", reason="FVD needs torch (pip install 'rushes[fvd]')")
    from rushes.instruments.distribution.features.random_weights import write_random_checkpoint

    return write_random_checkpoint("i3d", tmp_path_factory.mktemp("weights") / "i3d.pt")


@pytest.fixture
def plain_fvd(monkeypatch: pytest.MonkeyPatch, random_i3d: Path) -> Callable[..., rushes.FVD]:
    """An FVD whose network is `Averages`."""
    from rushes.instruments.distribution.features import extraction as features

    monkeypatch.setattr(features, "make_extractor", lambda weights, recipe, **more: Averages(recipe.d))

    def make(protocol: str = "videogpt", **options: Any) -> rushes.FVD:
        return rushes.FVD(protocol, sample_duration=9, weights=random_i3d, device="cpu", **options)

    return make
