"""Rank sets from people's and a judge's votes: against the paper's own code, by hand, and by simulation."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rushes.core.errors import InputError
from rushes.stats.votes.powered_ranks import Compared, powered_ranks
from rushes.stats.votes.tally import TIE, WIN_A, WIN_B

GOLDEN = json.loads((Path(__file__).parents[2] / "goldens" / "powered_ranks.json").read_text())
"""From the authors' code and votes: tests/oracle/powered_ranks.py."""


def rows(table: list[list[int]]) -> np.ndarray:
    """One row per comparison, out of counts."""
    found = np.array(table)
    return np.repeat(found[:, :-1], found[:, -1], axis=0)


@pytest.mark.parametrize("judge", GOLDEN["judges"])
def test_rank_sets_equal_those_of_the_papers_code(judge: str) -> None:
    of = GOLDEN["judges"][judge]
    both, rest = rows(of["voted"]), rows(of["judged"])
    voted = Compared(first=both[:, 0], second=both[:, 1], people=both[:, 2], judge=both[:, 3])
    judged = Compared(first=rest[:, 0], second=rest[:, 1], judge=rest[:, 2])
    systems, level = GOLDEN["systems"], GOLDEN["level"]
    found = powered_ranks(systems, voted, judged, level=level, covariance="published")
    assert found.weight == pytest.approx(of["weight"], abs=1e-12)
    assert [share.value for share in found.shares] == pytest.approx(of["shares"], abs=1e-12)
    assert [list(ranks) for ranks in found.ranks] == of["ranks"]
    alone = powered_ranks(systems, voted, level=level, covariance="published")
    assert [list(ranks) for ranks in alone.ranks] == of["people"]
    # The sandwich is wider: every published set lies in ours.
    ours = powered_ranks(systems, voted, judged, level=level)
    assert all(low <= a and b <= high for (low, high), (a, b) in zip(ours.ranks, of["ranks"], strict=True))


def test_by_hand() -> None:
    """Two systems, four comparisons a part. People: a wins 3, one tie; the judge the same; on the rest a wins 2, b 2.

    Shares of people and judge ¾ and 0, of the rest ½ and ½. λ: A_h·A_j = 3·(¼)² + (¾)² = ¾ for a, 0 for b; A_N: 4·¼
    for each of a and b. λ = (0.75/4) / (2 · 2/4) = 0.1875. Share of a = ¾ + λ(½ − ¾) = 0.703125, of b λ·½ = 0.09375.
    """
    first, second = np.zeros(4, dtype=np.int64), np.ones(4, dtype=np.int64)
    votes = np.array([WIN_A, WIN_A, WIN_A, TIE])
    voted = Compared(first=first, second=second, people=votes, judge=votes)
    judged = Compared(first=first, second=second, judge=np.array([WIN_A, WIN_A, WIN_B, WIN_B]))
    found = powered_ranks(["a", "b"], voted, judged)
    assert found.weight == pytest.approx(0.1875)
    assert [share.value for share in found.shares] == pytest.approx([0.703125, 0.09375])
    assert [share.count for share in found.shares] == [4, 4]
    # people alone: Σ_aa = ¾ / 4² · 4/3 = 0.0625, of b 0; ¾ > √(χ²₂(0.95) · 0.0625) = √(5.9915 · 0.0625) = 0.612
    assert powered_ranks(["a", "b"], voted).ranks == ((1, 1), (2, 2))
    assert powered_ranks(["a", "b"], voted, level=0.99).ranks == ((1, 2), (1, 2))  # √(9.21 · 0.0625) = 0.759


def test_comparisons_of_one_prompt_are_one_observation() -> None:
    """Every comparison in twice under its prompt: the sandwich stays that of the single ones."""
    rng = np.random.default_rng(5)
    first, second = np.zeros(30, dtype=np.int64), np.ones(30, dtype=np.int64)
    votes = rng.integers(0, 3, size=30)
    once = powered_ranks(["a", "b"], Compared(first=first, second=second, people=votes, judge=votes))
    twice = Compared(
        first=np.repeat(first, 2),
        second=np.repeat(second, 2),
        people=np.repeat(votes, 2),
        judge=np.repeat(votes, 2),
        group=np.repeat(np.arange(30), 2),
    )
    found = powered_ranks(["a", "b"], twice)
    for one, other in zip(once.shares, found.shares, strict=True):
        assert one.interval is not None and other.interval is not None
        assert other.interval.low == pytest.approx(one.interval.low)


@pytest.mark.parametrize("judge", ["useful", "useless", "against"])
def test_every_true_rank_is_held(judge: str) -> None:
    """Five systems, 200 comparisons with people and 1800 with the judge alone: 60 studies."""
    rng, systems = np.random.default_rng(2), list("abcde")
    worth = np.linspace(1, -1, 5)
    held = sets = 0
    for _ in range(60):
        first = rng.integers(0, 5, size=2000)
        second = (first + rng.integers(1, 5, size=2000)) % 5
        people = (rng.random(2000) > 1 / (1 + np.exp(worth[second] - worth[first]))).astype(np.int64)
        alike = rng.random(2000) < {"useful": 0.9, "useless": 0.0, "against": 0.0}[judge]
        other = 1 - people if judge == "against" else rng.integers(0, 2, size=2000)
        answers = np.where(alike, people, other)
        voted = Compared(first=first[:200], second=second[:200], people=people[:200], judge=answers[:200])
        judged = Compared(first=first[200:], second=second[200:], judge=answers[200:])
        found = powered_ranks(systems, voted, judged)
        held += all(low <= place <= high for place, (low, high) in enumerate(found.ranks, 1))
        alone = powered_ranks(systems, voted).ranks
        sets += sum(b - a for a, b in alone) - sum(b - a for a, b in found.ranks)
    assert held >= 57
    assert sets > 60 if judge == "useful" else sets >= -60  # ranks that the judge ruled out


def test_what_cannot_be_ranked() -> None:
    one = np.zeros(1, dtype=np.int64)
    voted = Compared(first=one, second=one + 1, people=one, judge=one)
    with pytest.raises(InputError, match="c has none"):
        powered_ranks(["a", "b", "c"], voted)
    with pytest.raises(InputError, match="two systems or more"):
        powered_ranks(["a"], voted)
