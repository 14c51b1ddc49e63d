"""Processes that a test starts, interrupts and waits for: the same on a busy machine, and in the background.

What is waited for is a state, not a time: the limit is there to end a test that would wait for ever, and is far above
what a busy machine takes. `nohup make test &` hands an ignored SIGINT down to every process, so one that is to be
interrupted has it restored.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

PATIENCE_S = 240.0
"""Below pytest's own limit, which would not say what was waited for."""

_INTERRUPTIBLE = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execvp(sys.argv[1], sys.argv[1:])"
)


def until(holds: Callable[[], object], what: str, *, seconds: float = PATIENCE_S) -> None:
    """Wait until something holds; fails with what it was."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"in {seconds:g} s it did not come true that {what}"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@contextmanager
def started(command: Sequence[str], **options: object) -> Iterator[subprocess.Popen[str]]:
    """A process in a session of its own that Ctrl-C ends; after the block nothing of the session is left."""
    process = subprocess.Popen(
        [sys.executable, "-ISc", _INTERRUPTIBLE, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,  # type: ignore[call-overload]
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def says(process: subprocess.Popen[str], line: str) -> None:
    """Wait until a process has printed this line; fails with its last words where it ends before."""
    assert process.stdout is not None and process.stderr is not None
    if not any(printed == f"{line}\n" for printed in process.stdout):
        raise AssertionError(f"it ended without saying {line!r}: {process.stderr.read()}")


def ctrl_c(process: subprocess.Popen[str]) -> str:
    """End a session as a terminal does, by a signal to all of it, and give what it said on stderr.

    Once more where it goes on: Python drops an interrupt that comes inside a destructor.
    """
    for _ in range(3):
        os.killpg(process.pid, signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=PATIENCE_S / 4)[1]
    raise AssertionError("three times Ctrl-C, and it still runs")
