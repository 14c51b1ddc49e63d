"""From a trial's clips to the sides of a rater's screen, and back."""

from __future__ import annotations

from typing import Any, cast

from sqlalchemy import Row

from rushes.instruments.preference.votes import SIDES, Fault
from rushes.study.records import SCREEN, Choice, ScreenSide, VoteForm


def order_of(row: Row[Any]) -> str:
    """The clips of an assignment or a vote in the order of the screen: "ba" for a pair with b on the left."""
    return row.arrangement or ("ab" if row.left == "a" else "ba")


def on_screen(order: str) -> dict[ScreenSide, str]:
    """Which of the trial's clips stands where.

    >>> on_screen("ba"), on_screen("a")
    ({'A': 'b', 'B': 'a'}, {'A': 'a'})
    """
    return dict(zip(SCREEN, order, strict=False))


def letters(order: str) -> dict[str, str]:
    """What a winner is called on the screen.

    >>> letters("ba")
    {'b': 'A', 'a': 'B', 'tie': 'Tie'}
    """
    return {clip: side for side, clip in on_screen(order).items()} | {"tie": "Tie"}


def winner_behind(choice: Choice | None, order: str) -> str:
    """From the screen to the clips; "" where nobody was asked.

    >>> winner_behind("A", "ba"), winner_behind(None, "a")
    ('b', '')
    """
    return next((winner for winner, said in letters(order).items() if said == choice), "")


def form_of(row: Row[Any]) -> VoteForm:
    """A stored vote as it looked on the screen."""
    screen = on_screen(order_of(row))
    ratings = {
        f"ratings_{side.lower()}": {
            name: value for name, both in row.ratings.items() if (value := both[SIDES.index(clip)]) is not None
        }
        for side, clip in screen.items()
        if clip in SIDES and side in ("A", "B")
    }
    answer, sides = row.answer or {}, {clip: side for side, clip in screen.items()}
    return VoteForm(
        winner=cast("Choice | None", letters(order_of(row)).get(row.winner)),
        primary_tag=row.primary_tag,
        secondary_tags=tuple(row.secondary_tags),
        note=row.note,
        degree=answer.get("degree"),
        best=sides.get(answer.get("best", "")),
        worst=sides.get(answer.get("worst", "")),
        faults=tuple(Fault(sides[clip], ms, tag) for clip, ms, tag in answer.get("faults", ())),
        **ratings,
    )


def ratings_by_system(form: VoteForm, order: str) -> dict[str, list[int | None]]:
    """By dimension: the ratings of clip a and of clip b."""
    given = {"A": form.ratings_a, "B": form.ratings_b}
    behind = {clip: given[side] for side, clip in on_screen(order).items() if clip in SIDES and side in given}
    a, b = behind.get("a", {}), behind.get("b", {})
    return {name: [a.get(name), b.get(name)] for name in sorted({*a, *b})}


def answer_behind(form: VoteForm, order: str) -> dict[str, object] | None:
    """What else was answered, of clips and not of sides; None for nothing."""
    screen = on_screen(order)
    found: dict[str, object] = {} if form.degree is None else {"degree": form.degree}
    found |= {name: screen[side] for name, side in (("best", form.best), ("worst", form.worst)) if side in screen}
    if form.faults:
        found["faults"] = [[screen[one.clip], one.ms, one.tag] for one in form.faults]  # type: ignore[index]
    return found or None
