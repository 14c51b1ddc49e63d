"""The form that participants' ids of an open link must have."""

from rushes.study.database.migrations.missing import add_missing

revision = "0005"
down_revision = "0004"
upgrade = add_missing
