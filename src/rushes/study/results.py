"""What came of a study: votes as `Vote` records, progress, agreement, disagreements, the rater table, the log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from statistics import median
from typing import Any

from sqlalchemy import Connection, Row, func, select

from rushes.core import Measurement
from rushes.instruments.preference.definitions.conditions_of import ties_of
from rushes.instruments.preference.definitions.study import LEFT_SHARE, PERCENT_AGREEMENT
from rushes.instruments.preference.methods.method import method
from rushes.instruments.preference.numbers.conditions import ALL_FAMILIES, ALL_VOTES, Conditions, measured
from rushes.instruments.preference.rubric import FAMILIES, rubric
from rushes.instruments.preference.tallies import agreement_votes, winner_table
from rushes.instruments.preference.votes import Vote, WatchedSpan, points, prompt_key
from rushes.stats.agreement import percent_agreement
from rushes.study.database.tables import adjudication, assignment, audit, clip, exclusion, pair, problem, rater, vote
from rushes.study.errors import StudyError
from rushes.study.methods.judging import is_repeated, marked, scores_right
from rushes.study.owner.adjudication import suggest
from rushes.study.owner.attention import Attention
from rushes.study.owner.careless import attention_of, rule_met
from rushes.study.owner.division import contradiction, most_divided_first
from rushes.study.planning import summaries
from rushes.study.queries import (
    CLIP_A,
    CLIP_B,
    SAMPLE_KINDS,
    SYSTEMS,
    exclusion_rule,
    filled,
    stage_of,
    study_row,
    with_clips,
)
from rushes.study.records import ExclusionRule
from rushes.study.status import (
    AuditEntry,
    Disagreement,
    DisputeState,
    FamilyStatus,
    Opinion,
    RaterStatus,
    ReportedProblem,
    StudyClip,
    StudyStatus,
)

IMPORTED = "imported"
"""The key of a vote that came in a file."""
_EARLIER = vote.alias("earlier")
_FIRST_ID = select(func.min(_EARLIER.c.id)).where(_EARLIER.c.assignment_id == vote.c.assignment_id).scalar_subquery()
"""The first vote of an assignment: a correction keeps the turn of what it corrects."""

_NAMES = CLIP_A.c.name.label("name_a"), CLIP_B.c.name.label("name_b")
_VOTES = with_clips(
    select(
        *(vote, rater.c.code.label("rater"), rater.c.excluded, assignment.c.shown_ms, _FIRST_ID.label("first_id")),
        *(pair.c.sample, pair.c.family, pair.c.prompt, pair.c.expected),
        *(*SYSTEMS, *_NAMES),
    )
    .join(assignment, assignment.c.vote_id == vote.c.id)
    .join(rater, rater.c.id == vote.c.rater_id)
    .join(pair, pair.c.id == vote.c.pair_id)
    .order_by(pair.c.id, rater.c.code, vote.c.purpose, vote.c.id)
)


def standing_votes(connection: Connection, study_id: int) -> list[Row[Any]]:
    """The vote that stands for every assignment, in an order that does not depend on when it came."""
    return list(connection.execute(_VOTES.where(vote.c.study_id == study_id, vote.c.purpose != "training")))


def sample_votes(connection: Connection, study_id: int) -> list[Row[Any]]:
    """Those of raters on samples: gold pairs, repeats and votes that came too late left out."""
    return [row for row in standing_votes(connection, study_id) if row.purpose == "sample"]


def turns(rows: Iterable[Row[Any]]) -> dict[int, int]:
    """When each vote on a sample came among them, 1 for the first, by the vote's row id; gold and repeats have none.

    Nor have samples with imported votes: the rows of a file do not say who was asked first.
    """
    groups: dict[int, list[Row[Any]]] = defaultdict(list)
    for row in rows:
        if row.purpose == "sample":
            groups[row.pair_id].append(row)
    own = (group for group in groups.values() if not any(row.key == IMPORTED for row in group))
    came = (sorted(group, key=lambda row: row.first_id) for group in own)
    return {row.id: turn for group in came for turn, row in enumerate(group, 1)}


def as_votes(rows: Sequence[Row[Any]]) -> list[Vote]:
    """The rows as votes with their turns, in the rows' order."""
    turn = turns(rows)
    return [as_vote(row, turn=turn.get(row.id, 0)) for row in rows]


