"""Active pairing: the gain by hand, and fewer votes for the same order in a small simulation."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from rushes.study.raters.active_pairing import PRIOR_SD, MatchUp, most_informative, order_gains, posterior


def test_the_posterior_of_two_systems_by_hand():
    # Three wins to one. With θ = (x, −x): 3 − 4·σ(2x) = x / 2.25 has its root at x = 0.429.
    mean, covariance = posterior(np.array([[0.0, 3.0], [1.0, 0.0]]), np.zeros((2, 2)))
    assert mean[0] == pytest.approx(-mean[1])
    assert 3 - 4 / (1 + math.exp(-2 * mean[0])) == pytest.approx(mean[0] / PRIOR_SD**2)
    information = 4 * (share := 1 / (1 + math.exp(-2 * mean[0]))) * (1 - share)
    # The difference has precision 1/(2·sd²) from the prior and `information` from the votes.
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert variance == pytest.approx(1 / (1 / (2 * PRIOR_SD**2) + information))


def test_the_gain_of_the_first_votes_by_hand():
    # Nothing known: d ~ N(0, v), v = 2·1.5² = 4.5, and the guess is wrong half the time. I = 20·¼ = 5 settles
    # ρ² = Iv / (1 + Iv) = 22.5 / 23.5 of the variance; then the guess is wrong with 1/2 − asin(ρ)/π (two normals with
    # correlation ρ have different signs).
    (gain,) = order_gains(np.zeros((2, 2)), np.zeros((2, 2)))
    assert gain == pytest.approx(math.asin(math.sqrt(22.5 / 23.5)) / math.pi)


def test_close_systems_are_asked_about_and_settled_ones_are_not():
    known = {
        ("a", "b"): MatchUp(wins_a=30, wins_b=2),
        ("a", "c"): MatchUp(wins_a=30, wins_b=2),
        ("b", "c"): MatchUp(wins_a=16, wins_b=16),
    }
    assert most_informative(known, sorted(known))[0] == ("b", "c")


def test_votes_on_their_way_send_the_next_rater_elsewhere():
    known = {("a", "b"): MatchUp(wins_a=1, wins_b=1), ("b", "c"): MatchUp(wins_a=1, wins_b=1)}
    first = most_informative(known, [("a", "b"), ("b", "c")])[0]
    known[first] = MatchUp(wins_a=1, wins_b=1, pending=6)
    assert most_informative(known, [("a", "b"), ("b", "c")])[0] != first


def test_names_and_order_of_the_votes_change_nothing_but_the_names():
    known = {("a", "b"): MatchUp(wins_a=3, wins_b=1), ("a", "c"): MatchUp(wins_a=1, wins_b=2)}
    offered = [("a", "c"), ("b", "c"), ("a", "b")]
    assert most_informative(known, offered) == most_informative(dict(reversed(known.items())), offered[::-1])


def misordered(strengths: np.ndarray, active: bool, votes: int, rng: np.random.Generator) -> float:
    """The share of two systems in the wrong order after so many votes; two raters a sample, a third in dispute."""
    count = len(strengths)
    pairs, wins, none = list(combinations(range(count), 2)), np.zeros((count, count)), np.zeros((count, count))
    turn: list[int] = []
    while wins.sum() < votes:
        if active:
            chosen = int(np.argmax(np.round(order_gains(wins, none), 9)))
        else:
            turn = turn or list(rng.permutation(len(pairs)))
            chosen = turn.pop()
        one, other = pairs[chosen]
        ballots = list(rng.random(2) < 1 / (1 + np.exp(strengths[other] - strengths[one])))
        if ballots[0] != ballots[1]:
            ballots.append(rng.random() < 1 / (1 + np.exp(strengths[other] - strengths[one])))
        wins[one, other] += sum(ballots)
        wins[other, one] += len(ballots) - sum(ballots)
    mean, _ = posterior(wins, none)
    return float(np.mean([(mean[i] > mean[j]) != (strengths[i] > strengths[j]) for i, j in pairs]))


def test_six_tenths_of_the_votes_are_enough_for_the_same_order():
    # benchmarks/active_pairing.py has the whole curve; this is a small piece: eight systems, ten votes a match-up.
    rng = np.random.default_rng(18)
    worlds = [rng.normal(0, 2, 8) for _ in range(20)]
    full = np.mean([misordered(world, False, 280, rng) for world in worlds for _ in range(3)])
    fewer = np.mean([misordered(world, True, 168, rng) for world in worlds])
    assert fewer <= full, (fewer, full)
