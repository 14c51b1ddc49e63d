"""One rater's decision on one pair: the plain record that engine, statistics, exports and pages share.

A `Vote` speaks of true systems in a canonical order (`system_a` before `system_b` in text order), never of the sides a
rater saw; `shown_left` keeps the side. It knows no study, no database and no clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias, overload

from rushes.core.errors import InputError
from rushes.stats.votes.tie_policies import TIE_POLICIES as TIE_POLICIES
from rushes.stats.votes.tie_policies import TiePolicy as TiePolicy

Side: TypeAlias = Literal["a", "b"]
Winner: TypeAlias = Literal["a", "b", "tie"]
Screen: TypeAlias = Literal["left", "right", "tie"]
Ties: TypeAlias = Literal["drop", "half"]
"""What a tie is to a share of votes, as signatures spell it: left out, or half a win for each side."""
UNNAMED = "unnamed"
"""Rater of a vote whose file names none: any number of people."""
_TIE_POINTS: Mapping[Ties, float | None] = {"drop": None, "half": 0.5}

SIDES: tuple[Side, Side] = ("a", "b")
_WINNERS = ("a", "b", "tie")
LOWEST_RATING, HIGHEST_RATING = 1, 5


class WatchedSpan(NamedTuple):
    """One stretch of forward play that the server credited: whose clip, in which pass, from where to where."""

    clip: str
    watch_pass: int
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class Fault:
    """What a rater marked in a clip, and when it shows."""

    clip: str
    """The clip: a side of the screen on the rater's form, a system in results."""
    ms: int
    tag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One rater's decision on one sample (a pair of clips made from one prompt).

    `InputError` for the same system twice, systems out of text order (`Vote.seen` puts them in order), an unknown
    winner or side, a rating outside 1–5, and an empty sample or rater.

    >>> vote = Vote.seen(sample="s1", left="zeta", right="alpha", choice="left", rater="r1")
    >>> vote.system_a, vote.system_b, vote.winner, vote.shown_left, vote.winning_system
    ('alpha', 'zeta', 'b', 'b', 'zeta')
    """

    sample: str
    """Id of the pair; several raters vote on the same sample."""
    system_a: str
    system_b: str
    """The two true systems, `system_a < system_b` as text."""
    winner: Winner
    """In terms of `system_a` and `system_b`."""
    rater: str
    family: str = ""
    """Task family, "T1" to "T8"; "" where the study has none."""
    prompt: str = ""
    """Prompt id."""
    shown_left: Side | None = None
    """Which of the two stood on the left of the screen; None where nobody recorded it (an imported file)."""
    primary_tag: str = ""
    """In the rubric's words, as are the secondary tags."""
    secondary_tags: tuple[str, ...] = ()
    ratings: Mapping[str, tuple[int | None, int | None]] = field(default_factory=dict)
    """By dimension key: 1–5 for the clip of system a and of system b; None where one was not rated."""
    pair_ratings: Mapping[str, int] = field(default_factory=dict)
    """By dimension key: one 1–5 for the whole row, as the ratings CSV has it, which does not say for which clip."""
    note: str = ""
    adjudicated: bool = False
    """An adjudicator's label, not a rater's raw vote: kept apart, never merged into the raw votes."""
    is_gold: bool = False
    """A pair with a known answer, to check raters: not part of the results."""
    is_repeat: bool = False
    """The same rater's second, hidden look at a pair: for self-consistency, not part of the results."""
    clip_a: str = ""
    clip_b: str = ""
    """Ids of the two clips, the key that joins a vote to the clips' metrics; "" where unknown."""
    watched: tuple[WatchedSpan, ...] = ()
    """The play ledger behind the vote, for exports."""
    turn: int = 0
    """When it came among the votes on its sample: 1 for the first; 0 where nobody recorded it. A sample gets a third
    rater only when the first two disagree, so agreement rests on the first votes alone."""
    bent: tuple[str, ...] = ()
    """Rules of the rubric that the vote does not keep (`rules.RULES`): only a vote from elsewhere can have any. Numbers
    that rest on one say `rubric:0.1-lenient`."""
    viewing: Mapping[str, object] = field(default_factory=dict)
    """How the rater looked at it: window, screen, pixel ratio, theme; empty where nobody recorded it."""
    degree: int | None = None
    """How strongly the winner is preferred, 1 to 3, where raters were asked on seven points."""
    faults: tuple[Fault, ...] = ()
    """What the rater marked in either clip, and when it shows."""

    def __post_init__(self) -> None:
        if not self.sample or not self.rater:
            raise InputError(f"a vote needs a sample and a rater; got {self.sample!r} and {self.rater!r}")
        if not self.system_a or self.system_a >= self.system_b:
            raise InputError(
                f"sample {self.sample}: a vote names two systems in text order; "
                f"got {self.system_a!r} and {self.system_b!r}"
            )
        if self.winner not in _WINNERS or (self.shown_left is not None and self.shown_left not in SIDES):
            raise InputError(
                f"sample {self.sample}: winner is a, b or tie and the left side a, b or None; "
                f"got {self.winner!r} and {self.shown_left!r}"
            )
        if self.ratings or self.pair_ratings:
            self._check_ratings()

    def _check_ratings(self) -> None:
        given = [(key, value) for key, both in self.ratings.items() for value in both if value is not None]
        for key, value in [*given, *self.pair_ratings.items()]:
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not whole or not LOWEST_RATING <= value <= HIGHEST_RATING:
                raise InputError(f"sample {self.sample}: a rating of {key} is a whole number 1 to 5; got {value!r}")

    @classmethod
    def seen(
        cls,
        *,
        sample: str,
        left: str,
        right: str,
        choice: Screen,
        rater: str,
        ratings: Mapping[str, tuple[int | None, int | None]] | None = None,
        left_clip: str = "",
        right_clip: str = "",
        side_known: bool = True,
        **details: object,
    ) -> Vote:
        """A vote as the screen had it: systems, clips and ratings by side (left first), put in canonical order.

        `side_known=False` when "left" only means "named first" and nobody recorded the screen. `details` are the
        other fields of `Vote`.
        """
        swapped = right < left
        first, second = (right, left) if swapped else (left, right)
        clips = (right_clip, left_clip) if swapped else (left_clip, right_clip)
        winners: dict[Screen, Winner] = {"left": "b" if swapped else "a", "right": "a" if swapped else "b"}
        by_system = {key: (both[1], both[0]) if swapped else both for key, both in (ratings or {}).items()}
        return cls(
            sample=sample,
            system_a=first,
            system_b=second,
            winner=winners.get(choice, "tie"),
            rater=rater,
            shown_left=("b" if swapped else "a") if side_known else None,
            ratings=by_system,
            clip_a=clips[0],
            clip_b=clips[1],
            **details,  # type: ignore[arg-type]
        )

    @property
    def systems(self) -> tuple[str, str]:
        return self.system_a, self.system_b

    @property
    def winning_system(self) -> str | None:
        """The preferred system; None for a tie."""
        return {"a": self.system_a, "b": self.system_b, "tie": None}[self.winner]

    @property
    def decided(self) -> bool:
        return self.winner != "tie"

    @property
    def tags(self) -> tuple[str, ...]:
        """The primary tag, "" where there is none, and the secondary ones."""
        return self.primary_tag, *self.secondary_tags

    @overload
    def points(self, side: Side, *, ties: Literal["half"]) -> float: ...
    @overload
    def points(self, side: Side, *, ties: Ties) -> float | None: ...
    def points(self, side: Side, *, ties: Ties) -> float | None:
        """What the vote is worth to this side; see `points`."""
        return points(self.winner, side, ties=ties)

    def left_points(self, *, ties: Ties) -> float | None:
        """What it is worth to the clip on the left; None too where nobody knows the side."""
        return points(self.winner, self.shown_left, ties=ties)

    @property
    def prompt_key(self) -> str:
        """What tells prompts apart: task family and prompt id, because families may each count from 1.

        >>> Vote(sample="s", system_a="x", system_b="y", winner="a", rater="r", family="T1", prompt="p01").prompt_key
        'T1/p01'
        """
        return prompt_key(self.family, self.prompt) if self.prompt else self.sample

    @property
    def counts_in_results(self) -> bool:
        """True for a raw vote on a real pair: not gold, not a hidden repeat, not an adjudicator's label."""
        return not (self.adjudicated or self.is_gold or self.is_repeat)


@overload
def points(winner: Winner, side: Side, *, ties: Literal["half"]) -> float: ...
@overload
def points(winner: Winner, side: Side | None, *, ties: Ties) -> float | None: ...
def points(winner: Winner, side: Side | None, *, ties: Ties) -> float | None:
    """What a decision is worth to one side: 1 when it won, 0 when it lost; None where the vote does not count.

    >>> [points(winner, "a", ties="half") for winner in ("a", "b", "tie")], points("tie", "a", ties="drop")
    ([1.0, 0.0, 0.5], None)
    """
    if side is None:
        return None
    return _TIE_POINTS[ties] if winner == "tie" else float(winner == side)


def prompt_key(family: str, prompt: str) -> str:
    """A prompt's name over all task families: "T1/p01", or the prompt alone where the study has no families."""
    return f"{family}/{prompt}" if family else prompt
