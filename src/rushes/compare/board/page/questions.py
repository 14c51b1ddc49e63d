"""A board at a glance: what people ask of a kind of video, each system's answer, and how far people agree with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rushes.compare.agreement.credential import Credential
from rushes.compare.agreement.known import agreement_notes, known_agreement
from rushes.compare.board.model import BoardData
from rushes.compare.board.page.columns import BoardColumn
from rushes.compare.questions import QUESTIONS, Question, one_way_each
from rushes.present.verdict.verdict import counted

TITLES = {"talking-head": "Talking heads at a glance"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredQuestion:
    """One row."""

    asked: str
    expect: str
    column: BoardColumn
    small: Sequence[str]
    """By system: the interval, or over how many prompts the value is a mean; "" without a value."""
    known: Sequence[AgreedOn]
    """How far people agree with the metric, by question that they answered; none where it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreedOn:
    """People on one question."""

    share: str
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """The section; without rows it is not shown."""

    title: str
    rows: Sequence[AnsweredQuestion]
    notes: Sequence[str]
    absent: Sequence[str]
    """Metrics that were not measured."""


def glance(data: BoardData, columns: Sequence[BoardColumn]) -> Glance | None:
    """The questions of the board's kind of video that its metrics answer; None where there are none."""
    asked = {one.metric: one for one in QUESTIONS.get(data.kind, ())}
    found = [(column, known_of(data, column)) for column in columns if column.reading.definition.name in asked]
    kept = one_way_each([(column.reading.definition.name, known) for column, known in found])
    if not kept:
        return None
    by_metric = {found[place][0].reading.definition.name: found[place] for place in kept}
    rows = [_row(data, one, *by_metric[name]) for name, one in asked.items() if name in by_metric]
    return Glance(
        title=TITLES[data.kind],
        rows=rows,
        notes=agreement_notes([known for _, known in by_metric.values()]),
        absent=[name for name in asked if name not in by_metric],
    )


def _row(data: BoardData, one: Question, column: BoardColumn, known: Sequence[Credential]) -> AnsweredQuestion:
    whole = [data.whole.get((name, column.reading.key)) for name in data.names]
    return AnsweredQuestion(
        asked=one.asked,
        expect=one.expect,
        column=column,
        small=[
            "" if m is None or m.value is None else cell.interval or counted(m.count, "prompt")
            for m, cell in zip(whole, column.cells, strict=True)
        ],
        known=[_agreed_on(one) for one in known],
    )


def _agreed_on(one: Credential) -> AgreedOn:
    value, low, high = (100 * share for share in (one.pairs_right.value, one.pairs_right.low, one.pairs_right.high))
    more = "prefer more " if one.better == "neither" else ""
    about = f"asked about {one.question.replace('_', ' ')}; {low:.0f} to {high:.0f} %"
    return AgreedOn(share=f"{more}in {value:.0f} % of pairs", about=about)


def known_of(data: BoardData, column: BoardColumn) -> tuple[Credential, ...]:
    """What is known of a column's agreement with people."""
    return known_agreement(column.reading.definition, data.credentials, kind=data.kind, at=column.reading.at)
