"""A study's answers as records, for methods other than pairs; and the faults that raters marked, for all."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, select

from rushes.instruments.preference.methods.judgements import Judgement
from rushes.instruments.preference.methods.method import CLIPS, Method, method
from rushes.instruments.preference.votes import Fault, WatchedSpan
from rushes.study.database.tables import assignment, pair, rater, vote
from rushes.study.queries import TRIAL, filled, study_row, with_all_clips
from rushes.study.raters.screen import order_of

_ANSWERS = with_all_clips(
    select(
        *(vote, rater.c.code.label("rater"), rater.c.excluded),
        *(pair.c.sample, pair.c.family, pair.c.prompt, pair.c.expected),
        *(table.c.system.label(f"{clip}_system") for clip, table in zip(CLIPS, TRIAL, strict=True)),
        *(table.c.name.label(f"{clip}_name") for clip, table in zip(CLIPS, TRIAL, strict=True)),
    )
    .join(assignment, assignment.c.vote_id == vote.c.id)
    .join(rater, rater.c.id == vote.c.rater_id)
    .join(pair, pair.c.id == vote.c.pair_id)
    .where(vote.c.purpose.in_(("sample", "gold", "repeat")))
    .order_by(pair.c.id, rater.c.code, vote.c.purpose, vote.c.id)
)


def judgements(connection: Connection, study: str, *, excluded: bool = True) -> list[Judgement]:
    """The standing answers of a study that shows single clips or sets; none of a study of pairs (`votes` has them).

    Their order does not depend on when they came. `excluded=False` leaves out excluded raters.
    """
    found = study_row(connection, study)
    asked = method(found.method)
    if asked.is_pairs:
        return []
    rows = connection.execute(_ANSWERS.where(vote.c.study_id == found.id))
    return [_judgement(row, asked) for row in rows if excluded or not row.excluded]


def _judgement(row: Row[Any], asked: Method) -> Judgement:
    name = {clip: getattr(row, f"{clip}_system") for clip in CLIPS if getattr(row, f"{clip}_system")}
    judged = "a" if asked.rates else "".join(name)
    answer = row.answer or {}
    return filled(
        Judgement,
        row,
        systems=tuple(name[clip] for clip in judged),
        ratings={key: both[0] for key, both in row.ratings.items() if both[0] is not None},
        best=name.get(answer.get("best", ""), ""),
        worst=name.get(answer.get("worst", ""), ""),
        shown=tuple(name[clip] for clip in order_of(row)),
        is_gold=row.purpose == "gold",
        is_repeat=row.purpose == "repeat",
        clips=tuple(f"{name[clip]}/{getattr(row, f'{clip}_name')}" for clip in judged),
        faults=marked(row, name),
        watched=tuple(WatchedSpan(*span) for span in row.watched),
        viewing=row.viewing or {},
        expected=row.expected or "",
    )


def marked(row: Row[Any], systems: dict[str, str]) -> tuple[Fault, ...]:
    """The faults of an answer, with the systems they are of."""
    return tuple(Fault(systems[clip], ms, tag) for clip, ms, tag in (row.answer or {}).get("faults", ()))


def scores_right(asked: Method, expected: str, row: Row[Any]) -> bool:
    """Whether the answer to an anchor, or to a gold pair, is the expected one."""
    if asked.is_pairs:
        return bool(row.winner == expected)
    if asked.rates:
        return asked.right(expected, asked.main(row.ratings)[0])
    answer = row.answer or {}
    return f"{answer.get('best')}>{answer.get('worst')}" == expected


def is_repeated(asked: Method, first: Row[Any] | None, again: Row[Any]) -> bool:
    """Whether a hidden repeat got the same answer: within one step of five on every scale; the same best clip."""
    if first is None:
        return False
    if asked.is_pairs:
        return bool(first.winner == again.winner)
    if asked.rates:
        return all(asked.repeats(both[0], again.ratings[key][0]) for key, both in first.ratings.items())
    return bool((first.answer or {}).get("best") == (again.answer or {}).get("best"))
