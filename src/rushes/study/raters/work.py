"""A rater at work: the task on the screen, drafts, the time they take, problems, the clips."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, bindparam, func, or_, select

from rushes.instruments.preference.methods.method import CLIPS, FAULTS, method
from rushes.instruments.preference.pairs import seeded_order
from rushes.instruments.preference.rubric import FAMILIES, rubric
from rushes.instruments.preference.votes import Fault
from rushes.study.database.tables import assignment, clip, pair, rater, rater_session, study, vote
from rushes.study.errors import NotAllowed, StudyError
from rushes.study.queries import (
    KEEP,
    RATER,
    SESSION,
    TRIAL,
    VOTED,
    WHO,
    add_problem,
    know_rubric,
    log,
    signed_in,
    watch_rule,
    with_all_clips,
)
from rushes.study.raters.accounts import session_of
from rushes.study.raters.allocation import (
    HAS_VOTED,
    TASKS_EXPECTED,
    add_assignment,
    open_assignments,
    recount,
    take_back,
)
from rushes.study.raters.play_ledger import add_play, sent_in_full, shown_since, watch_state
from rushes.study.raters.screen import form_of, on_screen, order_of
from rushes.study.raters.time import BREAK_MS, count_time
from rushes.study.raters.training import training_pairs
from rushes.study.records import (
    LONGEST_NOTE,
    PROBLEMS,
    ClipView,
    Media,
    PlayEvent,
    RaterSession,
    ScreenSide,
    Task,
    VoteForm,
    WatchState,
)
from rushes.study.tokens import token_hash

NO_CLIP = "no such clip; reload the page"
NOT_YOURS = "this pair is not one of yours; reload the page to get your next one"

_LOOKS = ("duration_ms", "fps", "width", "height", "has_audio")


def _of_clips(*names: str) -> Iterator[ColumnElement[Any]]:
    """These columns of a trial's clips, as `a_size` to `e_size`."""
    return (table.c[name].label(f"{clip}_{name}") for clip, table in zip(CLIPS, TRIAL, strict=True) for name in names)


_PLACE = (
    *assignment.c,
    *(pair.c[name] for name in ("kind", "sample", "family", "prompt_text", "expected", "expected_tag", "feedback")),
    *_of_clips(*_LOOKS, "refused", "size"),
)
_SOURCE = clip.alias("source_clip")
_MINE = (
    with_all_clips(
        select(*_PLACE, TASKS_EXPECTED, HAS_VOTED, *(_SOURCE.c[name].label(f"source_{name}") for name in _LOOKS)).join(
            pair, pair.c.id == assignment.c.pair_id
        )
    )
    .outerjoin(_SOURCE, _SOURCE.c.id == pair.c.source_clip_id)
    .where(assignment.c.key == bindparam("wanted_key"), assignment.c.rater_id == bindparam("wanted_rater"))
    .with_for_update(of=assignment, key_share=True)
)
_AT_WORK = (
    with_all_clips(
        select(*(column.label(f"who_{column.name}") for column in WHO), *_PLACE)
        .select_from(rater_session)
        .join(rater, rater.c.id == rater_session.c.rater_id)
        .join(study, study.c.id == rater.c.study_id)
        .join(assignment, assignment.c.rater_id == rater.c.id)
        .join(pair, pair.c.id == assignment.c.pair_id)
    )
    .where(rater_session.c.token_hash == SESSION, assignment.c.key == bindparam("wanted_key"))
    .with_for_update(of=assignment, key_share=True)
)
_Who: Any = namedtuple("_Who", [column.name for column in WHO])  # type: ignore[misc]
_Place: Any = namedtuple("_Place", [column.name for column in _PLACE])  # type: ignore[misc]


def at_work(connection: Connection, session: str, key: str, now: int) -> tuple[Any, Any]:
    """The rater behind a cookie and their own assignment of this key, held until the transaction ends.

    One query for both, because nearly every request of a page needs both. `NotAllowed` when the session is unknown or
    has ended, and for an assignment that is somebody else's.
    """
    found = connection.execute(_AT_WORK, {"session_hash": token_hash(session), "wanted_key": key}).first()
    if found is None or found.who_expires_ms <= now:
        signed_in(connection, session, now)
        raise NotAllowed(NOT_YOURS)
    know_rubric(connection, found.who_rubric)
    return _Who._make(found[: len(WHO)]), _Place._make(found[len(WHO) :])


