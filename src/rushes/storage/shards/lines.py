"""A clip's line read back: the subject, or the entry with its measurements."""

from __future__ import annotations

import json
from collections.abc import Mapping

from rushes.core import Definition, Measurement
from rushes.core.errors import DefinitionError, RunError
from rushes.storage.runs.subjects import Entry, Subject

_CORRUPT = (DefinitionError, LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""What a line of somebody else's making can end in."""


def entry_of(line: bytes | str, definitions: Mapping[str, Definition]) -> Entry:
    """A clip's line as an entry, without its series; `RunError` where it is no such line."""
    try:
        record = json.loads(line)
        rows = record["measurements"]
        numbers = tuple(Measurement.from_dict(row, definitions[row["signature"]]) for row in rows)
        return Entry(subject=Subject.from_row(record["subject"]), measurements=numbers)
    except _CORRUPT as error:
        raise RunError(f"a clip's row is not what a run writes ({error!r}); run the command again") from None


def subject_of(line: bytes) -> Subject:
    """The same for the subject alone."""
    try:
        return Subject.from_row(json.loads(line)["subject"])
    except _CORRUPT as error:
        raise RunError(f"a clip's row is not what a run writes ({error!r}); run the command again") from None
