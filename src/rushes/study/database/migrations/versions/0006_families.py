"""What a study's task families ask for, by kind; and which rules of the rubric an imported vote does not keep.

A study of an earlier version has no kinds: its families go on by their names.
"""

from rushes.study.database.migrations.missing import add_missing

revision = "0006"
down_revision = "0005"
upgrade = add_missing
