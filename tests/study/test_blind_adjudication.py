"""An adjudicator sees no system's name, and no address twice: nothing joins the clips of two pairs."""

from __future__ import annotations

from dataclasses import replace

from rushes.study.owner.blinding import alias, behind, blind_data
from rushes.study.status import Disagreement

ITEM = Disagreement(
    sample="p1.amber~birch",
    family="T1",
    prompt="a ball",
    system_a="amber",
    system_b="birch",
    media_a="token-a",
    media_b="token-b",
    opinions=(),
    state="adjudicated",
    suggestion=None,
    suggestion_why="",
    adjudicated="amber",
    by="maria",
)


def test_settled_pairs_name_no_system_to_an_adjudicator() -> None:
    shown = repr(blind_data(ITEM, named_if_settled=False))
    assert "amber" not in shown and "birch" not in shown and "token-" not in shown
    assert "amber" in repr(blind_data(ITEM))  # an owner reads who won


def test_one_clip_has_another_address_in_every_pair() -> None:
    other = replace(ITEM, sample="p1.amber~cedar", system_b="cedar", media_b="token-c")
    one, two = alias("token-a", ITEM), alias("token-a", other)
    assert one != two and behind(one) == behind(two) == "token-a"
    assert behind("token-a") == "token-a" and behind("~broken") == "~broken"
