"""A rater's way through a study: account, pair, play, vote."""

from rushes.study.packages import require

require()  # says what to install, before anything needs it
