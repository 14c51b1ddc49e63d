"""The board's opening: which system is better in what, which differences are significant, over how many prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from rushes.compare.board.model import PEOPLE, BoardData, Contrast, ReadingKey
from rushes.compare.board.page.columns import BoardColumn
from rushes.compare.board.page.people_words import (
    Standing,
    headline_question,
    letters_words,
    people_headline,
    people_lines,
    shortest,
    standing_numbers,
    standings,
    too_few_words,
)
from rushes.compare.board.page.say_words import Line, brief_say, say_headline, say_lines
from rushes.compare.board.page.signal_words import signal_lines
from rushes.compare.comparison import Outcome
from rushes.core import Measurement
from rushes.core.grouping import grouped
from rushes.present.verdict.verdict import counted, listed
from rushes.stats.clustered import TWO_WAY

_NAMED = 3
"""Systems and metrics that a sentence names, at most."""
_TIERS = 9
"""Systems up to which every pair without a significant difference is worth a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The first words of a board."""

    headline: str
    """The answer: the winner by people, or what is missing to name one; at most 25 words where the names allow it."""
    people: tuple[str, ...] = ()
    """What people said, a line per question."""
    question: ReadingKey = ""
    """The question that the headline is about; "" where nobody answered one."""
    metrics: tuple[str, ...] = ()
    """What metrics say: those with a credential first."""
    sure: str = ""
    """Over how many prompts, and how often such a board is wrong; "" where nothing was compared."""
    numbers: Mapping[str, Sequence[Measurement]] = field(default_factory=dict)
    """By sentence: the numbers in it, each with its definition."""
    standings: tuple[Standing, ...] = ()
    """What people said, by question."""
    brief: tuple[str, ...] = ()
    """For a terminal: what letters mean, a line by the best credential, one of review signals; what else is known
    where nobody rated the clips."""

    @property
    def lines(self) -> tuple[str, ...]:
        """What it rests on."""
        return self.people + self.metrics

    @property
    def found(self) -> str:
        """The answer and what it rests on."""
        return " ".join((self.headline, *self.lines))

    def terminal(self, width: int) -> list[str]:
        """About ten lines: the answer, a line per question, the best metric, review signals. The page has the rest."""
        return [self.headline, *(one.line_within(width) for one in self.standings), *self.brief]

    def __str__(self) -> str:
        return " ".join(filter(None, (self.found, self.sure)))


def opening_of(data: BoardData, columns: Sequence[BoardColumn], *, level: float, more: Sequence[Line] = ()) -> Opening:
    """What the board found, for a reader who knows no statistics; `more` are lines after those of people."""
    if len(data.systems) < 2:
        return Opening(headline="Only one system, so there is nothing to compare. Its metrics are below.")
    metrics = [column for column in columns if column.reading.instrument != PEOPLE]
    signals = signal_lines(data)
    said = [*more, *say_lines(data, metrics), *(Line(text=text) for text in signals)]
    told = _told(data, metrics)
    sure = _how_sure(data, columns, level=level)
    if people := standings(data, columns, level=level):
        asked, about = people_lines(data, people), headline_question(people).column.reading.key
        headline = Line(
            text=people_headline(data, people), numbers=tuple(m for one in people for m in standing_numbers(data, one))
        )
        lines = [*said, *(Line(text=text) for text in (told if metrics else ()))]
        ranked = {one.label: one.column.verdict.ranked for one in people if one.column.verdict}
        brief = (letters_words(data, people, brief=True), *brief_say(data, metrics, ranked), *signals[:1])
        made = _opening(headline, asked, lines, question=about, sure=sure)
        return replace(made, standings=tuple(people), brief=brief)
    nobody = [] if data.asked or data.people else [Line(text=_NOBODY)]
    first = [_NO_ANSWER] if data.asked or data.people else say_headline(data, metrics)
    headline = Line(text=shortest(*first) if first else told[0])
    rest = told if first else told[1:]
    others = [line for line in said if line.text != headline.text]
    made = _opening(headline, [], [*others, *(Line(text=text) for text in rest), *nobody], sure=sure)
    metric = brief_say(data, metrics, None if nobody else {})
    return replace(made, brief=(*metric, *signals[:1], *rest, *(line.text for line in nobody)))


def _opening(
    headline: Line, people: Sequence[Line], metrics: Sequence[Line], *, sure: str, question: ReadingKey = ""
) -> Opening:
    return Opening(
        headline=headline.text,
        people=tuple(line.text for line in people),
        question=question,
        metrics=tuple(line.text for line in metrics),
        sure=sure,
        numbers={line.text: line.numbers for line in (headline, *people, *metrics) if line.numbers},
    )


_NO_ANSWER = "People were asked, but their answers cover fewer than two of these systems, or are missing."
_NOBODY = "Nobody rated these clips. Metrics are reasons to look; people decide preference."


def _told(data: BoardData, metrics: Sequence[BoardColumn]) -> list[str]:
    """What metrics without a credential say: those that nothing but quality moves, else which systems differ."""
    plain = [column for column in metrics if not (column.verdict and column.verdict.say)]
    ranked = [column for column in plain if column.verdict and column.verdict.ranks]
    if not ranked:
        return _differences(data, plain, alone=len(plain) == len(metrics))
    pairs = _pairs(ranked)
    if not any(better for better, _ in pairs.values()):
        return [_none_of(ranked)]
    if len(data.systems) == 2:
        return [_two(data, ranked)]
    return [_best(data, ranked), *_unclear(data, pairs)]


def _none_of(ranked: Sequence[BoardColumn]) -> str:
    few = [column.verdict.too_few for column in ranked if column.verdict]
    if all(few):
        shared = [c.wins + c.ties + c.losses for column in ranked for c in _contrasts(column)]
        return f"{too_few_words(max(shared, default=0), max(few))}."
    which = "the one metric" if len(ranked) == 1 else f"any of the {len(ranked)} metrics"
    return f"No significant difference on {which} that can rank systems."


def _differences(data: BoardData, columns: Sequence[BoardColumn], *, alone: bool) -> list[str]:
    """Where no metric ranks: which systems differ significantly from every other, and on what."""
    said = ["No metric here can rank systems: none has a credential, and other things than quality change them."]
    apart = grouped(
        (name, column.reading.label)
        for column in columns
        for name in data.names
        if (outcomes := [c.outcome for c in _contrasts(column) if name in (c.first, c.second)])
        and all(outcome.is_change for outcome in outcomes)
    )
    order = sorted(apart, key=lambda name: -len(apart[name]))
    parts = [f"{name} on {listed(apart[name], most=_NAMED)}" for name in order[:_NAMED]]
    shown = [f"Different from every other system, but not necessarily better or worse: {'; '.join(parts)}."]
    return (said if alone else []) + (shown if parts else [])


def _pairs(columns: Sequence[BoardColumn]) -> dict[tuple[str, str], tuple[list[str], int]]:
    """By pair: the metrics on which the two differ, and on how many they could be compared."""
    found: dict[tuple[str, str], tuple[list[str], int]] = {}
    for column in columns:
        for contrast in _contrasts(column):
            heads, compared = found.setdefault((contrast.first, contrast.second), ([], 0))
            heads += [column.reading.label] * bool(contrast.ranked)
            comparable = contrast.outcome is not Outcome.NOT_COMPARABLE
            found[contrast.first, contrast.second] = heads, compared + comparable
    return found


def _contrasts(column: BoardColumn) -> Sequence[Contrast]:
    return column.verdict.contrasts if column.verdict else ()


def _two(data: BoardData, ranked: Sequence[BoardColumn]) -> str:
    first, second = data.names
    said = grouped(
        (Outcome.CANNOT_TELL if contrast.outcome is Outcome.SAME else contrast.outcome.turned, column.reading.label)
        for column in ranked
        for contrast in _contrasts(column)
    )
    better, worse = said.get(Outcome.BETTER, []), said.get(Outcome.WORSE, [])
    if not better:
        first, second, better, worse = second, first, worse, better
    text = f"{first} is better than {second} on {listed(better)}"
    if worse:
        text += f", and worse on {listed(worse)}"
    if open_ := said.get(Outcome.CANNOT_TELL, []):
        text += f"; no significant difference on {listed(open_)}"
    brief = f"{first} is better than {second} on {counted(len(better), 'metric')}, worse on {len(worse) or 'none'}"
    return shortest(f"{text}.", f"{brief}, no significant difference on {len(open_) or 'none'}.")


def _best(data: BoardData, ranked: Sequence[BoardColumn]) -> str:
    won = grouped(
        (name, column.reading.label)
        for column in ranked
        for name, cell in zip(data.names, column.cells, strict=True)
        if cell.best
    )
    if not won:
        return "No system is best on any metric; some are significantly behind others."
    order = sorted(won, key=lambda name: -len(won[name]))
    first, *others = order
    head = f"{first} is better than every other system on {len(won[first])} of {len(ranked)} metrics"
    parts = [f"{name} on {listed(won[name], most=_NAMED)}" for name in others[: _NAMED - 1]]
    if (left := len(order) - _NAMED) > 0:
        parts.append(f"{left} more each on a metric of their own")
    full = "; ".join([f"{head} ({listed(won[first], most=_NAMED)})", *parts])
    brief = "; ".join([head, *(f"{name} on {len(won[name])}" for name in others[: _NAMED - 1])])
    return shortest(f"{full}.", f"{brief}.", f"{head}.")


def _unclear(data: BoardData, pairs: dict[tuple[str, str], tuple[list[str], int]]) -> list[str]:
    """Systems that differ on no metric. Groups only where every pair in them is such a pair."""
    alike = {pair for pair, (heads, compared) in pairs.items() if compared and not heads}
    if not alike:
        return ["Every two systems differ on at least one metric."] if len(data.systems) <= _TIERS else []
    groups = _groups(data.names, alike)
    if len(groups) <= 2:
        return [f"{listed(group)} do not differ significantly on any metric." for group in groups]
    return [f"{len(alike)} of {len(pairs)} pairs of systems do not differ significantly on any metric."]


def _groups(names: Sequence[str], alike: set[tuple[str, str]]) -> list[list[str]]:
    """Maximal sets of systems in which no two differ, grown in the board's order; a pair is in one at least."""
    groups: list[list[str]] = []
    for pair in combinations(names, 2):
        if not _alike(pair, alike) or any(set(pair) <= set(group) for group in groups):
            continue
        group = list(pair)
        for name in names:
            if name not in group and all(_alike((name, other), alike) for other in group):
                group.append(name)
        groups.append([name for name in names if name in group])
    return groups


