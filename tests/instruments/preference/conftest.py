"""Votes made to order, and the published numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.quick_studies import quick_passwords, quick_tables  # noqa: F401

from rushes.instruments.preference.votes import Vote, Winner
from rushes.stats.votes.tally import PairCounts

MakeVote = Callable[..., Vote]


@pytest.fixture(scope="session")
def published() -> dict[str, Any]:
    """Published examples and their results: Bradley–Terry, ties, α, κ, Wilson."""
    loaded: dict[str, Any] = json.loads((Path(__file__).parent / "goldens" / "statistics.json").read_text())
    return loaded


@pytest.fixture(scope="session")
def pudding(published: dict[str, Any]) -> PairCounts:
    """Davidson's (1970) pudding data: six brands, ties allowed."""
    wins, ties = np.zeros((6, 6)), np.zeros((6, 6))
    for i, j, _, w_ij, w_ji, t_ij in published["pudding_davidson1970"]["rows_i_j_r_wij_wji_tij"]:
        wins[i - 1, j - 1], wins[j - 1, i - 1] = w_ij, w_ji
        ties[i - 1, j - 1] = ties[j - 1, i - 1] = t_ij
    return PairCounts.of_wins([f"brand{k}" for k in range(1, 7)], wins, ties)


@pytest.fixture
def make() -> MakeVote:
    """make("a", sample="s1", rater="r1", …): a vote between systems x and y."""

    def build(winner: Winner = "a", **changes: object) -> Vote:
        fields: dict[str, object] = {"sample": "s1", "system_a": "x", "system_b": "y", "winner": winner, "rater": "r1"}
        return Vote(**(fields | changes))  # type: ignore[arg-type]

    return build
