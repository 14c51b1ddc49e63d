"""Agreement rests on the first votes of every sample: a third rater, who comes only to disputes, must not raise it."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.core.errors import InputError
from rushes.core.selection import one, select
from rushes.instruments.preference.assignment import standing
from rushes.instruments.preference.numbers.study import study_measurements
from rushes.instruments.preference.tallies import first_votes, votes_by_sample, winner_table
from rushes.instruments.preference.votes import Vote, Winner
from rushes.stats.agreement import percent_agreement

from .conftest import MakeVote

COIN: tuple[Winner, ...] = ("a", "b")


def tossed(samples: int = 1500, minimum: int = 2) -> list[Vote]:
    """Raters who toss coins, under the study's own rule for one more rater."""
    draw = np.random.default_rng(18)
    votes = []
    for sample in range(samples):
        winners: list[Winner] = []
        while len(winners) < standing(winners, minimum=minimum).needed:
            winners.append(COIN[draw.integers(2)])
            # Raters' names say nothing about who came first, and neither does the order of a list from a database.
            votes.append(
                Vote(
                    sample=f"s{sample}",
                    system_a="x",
                    system_b="y",
                    winner=winners[-1],
                    rater=f"r{(sample * 7 + len(winners) * 5) % 11:02d}",
                    family="T1" if sample % 2 else "T2",
                    turn=len(winners),
                    ratings={"temporal": (1 + 3 * (winners[-1] == "a"), 1 + 3 * (winners[-1] == "b"))},
                )
            )
    return sorted(votes, key=lambda vote: (vote.sample, vote.rater))


@pytest.mark.parametrize("minimum", [2, 3])
def test_coin_flips_agree_by_chance_and_no_more(minimum: int) -> None:
    # Two coins agree half of the time; α, Fleiss's κ and Cohen's are 0. From all votes: 0.67, 0.20 and 0.34.
    found = study_measurements(tossed(minimum=minimum), rubric_version="0.1", min_raters=minimum)
    for family in ("all", "T1", "T2"):
        assert one(found, "percent_agreement", family=family).value == pytest.approx(0.5, abs=0.03)
        for name, where in (
            ("krippendorff_alpha", {"level": "nominal", "of": "winner"}),
            ("fleiss_kappa", {}),
        ):
            assert one(found, name, family=family, **where).value == pytest.approx(0.0, abs=0.06)
    assert one(found, "cohen_kappa", family="all", weights="none").value == pytest.approx(0.0, abs=0.06)
    for alpha in select(found, "krippendorff_alpha", of="rating"):
        assert alpha.value == pytest.approx(0.0, abs=0.06)


def test_all_votes_would_have_inflated_it() -> None:
    every = percent_agreement(winner_table(tossed()))
    assert every.value == pytest.approx(2 / 3, abs=0.02)  # half the samples agree, the others by one pair of three


def test_the_signature_says_which_votes() -> None:
    found = study_measurements(tossed(20), rubric_version="0.1", min_raters=2)
    for name in ("percent_agreement", "krippendorff_alpha", "gwet_ac1", "fleiss_kappa", "cohen_kappa"):
        assert {dict(m.definition.params)["votes"] for m in select(found, name)} == {"first-2"}
    with pytest.raises(InputError, match="agreement needs 2 raters per sample or more; got 1"):
        study_measurements([], rubric_version="0.1", min_raters=1)


def test_turns_decide_and_the_given_order_where_nobody_recorded_them(make: MakeVote) -> None:
    known = [make("b", rater="r1", turn=3), make("a", rater="r2", turn=1), make("a", rater="r3", turn=2)]
    assert [vote.rater for vote in first_votes(known, 2)] == ["r2", "r3"]
    unknown = [make("b", rater="r9"), make("a", rater="r1"), make("a", rater="r2")]
    assert [vote.rater for vote in first_votes(unknown, 2)] == ["r9", "r1"]


def test_a_corrected_vote_keeps_its_place(make: MakeVote) -> None:
    votes = [make("a", rater="r1"), make("b", rater="r2"), make("b", rater="r1"), make("a", rater="r3")]
    assert [(v.rater, v.winner) for v in votes_by_sample(votes)["s1"][:2]] == [("r1", "b"), ("r2", "b")]


def test_an_excluded_rater_gives_the_place_to_the_next(make: MakeVote) -> None:
    # r1 is excluded, so the study asks another rater; the first two of those who count are r2 and r3.
    votes = [make("a", rater="r1", turn=1), make("b", rater="r2", turn=2), make("b", rater="r3", turn=3)]
    found = study_measurements(votes, rubric_version="0.1", exclusion_rule="slow", excluded=["r1"])
    assert one(found, "percent_agreement", family="all", exclusion="none").value == 0.0
    assert one(found, "percent_agreement", family="all", exclusion="slow").value == 1.0