def _alike(pair: tuple[str, str], alike: set[tuple[str, str]]) -> bool:
    return pair in alike or (pair[1], pair[0]) in alike


def _how_sure(data: BoardData, columns: Sequence[BoardColumn], *, level: float) -> str:
    contrasts = [contrast for column in columns for contrast in _contrasts(column)]
    counts = [c.difference.count for c in contrasts if c.difference.value is not None and c.wins + c.ties + c.losses]
    if not counts:
        return ""
    low, high = min(counts), max(counts)
    prompts = f"{low}" if low == high else f"{low} to {high}"
    plural = "" if high == 1 else "s"
    means = (data.whole.get((name, one.key)) for one in data.people if one.per_prompt for name in data.names)
    clustered = any(m is not None and m.interval is not None and m.interval.method == TWO_WAY for m in means)
    raters = " Letters are for these raters; intervals also cover other raters." if clustered else ""
    return (
        f"{prompts} shared prompt{plural}, {counted(_tests(contrasts), 'test')}. If all systems were equal, at most "
        f"{100 * (1 - level):g} of 100 such boards would show any difference.{raters}"
    )


def _tests(contrasts: Sequence[Contrast]) -> int:
    """Tests that were corrected, family by family, as the adjusted p has it; else how many comparisons are shown."""
    found = ((c.adjusted_p.definition.param("family"), c.adjusted_p.definition.param("tests")) for c in contrasts)
    return sum(int(tests) for _, tests in {(family, tests) for family, tests in found if tests}) or len(contrasts)
