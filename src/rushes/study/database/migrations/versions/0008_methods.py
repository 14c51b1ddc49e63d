"""Other methods than pairs: what a study asks, trials of one to five clips, and faults with their times."""

from rushes.study.database.migrations.missing import add_missing

revision = "0008"
down_revision = "0007"
upgrade = add_missing
