"""A set after the network: one feature row per video. Needs no torch, so saved statistics do not either."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class FeatureSet:
    """One row per video that could be read, in input order, and the names of those that could not."""

    names: tuple[str, ...]
    digests: tuple[str, ...]
    rows: Rows
    """(N, D) float32: the mean over a video's segments."""
    excluded: tuple[tuple[str, str], ...] = ()
    """(name, why) of each clip left out."""

    @property
    def sha256(self) -> str:
        """Digest of the set: its clips' names and digests, in order."""
        lines = [f"{digest}  {name}\n" for name, digest in zip(self.names, self.digests, strict=True)]
        return hashlib.sha256("".join(lines).encode()).hexdigest()
