"""What an administrator decides: disputed samples, and which raters the declared rule leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from rushes.preference.rubric import rubric
from rushes.preference.study.allocation import recount
from rushes.preference.study.blinding import key_of, sides
from rushes.preference.study.database.tables import adjudication, assignment, clip, exclusion, pair, rater
from rushes.preference.study.errors import StudyError
from rushes.preference.study.queries import SAMPLE_KINDS, acting, exclusion_rule, log, rater_row, study_row
from rushes.preference.study.records import Adjudication, Disagreement
from rushes.preference.study.results import disagreements, rater_table, standing_votes

LONGEST_NOTE = 2000


def queue(connection: Connection, study_name: str) -> tuple[Disagreement, ...]:
    """Disputed samples without a majority or a decision."""
    found = study_row(connection, study_name)
    samples = [row for row in standing_votes(connection, found.id) if row.purpose == "sample"]
    return tuple(d for d in disagreements(connection, found, samples) if d.state in ("adjudicate", "third"))


def adjudicate(
    connection: Connection,
    study_name: str,
    sample: str,
    *,
    winner: str,
    tags: Sequence[str],
    note: str,
    by: str,
    now: int,
) -> Adjudication:
    found = study_row(connection, study_name)
    one, other = clip.alias(), clip.alias()
    query = (
        select(pair.c.id, pair.c.family, one.c.system.label("system_a"), other.c.system.label("system_b"))
        .join(one, one.c.id == pair.c.clip_a_id)
        .join(other, other.c.id == pair.c.clip_b_id)
        .where(pair.c.study_id == found.id, pair.c.sample == sample, pair.c.kind.in_(SAMPLE_KINDS))
    )
    place = connection.execute(query).first()
    if place is None:
        raise StudyError(f"study {study_name} has no sample {sample!r}; `rushes study adjudicate` lists what waits")
    names = {place.system_a: "a", place.system_b: "b", "Tie": "tie"}
    if winner not in names:
        raise StudyError(f"sample {sample}: the winner is {', '.join(names)}; got {winner!r}")
    _check_disputed(connection, found.id, place.id, sample)
    offered = rubric(found.rubric).tags_for(place.family)
    strangers = [tag for tag in tags if tag not in offered]
    if strangers:
        raise StudyError(f"sample {sample}: {strangers[0]!r} is not one of the rubric's tags for this task")
    values = {"pair_id": place.id, "winner": names[winner], "tags": list(tags), "note": note[:LONGEST_NOTE]}
    connection.execute(adjudication.insert().values(**values, actor=by, at_ms=now))
    log(connection, study_id=found.id, actor=by, action="adjudicated", now=now, sample=sample, winner=winner)
    return Adjudication(sample=sample, winner=winner, tags=tuple(tags), note=note[:LONGEST_NOTE], by=by)


def adjudicate_blind(
    connection: Connection, study_name: str, key: str, *, choice: str, tags: Sequence[str], note: str, now: int
) -> Adjudication:
    """Decide by letter; see `rushes.preference.study.blinding`."""
    found = study_row(connection, study_name)
    samples = [row for row in standing_votes(connection, found.id) if row.purpose == "sample"]
    for item in disagreements(connection, found, samples):
        if key_of(item) == key:
            winner = sides(item).system(choice)
            details: dict[str, Any] = {"tags": tags, "note": note, "by": acting(), "now": now}
            return adjudicate(connection, study_name, item.sample, winner=winner, **details)
    raise StudyError(f"study {study_name}: no disputed sample is called {key[:40]!r}; reload the page")


def _check_disputed(connection: Connection, study_id: int, pair_id: int, sample: str) -> None:
    rows = [row for row in standing_votes(connection, study_id) if row.pair_id == pair_id and row.purpose == "sample"]
    if len({row.winner for row in rows}) < 2:
        raise StudyError(f"sample {sample}: its raters do not disagree; there is nothing to adjudicate")


def apply_exclusions(connection: Connection, study_name: str, *, now: int) -> tuple[str, ...]:
    """Exclude every rater who meets the rule and is not excluded yet; their samples look for other raters."""
    found = study_row(connection, study_name, lock=True)
    rule = exclusion_rule(found).label
    if rule == "none":
        raise StudyError(f"study {study_name} declared no exclusion rule; one can only be declared before the votes")
    met = [line for line in rater_table(connection, found) if line.reason and not line.excluded]
    for line in met:
        _set_excluded(connection, found, line.rater, excluded=True, rule=rule, why=line.reason, now=now)
    return tuple(line.rater for line in met)


def restore(connection: Connection, study_name: str, code: str, *, why: str, now: int) -> None:
    found = study_row(connection, study_name, lock=True)
    if not rater_row(connection, found.id, code).excluded:
        raise StudyError(f"rater {code} is not excluded; there is nothing to take back")
    rule = exclusion_rule(found).label
    _set_excluded(connection, found, code, excluded=False, rule=rule, why=why, now=now)


def _set_excluded(
    connection: Connection, found: Row[Any], code: str, *, excluded: bool, rule: str, why: str, now: int
) -> None:
    person = rater_row(connection, found.id, code)
    connection.execute(rater.update().where(rater.c.id == person.id).values(excluded=excluded))
    connection.execute(exclusion.insert().values(rater_id=person.id, excluded=excluded, rule=rule, why=why, at_ms=now))
    mine = select(pair.c.id, pair.c.kind).join(assignment).where(assignment.c.rater_id == person.id).distinct()
    for pair_id, kind in connection.execute(mine).all():
        recount(connection, pair_id, minimum=found.min_raters, kind=kind)
    action = "excluded" if excluded else "restored"
    log(connection, study_id=found.id, actor="admin", action=action, now=now, rater=code, rule=rule, why=why)
