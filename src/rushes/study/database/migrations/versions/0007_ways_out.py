"""Since when a rater's session knows them: who comes back by an open link does not see what was voted before."""

from rushes.study.database.migrations.missing import add_missing

revision = "0007"
down_revision = "0006"
upgrade = add_missing
