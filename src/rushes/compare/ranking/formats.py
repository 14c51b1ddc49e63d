"""Rankings as tables, in the formats of papers, in a sentence, and as plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Literal, TypeAlias

from rushes.compare.ranking.result import RankedVotes, VoteRanking
from rushes.core import Measurement
from rushes.core.table import INTERVAL, Cell, Footnote, Table
from rushes.present.tables.latex import latex
from rushes.present.tables.markdown import markdown

Format: TypeAlias = Literal["text", "latex", "csv", "markdown"]


def in_words(found: RankedVotes) -> str:
    """Every question's sentence, in one text."""
    return " ".join(map(sentence, found.rankings))


def sentence(one: VoteRanking) -> str:
    """Who is first, and what that rests on.

    "lip: makeittalk is first; 450 votes on 5 prompts, raters unknown."
    """
    first = [system for system in one.systems if (ranks := one.rank[system].interval) is None or ranks.low == 1]
    if len(first) == 1:
        lead = f"{first[0]} is first"
    elif len(first) == len(one.systems):
        lead = f"the order is open: each of {', '.join(first)} may be first"
    else:
        lead = f"the votes do not decide which of {', '.join(first)} is first"
    prompts = "prompts unknown" if one.prompts is None else f"on {_many(one.prompts, 'prompt')}"
    raters = "raters unknown" if one.raters is None else f"by {_many(one.raters, 'rater')}"
    first_join, second_join = ", " if one.prompts is None else " ", " " if one.prompts and one.raters else ", "
    return f"{one.question}: {lead}; {_many(one.votes, 'vote')}{first_join}{prompts}{second_join}{raters}."


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def joined(table: Table) -> Table:
    """Intervals beside their values, as a paper has them: fewer columns."""
    keep = [k for k, column in enumerate(table.columns) if not (column.kind is INTERVAL and column.head != "ranks")]
    rows = []
    for row in table.rows:
        cells = list(row)
        for k in range(len(cells)):
            if k not in keep and cells[k].text != "–":
                cells[k - 1] = replace(cells[k - 1], beside=f"({cells[k].text})")
        rows.append(tuple(cells[k] for k in keep))
    return replace(table, columns=[table.columns[k] for k in keep], rows=rows)


def signed(table: Table, numbers: Mapping[str, Iterable[Measurement]]) -> Table:
    """The table with the signatures of its numbers below it, each once, and their marks at the heads of columns."""
    by_head = {head: dict.fromkeys(m.signature for m in some) for head, some in numbers.items()}
    marks = {one: k for k, one in enumerate(dict.fromkeys(one for some in by_head.values() for one in some), 1)}
    columns = [
        replace(column, mark=", ".join(str(marks[one]) for one in by_head.get(column.head, ())))
        for column in table.columns
    ]
    notes = [Footnote(mark=mark, signature=one) for one, mark in marks.items()]
    return replace(table, columns=columns, footnotes=notes)


def written(found: RankedVotes, form: Format) -> str:
    """The tables in one format: the ranking of every question, then who beat whom."""
    if form == "csv":
        return csv(found)
    writers: dict[str, Callable[[Table], str]] = {
        "latex": partial(latex, width="two"),
        "markdown": markdown,
        "text": _plain,
    }
    whole = found.table() if form == "text" else _grouped(joined(found.table()))
    heads = {
        "Elo ↑": [m for one in found.rankings for m in one.elo.values()],
        "ranks": [m for one in found.rankings for m in one.rank.values()],
        "votes won ↑": [m for one in found.rankings for m in one.share.values()],
    }
    duels = [
        signed(
            one.table("head_to_head"), {s: [d.share for (_, o), d in one.duels.items() if o == s] for s in one.systems}
        )
        for one in found.rankings
    ]
    return "\n".join(writers[form](table) for table in (signed(whole, heads), *duels))


def _grouped(table: Table) -> Table:
    """Each question once, at its first row."""
    if table.columns[0].head != "question":
        return table
    firsts = [row[0].text for row in table.rows]
    return replace(
        table,
        rows=[
            row if n == 0 or firsts[n] != firsts[n - 1] else (Cell(""), *row[1:]) for n, row in enumerate(table.rows)
        ],
    )


def _plain(table: Table) -> str:
    return "\n".join((table.title, str(table), "", *table.notes, *(note.signature for note in table.footnotes))) + "\n"


def csv(found: RankedVotes) -> str:
    """One row per question, system and number: everything, unrounded, with exact shares."""
    from rushes.core.table import csv_text

    rows = []
    for one in found.rankings:
        exact = {("win_share", s, ""): one.exact[s] for s in one.systems}
        exact |= {("head_to_head", s, o): duel.exact for (s, o), duel in one.duels.items()}
        for m in one.measurements:
            place, interval = m.place, m.interval
            fraction = exact.get((m.name, place["system"], place.get("against", "")))
            ends = (None, None) if interval is None else (interval.low, interval.high)
            words = "" if fraction is None else f"{fraction.numerator}/{fraction.denominator}"
            against = place.get("against", "")
            rows.append(
                [one.question, m.name, place["system"], against, m.stored_value, *ends, words, m.count, m.signature]
            )
    head = ("question", "number", "system", "against", "value", "low", "high", "exact", "votes", "signature")
    return csv_text(head, rows)


def as_data(found: RankedVotes) -> dict[str, object]:
    """Everything as plain data, with the definitions of all signatures."""
    definitions = dict.fromkeys(m.definition for m in found.measurements)
    return {
        "source": found.source,
        "rankings": [_as_dict(one) for one in found.rankings],
        "remarks": list(found.remarks),
        "definitions": [definition.as_dict() for definition in definitions],
    }


def _as_dict(one: VoteRanking) -> dict[str, object]:
    return {
        "question": one.question,
        "systems": list(one.systems),
        "votes": one.votes,
        "ties": one.ties,
        "prompts": one.prompts,
        "raters": one.raters,
        "notes": list(one.notes),
        "shares": {name: [value.numerator, value.denominator] for name, value in one.exact.items()},
        "head_to_head": [
            {"system": s, "against": o, "won": [duel.exact.numerator, duel.exact.denominator]}
            for (s, o), duel in one.duels.items()
        ],
        "numbers": [m.as_dict() for m in one.measurements],
    }
