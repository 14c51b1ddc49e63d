"""What a vote is worth to a side and to the left clip, and that a signature names the tie policy it was scored by."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rushes.core import Definition, Measurement, Why, signature_params
from rushes.core.selection import one as only
from rushes.instruments.preference.definitions import study as definitions
from rushes.instruments.preference.definitions import validity as validity_definitions
from rushes.instruments.preference.numbers.study import left_share, study_measurements
from rushes.instruments.preference.numbers.validity import validity_measurements
from rushes.instruments.preference.votes import Ties, Vote

from .conftest import MakeVote


def test_points_by_hand(make: MakeVote) -> None:
    won, tie = make("a", shown_left="b"), make("tie", shown_left="b")
    assert (won.points("a", ties="drop"), won.points("b", ties="drop"), won.left_points(ties="drop")) == (1.0, 0.0, 0.0)
    assert (tie.points("a", ties="half"), tie.points("b", ties="half"), tie.left_points(ties="half")) == (0.5, 0.5, 0.5)
    assert (tie.points("a", ties="drop"), tie.left_points(ties="drop")) == (None, None)
    assert make("a", shown_left=None).left_points(ties="half") is None


def test_left_share_by_hand(make: MakeVote) -> None:
    # Left wins: 1 and 3 of 4 decided; the tie and the vote without a side stand apart.
    votes = [
        make("a", sample="1", shown_left="a", rater="r1"),
        make("a", sample="2", shown_left="b", rater="r1"),
        make("b", sample="3", shown_left="b", rater="r2"),
        make("b", sample="4", shown_left="a", rater="r2"),
        make("tie", sample="5", shown_left="a", rater="r2"),
        make("a", sample="6", shown_left=None, rater="r2"),
    ]
    found = left_share(votes)
    assert (found.value, found.count) == (0.5, 4)


def test_a_rater_who_always_votes_left(make: MakeVote) -> None:
    votes = [make("a" if k % 2 else "b", sample=str(k), shown_left="a" if k % 2 else "b") for k in range(10)]
    found = left_share(votes)
    assert found.value == 1.0
    assert (found.interval, found.why) == (None, Why.NEEDS_TWO_RATERS)


def test_nothing_decided_is_none(make: MakeVote) -> None:
    found = left_share([make("tie", shown_left="a"), make("a", sample="2")])
    assert (found.value, found.why) == (None, Why.NO_DATA)


def numbers(votes: Sequence[Vote], name: str) -> list[Measurement]:
    return [number for number in study_measurements(votes, rubric_version="0.1") if number.name == name]


def under(definition: Definition, ties: Ties) -> Definition:
    return definition.add_params(ties=ties)


@pytest.mark.parametrize(
    ("name", "dropped", "halved"),
    [
        # x against y: x wins twice, both times on the left, and ties once on the left.
        ("LEFT_SHARE", (1.0, 2), (2.5 / 3, 3)),
        ("WIN_SHARE", (1.0, 2), (2.5 / 3, 3)),
        ("HEAD_TO_HEAD", (1.0, 2), (2.5 / 3, 3)),
    ],
)
def test_a_score_is_made_by_the_policy_that_its_signature_names(
    make: MakeVote,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    dropped: tuple[float, int],
    halved: tuple[float, int],
) -> None:
    votes = [make(won, sample=str(at), shown_left="a") for at, won in enumerate(("a", "a", "tie"))]
    policies: tuple[tuple[Ties, tuple[float, int]], ...] = (("drop", dropped), ("half", halved))
    for ties, (value, count) in policies:
        definition = under(getattr(definitions, name), ties)
        monkeypatch.setattr(definitions, name, definition)
        found = [one for one in numbers(votes, definition.name) if dict(one.at).get("system", "x") == "x"]
        assert found
        for one in found:
            assert f"|ties:{ties}|" in one.signature
            assert (one.value, one.count) == (pytest.approx(value), count)


@pytest.mark.parametrize(("ties", "value", "count"), [("drop", 1.0, 1), ("half", 0.75, 2)])
def test_so_are_badges_and_metrics_against_votes(
    make: MakeVote, monkeypatch: pytest.MonkeyPatch, ties: Ties, value: float, count: int
) -> None:
    votes = [make(won, sample=str(at), clip_a=f"x{at}", clip_b=f"y{at}") for at, won in enumerate(("a", "tie"))]
    clips = [clip for vote in votes for clip in (vote.clip_a, vote.clip_b)]
    badges = {clip: "pass" if clip.startswith("x") else "reject" for clip in clips}
    badge_share = under(validity_definitions.BADGE_WIN_SHARE, ties)
    monkeypatch.setattr(validity_definitions, "BADGE_WIN_SHARE", badge_share)
    assert badge_share.params == signature_params(ties=ties)
    metric = Definition(name="sharpness", unit="1", lowest=0.0, highest=None, better="higher", summary="s", formula="f")
    values = {clip: [Measurement(definition=metric, value=float(clip[0] == "x"), count=1)] for clip in clips}
    found = validity_measurements(votes, values, badges, rubric_version="0.1")
    for share in (only(found, "badge_win_share", badge="pass"), only(found, "metric_picks_winner", ties=ties)):
        assert (share.value, share.count) == (value, count)
