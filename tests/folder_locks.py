"""Everything that one process alone may write, and how it is locked.

Apart from the tests: their processes start quicker without pytest.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from rushes.core.machine.files import exclusive_lock, locked_folder


def _run(folder: Path) -> AbstractContextManager[object]:
    from rushes.storage.runs.writer import RunWriter

    return RunWriter(folder, instrument="clip", settings={})


def _suite(folder: Path) -> AbstractContextManager[object]:
    from rushes.suite.folder import writing

    return writing(folder)


def _paper(folder: Path) -> AbstractContextManager[object]:
    return locked_folder(folder)


def _sweep(folder: Path) -> AbstractContextManager[object]:
    from rushes.instruments.robustness.sweep.writer import locked

    return locked(folder)


def _waiting(folder: Path) -> AbstractContextManager[object]:
    folder.mkdir(parents=True, exist_ok=True)
    return exclusive_lock(folder / ".triage.lock")


LOCKS: dict[str, Callable[[Path], AbstractContextManager[object]]] = {
    "run": _run,
    "suite": _suite,
    "paper": _paper,
    "sweep": _sweep,
    "waiting": _waiting,
}
