"""What comes of votes: the ranking of every question as plain objects, and the tables made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from rushes.core import Measurement
from rushes.core.answer import Answer, told, words_of
from rushes.core.errors import InputError
from rushes.core.table import COUNT, INTERVAL, NUMBER, TEXT, Cell, Table, number


@dataclass(frozen=True, slots=True, kw_only=True)
class Duel:
    """One system against another: votes won, ties as half, of all votes between them."""

    share: Measurement
    exact: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteRanking:
    """The ranking of one question; of one group of systems, where votes link no more."""

    question: str
    systems: tuple[str, ...]
    """Strongest first."""
    elo: Mapping[str, Measurement]
    rank: Mapping[str, Measurement]
    """With the ranks that the votes leave open as its interval."""
    share: Mapping[str, Measurement]
    """Of all its votes, a tie as half."""
    exact: Mapping[str, Fraction]
    """The same as exact fractions."""
    duels: Mapping[tuple[str, str], Duel]
    """By system and opponent."""
    votes: int
    ties: int
    prompts: int | None
    raters: int | None
    """None where votes do not name them."""
    notes: tuple[str, ...]
    """What to know before quoting the numbers."""

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        return (*self.elo.values(), *self.rank.values(), *self.share.values(), *(d.share for d in self.duels.values()))

    def table(self, kind: str = "ranking") -> Table:
        """`ranking`, or `head_to_head`."""
        return duel_table(self) if kind == "head_to_head" else ranking_table(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedVotes(Answer):
    """Every question's ranking."""

    __repr__ = told

    source: str
    rankings: tuple[VoteRanking, ...]
    remarks: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """Question by question, who is first and what that rests on."""
        said: str = words_of(self, "rushes.compare.ranking.formats:in_words")
        return said

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before quoting the numbers."""
        return tuple(dict.fromkeys([*(note for one in self.rankings for note in one.notes), *self.remarks]))

    def _items(self) -> tuple[VoteRanking, ...]:
        return self.rankings

    def _rows(self) -> list[dict[str, object]]:
        """A row per question and system, strongest first."""
        return [
            dict[str, object](question=one.question, system=system, elo=one.elo[system].stored_value)
            | {"rank": one.rank[system].stored_value, "share": one.share[system].stored_value}
            | {"signature": one.elo[system].signature}
            for one in self.rankings
            for system in one.systems
        ]

    def _tables(self) -> Sequence[Table]:
        return [one.table() for one in self.rankings]

    @property
    def questions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.question for one in self.rankings))

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        return tuple(m for one in self.rankings for m in one.measurements)

    def of(self, question: str = "") -> VoteRanking:
        """The ranking of one question; the only one where none is named. Of several groups, the largest."""
        if not question and len(self.questions) == 1:
            question = self.questions[0]
        found = [one for one in self.rankings if one.question == question]
        if not found:
            raise InputError(f"{self.source}: no question {question!r}; it has {', '.join(self.questions)}")
        return max(found, key=lambda one: len(one.systems))

    def table(self, kind: str = "ranking", *, question: str = "") -> Table:
        """One table: of one question, or with a column for the question where there are several."""
        one = bool(question) or len(self.rankings) == 1 or kind == "head_to_head"
        return self.of(question).table(kind) if one else all_rankings(self)


def ranking_table(one: VoteRanking) -> Table:
    """One row per system, strongest first."""
    return _table(f"Ranking: {one.question}", [one], named=False)


def all_rankings(found: RankedVotes) -> Table:
    """The rankings of all questions below each other."""
    return _table("Rankings", found.rankings, named=True)


def _table(title: str, rankings: Sequence[VoteRanking], *, named: bool) -> Table:
    level = _level(rankings[0].elo.values())
    return Table(
        title=title,
        columns=(
            *TEXT(*["question"] * named),
            *(*TEXT("system"), *NUMBER("Elo ↑"), *INTERVAL(level, "ranks"), *NUMBER("votes won ↑")),
            *(*INTERVAL(level), *COUNT("votes")),
        ),
        rows=[(*[Cell(one.question)] * named, *_row(one, system)) for one in rankings for system in one.systems],
        caption="Strength by pairwise votes on the Elo scale, 1000 is the mean; the ranks that the votes leave open, "
        "all pairs together; votes won, ties as half.",
        notes=tuple(dict.fromkeys(note for one in rankings for note in one.notes)),
    )


def _row(one: VoteRanking, system: str) -> tuple[Cell, ...]:
    elo, share = one.elo[system], one.share[system]
    ends = _ends(elo, 0)
    return (
        *(Cell(system), number(elo, digits=0), Cell(ends), Cell(ranks_text(one.rank[system]))),
        *(number(share, digits=3), Cell(_ends(share, 3)), Cell(str(share.count))),
    )


def ranks_text(rank: Measurement) -> str:
    """ "1 to 2", or "4" where no other rank is left."""
    if rank.interval is None:
        return "–"
    best, worst = int(rank.interval.low), int(rank.interval.high)
    return str(best) if best == worst else f"{best} to {worst}"


def _ends(m: Measurement, digits: int) -> str:
    return "–" if m.interval is None else m.interval.text(digits=digits)


def _level(numbers: Iterable[Measurement]) -> str:
    return next((f"{100 * m.interval.level:g} %" for m in numbers if m.interval is not None), "interval")


def duel_table(one: VoteRanking) -> Table:
    """One row per system, one column per opponent: the share of their votes that the row's system won."""
    rows = []
    for system in one.systems:
        duels = (one.duels.get((system, against)) for against in one.systems)
        cells = (Cell("") if duel is None else _duel(duel.share) for duel in duels)
        rows.append((Cell(system), *cells))
    return Table(
        title=f"Head to head, row against column: {one.question}",
        columns=(*TEXT("system"), *NUMBER(*one.systems)),
        rows=rows,
        caption="Share of their votes that the system of the row won against that of the column, ties as half.",
    )


def _duel(share: Measurement) -> Cell:
    text = number(share, digits=2).text
    return Cell(text if share.interval is None else f"{text} ({_ends(share, 2)})", share)
