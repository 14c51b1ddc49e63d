"""What a study's owner does: accounts, decisions, life cycle, erasure."""

from rushes.study.packages import require

require()  # says what to install, before anything needs it
