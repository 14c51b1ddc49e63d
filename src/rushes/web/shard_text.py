"""Which clips of a batch have a text in their id, path or reasons, whatever its case."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

_ODD = r"[^\x00-\x7f–—…×−≥≤]"
"""Outside of these, folding a text's case is more than writing it small: "ß" is "ss"."""


def matches(batch: pa.RecordBatch, wanted: str) -> np.ndarray:
    """Per clip of a batch of id, path and reasons; `wanted` is folded (`str.casefold`)."""
    import pyarrow.compute as pc

    kept: np.ndarray = _holds(batch.column(0), wanted) | _holds(batch.column(1), wanted)
    many = pc.fill_null(pc.list_value_length(batch.column(2)), 0).to_numpy(zero_copy_only=False)
    reasons = _holds(pc.list_flatten(batch.column(2)), wanted)
    kept[np.repeat(np.arange(batch.num_rows), many)[reasons]] = True
    return kept


def _holds(texts: Any, wanted: str) -> np.ndarray:
    import pyarrow.compute as pc

    found = np.array(pc.match_substring(pc.utf8_lower(texts), wanted).to_numpy(zero_copy_only=False), dtype=bool)
    odd = np.asarray(pc.match_substring_regex(texts, _ODD).to_numpy(zero_copy_only=False), dtype=bool)
    for place in np.flatnonzero(odd).tolist():
        found[place] = wanted in texts[place].as_py().casefold()
    return found
