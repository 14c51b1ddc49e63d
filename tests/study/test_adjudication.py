"""What reason tags say about a dispute."""

from __future__ import annotations

import pytest

from rushes.instruments.preference.rubric import RUBRIC
from rushes.instruments.preference.votes import Vote
from rushes.study.owner.adjudication import suggest, tag_rank


def vote(winner: str, primary: str, *secondary: str, rater: str = "r") -> Vote:
    return Vote(
        sample="s",
        system_a="x",
        system_b="y",
        winner=winner,
        rater=rater,
        primary_tag=primary,
        secondary_tags=secondary,
    )


MISSED, FLICKER, BLUR, EDIT = (
    "Missed constraint",
    "Flicker / temporal jitter",
    "Artifacts / blur / distortion",
    "Failed to apply edit",
)


def test_ranks_follow_the_rubrics_priorities():
    # Adherence → Temporal/Identity → Edit precision → Realism; what the rubric does not know comes last.
    assert [tag_rank(tag) for tag in (MISSED, FLICKER, EDIT, BLUR, "Ugly")] == [1, 2, 3, 4, 5]
    assert tag_rank("Unsafe compliance") == 1
    assert all(tag_rank(tag) <= 4 for tag in RUBRIC.tags)


@pytest.mark.parametrize(
    ("votes", "winner", "why"),
    [
        ([vote("a", MISSED), vote("b", FLICKER)], "a", "outranks"),
        ([vote("a", BLUR), vote("b", FLICKER)], "b", "outranks"),
        ([vote("a", BLUR), vote("tie", FLICKER)], "tie", "outranks"),
        # Two raters with the lesser reason do not outweigh the greater reason.
        ([vote("a", BLUR), vote("a", BLUR), vote("b", MISSED)], "b", "outranks"),
        ([vote("a", FLICKER), vote("a", FLICKER), vote("b", FLICKER)], "a", "more raters"),
        ([vote("a", FLICKER, MISSED), vote("b", FLICKER, BLUR)], "a", "secondary"),
        ([vote("a", FLICKER), vote("b", "Identity swap")], None, "weigh the same"),
        ([vote("a", FLICKER), vote("a", BLUR)], "a", "all raters agree"),
        ([], None, "no votes"),
    ],
)
def test_suggestions(votes, winner, why):
    found = suggest(votes)
    assert found.winner == winner and why in found.why


def test_a_rubric_of_your_own_ranks_its_groups_as_it_lists_them():
    from rushes.instruments.preference.own_rubric import own_rubric

    own = own_rubric(
        {
            "dimensions": [{"key": "care", "label": "Care", "anchors": [[5, "all"], [1, "none"]]}],
            # Even a label that the built-in rubric ranks second stands where this rubric puts it.
            "tag_groups": [
                {"label": "Manners", "tags": ["Rude"]},
                {"label": "Harm", "tags": ["Unsafe"]},
                {"label": "Temporal / Identity", "tags": ["Jumps"]},
            ],
        }
    )
    assert [tag_rank(tag, rubric=own) for tag in ("Rude", "Unsafe", "Jumps", "Missed constraint")] == [1, 2, 3, 4]
    found = suggest([vote("a", "Unsafe"), vote("b", "Rude")], rubric=own)
    assert found.winner == "b" and "“Rude” outranks" in found.why
    # Nothing named at all is the least, also under a rubric of more groups than the built-in one has ranks.
    many = own_rubric(
        {
            "dimensions": [{"key": "care", "label": "Care", "anchors": [[5, "all"], [1, "none"]]}],
            "tag_groups": [{"label": f"Group {n}", "tags": [f"Tag {n}"]} for n in range(9)],
        }
    )
    assert suggest([vote("a", "Tag 8"), vote("tie", "")], rubric=many).winner == "a"
    # Secondary tags: one of the last group is more than none.
    assert suggest([vote("a", "Tag 1", "Tag 8"), vote("b", "Tag 1")], rubric=many).winner == "a"
