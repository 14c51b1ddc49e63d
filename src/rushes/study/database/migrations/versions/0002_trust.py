"""Named administrators with roles, known devices, what was sent of a clip, its digest as served, training tries."""

from rushes.study.database.migrations.missing import add_missing

revision = "0002"
down_revision = "0001"
upgrade = add_missing
