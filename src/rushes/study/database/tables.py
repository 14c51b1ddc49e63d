"""The studies' tables. Times are milliseconds since 1970; secrets are stored as hashes only.

`vote`, `play`, `adjudication`, `exclusion` and `audit` only ever grow: triggers refuse to change or delete a row, in
SQLite and in PostgreSQL alike. A correction is a new `vote` row that names the one it supersedes, and
`assignment.vote_id` points to the one that stands. The one exception is a person who asks to be erased: see
`rushes.study.owner.erasing`.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

APPEND_ONLY = ("vote", "play", "adjudication", "exclusion", "audit")
"""Tables whose rows are never changed or deleted."""


_TOKEN = String(64)
"""A secret of 192 bits, or the hash of one."""


def _table(name: str, *parts: Column[Any] | UniqueConstraint | Index) -> Table:
    return Table(name, metadata, Column("id", Integer, primary_key=True), *parts)


def _all(kind: Any, *names: str, unique: bool = False, **defaults: Any) -> list[Column[Any]]:
    """Columns of one kind that always hold a value; those given as `name=value` have it in rows of earlier versions."""
    plain = [Column(name, kind, nullable=False, unique=unique or None) for name in names]
    return plain + [Column(name, kind, nullable=False, server_default=value) for name, value in defaults.items()]


def _maybe(kind: Any, *names: str, unique: bool = False) -> list[Column[Any]]:
    """Columns of one kind that may be empty."""
    return [Column(name, kind, unique=unique or None) for name in names]


def _ref(name: str, *, to: str = "", optional: bool = False) -> Column[int]:
    """A row's id in another table: in `pair` for "pair_id", where `to` does not say another."""
    return Column(name, Integer, ForeignKey(f"{to or name.removesuffix('_id')}.id"), nullable=optional)


admin = _table(
    "admin",
    *_all(Text, "password_hash"),
    *_all(BigInteger, "set_ms"),
    *_all(String(40), name="admin"),
    *_all(String(12), role="owner"),
)
"""One row for every setting of a password; an account's newest stands, and one with an empty hash is closed."""

admin_session = _table(
    "admin_session",
    *_all(_TOKEN, "token_hash", unique=True),
    *_all(BigInteger, "expires_ms"),
    *_all(String(40), name="admin"),
)

admin_device = _table(
    "admin_device",
    *_all(String(40), "name"),
    *_all(_TOKEN, "device_hash"),
    *_all(BigInteger, "at_ms"),
    UniqueConstraint("name", "device_hash"),
)
"""Browsers from which an account was signed in: wrong tries from elsewhere do not lock them out."""

api_token = _table(
    "api_token",
    *_all(_TOKEN, "token_hash", unique=True),
    *_all(String(40), "name", unique=True),
    *_all(JSON, "scopes"),
    *_all(String(80), study=""),  # the one study it is for; empty for all
    *_all(String(40), "made_by"),
    *_all(BigInteger, "made_ms"),
    *_maybe(BigInteger, "expires_ms", "revoked_ms"),
)
"""Tokens for programs: as hashes, and kept after they were revoked."""

attempt = _table(
    "attempt",
    *_all(_TOKEN, "key"),
    *_all(BigInteger, "at_ms"),
    Index(None, "key", "at_ms"),
    Index(None, "at_ms"),
)
"""Tries to sign in or to join within the last hour, by a hash of whom they count against."""

import_state = _table(
    "import_state",
    *_all(String(80), "study", unique=True),
    *_all(String(10), "state"),
    *_all(Text, "text"),
    *_all(BigInteger, "at_ms"),
)
"""How the last import into each study is going, for every process of the server."""

