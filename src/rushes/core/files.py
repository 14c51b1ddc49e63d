"""Writing a file whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def replacing(target: Path) -> Iterator[IO[str]]:
    """Write UTF-8 text beside its target, then put it in place in one step; on an error nothing is left behind."""
    part = target.with_name(target.name + ".tmp")
    try:
        with open(part, "w", encoding="utf-8", newline="\n") as out:
            yield out
        os.replace(part, target)
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise
