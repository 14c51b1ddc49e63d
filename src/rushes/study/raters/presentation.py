"""What a rater's pages show around the pairs: rubric, language, consent words, sound check, what was done so far."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, exists, func, select

from rushes.instruments.preference.methods.method import PAIRS, Method, method
from rushes.instruments.preference.rubric import Rubric, rubric
from rushes.study.database.tables import assignment, clip, pair, rater, recruitment, study
from rushes.study.errors import NotAllowed, StudyError
from rushes.study.queries import RATER, STOPPED, STUDY, VOTED, set_rater, signed_in
from rushes.study.raters.allocation import FREE_SAMPLE, HAS_OPEN
from rushes.study.raters.sound_check import MOST_TRIES, answer, sequence, sequence_wav, still_to_pass
from rushes.study.raters.time import count_time
from rushes.study.raters.work import NO_CLIP
from rushes.study.records import Media, ScreenRule
from rushes.study.recruiting.consent import LANGUAGES, consent_words
from rushes.study.recruiting.screening import screen_rule, screen_to_pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """One rater's view of a study."""

    rubric: Rubric
    language: str
    consent: dict[str, list[str]]
    """The study's own consent words by field, in the rater's language."""
    sound_check: bool
    """Whether the rater still has to pass the sound check."""
    sound_tries_left: int
    screen_check: bool
    """Whether the rater's screen, device and line still have to be checked."""
    screens: ScreenRule
    retain_until: str
    """The day until which raters' data are kept; "" where none was declared."""
    votes: int
    """Pairs this rater has voted on, training left out."""
    minutes: int
    """Minutes of work, breaks left out."""
    method: Method = PAIRS
    ids: str = ""
    """How the rater's id on a recruiting platform is kept, "hashed" or "plain"; "" for one who was invited."""


def presentation(connection: Connection, now: int, session: str) -> Presentation:
    """What the rater's pages show around the pairs: rubric, language, consent words, what was done so far."""
    who = signed_in(connection, session, now)
    row = connection.execute(_ABOUT, {"study_wanted": who.study_id, "rater_wanted": who.id}).one()
    language = who.language or row.language
    return Presentation(
        rubric=rubric(who.rubric, who.families).fitted(who.families),
        language=language,
        consent=consent_words(row.consent_text, language),
        sound_check=still_to_pass(connection, who),
        sound_tries_left=max(0, MOST_TRIES - who.sound_tries),
        screen_check=screen_to_pass(who),
        screens=screen_rule(who),
        retain_until=who.retain_until,
        votes=row.voted,
        minutes=round(who.active_ms / 60_000),
        method=method(who.method),
        ids=row.ids or "",
    )


_ABOUT = select(
    study.c.language,
    study.c.consent_text,
    select(recruitment.c.ids)
    .join(rater, rater.c.recruitment_id == recruitment.c.id)
    .where(rater.c.id == RATER)
    .scalar_subquery()
    .label("ids"),
    select(func.count()).where(VOTED).scalar_subquery().label("voted"),
).where(study.c.id == STUDY)


def choose_language(connection: Connection, now: int, session: str, language: str) -> None:
    """Keep the language a rater switched to."""
    if language not in LANGUAGES:
        raise StudyError(f"the pages are available in {', '.join(LANGUAGES)}; got {language!r}")
    who = signed_in(connection, session, now)
    set_rater(connection, who.id, language=language)


def sound_check_wav(connection: Connection, now: int, session: str) -> bytes:
    """The tones of the rater's sound check, as a WAV file."""
    who = signed_in(connection, session, now)
    return sequence_wav(sequence(who.seed, who.code, who.sound_tries))


def answer_sound_check(connection: Connection, now: int, session: str, typed: str) -> bool:
    """Whether the rater typed in what was heard; a wrong answer gets another sequence."""
    who = signed_in(connection, session, now)
    count_time(connection, who, now=now)
    return answer(connection, who, typed, now=now)


def more_work(connection: Connection, now: int, session: str) -> bool:
    """Whether there is a pair for this rater now; nothing is assigned by looking."""
    who = signed_in(connection, session, now)
    if who.excluded or who.outcome == STOPPED or who.withdrawn_ms is not None:
        return False
    keys = {"rater_wanted": who.id, "study_wanted": who.study_id}
    row = connection.execute(_MORE, keys).one()
    return bool(row.held or (row.free and (who.quota is None or who.tasks < who.quota)))


_MORE = select(HAS_OPEN.label("held"), exists().where(FREE_SAMPLE).label("free"))


def source_media(connection: Connection, now: int, session: str, assignment: str) -> Media:
    """The clip that was to be edited in this rater's own assignment; `NotAllowed` for any other."""
    who = signed_in(connection, session, now)
    row = connection.execute(_SOURCE, {"wanted_key": assignment, "rater_wanted": who.id}).first()
    if row is None:
        raise NotAllowed(NO_CLIP)
    checked = row.served_sha256 or ""
    return Media(path=row.path, content_type=row.content_type, etag=assignment[:16], size=row.size, sha256=checked)


_SOURCE = (
    select(clip.c.path, clip.c.content_type, clip.c.size, clip.c.served_sha256)
    .join(pair, pair.c.source_clip_id == clip.c.id)
    .join(assignment, assignment.c.pair_id == pair.c.id)
    .where(assignment.c.key == bindparam("wanted_key"), assignment.c.rater_id == RATER)
)
