"""Reading numpy files that somebody else wrote: no pickles, no open handles left behind, one kind of failure.

numpy parses array headers with Python's own tokenizer and containers with zipfile and zlib, so a damaged file can end
in any of their errors; `FAULTS` names them for the callers, who say which file it was.
"""

from __future__ import annotations

import struct
import threading
import tokenize
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

FAULTS: tuple[type[Exception], ...] = (
    OSError,
    EOFError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,  # a bare array where an archive was expected
    ArithmeticError,
    MemoryError,
    SyntaxError,
    RuntimeError,  # an encrypted or an unknown kind of zip entry; RecursionError, NotImplementedError
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
)
"""What reading a damaged numpy file can raise."""
_ONE_AT_A_TIME = threading.Lock()
"""numpy parses headers with `ast`; with Python 3.11.7 that raised SystemError when a page read several at once."""


def load_npz(
    path: Path | str, *, wanted: Callable[[list[str]], list[str]] = list
) -> tuple[dict[str, np.ndarray[Any, Any]], list[str]]:
    """Arrays of an archive by name, those that `wanted` picks from its list of names; and that list.

    Raises one of `FAULTS` where the file is not what it should be.
    """
    import numpy as np

    with _ONE_AT_A_TIME, open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
        names = list(stored.files)
        return {name: stored[name] for name in wanted(names)}, names


def load_npy(path: Path | str) -> np.ndarray[Any, Any]:
    """A single array, memory-mapped, so that a file larger than memory can be read piece by piece."""
    import numpy as np

    with open(path, "rb") as file:
        if file.read(2) == b"PK":  # of an archive that is damaged, numpy would leave the file open
            raise ValueError("an archive of several arrays; expected one")
    array: np.ndarray[Any, Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array


def reason(error: Exception) -> str:
    """Why reading failed, on one line."""
    return " ".join(str(error).split()) or type(error).__name__
