"""A run that this process writes, put together as its clips are finished: at the end nothing of it is read again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rushes.core import Definition
from rushes.storage.remote.address import is_remote
from rushes.storage.runs.packing import Packed, entry_of
from rushes.storage.runs.reader import read_run
from rushes.storage.runs.run import Run
from rushes.storage.runs.subjects import Entry


class AsWritten:
    """Takes what workers hand over, while they are at work and this process has nothing else to do.

    Entries are made of their bytes, as a reader makes them: the run is the one that `read_run` gives.
    """

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._definitions: dict[str, Definition] = {}

    def take(self, outcome: object) -> None:
        """What came of a task, once it is stored; all but an entry's bytes is left to be read at the end."""
        if not isinstance(outcome, Packed):
            return
        for signature, line in outcome.definitions:
            if signature not in self._definitions:
                self._definitions[signature] = Definition.from_dict(json.loads(line)["definition"])
        self._entries[outcome.subject_id] = entry_of(outcome.line, self._definitions)

    def run(self, path: Path | str, order: Sequence[str]) -> Run:
        """The finished run; read from its folder where it has other clips than those taken here, in this order."""
        if is_remote(path) or len(order) != len(self._entries) or not all(name in self._entries for name in order):
            return read_run(path)
        info = json.loads((Path(path) / "run.json").read_bytes())
        if info.get("seal", {}).get("subjects") != len(order):  # clips of an earlier command as well
            return read_run(path)
        entries = [self._entries[name] for name in order]
        numbers = {entry.id: entry.measurements for entry in entries if entry.measurements}
        return Run(Path(path), info, tuple(entry.subject for entry in entries), numbers)
