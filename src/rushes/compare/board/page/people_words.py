"""What people said, in words: who won on which question, who leads, and what is missing to name a winner."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rushes.compare.board.model import PEOPLE, BoardData, Contrast
from rushes.compare.board.page.columns import BoardColumn
from rushes.compare.board.page.say_words import Line
from rushes.core import Measurement
from rushes.core.grouping import grouped
from rushes.present.verdict.verdict import counted, listed
from rushes.stats.intervals import student_quantile
from rushes.stats.power import clips_to_tell
from rushes.stats.sign_flip import fewest_prompts

MOST_WORDS = 25
"""Of a headline."""
_POWER = 0.8
_MOST_PROMPTS = 1000
_NAMED = 8
"""Systems of which a line gives every value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One question that people answered."""

    column: BoardColumn
    order: tuple[tuple[str, str], ...]
    """Systems with their values in words, best first; the reference among them."""
    pool: tuple[str, ...]
    """Systems that can win, best first: without the reference, where two others are left."""
    winner: str
    """The one that is significantly ahead of every other that can win; "" where there is none."""
    rival: str = ""
    """Where nobody won: of those that the leader is not ahead of, the one that takes most prompts."""
    more: int | None = None
    """Prompts more for a significant lead; None where no number would do."""
    prompts: int = 0
    """That the systems share."""
    level: tuple[str, ...] = ()
    """Of those that can win, the ones whose value is that of the leader, the leader among them."""

    @property
    def label(self) -> str:
        return self.column.reading.label

    @property
    def too_few(self) -> int:
        """Prompts that it takes for any difference to be significant, where there are fewer; else 0."""
        return self.column.verdict.too_few if self.column.verdict else 0

    def value(self, system: str) -> str:
        return dict(self.order)[system]

    @property
    def missing(self) -> str:
        """What it takes to name a winner, from "its lead" on; "" where there is one."""
        if self.winner:
            return ""
        if self.too_few:
            return f"{too_few_words(self.prompts, self.too_few)}"
        beside = f" ({more_prompts(self.more)} needed)" if self.more else ""
        return f"its lead over {self.rival} isn't significant{beside}"

    @property
    def line(self) -> str:
        """ "temporal quality: amber 4.88 a, birch 4.10 ab, cedar 3.82 b"."""
        return self._best(len(self.order) if len(self.order) <= _NAMED + 1 else _NAMED)

    def line_within(self, width: int) -> str:
        """As many systems, best first, as a line of so many letters has room for; one at least."""
        every = (self._best(shown) for shown in range(len(self.order), 0, -1))
        return next((line for line in every if len(line) <= width), self._best(1))

    def _best(self, shown: int) -> str:
        letters = self.column.verdict.letters if self.column.verdict else {}
        parts = [f"{name} {value} {letters.get(name, '')}".rstrip() for name, value in self.order[:shown]]
        left = len(self.order) - shown
        return f"{self.label}: {', '.join([*parts, *([f'{left} more'] if left else [])])}"


def too_few_words(prompts: int, needed: int) -> str:
    """That nothing could have been significant.

    >>> too_few_words(5, 9)
    '5 prompts cannot show a significant difference; at least 9 are needed'
    """
    return f"{counted(prompts, 'prompt')} cannot show a significant difference; at least {needed} are needed"


def more_prompts(more: int | None) -> str:
    """A number that is an estimate, rounded as such.

    >>> more_prompts(1), more_prompts(7), more_prompts(134), more_prompts(5000)
    ('about 1 more prompt', 'about 7 more prompts', 'about 140 more prompts', 'more than 1,000 more prompts')
    """
    if more is None or more > _MOST_PROMPTS:
        return f"more than {_MOST_PROMPTS:,} more prompts"
    return f"about {counted(more if more < 20 else -(-more // 10) * 10, 'more prompt')}"


def standings(data: BoardData, columns: Sequence[BoardColumn], *, level: float) -> list[Standing]:
    """Every question on which two systems or more have an answer, in the board's order."""
    found = []
    for column in columns:
        if column.reading.instrument != PEOPLE or column.reading.definition.better == "neither":
            continue
        texts = {name: cell.text for name, cell in zip(data.names, column.cells, strict=True)}
        whole = {name: data.whole.get((name, column.reading.key)) for name in data.names}
        known = {name: float(m.value) for name, m in whole.items() if m is not None and m.value is not None}
        if len(known) < 2:
            continue
        sign = 1 if column.reading.definition.better == "lower" else -1
        order = sorted(known, key=lambda name: sign * known[name])
        others = [name for name in order if name != data.reference]
        pool = others if len(others) > 1 else order
        made = _standing(column, [(name, texts[name]) for name in order], pool, level)
        found.append(replace(made, level=tuple(name for name in pool if _same(known[name], known[pool[0]]))))
    return found


def _same(one: float, other: float) -> bool:
    """Equal but for the order in which a mean was summed."""
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def _standing(column: BoardColumn, order: Sequence[tuple[str, str]], pool: Sequence[str], level: float) -> Standing:
    ahead = set(column.verdict.ranked) if column.verdict else set()
    leader, *others = pool
    close = [name for name in others if (leader, name) not in ahead]
    needs = {name: _prompts_to_tell(column, leader, name, level) for name in close}
    contrasts = column.verdict.contrasts if column.verdict else ()
    rival = max(needs, key=lambda name: math.inf if needs[name] is None else float(needs[name] or 0), default="")
    return Standing(
        column=column,
        order=tuple(order),
        pool=tuple(pool),
        winner="" if close else leader,
        rival=rival,
        more=needs.get(rival),
        prompts=max((c.wins + c.ties + c.losses for c in contrasts), default=0),
    )


