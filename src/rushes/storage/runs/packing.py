"""An entry as the bytes a run stores, made where the work is done; and a clip's line read back.

Encoding and compressing cost more than writing. A worker packs its own result, so that the process that holds the run
together only writes, and many workers do not wait for it.

The digest of a run is that of its logical rows, the same however the run is stored. A clip's rows (its subject, then
its measurements in stored order) are one canonical JSON line, `{"measurements":[…],"subject":{…}}`; its digest is the
sha256 of that line. The run's digest is the sha256 over the clips' digests, 32 bytes each, in input order. So several
writers can work on one digest, and no line is read twice. Per-frame series are not part of it: the index of a run in
shards has digests of their files.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING

from rushes.core import Definition, Measurement
from rushes.core.canonical import canonical_line
from rushes.storage.runs.disk import misfits
from rushes.storage.runs.subjects import Entry, Subject

if TYPE_CHECKING:
    import numpy as np


_words = attrgetter(*(field.name for field in fields(Definition)))
"""What a definition says beside its signature, which alone makes two of them equal."""
_NO_ROW = ("a clip's row is not what a run writes", "run the command again")


@dataclass(frozen=True, slots=True)
class Packed:
    """One finished subject, ready to store; travels between processes."""

    subject_id: str
    line: bytes
    """The subject's line of the journal: its row and its measurements' rows."""
    definitions: tuple[tuple[str, bytes], ...]
    """Each signature used and its definition's line of the journal."""
    series: bytes | None
    """The per-frame series as a compressed .npz file."""


def pack(entry: Entry) -> Packed:
    """The bytes to store for this entry; equal entries give equal bytes."""
    used = {m.definition: None for m in entry.measurements}
    return Packed(
        subject_id=entry.subject.id,
        line=canonical_line({"subject": entry.subject.row(), "measurements": entry.rows()}).encode(),
        definitions=tuple(_definition_line(definition, _words(definition)) for definition in used),
        series=_npz(entry.series) if entry.series else None,
    )


@lru_cache(maxsize=1024)
def _definition_line(definition: Definition, words: tuple[object, ...]) -> tuple[str, bytes]:
    return definition.signature, canonical_line({"definition": definition.as_dict()}).encode()


def _npz(series: Mapping[str, np.ndarray]) -> bytes:
    import numpy as np

    out = io.BytesIO()
    np.savez_compressed(out, allow_pickle=False, **{name: series[name] for name in sorted(series)})
    return out.getvalue()


def run_digest(digests: Iterable[bytes]) -> str:
    """sha256 in hex over the digests of the clips' lines.

    >>> run_digest([]) == hashlib.sha256(b"").hexdigest()
    True
    """
    whole = hashlib.sha256()
    for digest in digests:
        whole.update(digest)
    return whole.hexdigest()


def line_digest(line: bytes) -> bytes:
    """The digest of one clip's logical rows: sha256 over its canonical line, newline included."""
    return hashlib.sha256(line).digest()


def entry_of(line: bytes | str, definitions: Mapping[str, Definition]) -> Entry:
    """A clip's line as an entry, without its series; `RunError` where it is no such line."""
    with misfits(*_NO_ROW):
        record = json.loads(line)
        rows = record["measurements"]
        numbers = tuple(Measurement.from_dict(row, definitions[row["signature"]]) for row in rows)
        return Entry(subject=Subject.from_row(record["subject"]), measurements=numbers)


def subject_of(line: bytes) -> Subject:
    """The same for the subject alone."""
    with misfits(*_NO_ROW):
        return Subject.from_row(json.loads(line)["subject"])