study = _table(
    "study",
    *_all(String(80), "name", unique=True),
    *_all(Text, "title"),
    *_all(String(20), "rubric"),
    *_all(BigInteger, "seed"),
    *_all(Integer, "min_raters"),
    *_maybe(Integer, "quota"),
    *_all(Integer, "gold_every", "repeat_every"),
    *_all(JSON, "exclusion_rule", "watch_rule"),
    *_all(Boolean, "simulated"),
    *_all(BigInteger, "created_ms"),
    *_all(String(10), state="open", on_erase="keep"),
    *_all(String(20), pairing="round-robin"),
    *_all(Text, pay=""),
    *_all(String(8), language="en"),
    *_maybe(Text, "rubric_text"),  # an own rubric as canonical JSON; the built-in one is known by its version
    *_maybe(JSON, "consent_text"),
    *_all(Boolean, audio_check=false()),
    *_all(Integer, training_tries="3"),
    *_all(JSON, families="{}"),  # what each task family asks for; one that is not there goes by its name
    *_all(String(40), method="pairs"),  # what a trial shows and asks for (`preference.methods`)
    *_all(Text, reference=""),  # the system that is the reference, for methods that show it
    *_all(Text, alike="off"),  # how clips were made alike: `material.shown_form`
    *_all(JSON, screens="{}"),  # what a rater's screen, device and line must have: `recruiting.screening`
    *_all(String(10), retain_until=""),  # until when raters' data are kept, as YYYY-MM-DD
)

recruitment = _table(
    "recruitment",
    _ref("study_id"),
    *_all(_TOKEN, "token_hash", unique=True),
    *_all(String(20), "platform"),
    *_all(Integer, "quota"),
    *_all(String(10), "ids"),
    *_all(_TOKEN, "secret"),
    *_all(JSON, "codes"),
    *_all(Text, "return_url", participant_form=""),
    *_all(BigInteger, "opened_ms"),
    *_maybe(BigInteger, "closed_ms"),
    Index(None, "study_id"),
)

study_role = _table(
    "study_role",
    _ref("study_id"),
    *_all(String(40), "name"),
    *_all(String(12), "role"),
    *_all(BigInteger, "at_ms"),
    UniqueConstraint("study_id", "name"),
)
"""What an account may do in one study, where that is not what it may do everywhere."""

clip = _table(
    "clip",
    _ref("study_id"),
    *_all(Text, "system", "name", "source", "path"),
    *_all(String(64), "sha256"),
    *_all(Integer, "duration_ms"),
    *_all(Float, "fps"),
    *_all(Integer, "width", "height"),
    *_all(Boolean, "has_audio"),
    *_all(String(40), "content_type"),
    *_all(BigInteger, "size"),
    *_all(_TOKEN, "token", unique=True),
    *_all(Text, refused=""),  # what a system said instead of making a clip
    *_maybe(String(64), "served_sha256"),
    *_maybe(String(10), "treatment"),
    *_maybe(BigInteger, "padded"),  # bytes sent, padding included: equal for the clips of one sample
)

pair = _table(
    "pair",
    _ref("study_id"),
    *_all(String(10), "kind"),
    *_all(Text, "sample"),
    *_all(String(80), "family"),
    *_all(Text, "prompt", "prompt_text"),
    *(_ref(name, to="clip") for name in ("clip_a_id", "clip_b_id")),
    *_maybe(String(4), "expected"),
    *_maybe(Text, "expected_tag"),
    *_all(Text, "feedback"),
    *_all(String(1), "first_left"),
    # What follows is derived from assignments and votes, kept here so that the next task is one indexed query.
    *_all(Integer, "votes", "live", "lefts_a", "needed", "free"),
    *_all(String(10), "state"),
    *_all(Boolean, retired=false()),
    *_maybe(Integer, "source_clip_id"),  # for edits: the clip that was to be edited, a clip of no system
    *_maybe(Integer, "clip_c_id", "clip_d_id", "clip_e_id"),  # of trials of more than two; one clip is a and b
    UniqueConstraint("study_id", "sample"),
    Index(None, "study_id", "kind", "free"),
)

rater = _table(
    "rater",
    _ref("study_id"),
    *_all(String(80), "code"),
    *_maybe(_TOKEN, "invite_hash", unique=True),
    *_maybe(BigInteger, "consent_ms", "trained_ms", "seen_ms", "work_since_ms"),
    *_all(BigInteger, "active_ms"),
    *_all(Integer, "tasks"),
    *_all(Boolean, "excluded"),
    *_maybe(Integer, "recruitment_id"),
    *_maybe(String(128), "participant", "platform_session"),
    *_maybe(String(20), "outcome"),
    *_maybe(BigInteger, "joined_ms", "erased_ms"),
    *_all(Boolean, erasing=false()),
    *_maybe(String(8), "language"),
    *_maybe(BigInteger, "sound_ms"),
    *_all(Integer, sound_tries="0"),
    *_maybe(BigInteger, "screen_ms", "withdrawn_ms"),
    *_maybe(JSON, "screen_found"),
    *_all(Integer, withdrawn_votes="0"),
    *_maybe(_TOKEN, "withdraw_key"),  # of the rater's own link to take their votes back
    UniqueConstraint("study_id", "code"),
    Index(None, "study_id", "participant", unique=True),
    Index(None, "withdraw_key"),
)

