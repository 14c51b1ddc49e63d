"""One rater's answer to one trial, whatever the method: the record that statistics, exports and boards share.

Pairs have a record of their own, `Vote`. A judgement names true systems, never the sides a rater saw; `shown` keeps the
order of the screen. It knows no study, no database and no clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from rushes.core.errors import InputError
from rushes.instruments.preference.votes import Fault, Vote, WatchedSpan, prompt_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One rater's answer to one trial."""

    sample: str
    systems: tuple[str, ...]
    """Of the clips that were judged, in the trial's own order; the reference of `dcr` is not among them."""
    rater: str
    family: str = ""
    prompt: str = ""
    ratings: Mapping[str, int] = field(default_factory=dict)
    """By question: the score of the one clip; empty for best–worst."""
    best: str = ""
    worst: str = ""
    """Systems; "" where the method does not ask."""
    shown: tuple[str, ...] = ()
    """Systems in the order of the screen, the reference of `dcr` included."""
    note: str = ""
    is_gold: bool = False
    is_repeat: bool = False
    clips: tuple[str, ...] = ()
    """Ids of the clips, as `systems`: the key that joins a judgement to the clips' metrics."""
    faults: tuple[Fault, ...] = ()
    watched: tuple[WatchedSpan, ...] = ()
    viewing: Mapping[str, object] = field(default_factory=dict)
    expected: str = ""
    """Of an anchor: "low" or "high"."""

    def __post_init__(self) -> None:
        if not self.sample or not self.rater or not self.systems:
            raise InputError(f"a judgement needs a sample, a rater and a system; got {self.sample!r}, {self.rater!r}")
        if self.best and (self.best == self.worst or not {self.best, self.worst} <= set(self.systems)):
            raise InputError(
                f"sample {self.sample}: best and worst are two of its systems; got {self.best!r} and {self.worst!r}"
            )

    @property
    def counts_in_results(self) -> bool:
        return not (self.is_gold or self.is_repeat)

    @property
    def system(self) -> str:
        """The one that was rated."""
        return self.systems[0]

    @property
    def prompt_key(self) -> str:
        return prompt_key(self.family, self.prompt) if self.prompt else self.sample.removesuffix(f".{self.system}")

    def implied_votes(self) -> Iterator[Vote]:
        """What a best–worst answer says of two clips: the best over every other, every other over the worst.

        >>> answer = Judgement(sample="p", systems=("x", "y", "z"), rater="r", best="z", worst="x")
        >>> sorted((vote.system_a, vote.system_b, vote.winning_system) for vote in answer.implied_votes())
        [('x', 'y', 'y'), ('x', 'z', 'z'), ('y', 'z', 'z')]
        """
        if not self.best:
            return
        middle = [name for name in self.systems if name not in (self.best, self.worst)]
        over = {*product([self.best], [*middle, self.worst]), *product(middle, [self.worst])}
        for winner, loser in sorted(over):
            yield Vote.seen(
                sample=f"{self.sample}.{winner}~{loser}",
                left=winner,
                right=loser,
                choice="left",
                rater=self.rater,
                side_known=False,
                family=self.family,
                prompt=self.prompt or self.sample,
                is_gold=self.is_gold,
                is_repeat=self.is_repeat,
            )
