"""The studies' tables. Times are milliseconds since 1970; secrets are stored as hashes only.

`vote`, `play`, `adjudication`, `exclusion` and `audit` only ever grow: triggers refuse to change or delete a row, in
SQLite and in PostgreSQL alike. A correction is a new `vote` row that names the one it supersedes, and
`assignment.vote_id` points to the one that stands. The one exception is a person who asks to be erased: see
`rushes.study.owner.erasing`.
"""

from __future__ import annotations

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


def _id() -> Column[int]:
    return Column("id", Integer, primary_key=True)


def _ref(name: str, target: str, *, optional: bool = False) -> Column[int]:
    return Column(name, Integer, ForeignKey(f"{target}.id"), nullable=optional)


def _at(name: str, *, optional: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=optional)


admin = Table(
    "admin",
    metadata,
    _id(),
    Column("password_hash", Text, nullable=False),
    _at("set_ms"),
    Column("name", String(40), nullable=False, server_default="admin"),
    Column("role", String(12), nullable=False, server_default="owner"),
)
"""One row for every setting of a password; an account's newest stands, and one with an empty hash is closed."""

admin_session = Table(
    "admin_session",
    metadata,
    _id(),
    Column("token_hash", String(64), nullable=False, unique=True),
    _at("expires_ms"),
    Column("name", String(40), nullable=False, server_default="admin"),
)

admin_device = Table(
    "admin_device",
    metadata,
    _id(),
    Column("name", String(40), nullable=False),
    Column("device_hash", String(64), nullable=False),
    _at("at_ms"),
    UniqueConstraint("name", "device_hash"),
)
"""Browsers from which an account was signed in: wrong tries from elsewhere do not lock them out."""