rater_session = _table(
    "rater_session",
    *_all(_TOKEN, "token_hash", unique=True),
    _ref("rater_id"),
    *_all(BigInteger, "expires_ms", since_ms="0"),
    Index(None, "rater_id"),
)

assignment = _table(
    "assignment",
    *map(_ref, ("study_id", "pair_id", "rater_id")),
    *_all(_TOKEN, "key", unique=True),
    *_all(String(10), "purpose"),
    *_all(Integer, "look", "number"),
    *_all(String(1), "left"),
    *_all(_TOKEN, "token_a", "token_b", unique=True),
    *_all(String(10), "state"),
    *_maybe(Integer, "vote_id"),
    *_maybe(JSON, "watch", "draft"),
    *_all(BigInteger, "assigned_ms"),
    *_maybe(BigInteger, "shown_ms"),
    *_all(BigInteger, "touched_ms"),
    *_maybe(JSON, "sent"),
    *_maybe(String(5), "arrangement"),  # the trial's clips in the order of the screen; none for pairs, which have left
    UniqueConstraint("pair_id", "rater_id", "look"),
    Index(None, "rater_id", "state", "number"),
    Index(None, "study_id", "state", "touched_ms"),
)

play = _table(
    "play",
    _ref("assignment_id"),
    *_all(BigInteger, "sequence"),
    *_all(String(1), "side"),
    *_all(Float, "start_ms", "end_ms", "rate"),
    *_all(Boolean, "visible"),
    *_all(Text, "refused"),
    *_all(BigInteger, "client_ms", "at_ms"),
    UniqueConstraint("assignment_id", "side", "sequence"),
)

vote = _table(
    "vote",
    *map(_ref, ("study_id", "assignment_id", "pair_id", "rater_id")),
    *_all(String(10), "purpose"),
    *_all(_TOKEN, "key"),
    *_all(String(4), "winner"),
    *_maybe(String(1), "left"),
    *_all(Text, "primary_tag"),
    *_all(JSON, "secondary_tags", "ratings", "pair_ratings"),
    *_all(Text, "note"),
    *_all(JSON, "watched"),
    _ref("supersedes", to="vote", optional=True),
    *_all(BigInteger, "at_ms"),
    *_maybe(JSON, "viewing"),  # screen, window and surround, as `study/raters/viewing.py` reads them
    *_maybe(JSON, "bent"),  # of an imported vote: the rubric's rules that it does not keep
    *_maybe(String(5), "arrangement"),
    *_maybe(JSON, "answer"),  # beyond winner and ratings: degree, best, worst, faults with their times
    UniqueConstraint("assignment_id", "key"),
    Index(None, "study_id", "purpose"),
    Index(None, "pair_id"),
)

problem = _table(
    "problem",
    *map(_ref, ("study_id", "assignment_id")),
    *_all(String(40), "kind"),
    *_all(Text, "text"),
    *_all(BigInteger, "at_ms"),
    *_all(Text, resolution=""),
    *_all(String(80), resolved_by=""),
    *_maybe(BigInteger, "resolved_ms"),
    Index(None, "study_id"),
)

adjudication = _table(
    "adjudication",
    _ref("pair_id"),
    *_all(String(4), "winner"),
    *_all(JSON, "tags"),
    *_all(Text, "note"),
    *_all(String(80), "actor"),
    *_all(BigInteger, "at_ms"),
    Index(None, "pair_id"),
)

exclusion = _table(
    "exclusion",
    _ref("rater_id"),
    *_all(Boolean, "excluded"),
    *_all(Text, "rule", "why"),
    *_all(BigInteger, "at_ms"),
    Index(None, "rater_id"),
)

audit = _table(
    "audit",
    _ref("study_id", optional=True),
    *_all(String(80), "actor"),
    *_all(String(40), "action"),
    *_all(JSON, "detail"),
    *_all(BigInteger, "at_ms"),
    Index(None, "study_id"),
)