def as_vote(row: Row[Any], *, turn: int = 0) -> Vote:
    return filled(
        Vote,
        row,
        shown_left=row.left,
        secondary_tags=tuple(row.secondary_tags),
        ratings={name: (both[0], both[1]) for name, both in row.ratings.items()},
        is_gold=row.purpose == "gold",
        is_repeat=row.purpose == "repeat",
        **_clip_ids(row),
        watched=tuple(WatchedSpan(*span) for span in row.watched),
        turn=turn,
        viewing=row.viewing or {},
        bent=tuple(row.bent or ()),
        degree=(row.answer or {}).get("degree"),
        faults=marked(row, {"a": row.system_a, "b": row.system_b}),
    )


def _clip_ids(row: Row[Any]) -> dict[str, str]:
    """The ids of a pair's two clips; "" for a sample that came in a ratings file, without clips."""
    names = (("clip_a", row.system_a, row.name_a), ("clip_b", row.system_b, row.name_b))
    return {field: clip_id(system, name) if name else "" for field, system, name in names}


def clip_id(system: str, name: str) -> str:
    """A clip's id in votes: two systems may well have clips of one name.

    >>> clip_id("alpha", "T2_p09")
    'alpha/T2_p09'
    """
    return f"{system}/{name}"


def clips(connection: Connection, study: str) -> tuple[StudyClip, ...]:
    """The study's clips with system, file and digest; for joining votes to the clips' metrics."""
    found = study_row(connection, study)
    query = select(clip).where(clip.c.study_id == found.id, clip.c.path != "", clip.c.system != "").order_by(clip.c.id)
    return tuple(filled(StudyClip, row, id=clip_id(row.system, row.name)) for row in connection.execute(query))


def refusals(connection: Connection, study: str) -> dict[str, str]:
    """What systems said instead of making a clip, by the id that votes have for that clip."""
    found = study_row(connection, study)
    query = select(clip).where(clip.c.study_id == found.id, clip.c.refused != "").order_by(clip.c.id)
    return {clip_id(row.system, row.name): row.refused for row in connection.execute(query)}


def prompts(connection: Connection, study: str) -> dict[str, str]:
    """The prompts' words by task family and prompt id ("T1/p01")."""
    found = study_row(connection, study)
    query = select(pair.c.family, pair.c.prompt, pair.c.prompt_text).where(pair.c.study_id == found.id)
    texts: dict[str, str] = {}
    for row in connection.execute(query.order_by(pair.c.id)):
        key, text = prompt_key(row.family, row.prompt), row.prompt_text or row.prompt
        if texts.setdefault(key, text) != text:
            raise StudyError(f"study {study}: prompt {key!r} has two texts; give every prompt its own id")
    return texts


def votes(connection: Connection, study: str, *, excluded: bool = True, adjudicated: bool = False) -> list[Vote]:
    """The standing votes, in an order that does not depend on when they came; gold and repeats are marked.

    `excluded=False` leaves out excluded raters. `adjudicated=True` adds the adjudicators' labels, marked as such:
    they are a column of their own, never merged into the raw votes. A study of single clips or sets has no votes:
    `judgements` has its answers.
    """
    found = study_row(connection, study)
    if not method(found.method).is_pairs:
        return []
    rows = [row for row in standing_votes(connection, found.id) if row.purpose != "late"]
    raw = [one for row, one in zip(rows, as_votes(rows), strict=True) if excluded or not row.excluded]
    return raw + (_adjudicated_votes(connection, found.id) if adjudicated else [])


def _adjudicated_votes(connection: Connection, study_id: int) -> list[Vote]:
    query = with_clips(select(pair, *SYSTEMS, *_NAMES)).where(pair.c.study_id == study_id).order_by(pair.c.id)
    latest = _latest_adjudications(connection, study_id)
    return [
        filled(
            Vote,
            row,
            winner=label.winner,
            rater=f"adjudicator:{label.actor}",
            primary_tag=(label.tags or [""])[0],
            secondary_tags=tuple(label.tags[1:]),
            note=label.note,
            adjudicated=True,
            **_clip_ids(row),
        )
        for row in connection.execute(query)
        if (label := latest.get(row.id)) is not None
    ]


def _latest_adjudications(connection: Connection, study_id: int) -> dict[int, Row[Any]]:
    query = select(adjudication).join(pair, pair.c.id == adjudication.c.pair_id).where(pair.c.study_id == study_id)
    return {row.pair_id: row for row in connection.execute(query.order_by(adjudication.c.id))}


