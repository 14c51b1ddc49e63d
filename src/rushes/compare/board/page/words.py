"""The board's opening: which system is better on what, which cannot be told apart, how sure, over how many prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from rushes.compare.board.model import BoardData, Contrast
from rushes.compare.board.page.columns import BoardColumn
from rushes.compare.comparison import Outcome
from rushes.core.grouping import grouped
from rushes.present.verdict.verdict import listed

PEOPLE = "preference"
"""The instrument whose readings are what people said."""
_NAMED = 3
"""Systems and readings that a sentence names, at most."""
_TIERS = 9
"""Systems up to which every pair that cannot be told apart is worth a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The first words of a board."""

    found: str
    """Which system is better on what, and which cannot be told apart."""
    sure: str
    """Over how many prompts, and how often such a board is wrong; "" where nothing was compared."""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.found, self.sure)))


def opening_of(data: BoardData, columns: Sequence[BoardColumn], *, level: float) -> Opening:
    """What the board found, for a reader who knows no statistics."""
    people = [column for column in columns if column.reading.instrument == PEOPLE]
    ranked = [c for c in columns if c.verdict and c.verdict.ranks and c.reading.instrument != PEOPLE]
    if len(data.systems) < 2:
        return Opening(found="One system alone: there is nothing to compare it with. Its readings are below.", sure="")
    told = _told(data, ranked) if ranked else _only_moved(data, columns)
    return Opening(found=" ".join([*_people(data, people), *told]), sure=_how_sure(columns, level=level))


def _told(data: BoardData, ranked: Sequence[BoardColumn]) -> list[str]:
    pairs = _pairs(ranked)
    if not any(better for better, _ in pairs.values()):
        which = "the one reading that says" if len(ranked) == 1 else f"any of the {len(ranked)} readings that say"
        return [f"No two systems can be told apart on {which} better or worse."]
    if len(data.systems) == 2:
        return [_two(data, ranked)]
    return [_best(data, ranked), *_unclear(data, pairs)]


def _only_moved(data: BoardData, columns: Sequence[BoardColumn]) -> list[str]:
    """Where no reading ranks: which systems surely differ from every other, and on what."""
    said = ["No reading here can say which system is better: something else moves each of them too."]
    apart = grouped(
        (name, column.reading.label)
        for column in columns
        for name in data.names
        if (outcomes := [c.outcome for c in _contrasts(column) if name in (c.first, c.second)])
        and all(outcome.is_change for outcome in outcomes)
    )
    order = sorted(apart, key=lambda name: -len(apart[name]))
    parts = [f"{name} on {listed(apart[name], most=_NAMED)}" for name in order[:_NAMED]]
    if parts:
        said.append(
            f"What surely differs from every other system: {'; '.join(parts)}. Look at the clips to judge that."
        )
    return said


def _pairs(columns: Sequence[BoardColumn]) -> dict[tuple[str, str], tuple[list[str], int]]:
    """By pair: the readings that tell the two apart, and on how many they could be compared."""
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
        text += f"; on {listed(open_)} the two cannot be told apart"
    return f"{text}."


def _best(data: BoardData, ranked: Sequence[BoardColumn]) -> str:
    won = grouped(
        (name, column.reading.label)
        for column in ranked
        for name, cell in zip(data.names, column.cells, strict=True)
        if cell.best
    )
    if not won:
        return "No system is surely best on any reading, but some are surely behind others."
    order = sorted(won, key=lambda name: -len(won[name]))
    parts = [
        f"{name} is surely better than every other system on {len(won[name])} of {len(ranked)} readings "
        f"({listed(won[name], most=_NAMED)})"
        for name in order[:1]
    ] + [f"{name} on {listed(won[name], most=_NAMED)}" for name in order[1:_NAMED]]
    left = len(order) - _NAMED
    if left > 0:
        parts.append(f"{left} more each on a reading of their own")
    return "; ".join(parts) + "."


def _unclear(data: BoardData, pairs: dict[tuple[str, str], tuple[list[str], int]]) -> list[str]:
    """Systems that no reading tells apart. Groups only where every pair in them is such a pair."""
    alike = {pair for pair, (heads, compared) in pairs.items() if compared and not heads}
    if not alike:
        return ["Every pair of systems is told apart on at least one reading."] if len(data.systems) <= _TIERS else []
    groups = _groups(data.names, alike)
    if len(groups) <= 2:
        return [f"{listed(group)} cannot be told apart on any reading." for group in groups]
    return [f"{len(alike)} of {len(pairs)} pairs of systems cannot be told apart on any reading."]


def _groups(names: Sequence[str], alike: set[tuple[str, str]]) -> list[list[str]]:
    """Maximal sets of systems in which no two are told apart, grown in the board's order; a pair is in one at least."""
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


def _how_sure(columns: Sequence[BoardColumn], *, level: float) -> str:
    contrasts = [contrast for column in columns for contrast in _contrasts(column)]
    counts = [c.difference.count for c in contrasts if c.difference.value is not None and c.wins + c.ties + c.losses]
    if not counts:
        return ""
    low, high = min(counts), max(counts)
    prompts = f"{low}" if low == high else f"{low} to {high}"
    plural = "" if high == 1 else "s"
    percent = f"{100 * (1 - level):g}"
    return (
        f"Systems are compared prompt by prompt, over {prompts} shared prompt{plural}. How sure that is: a board of "
        f"systems that do not differ at all would name any difference in at most {percent} of 100 cases (Holm's "
        f"correction over {_tests(contrasts):,} comparisons)."
    )


def _tests(contrasts: Sequence[Contrast]) -> int:
    """Tests that were corrected together, as the adjusted p has it; else how many comparisons are shown."""
    counts = (contrast.adjusted_p.definition.param("tests") for contrast in contrasts)
    return max((int(count) for count in counts if count), default=len(contrasts))


def _people(data: BoardData, columns: Sequence[BoardColumn]) -> list[str]:
    """What people said, before what metrics say: by the first of their readings that has two systems or more."""
    for column in columns:
        found = [(name, data.whole.get((name, column.reading.key))) for name in data.names]
        known = [(name, float(m.value)) for name, m in found if m is not None and m.value is not None]
        if len(known) < 2 or column.reading.definition.better == "neither":
            continue
        best = [name for name, cell in zip(data.names, column.cells, strict=True) if cell.best]
        if best:
            return [f"People surely prefer {best[0]} ({column.reading.label})."]
        lower = column.reading.definition.better == "lower"
        order = sorted(known, key=lambda pair: pair[1], reverse=not lower)
        names = listed([name for name, _ in order], most=_NAMED)
        return [f"People's order by {column.reading.label} is {names}; its first place is not sure."]
    return ["People were asked, but about fewer than two of these systems."] if columns else []
