"""The studies' SQL: tables, connection, migrations."""

from rushes.study.packages import require

require()  # says what to install, before anything needs it
