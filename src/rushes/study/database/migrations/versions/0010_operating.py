"""Roles in one study, tokens for programs, and what the processes of one server share: tries to sign in, imports."""

from rushes.study.database.migrations.missing import add_missing

revision = "0010"
down_revision = "0009"
upgrade = add_missing
