"""Clips shown alike, what a rater's screen must have, how long data are kept, and raters who withdrew."""

from rushes.study.database.migrations.missing import add_missing

revision = "0009"
down_revision = "0008"
upgrade = add_missing