def _mine(connection: Connection, who: Row[Any], key: str) -> Any:
    """The rater's own assignment of this key, held until the transaction ends, with the tasks to expect."""
    keys = {"wanted_key": key, "wanted_rater": who.id, "rater_wanted": who.id, "study_wanted": who.study_id}
    row = connection.execute(_MINE, keys).first()
    if row is None:
        raise NotAllowed(NOT_YOURS)
    return row


def training_task(connection: Connection, now: int, session: str) -> Task:
    """The training pair to work on, as a task like any other: of several, one after the other, in the order given.

    `record_play` and `submit_vote` apply, and the answer of `submit_vote` carries the feedback. A pair is
    repeated until its answer is right; when all are, the stage moves on.
    """
    who = signed_in(connection, session, now)
    _require_consent(who)
    count_time(connection, who, now=now)
    lessons = training_pairs(connection, who)
    if not lessons:
        raise StudyError(f"study {who.study_name} has no training pair; go on to the first pair")
    one = next((one for one in lessons if not one.learnt), lessons[-1])
    key = one.key
    if key is None:
        which = () if one is lessons[0] else (one.id,)
        left: Any = "a" if seeded_order(who.seed, "training side", who.code, *which) % 2 else "b"
        key = add_assignment(connection, who, pair_id=one.id, left=left, purpose="training", number=0, now=now).key
    return _task(connection, who, _mine(connection, who, key), now=now)


def next_task(connection: Connection, now: int, session: str, *, ahead: int = 0) -> Task | None:
    """The pair to work on: the open one where there is one (a reload finds it), else a new one; None when done.
    `ahead=1` gives the one after it, to preload its clips."""
    who = signed_in(connection, session, now)
    _require_training(who)
    return _next_task(connection, who, ahead=ahead, now=now)


def standing(connection: Connection, now: int, session: str) -> tuple[RaterSession, Task | None]:
    """Where a rater stands and, at work, the pair to work on: `session` and `next_task` in one."""
    who = signed_in(connection, session, now)
    count_time(connection, who, now=now)
    found = session_of(who)
    return found, _next_task(connection, who, ahead=0, now=now) if found.stage in ("work", "done") else None


def clips_ahead(connection: Connection, now: int, session: str) -> tuple[str, ...]:
    """Media tokens of the pair after the open one, to preload; none where there is no other pair."""
    who = signed_in(connection, session, now)
    _require_training(who)
    held = open_assignments(connection, who, count=2, now=now)
    if len(held) < 2:
        return ()
    row = connection.execute(_SHOWN_TO, {"token": held[1].token_a, "rater_wanted": who.id}).one()
    shown = on_screen(order_of(row)).items()
    return tuple(_token(row, side) for side, clip in shown if getattr(row, f"{clip}_path"))  # a refusal has no file


def _next_task(connection: Connection, who: Row[Any], *, ahead: int, now: int) -> Task | None:
    held = open_assignments(connection, who, count=ahead + 1, now=now, show=ahead == 0)
    if len(held) <= ahead:
        return None
    return _task(connection, who, _mine(connection, who, held[ahead].key), now=now, show=ahead == 0)


def last_vote(connection: Connection, now: int, session: str) -> Task | None:
    """The pair of the rater's newest vote with that vote as `draft`, to be sent again with `correction`; None
    before the first vote."""
    who = signed_in(connection, session, now)
    found = connection.execute(LAST_VOTE, {"rater_wanted": who.id}).first()
    if found is None or found.at_ms < who.since_ms:  # given before this session: an id alone does not prove a person
        return None
    task = _task(connection, who, _mine(connection, who, found.assignment_key), now=now, show=False)
    return replace(task, draft=form_of(found))


LAST_VOTE = (
    select(vote, assignment.c.key.label("assignment_key"))
    .join(assignment, assignment.c.vote_id == vote.c.id)
    .where(VOTED)
    .order_by(assignment.c.number.desc())
    .limit(1)
)


def _require_training(who: Row[Any]) -> None:
    _require_consent(who)
    if who.trained_ms is None:
        raise StudyError("do the training pair first")


def _require_consent(who: Row[Any]) -> None:
    if who.consent_ms is None:
        raise StudyError("agree to take part first")


