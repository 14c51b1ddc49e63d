"""An entry as the bytes a run stores, made where the work is done.

Encoding and compressing cost more than writing. A worker packs its own result, so that the process that holds the run
together only writes, and many workers do not wait for it.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from rushes.core import Definition
from rushes.core.canonical import canonical_line
from rushes.runs.subjects import Entry

if TYPE_CHECKING:
    import numpy as np


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
        definitions=tuple(map(_definition_line, used)),
        series=_npz(entry.series) if entry.series else None,
    )


@lru_cache(maxsize=1024)
def _definition_line(definition: Definition) -> tuple[str, bytes]:
    return definition.signature, canonical_line({"definition": definition.as_dict()}).encode()


def _npz(series: Mapping[str, np.ndarray]) -> bytes:
    import numpy as np

    out = io.BytesIO()
    np.savez_compressed(out, allow_pickle=False, **{name: series[name] for name in sorted(series)})
    return out.getvalue()