def _prompts_to_tell(column: BoardColumn, one: str, other: str, level: float) -> int | None:
    """Prompts beyond those there are with which 4 of 5 such boards would show the difference.

    If the mean difference and its spread are as found: Student's t at the error that one test has of its family, and
    no fewer than the sign-flip test can ever answer with. None where they are equal, or no prompts were compared.
    """
    pair = next(
        (c for c in (column.verdict.contrasts if column.verdict else ()) if {c.first, c.second} == {one, other}), None
    )
    if pair is None or not pair.difference.value or not pair.wins + pair.ties + pair.losses:
        return None
    tests, share = (pair.adjusted_p.definition.param(name) for name in ("tests", "share"))
    alpha, many = (1 - level) * float(share or 1), pair.difference.count
    least = fewest_prompts(int(tests or 1), alpha)
    if (spread := _spread(pair)) is not None:
        size = abs(float(pair.difference.value))
        needed = clips_to_tell(size, sd=spread, margin=0.0, alpha=alpha / int(tests or 1), power=_POWER, either=True)
        if needed is None:
            return _MOST_PROMPTS + 1
        least = max(least, needed)
    return max(least - many, 1)


def _spread(pair: Contrast) -> float | None:
    """Standard deviation of the differences, from their interval; None where there is none."""
    ends, many = pair.difference.interval, pair.difference.count
    if ends is None or many < 2 or ends.high <= ends.low:
        return None
    return (ends.high - ends.low) / 2 * math.sqrt(many) / student_quantile((1 + ends.level) / 2, many - 1)


def shortest(*candidates: str) -> str:
    """The first that is short enough for a headline; the last where none is."""
    return next((text for text in candidates if len(text.split()) <= MOST_WORDS), candidates[-1])


def headline_question(found: Sequence[Standing]) -> Standing:
    """The first that somebody won; else the one that takes the fewest prompts to have a winner."""
    won = [one for one in found if one.winner]
    return won[0] if won else min(found, key=lambda one: math.inf if one.more is None else one.more)


def people_headline(data: BoardData, found: Sequence[Standing]) -> str:
    """The winner by people, or what is missing to name one, in at most 25 words where the names allow it."""
    apart = bool(data.reference) and data.reference not in found[0].pool
    among = " among generated systems" if apart else ""
    return shortest(*(_winners(found, among) if any(one.winner for one in found) else _no_winner(found, among)))


def _winners(found: Sequence[Standing], among: str) -> list[str]:
    won = grouped((one.winner, one) for one in found if one.winner)
    open_ = [one.label for one in found if not one.winner]
    full, brief = (
        ", ".join(
            f"{name}{'' if place else ' first'} in {listed([form(one, name) for one in some], most=2)}"
            for place, (name, some) in enumerate(won.items())
        )
        for form in (lambda one, name: f"{one.label} ({one.value(name)})", lambda one, name: one.label)
    )
    rest = f"; no significant winner in {listed(open_, most=2)}" if open_ else ""
    names = listed(list(won), most=2)
    last = f"Raters ranked {names} first{among} on {len(found) - len(open_)} of {counted(len(found), 'question')}."
    if len(won) == 1 and not open_ and len(found) > 1:
        last = f"Raters ranked {names} first{among} on all {len(found)} questions."
    return [f"Raters ranked {full}{among}{rest}.", f"Raters ranked {brief}{among}{rest}.", last]


def _no_winner(found: Sequence[Standing], among: str) -> list[str]:
    nearest = headline_question(found)
    leader = nearest.pool[0]
    if len(nearest.level) > 1:
        names, last = listed(nearest.level), "equal" if len(nearest.level) == len(nearest.pool) else "equal first"
        head = f"Raters ranked {names} {last} in {nearest.label}"
        return [f"{head} ({nearest.value(leader)}){among}.", f"{head}{among}.", _NO_WINNER]
    head = f"Raters ranked {leader} first in {nearest.label}"
    rest = f"{', but' if nearest.too_few else ';'} {nearest.missing}."
    full = f"{head} ({nearest.value(leader)}){among}{rest}"
    return [full, f"{head}{among}{rest}", f"{head}{rest}", f"{head}, not significantly."]


_NO_WINNER = "Raters ranked no system significantly first."


def people_lines(data: BoardData, found: Sequence[Standing]) -> list[Line]:
    """A line per question with every value and its letters, and what the letters mean."""
    questions = [Line(text=one.line, numbers=standing_numbers(data, one)) for one in found]
    return [*questions, Line(text=letters_words(data, found))]


def letters_words(data: BoardData, found: Sequence[Standing], *, brief: bool = False) -> str:
    """What sharing a letter means, over how many prompts and raters; or that there are too few prompts for any."""
    by_prompt = [one for one in found if one.column.reading.per_prompt]
    prompts = max((m.count for one in by_prompt for m in standing_numbers(data, one)), default=0)
    cells = (data.values.get((name, one.column.reading.key), {}) for one in found for name, _ in one.order)
    most = max((m.count for by in cells for m in by.values() if m.value is not None), default=0)
    over = f" ({counted(prompts, 'prompt')}, {counted(most, 'rater')} a clip)" if most > 1 else ""
    few = [one for one in by_prompt if one.too_few]
    if few and len(few) == len(by_prompt):
        return f"{too_few_words(few[0].prompts, max(one.too_few for one in few))}{over}."
    said = "Same letter: no significant difference" if brief else _LETTERS
    return f"{said}{over}."


_LETTERS = "Systems that share a letter do not differ significantly"


def standing_numbers(data: BoardData, one: Standing) -> tuple[Measurement, ...]:
    """The means behind a question's words."""
    means = (data.whole.get((name, one.column.reading.key)) for name, _ in one.order)
    return tuple(m for m in means if m is not None)