study = Table(
    "study",
    metadata,
    _id(),
    Column("name", String(80), nullable=False, unique=True),
    Column("title", Text, nullable=False),
    Column("rubric", String(20), nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("min_raters", Integer, nullable=False),
    Column("quota", Integer),
    Column("gold_every", Integer, nullable=False),
    Column("repeat_every", Integer, nullable=False),
    Column("exclusion_rule", JSON, nullable=False),
    Column("watch_rule", JSON, nullable=False),
    Column("simulated", Boolean, nullable=False),
    _at("created_ms"),
    Column("state", String(10), nullable=False, server_default="open"),
    Column("on_erase", String(10), nullable=False, server_default="keep"),
    Column("pairing", String(20), nullable=False, server_default="round-robin"),
    Column("pay", Text, nullable=False, server_default=""),
    Column("language", String(8), nullable=False, server_default="en"),
    Column("rubric_text", Text),  # an own rubric as canonical JSON; the built-in one is known by its version
    Column("consent_text", JSON),
    Column("audio_check", Boolean, nullable=False, server_default=false()),
    Column("training_tries", Integer, nullable=False, server_default="3"),
)

recruitment = Table(
    "recruitment",
    metadata,
    _id(),
    _ref("study_id", "study"),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("platform", String(20), nullable=False),
    Column("quota", Integer, nullable=False),
    Column("ids", String(10), nullable=False),
    Column("secret", String(64), nullable=False),
    Column("codes", JSON, nullable=False),
    Column("return_url", Text, nullable=False),
    Column("participant_form", Text, nullable=False, server_default=""),
    _at("opened_ms"),
    _at("closed_ms", optional=True),
    Index(None, "study_id"),
)

clip = Table(
    "clip",
    metadata,
    _id(),
    _ref("study_id", "study"),
    Column("system", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("duration_ms", Integer, nullable=False),
    Column("fps", Float, nullable=False),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    Column("has_audio", Boolean, nullable=False),
    Column("content_type", String(40), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("token", String(64), nullable=False, unique=True),
    Column("refused", Text, nullable=False, server_default=""),  # what a system said instead of making a clip
    Column("served_sha256", String(64)),
    Column("treatment", String(10)),
)

pair = Table(
    "pair",
    metadata,
    _id(),
    _ref("study_id", "study"),
    Column("kind", String(10), nullable=False),
    Column("sample", Text, nullable=False),
    Column("family", String(80), nullable=False),
    Column("prompt", Text, nullable=False),
    Column("prompt_text", Text, nullable=False),
    _ref("clip_a_id", "clip"),
    _ref("clip_b_id", "clip"),
    Column("expected", String(4)),
    Column("expected_tag", Text),
    Column("feedback", Text, nullable=False),
    Column("first_left", String(1), nullable=False),
    # What follows is derived from assignments and votes, kept here so that the next task is one indexed query.
    Column("votes", Integer, nullable=False),
    Column("live", Integer, nullable=False),
    Column("lefts_a", Integer, nullable=False),
    Column("needed", Integer, nullable=False),
    Column("free", Integer, nullable=False),
    Column("state", String(10), nullable=False),
    Column("retired", Boolean, nullable=False, server_default=false()),
    Column("source_clip_id", Integer),  # for edits: the clip that was to be edited, a clip of no system
    UniqueConstraint("study_id", "sample"),
    Index(None, "study_id", "kind", "free"),
)

rater = Table(
    "rater",
    metadata,
    _id(),
    _ref("study_id", "study"),
    Column("code", String(80), nullable=False),
    Column("invite_hash", String(64), unique=True),
    _at("consent_ms", optional=True),
    _at("trained_ms", optional=True),
    _at("seen_ms", optional=True),
    _at("work_since_ms", optional=True),
    Column("active_ms", BigInteger, nullable=False),
    Column("tasks", Integer, nullable=False),
    Column("excluded", Boolean, nullable=False),
    Column("recruitment_id", Integer),
    Column("participant", String(128)),
    Column("platform_session", String(128)),
    Column("outcome", String(20)),
    _at("joined_ms", optional=True),
    _at("erased_ms", optional=True),
    Column("erasing", Boolean, nullable=False, server_default=false()),
    Column("language", String(8)),
    _at("sound_ms", optional=True),
    Column("sound_tries", Integer, nullable=False, server_default="0"),
    UniqueConstraint("study_id", "code"),
    Index(None, "study_id", "participant", unique=True),
)

rater_session = Table(
    "rater_session",
    metadata,
    _id(),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("rater_id", Integer, ForeignKey("rater.id"), nullable=False, index=True),
    _at("expires_ms"),
)

assignment = Table(
    "assignment",
    metadata,
    _id(),
    _ref("study_id", "study"),
    _ref("pair_id", "pair"),
    _ref("rater_id", "rater"),
    Column("key", String(64), nullable=False, unique=True),
    Column("purpose", String(10), nullable=False),
    Column("look", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("left", String(1), nullable=False),
    Column("token_a", String(64), nullable=False, unique=True),
    Column("token_b", String(64), nullable=False, unique=True),
    Column("state", String(10), nullable=False),
    Column("vote_id", Integer),
    Column("watch", JSON),
    Column("draft", JSON),
    _at("assigned_ms"),
    _at("shown_ms", optional=True),
    _at("touched_ms"),
    Column("sent", JSON),
    UniqueConstraint("pair_id", "rater_id", "look"),
    Index(None, "rater_id", "state", "number"),
    Index(None, "study_id", "state", "touched_ms"),
)

play = Table(
    "play",
    metadata,
    _id(),
    _ref("assignment_id", "assignment"),
    Column("sequence", BigInteger, nullable=False),
    Column("side", String(1), nullable=False),
    Column("start_ms", Float, nullable=False),
    Column("end_ms", Float, nullable=False),
    Column("rate", Float, nullable=False),
    Column("visible", Boolean, nullable=False),
    Column("refused", Text, nullable=False),
    _at("client_ms"),
    _at("at_ms"),
    UniqueConstraint("assignment_id", "side", "sequence"),
)

vote = Table(
    "vote",
    metadata,
    _id(),
    _ref("study_id", "study"),
    _ref("assignment_id", "assignment"),
    _ref("pair_id", "pair"),
    _ref("rater_id", "rater"),
    Column("purpose", String(10), nullable=False),
    Column("key", String(64), nullable=False),
    Column("winner", String(4), nullable=False),
    Column("left", String(1)),
    Column("primary_tag", Text, nullable=False),
    Column("secondary_tags", JSON, nullable=False),
    Column("ratings", JSON, nullable=False),
    Column("pair_ratings", JSON, nullable=False),
    Column("note", Text, nullable=False),
    Column("watched", JSON, nullable=False),
    _ref("supersedes", "vote", optional=True),
    _at("at_ms"),
    Column("viewing", JSON),  # screen, window and surround, as `study/viewing.py` reads them
    UniqueConstraint("assignment_id", "key"),
    Index(None, "study_id", "purpose"),
    Index(None, "pair_id"),
)

problem = Table(
    "problem",
    metadata,
    _id(),
    _ref("study_id", "study"),
    _ref("assignment_id", "assignment"),
    Column("kind", String(40), nullable=False),
    Column("text", Text, nullable=False),
    _at("at_ms"),
    Column("resolution", Text, nullable=False, server_default=""),
    Column("resolved_by", String(80), nullable=False, server_default=""),
    _at("resolved_ms", optional=True),
    Index(None, "study_id"),
)

adjudication = Table(
    "adjudication",
    metadata,
    _id(),
    _ref("pair_id", "pair"),
    Column("winner", String(4), nullable=False),
    Column("tags", JSON, nullable=False),
    Column("note", Text, nullable=False),
    Column("actor", String(80), nullable=False),
    _at("at_ms"),
    Index(None, "pair_id"),
)

exclusion = Table(
    "exclusion",
    metadata,
    _id(),
    _ref("rater_id", "rater"),
    Column("excluded", Boolean, nullable=False),
    Column("rule", Text, nullable=False),
    Column("why", Text, nullable=False),
    _at("at_ms"),
    Index(None, "rater_id"),
)

audit = Table(
    "audit",
    metadata,
    _id(),
    _ref("study_id", "study", optional=True),
    Column("actor", String(80), nullable=False),
    Column("action", String(40), nullable=False),
    Column("detail", JSON, nullable=False),
    _at("at_ms"),
    Index(None, "study_id"),
)