def status(connection: Connection, study: str) -> StudyStatus:
    """Progress and agreement per family, disagreements, the rater table, problems."""
    found = study_row(connection, study)
    kept = [row for row in sample_votes(connection, found.id) if not row.excluded]
    return StudyStatus(
        summary=summaries(connection, study)[0],
        agreement=_agreement(found, kept, ALL_FAMILIES),
        families=tuple(_families(connection, found, kept)),
        raters=rater_table(connection, found),
        disagreements=disagreements(connection, found),
        problems=tuple(_problems(connection, found.id)),
        exclusion_rule=exclusion_rule(found).label,
        min_raters=found.min_raters,
    )


def _agreement(found: Row[Any], kept: Sequence[Row[Any]], family: str) -> Measurement:
    """Percent agreement of one family, or of all, of the first raters of each sample who are not excluded."""
    rows = [row for row in kept if family in (row.family, ALL_FAMILIES)] if method(found.method).is_pairs else []
    conditions = Conditions(
        rubric_version=found.rubric,
        lenient=any(row.bent for row in kept),
        exclusion_rule=exclusion_rule(found).label,
        simulated=found.simulated,
        pairing=found.pairing,
    )
    given, rule = agreement_votes(as_votes(rows), found.min_raters)
    at, note = {"family": family or "unnamed"}, ALL_VOTES if rule == "all" else ""
    note = note if method(found.method).is_pairs else "raters of single clips choose no winner"
    return measured(PERCENT_AGREEMENT, percent_agreement(winner_table(given)), conditions, at, note=note, votes=rule)


def _families(connection: Connection, found: Row[Any], kept: Sequence[Row[Any]]) -> Iterable[FamilyStatus]:
    query = select(pair.c.id, pair.c.family, pair.c.state, pair.c.votes, pair.c.needed).where(
        pair.c.study_id == found.id, pair.c.kind.in_(SAMPLE_KINDS)
    )
    groups: dict[str, list[Any]] = defaultdict(list)
    for row in connection.execute(query):
        groups[row.family].append(row)
    decided = _latest_adjudications(connection, found.id)
    for family in sorted(groups):
        pairs = groups[family]
        states = ["decided" if row.id in decided else row.state for row in pairs]
        yield FamilyStatus(
            family=family,
            title=FAMILIES.get(family, ""),
            samples=sum(state != "retired" for state in states),
            finished=sum(state in ("agreed", "majority", "decided") for state in states),
            third=states.count("third"),
            to_adjudicate=states.count("adjudicate"),
            decided=states.count("decided"),
            votes=sum(row.votes for row in pairs),
            votes_expected=sum(row.votes if row.id in decided else row.needed for row in pairs),
            agreement=_agreement(found, kept, family),
        )


def rater_table(connection: Connection, found: Row[Any]) -> tuple[RaterStatus, ...]:
    rows: dict[int, list[Row[Any]]] = defaultdict(list)
    for row in standing_votes(connection, found.id):
        rows[row.rater_id].append(row)
    rule, why = exclusion_rule(found), _exclusion_reasons(connection, found.id)
    people = connection.execute(select(rater).where(rater.c.study_id == found.id).order_by(rater.c.code))
    reported = assignment.c.study_id == found.id, assignment.c.state == "problem"
    counts = select(assignment.c.rater_id, func.count()).where(*reported).group_by(assignment.c.rater_id)
    reports = {row[0]: row[1] for row in connection.execute(counts)}
    seen = attention_of(connection, found, [row for mine in rows.values() for row in mine])
    return tuple(
        replace(
            _rater_status(
                person, rows[person.id], found, rule, why.get(person.id, ""), seen.get(person.id, Attention())
            ),
            reports=reports.get(person.id, 0),
        )
        for person in people
    )


def _exclusion_reasons(connection: Connection, study_id: int) -> dict[int, str]:
    query = select(exclusion).join(rater, rater.c.id == exclusion.c.rater_id).where(rater.c.study_id == study_id)
    return {row.rater_id: row.why for row in connection.execute(query.order_by(exclusion.c.id))}