def _task(connection: Connection, who: Row[Any], row: Row[Any], *, now: int, show: bool = True) -> Task:
    if show and row.shown_ms is None:
        connection.execute(KEEP, {"wanted_id": row.id, "shown_ms": now, "touched_ms": now})
    book, training = rubric(who.rubric, who.families), row.purpose == "training"
    tags = book.tags_for(row.family)
    expected = row.expected_tasks if who.quota is None else min(row.expected_tasks, who.quota)
    return Task(
        assignment=row.key,
        training=training,
        number=row.number,
        total=0 if training else max(expected, row.number),
        family=row.family,
        family_title=FAMILIES.get(row.family, ""),
        prompt=row.prompt_text,
        clips={side: _clip_view(row, clip, _token(row, side)) for side, clip in on_screen(order_of(row)).items()},
        rubric=who.rubric,
        dimensions=tuple(dimension.key for dimension in book.dimensions_for(row.family)),
        tags=tags,
        watch=watch_state(row, watch_rule(who)),
        draft=None if row.draft is None else form_from_plain(row.draft),
        session_minutes=0 if who.work_since_ms is None else _minutes(who, now),
        has_voted=row.has_voted,
        source=None if row.source_duration_ms is None else _clip_view(row, "source", row.key),
        method=method(who.method),
        fault_tags=tags or FAULTS,
    )


def _token(row: Row[Any], side: ScreenSide) -> str:
    """A clip's address under this assignment: two have secrets of their own, further ones build on the first."""
    return {"A": row.token_a, "B": row.token_b}.get(side) or f"{row.token_a}{_FURTHER}{side}"


_FURTHER = "~"


def _minutes(who: Row[Any], now: int) -> int:
    return 0 if now - who.seen_ms >= BREAK_MS else max(0, now - who.work_since_ms) // 60_000


def _clip_view(row: Row[Any], side: str, token: str) -> ClipView:
    fields = _LOOKS if side == "source" else (*_LOOKS, "refused")
    return ClipView(token=token, **{name: getattr(row, f"{side}_{name}") for name in fields})


def form_from_plain(data: dict[str, Any]) -> VoteForm:
    faults = tuple(Fault(**one) for one in data.get("faults", ()))
    return VoteForm(**(data | {"secondary_tags": tuple(data["secondary_tags"]), "faults": faults, "viewing": None}))


def record_play(
    connection: Connection, now: int, session: str, assignment: str, events: Sequence[PlayEvent]
) -> WatchState:
    """Add stretches of play to the ledger. Credited: forward, at 1× or slower, visible, and not faster than the
    server's clock allows since the pair was shown."""
    who, row = at_work(connection, session, assignment, now)
    state = add_play(connection, row, events, rule=watch_rule(who), now=now)
    sign_of_life(connection, who, row, now=now)
    return state


def sign_of_life(connection: Connection, who: Row[Any], row: Row[Any], *, now: int) -> None:
    """Keep the rater's place and count the time they work."""
    if row.state == "released":
        take_back(connection, row, minimum=who.min_raters, now=now)
    count_time(connection, who, now=now)


def save_draft(connection: Connection, now: int, session: str, assignment: str, form: VoteForm) -> None:
    """Keep what is filled in so far; `Task.draft` gives it back."""
    who, row = at_work(connection, session, assignment, now)
    draft = asdict(form)
    if len(str(draft)) > 8 * LONGEST_NOTE:
        raise StudyError("the draft is too long; shorten the note")
    kept = {"draft": draft, "shown_ms": shown_since(row, now), "touched_ms": now}
    connection.execute(KEEP, {"wanted_id": row.id, **kept})
    sign_of_life(connection, who, row, now=now)


def report_problem(
    connection: Connection, now: int, session: str, assignment: str, *, kind: str, text: str = ""
) -> bool:
    """A pair that cannot be judged (kind: "will not play", "no sound", "offensive", "other"): it is taken from
    this rater, shown to the administrator and given to others; the rater goes on with the next. False, and
    nothing is done, where the rater has reported as many pairs as their votes allow."""
    who, row = at_work(connection, session, assignment, now)
    if kind not in PROBLEMS:
        raise StudyError(f"a problem is one of {', '.join(PROBLEMS)}; got {kind!r}")
    if row.state in ("voted", "late", "problem"):
        raise StudyError("this pair is closed for you; there is nothing left to report")
    counts = connection.execute(_REPORTS, {"rater_wanted": who.id}).one()
    if row.purpose != "training" and counts.reports >= FREE_REPORTS + counts.votes // VOTES_PER_REPORT:
        return False
    text = text[:LONGEST_NOTE]
    add_problem(connection, study_id=who.study_id, assignment_id=row.id, kind=kind, text=text, now=now)
    if row.purpose != "training":  # training is done or waited for, never skipped: its pair stays where it is
        connection.execute(KEEP, {"wanted_id": row.id, "state": "problem"})
        recount(connection, row.pair_id, minimum=who.min_raters, kind=row.kind)
    log(connection, study_id=who.study_id, actor=who.code, action="problem", now=now, sample=row.sample, kind=kind)
    return True


