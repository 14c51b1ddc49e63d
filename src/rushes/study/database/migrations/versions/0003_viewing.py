"""What the rater's page needs: how a vote was looked at, source clips, refusals, own rubrics and texts, sound check."""

from rushes.study.database.migrations.missing import add_missing

revision = "0003"
down_revision = "0002"
upgrade = add_missing