def _rater_status(
    person: Row[Any], rows: Sequence[Row[Any]], found: Row[Any], rule: ExclusionRule, why: str, seen: Attention
) -> RaterStatus:
    gold = [row for row in rows if row.purpose == "gold"]
    repeats = [row for row in rows if row.purpose == "repeat"]
    asked, first = method(found.method), {row.pair_id: row for row in rows if row.purpose == "sample"}
    sides = rows if asked.is_pairs else ()
    left = [points(row.winner, row.left, ties=ties_of(LEFT_SHARE)) for row in sides if row.purpose != "gold"]
    sided = [worth for worth in left if worth is not None]
    chose_a = int(sum(sided))
    times = [(row.at_ms - row.shown_ms) / 1000 for row in rows if row.shown_ms is not None]
    line = RaterStatus(
        rater=person.code,
        stage=stage_of(person, tasks_done=found.quota is not None and person.tasks >= found.quota),
        votes=len(rows),
        active_minutes=person.active_ms / 60_000,
        median_seconds=median(times) if times else None,
        ties=sum(row.winner == "tie" for row in rows if row.purpose != "gold"),
        excluded=person.excluded,
        gold_right=sum(scores_right(asked, row.expected, row) for row in gold),
        gold_total=len(gold),
        repeats_same=sum(is_repeated(asked, first.get(row.pair_id), row) for row in repeats),
        repeats_total=len(repeats),
        chose_a=chose_a,
        chose_b=len(sided) - chose_a,
        withdrawn=person.withdrawn_votes,
        screen=", ".join((person.screen_found or {}).get("lacking", ())) if person.screen_ms is None else "",
        **asdict(seen),
    )
    return replace(line, reason=why if person.excluded else rule_met(rule, line))


def disagreements(connection: Connection, found: Row[Any]) -> tuple[Disagreement, ...]:
    """Samples whose raters chose different winners, the most divided first (`division`); then the samples that an
    adjudicator decided, in the same order. Samples that are equally divided stand by family and name. Only pairs have
    winners to differ about."""
    if not method(found.method).is_pairs:
        return ()
    groups: dict[int, list[Row[Any]]] = defaultdict(list)
    for row in sample_votes(connection, found.id):
        groups[row.pair_id].append(row)
    decided = _latest_adjudications(connection, found.id)
    listed = {key for key, rows in groups.items() if len({row.winner for row in rows}) > 1} | decided.keys()
    query = with_clips(
        select(
            *(pair, *SYSTEMS, CLIP_A.c.token.label("media_a"), CLIP_B.c.token.label("media_b")),
            *(CLIP_A.c.refused.label("refused_a"), CLIP_B.c.refused.label("refused_b")),
        )
    ).where(pair.c.study_id == found.id, pair.c.kind.in_(SAMPLE_KINDS))
    rows = [row for row in connection.execute(query) if row.id in listed]
    made = [_disagreement(row, groups[row.id], decided.get(row.id), found.rubric) for row in rows]
    return tuple(sorted(made, key=most_divided_first))


def _disagreement(place: Row[Any], rows: Sequence[Row[Any]], decided: Row[Any] | None, version: str) -> Disagreement:
    names = {"a": place.system_a, "b": place.system_b, "tie": "Tie"}
    suggestion = suggest([as_vote(row) for row in rows], rubric=rubric(version))
    waiting: DisputeState = place.state if place.state in ("third", "adjudicate") else "majority"
    opinions = tuple(
        filled(
            Opinion,
            row,
            winner=names[row.winner],
            secondary_tags=tuple(row.secondary_tags),
            after_decision=decided is not None and row.at_ms > decided.at_ms,
        )
        for row in rows
    )
    return filled(
        Disagreement,
        place,
        prompt=place.prompt_text,
        **({"media_a": "", "media_b": ""} if place.kind == "imported" else {}),
        opinions=opinions,
        state=waiting if decided is None else "adjudicated",
        suggestion=None if suggestion.winner is None else names[suggestion.winner],
        suggestion_why=suggestion.why,
        adjudicated=None if decided is None else names[decided.winner],
        by="" if decided is None else decided.actor,
        remark="" if decided is None else contradiction(names[decided.winner], opinions),
    )


def _problems(connection: Connection, study_id: int) -> Iterable[ReportedProblem]:
    query = (
        select(problem, rater.c.code.label("rater"), pair.c.sample)
        .join(assignment, assignment.c.id == problem.c.assignment_id)
        .join(rater, rater.c.id == assignment.c.rater_id)
        .join(pair, pair.c.id == assignment.c.pair_id)
        .where(problem.c.study_id == study_id)
        .order_by(problem.c.id.desc())
    )
    return (filled(ReportedProblem, row) for row in connection.execute(query))


def audit_log(connection: Connection, study: str, *, limit: int = 200) -> tuple[AuditEntry, ...]:
    """The log's latest entries first."""
    found = study_row(connection, study)
    query = select(audit).where(audit.c.study_id == found.id).order_by(audit.c.id.desc()).limit(limit)
    return tuple(filled(AuditEntry, row) for row in connection.execute(query))


def declared_rule(connection: Connection, study: str) -> str:
    """The declared rule as signatures show it; "none" where none was declared."""
    return exclusion_rule(study_row(connection, study)).label
