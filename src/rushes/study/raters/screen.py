"""From a pair's two systems to the two sides of a rater's screen, and back."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from rushes.instruments.preference.votes import SIDES, Side
from rushes.study.records import Choice, ScreenSide, VoteForm


def on_screen(left: str) -> dict[ScreenSide, Side]:
    """Which of the two systems stands where.

    >>> on_screen("b")
    {'A': 'b', 'B': 'a'}
    """
    return {"A": "a", "B": "b"} if left == "a" else {"A": "b", "B": "a"}


def letters(left: str) -> dict[str, Choice]:
    """What a winner is called on the screen.

    >>> letters("b")
    {'b': 'A', 'a': 'B', 'tie': 'Tie'}
    """
    return {system: side for side, system in on_screen(left).items()} | {"tie": "Tie"}


def winner_behind(choice: Choice | None, left: str) -> str:
    """From the screen to the systems.

    >>> winner_behind("A", "b")
    'b'
    """
    return next(winner for winner, said in letters(left).items() if said == choice)


def form_of(row: Row[Any]) -> VoteForm:
    """A stored vote as it looked on the screen."""
    ratings = {
        f"ratings_{side.lower()}": {
            name: value for name, both in row.ratings.items() if (value := both[SIDES.index(system)])
        }
        for side, system in on_screen(row.left).items()
    }
    return VoteForm(
        winner=letters(row.left)[row.winner],
        primary_tag=row.primary_tag,
        secondary_tags=tuple(row.secondary_tags),
        note=row.note,
        **ratings,
    )


def ratings_by_system(form: VoteForm, left: str) -> dict[str, list[int | None]]:
    """By dimension: the ratings of system a and of system b."""
    given = {"A": form.ratings_a, "B": form.ratings_b}
    a, b = (given[side] for side, _ in sorted(on_screen(left).items(), key=lambda both: both[1]))
    return {name: [a.get(name), b.get(name)] for name in sorted({*a, *b})}
