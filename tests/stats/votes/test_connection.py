"""When votes cannot be ranked, and what the refusal says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushes.stats.votes.connection import RankingError, _has_escape, components, require_connected, require_finite
from rushes.stats.votes.ranking import rank
from rushes.stats.votes.tally import PairCounts


def counts(wins: list[list[int]], ties: list[list[int]] | None = None) -> PairCounts:
    return PairCounts.of_wins("abcdefgh"[: len(wins)], wins, ties)


def test_a_graph_in_pieces_is_refused_with_its_groups_named() -> None:
    apart = counts([[0, 2, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 2, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]])
    assert components(apart) == [["a", "b"], ["c", "d"], ["e"]]
    with pytest.raises(RankingError, match=r"no votes link \{a, b\} and \{c, d\} and \{e\}: 3 separate groups"):
        rank(apart)


def test_a_prior_does_not_join_groups_that_never_met() -> None:
    with pytest.raises(RankingError, match="separate groups"):
        rank(counts([[0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 2], [0, 0, 1, 0]]), prior=1.0)


def test_one_system_is_no_ranking() -> None:
    with pytest.raises(RankingError, match="two systems; got a"):
        require_connected(counts([[0]]))


def test_many_names_are_cut_short() -> None:
    with pytest.raises(RankingError, match="and 2 more"):
        require_connected(counts(np.zeros((8, 8), int).tolist()))


def test_a_system_that_won_everything_is_refused_and_named() -> None:
    with pytest.raises(RankingError, match="a never lost a vote, so its lead has no finite estimate"):
        rank(counts([[0, 3, 2], [0, 0, 2], [0, 1, 0]]))


def test_a_system_that_lost_everything_is_refused_and_named() -> None:
    with pytest.raises(RankingError, match="c never won a vote"):
        rank(counts([[0, 3, 2], [1, 0, 2], [0, 0, 0]]))


def test_a_group_that_won_everything_is_refused() -> None:
    # a and b beat each other, c and d beat each other, but a, b always beat c, d.
    wins = [[0, 1, 1, 1], [1, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 0]]
    with pytest.raises(RankingError, match="one group of systems won every vote"):
        rank(counts(wins))


def test_a_prior_makes_it_finite() -> None:
    fit = rank(counts([[0, 3], [0, 0]]), prior=0.5)
    assert np.isfinite(fit.log_worth).all() and fit.order == ("a", "b")


def test_wins_and_ties_only_have_no_finite_lead_either() -> None:
    # Davidson: p(a wins) = p(tie) = ½ needs ν√(π_a π_b) = π_a, reached only as π_b/π_a → 0 with ν → ∞.
    lopsided = counts([[0, 5], [0, 0]], [[0, 5], [5, 0]])
    with pytest.raises(RankingError, match="a never lost"):
        rank(lopsided)
    assert rank(lopsided, tie_policy="half-tie").order == ("a", "b")


def test_ties_can_hold_a_ranking_that_wins_alone_cannot() -> None:
    # a beats b, b beats c, but all pairs also tie: v_a − v_b ≥ m and |v_a − v_c| ≤ m leave only v = 0, m = 0.
    held = counts([[0, 2, 0], [0, 0, 2], [0, 0, 0]], [[0, 0, 3], [0, 0, 0], [3, 0, 0]])
    require_finite(held)
    assert np.isfinite(rank(held).log_worth).all()
    assert np.isfinite(rank(held, tie_policy="rao-kupper").log_worth).all()


@pytest.mark.parametrize("policy", ["davidson", "rao-kupper", "drop-tie"])
def test_only_ties_have_no_strengths(policy: str) -> None:
    with pytest.raises(RankingError, match="every vote is a tie"):
        rank(counts([[0, 0], [0, 0]], [[0, 9], [9, 0]]), tie_policy=policy)  # type: ignore[arg-type]
    with pytest.raises(RankingError, match="every vote is a tie"):
        rank(counts([[0, 0], [0, 0]], [[0, 9], [9, 0]]), tie_policy=policy, prior=1.0)  # type: ignore[arg-type]


def test_only_ties_are_level_when_each_is_half_a_win() -> None:
    fit = rank(counts([[0, 0], [0, 0]], [[0, 9], [9, 0]]), tie_policy="half-tie")
    assert fit.log_worth.tolist() == [0.0, 0.0]


tables = st.integers(2, 4).flatmap(
    lambda n: st.tuples(
        st.lists(st.lists(st.integers(0, 3), min_size=n, max_size=n), min_size=n, max_size=n),
        st.lists(st.lists(st.integers(0, 2), min_size=n, max_size=n), min_size=n, max_size=n),
    )
)


@settings(max_examples=60, deadline=None)
@given(tables, st.sampled_from(["davidson", "rao-kupper", "half-tie", "drop-tie"]))
def test_any_votes_are_ranked_at_a_true_maximum_or_refused(
    table: tuple[list[list[int]], list[list[int]]], policy: str
) -> None:
    wins, ties = np.array(table[0]), np.array(table[1])
    np.fill_diagonal(wins, 0)
    ties = np.triu(ties, 1) + np.triu(ties, 1).T
    given_counts = PairCounts.of_wins("abcd"[: len(wins)], wins, ties)
    try:
        fit = rank(given_counts, tie_policy=policy)  # type: ignore[arg-type]
    except RankingError:
        return
    assert np.abs(fit.log_worth).max() < 50
    assert np.abs(fit.problem.gradient(fit.x)).max() < 1e-6
    assert fit.log_worth.sum() == pytest.approx(0.0, abs=1e-9)


def test_ties_hold_strengths_exactly_where_a_linear_programme_finds_no_escape() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    draw, seen = np.random.default_rng(7), set()
    for _ in range(150):
        size = int(draw.integers(2, 7))
        wins = np.triu(draw.random((size, size)) < draw.uniform(0, 0.7), 1).astype(int)
        ties = np.triu(draw.random((size, size)) < draw.uniform(0, 0.7), 1).astype(int)
        if draw.random() < 0.3:
            wins = wins[::-1, ::-1]
        if not ties.any():
            continue
        votes = PairCounts.of_wins("abcdefgh"[:size], wins.tolist(), (ties + ties.T).tolist())
        rows = []  # slack of each vote at (v, m), of which none may fall below 0
        for i, j, won, lost, tied in zip(
            votes.first, votes.second, votes.wins_first, votes.wins_second, votes.ties, strict=True
        ):
            ahead = np.zeros(size + 1)
            ahead[i], ahead[j], ahead[size] = 1.0, -1.0, 0.0
            margin = np.eye(size + 1)[size]
            rows += [ahead - margin, ahead] * bool(won) + [-ahead - margin, -ahead] * bool(lost)
            rows += [margin - ahead, margin + ahead] * bool(tied)
        slack = np.array(rows)
        found = optimize.linprog(
            -slack.sum(axis=0), A_ub=-slack, b_ub=np.zeros(len(rows)), bounds=[(-1, 1)] * size + [(-4, 4)]
        )
        escape = float(found.fun) < -1e-7
        assert _has_escape(votes) is escape
        seen.add(escape)
    assert seen == {True, False}
