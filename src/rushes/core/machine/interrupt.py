"""Ctrl-C and SIGTERM, and whether the same command goes on from where it was stopped.

Whoever keeps what is finished (a run directory, a cache of features, a sweep) marks the interruption on its way out.
The command line promises to continue only where somebody has.
"""

from __future__ import annotations

import signal
from typing import NoReturn

_KEPT, _LOST = "what is finished is kept", "nothing is kept"


class Terminated(KeyboardInterrupt):
    """SIGTERM, by which a scheduler stops a command: as Ctrl-C, but for the exit code."""


def stop_on_sigterm() -> None:
    """Have SIGTERM stop this command as Ctrl-C does, unless whoever started it decided otherwise."""
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminated)


def _terminated(number: int, frame: object) -> NoReturn:
    raise Terminated


def mark_stopped(error: BaseException | None, *, kept: bool) -> None:
    """Say of an interruption whether what is finished was kept; any other error is left as it is."""
    if isinstance(error, KeyboardInterrupt):
        error.add_note(_KEPT if kept else _LOST)


def stopped_line(error: KeyboardInterrupt) -> str:
    """The one line for people.

    >>> error = KeyboardInterrupt()
    >>> stopped_line(error), mark_stopped(error, kept=False), stopped_line(error)
    ('stopped', None, 'stopped; nothing was kept')
    >>> mark_stopped(error, kept=True); stopped_line(error)
    'stopped; run the same command again to continue'
    """
    notes = getattr(error, "__notes__", ())
    if _KEPT in notes:
        return "stopped; run the same command again to continue"
    return "stopped; nothing was kept" if _LOST in notes else "stopped"