FREE_REPORTS, VOTES_PER_REPORT = 3, 5
"""A rater may report so many pairs, and one more for every five votes: reporting must not stand in for the work."""
_REPORTS = select(
    func.count().filter(assignment.c.state == "problem").label("reports"),
    func.count().filter(VOTED).label("votes"),
).where(assignment.c.rater_id == RATER)
_FILE = ("path", "content_type", "size", "source", "padded", "sha256", "served_sha256")
_SHOWN = with_all_clips(
    select(
        *(assignment.c[name] for name in ("id", "left", "arrangement", "token_a", "token_b", "sent")),
        *_of_clips(*_FILE),
    )
    .join(pair, pair.c.id == assignment.c.pair_id)
    .where(or_(assignment.c.token_a == bindparam("token"), assignment.c.token_b == bindparam("token")))
)
_SHOWN_TO = _SHOWN.where(assignment.c.rater_id == RATER)
_SHOWN_IN = (
    _SHOWN.add_columns(rater_session.c.expires_ms)
    .join(rater_session, rater_session.c.rater_id == assignment.c.rater_id)
    .where(rater_session.c.token_hash == SESSION)
)
_ANY_CLIP = select(*(clip.c[name] for name in _FILE)).where(clip.c.token == bindparam("token"))


def study_of(connection: Connection, token: str) -> str:
    """The name of the study that any media token belongs to; "" for any other text."""
    token = token.partition(_FURTHER)[0]
    shown = select(assignment.c.study_id).where(or_(assignment.c.token_a == token, assignment.c.token_b == token))
    known = shown.union(select(clip.c.study_id).where(clip.c.token == token)).subquery()
    return connection.execute(select(study.c.name).where(study.c.id.in_(select(known.c.study_id)))).scalar() or ""


def media(connection: Connection, token: str) -> Media:
    """The file behind any media token, for administrators; `NotAllowed` for any other text."""
    row = connection.execute(_SHOWN, {"token": token.partition(_FURTHER)[0]}).first()
    if row is not None:
        return _media(token, _behind(row, token)[1])
    one = connection.execute(_ANY_CLIP, {"token": token}).first()
    if one is None or not one.path:
        raise NotAllowed(NO_CLIP)
    return _media(token, one._asdict())


def media_for(connection: Connection, now: int, session: str, token: str) -> Media:
    """The file behind a media token of this rater's own assignments; `NotAllowed` for any other.

    One query, because it is asked for each clip.
    """
    keys = {"token": token.partition(_FURTHER)[0], "session_hash": token_hash(session)}
    row = connection.execute(_SHOWN_IN, keys).first()
    if row is None or row.expires_ms <= now:
        signed_in(connection, session, now)
        raise NotAllowed(NO_CLIP)
    side, file = _behind(row, token)
    whole = sent_in_full(row.sent, side, file["size"])
    return replace(_media(token, file), assignment=row.id, side=side, sent_in_full=whole)


def _behind(row: Row[Any], token: str) -> tuple[ScreenSide, dict[str, Any]]:
    """On which side of the screen a token's clip stands, and its file."""
    screen = on_screen(order_of(row))
    side = next((side for side in screen if _token(row, side) == token), None)
    if side is None:
        raise NotAllowed(NO_CLIP)
    file = {name: getattr(row, f"{screen[side]}_{name}") for name in _FILE}
    if not file["path"]:
        raise NotAllowed("there is no clip: the system refused the prompt")
    return side, file


def _media(token: str, file: dict[str, Any]) -> Media:
    # A study of an earlier version has no digest of a converted copy; of a clip used where it lay, it has.
    as_it_lay = file["sha256"] if file["path"] == file["source"] else ""
    digest = file["served_sha256"] or as_it_lay
    return Media(etag=token[-16:], sha256=digest, **{name: file[name] for name in _FILE[:5]})
