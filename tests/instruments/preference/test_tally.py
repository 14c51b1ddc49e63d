"""Counting votes: by object and by column, the same."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.core.errors import InputError
from rushes.instruments.preference.tallies import tally
from rushes.instruments.preference.votes import Vote
from rushes.stats.votes.tally import PairCounts, tally_arrays


def some_votes(number: int, seed: int = 7) -> tuple[list[Vote], dict[str, np.ndarray]]:
    draw = np.random.default_rng(seed)
    first = draw.integers(0, 4, number)
    second = (first + draw.integers(1, 4, number)) % 4
    columns = {
        "first": first,
        "second": second,
        "outcome": draw.integers(0, 3, number),
        "rater": draw.integers(0, 3, number),
    }
    names = ["w", "x", "y", "z"]
    votes = [
        Vote.seen(sample=f"s{k}", left=names[i], right=names[j], choice=("left", "right", "tie")[o], rater=str(r))
        for k, (i, j, o, r) in enumerate(zip(*columns.values(), strict=True))
    ]
    return votes, columns


def test_objects_and_columns_give_the_same_counts() -> None:
    votes, columns = some_votes(500)
    one = tally(votes)
    other = tally_arrays(
        ["w", "x", "y", "z"],
        columns["first"],
        columns["second"],
        columns["outcome"],
        rater=columns["rater"],
        prompt=[sorted(vote.sample for vote in votes).index(vote.sample) for vote in votes],
    )
    assert one.systems == other.systems and one.raters == other.raters
    for name in ("rater", "prompt", "first", "second", "outcome", "count"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()
    assert one.votes == 500


def test_sparse_counting_gives_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    _, columns = some_votes(200)
    arguments = (["w", "x", "y", "z"], columns["first"], columns["second"], columns["outcome"])
    dense = tally_arrays(*arguments, rater=columns["rater"])
    monkeypatch.setattr("rushes.stats.votes.tally._DENSE_CELLS", 0)
    sparse = tally_arrays(*arguments, rater=columns["rater"])
    assert dense.count.tolist() == sparse.count.tolist() and dense.first.tolist() == sparse.first.tolist()


def test_pairs_sum_over_raters() -> None:
    # x beats y twice (two raters), y beats x once, one tie.
    votes = [
        Vote(sample=str(k), system_a="x", system_b="y", winner=w, rater=f"r{k % 2}")
        for k, w in enumerate(["a", "a", "b", "tie"])
    ]  # type: ignore[arg-type]
    pairs = tally(votes).pairs()
    assert (pairs.wins_first.tolist(), pairs.wins_second.tolist(), pairs.ties.tolist()) == ([2.0], [1.0], [1.0])
    assert pairs.total == 4.0


def test_no_votes_and_a_system_nobody_saw() -> None:
    assert tally([]).votes == 0 and tally([]).pairs().total == 0.0
    assert tally([], systems=["x", "y"]).systems == ("x", "y")


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ((["x", "y"], [0], [0], [0]), "two different systems"),
        ((["x", "y"], [0], [2], [0]), "two different systems"),
        ((["x", "y"], [0], [1], [3]), "outcome is 0, 1 or 2"),
        ((["x", "y"], [0, 1], [1], [0]), "one length"),
        ((["y", "x"], [0], [1], [0]), "text order"),
    ],
)
def test_malformed_columns_are_refused(columns: tuple[list[str], list[int], list[int], list[int]], says: str) -> None:
    with pytest.raises(InputError, match=says):
        tally_arrays(*columns)


def test_a_table_that_is_not_square_is_refused() -> None:
    with pytest.raises(InputError, match="square"):
        PairCounts.of_wins(["x", "y"], [[0, 1]])
