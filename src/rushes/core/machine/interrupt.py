"""Ctrl-C, and whether the same command goes on from where it was stopped.

Whoever keeps what is finished (a run directory, a cache of features, a sweep) marks the interruption on its way out.
The command line promises to continue only where somebody has.
"""

from __future__ import annotations

_KEPT, _LOST = "what is finished is kept", "nothing is kept"


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
