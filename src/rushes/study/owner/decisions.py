"""What an administrator decides: disputed samples, and which raters the declared rule leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from rushes.instruments.preference.rubric import Rubric, rubric
from rushes.instruments.preference.votes import Winner
from rushes.study.database.tables import adjudication, assignment, exclusion, pair
from rushes.study.errors import StudyError
from rushes.study.methods.answers import tags_missing
from rushes.study.owner.blinding import key_of, sides
from rushes.study.queries import (
    SAMPLE_KINDS,
    SYSTEMS,
    acting,
    exclusion_rule,
    log,
    rater_row,
    set_rater,
    study_row,
    with_clips,
)
from rushes.study.raters.allocation import recount, withdraw_places
from rushes.study.records import VoteForm
from rushes.study.results import disagreements, rater_table, sample_votes
from rushes.study.status import Adjudication, Disagreement

LONGEST_NOTE = 2000


def queue(connection: Connection, study: str) -> tuple[Disagreement, ...]:
    """Samples that wait for a decision or for one more rater, the most divided first (`division`)."""
    found = study_row(connection, study)
    return tuple(d for d in disagreements(connection, found) if d.state in ("adjudicate", "third"))


def adjudicate(
    connection: Connection,
    now: int,
    study: str,
    sample: str,
    *,
    winner: str,
    tags: Sequence[str] = (),
    note: str = "",
    by: str = "",
) -> Adjudication:
    """Decide a disputed sample for a system, by its name, or for "Tie", using reason tags in any case.

    A decision ends the sample. Nobody is given it any more, no third rater is waited for, and whoever has it without a
    vote gets another pair instead. Raw votes stay as they are: a form that was on a rater's screen can still be sent,
    a vote can still be corrected, and a ratings file can still add votes. Those count as raw votes; where they
    contradict the decision, `Disagreement.remark` says so. A later decision is kept beside the earlier one and
    replaces it.

    Raises      `StudyError` for a sample that nobody disputes or decided, another winner, and tags that the rubric
                does not take from a rater either: none, more than its number, one twice, one of another task
    """
    found, by = study_row(connection, study, lock=True), by or acting()
    wanted = pair.c.study_id == found.id, pair.c.sample == sample, pair.c.kind.in_(SAMPLE_KINDS)
    query = with_clips(select(pair.c.id, pair.c.kind, pair.c.family, *SYSTEMS).where(*wanted))
    place = connection.execute(query).first()
    if place is None:
        raise StudyError(f"study {study} has no sample {sample!r}; `rushes study adjudicate` lists the open ones")
    names: dict[str, Winner] = {place.system_a: "a", place.system_b: "b", "Tie": "tie"}
    if winner not in names and winner.casefold() == "tie":
        winner = "Tie"
    if winner not in names:
        raise StudyError(f"sample {sample}: the winner is {', '.join(names)}; got {winner!r}")
    _check_disputed(connection, found.id, place.id, sample)
    spelt = _reasons(tags, sample, rubric(found.rubric, found.families), family=place.family, tie=winner == "Tie")
    withdraw_places(connection, place.id)
    values = {"pair_id": place.id, "winner": names[winner], "tags": list(spelt), "note": note[:LONGEST_NOTE]}
    connection.execute(adjudication.insert().values(**values, actor=by, at_ms=now))
    recount(connection, place.id, minimum=found.min_raters, kind=place.kind)
    log(connection, study_id=found.id, actor=by, action="adjudicated", now=now, sample=sample, winner=winner)
    return Adjudication(sample=sample, winner=winner, tags=spelt, note=note[:LONGEST_NOTE], by=by)


def _reasons(tags: Sequence[str], sample: str, book: Rubric, *, family: str, tie: bool) -> tuple[str, ...]:
    """The tags in the rubric's spelling; `StudyError` for those that a rater's form could not have either."""
    spelt, offered = tuple(book.tag(tag) or tag for tag in tags), book.tags_for(family)
    if not spelt and not (offered and book.needs_tag(tie=tie)):
        return ()
    if not spelt:
        raise StudyError(
            f"sample {sample}: the rubric says “adjudicate using reason tags”, so a decision names at least one, "
            f"such as “{offered[0]}”"
        )
    form = VoteForm(winner="Tie" if tie else "A", primary_tag="".join(spelt[:1]), secondary_tags=spelt[1:])
    if missing := tags_missing(form, family, book):
        raise StudyError(f"sample {sample}: {missing[0].message}")
    return spelt


def adjudicate_blind(
    connection: Connection, now: int, study: str, key: str, *, choice: str, tags: Sequence[str] = (), note: str = ""
) -> Adjudication:
    """Decide for clip A, clip B or Tie as `blinding.blind_data` showed them; `key` is what it calls the sample."""
    found = study_row(connection, study)
    for item in disagreements(connection, found):
        if key_of(item) == key:
            winner = sides(item).system(choice)
            details: dict[str, Any] = {"tags": tags, "note": note, "by": acting()}
            return adjudicate(connection, now, study, item.sample, winner=winner, **details)
    raise StudyError(f"study {study}: no disputed sample is called {key[:40]!r}; reload the page")


def _check_disputed(connection: Connection, study_id: int, pair_id: int, sample: str) -> None:
    """What was decided before can be decided again, also if its raters agree by now."""
    if connection.execute(select(adjudication.c.id).where(adjudication.c.pair_id == pair_id)).first() is not None:
        return
    if len({row.winner for row in sample_votes(connection, study_id) if row.pair_id == pair_id}) < 2:
        raise StudyError(f"sample {sample}: its raters do not disagree; there is nothing to adjudicate")


def apply_exclusions(connection: Connection, now: int, study: str) -> tuple[str, ...]:
    """Exclude the raters who meet the declared rule; returns their codes. Results show with and without."""
    found = study_row(connection, study, lock=True)
    if exclusion_rule(found).label == "none":
        raise StudyError(f"study {study} declared no exclusion rule; one can only be declared before the votes")
    met = [line for line in rater_table(connection, found) if line.reason and not line.excluded]
    for line in met:
        _set_excluded(connection, found, line.rater, excluded=True, why=line.reason, now=now)
    return tuple(line.rater for line in met)


def restore(connection: Connection, now: int, study: str, rater: str, *, why: str) -> None:
    """Take an exclusion back; the log keeps both."""
    found = study_row(connection, study, lock=True)
    if not rater_row(connection, found.id, rater).excluded:
        raise StudyError(f"rater {rater} is not excluded; there is nothing to take back")
    _set_excluded(connection, found, rater, excluded=False, why=why, now=now)


def _set_excluded(connection: Connection, found: Row[Any], code: str, *, excluded: bool, why: str, now: int) -> None:
    person, rule = rater_row(connection, found.id, code), exclusion_rule(found).label
    set_rater(connection, person.id, excluded=excluded)
    connection.execute(exclusion.insert().values(rater_id=person.id, excluded=excluded, rule=rule, why=why, at_ms=now))
    mine = select(pair.c.id, pair.c.kind).join(assignment).where(assignment.c.rater_id == person.id).distinct()
    for pair_id, kind in connection.execute(mine).all():
        recount(connection, pair_id, minimum=found.min_raters, kind=kind)
    action = "excluded" if excluded else "restored"
    log(connection, study_id=found.id, actor="admin", action=action, now=now, rater=code, rule=rule, why=why)
