"""The play ledger of an assignment: what the page says was played, what of it the server's clock allows, and how far
the watching has come."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Row, select

from rushes.study.database.tables import play
from rushes.study.errors import StudyError
from rushes.study.queries import KEEP
from rushes.study.raters.play_credit import Ledger, WatchRule, bridged, credit
from rushes.study.raters.screen import on_screen, order_of
from rushes.study.records import PlayEvent, ScreenSide, WatchState

SET_BACK_MS = 1_000
"""A clock that is this much behind the last sign of life was set back; less is within the slack of the watch rule."""
NOT_SENT = "the clip has not been loaded"
MOST_EVENTS = 500


def durations(row: Row[Any]) -> dict[ScreenSide, int]:
    """Milliseconds of the clips as shown, A on the left."""
    return {side: getattr(row, f"{clip}_duration_ms") for side, clip in on_screen(order_of(row)).items()}


def ledgers(row: Row[Any]) -> dict[ScreenSide, Ledger]:
    stored = row.watch or {}
    return {side: Ledger.from_plain(stored.get(side)) for side in on_screen(order_of(row))}


def watch_state(
    row: Row[Any], rule: WatchRule, *, books: dict[ScreenSide, Ledger] | None = None, refused: Sequence[str] = ()
) -> WatchState:
    books, lengths = books or ledgers(row), durations(row)
    return WatchState(
        passes={side: book.passes(lengths[side], rule) if loaded(row, side) else 0 for side, book in books.items()},
        required=rule.passes,
        shares={side: book.share(lengths[side], rule) for side, book in books.items()},
        not_credited=tuple(refused),
    )


def loaded(row: Row[Any], side: ScreenSide) -> bool:
    """Whether this server has sent all of the clip under this assignment: nobody watches what was not loaded. A refusal
    has no clip, so there is nothing to send."""
    return sent_in_full(row.sent, side, getattr(row, f"{on_screen(order_of(row))[side]}_size"))


def sent_in_full(sent: Any, side: str, size: int) -> bool:
    """Whether all bytes of the clip went out; a refusal has none, and nothing to wait for.

    >>> sent_in_full({"A": {"late_ms": 0, "spans": [[0, 900]]}}, "A", 900), sent_in_full(None, "A", 900)
    (True, False)
    >>> sent_in_full(None, "A", 0)
    True
    """
    if size == 0:
        return True
    known = (sent or {}).get(side)
    return known is not None and [[0, size]] == [list(span) for span in known["spans"]]


def late_ms(row: Row[Any], side: str) -> int | None:
    """How long after the pair's showing the clip's first byte went out; None where none has."""
    known = (row.sent or {}).get(side)
    return None if known is None else int(known["late_ms"])


def add_play(
    connection: Connection, row: Row[Any], events: Sequence[PlayEvent], *, rule: WatchRule, now: int
) -> WatchState:
    """Credit the stretches that may count and store all of them, the others with the reason."""
    books, lengths = ledgers(row), durations(row)
    _check_events(events, tuple(books))
    shown = shown_since(row, now)
    elapsed = now - shown
    fresh, refused = _fresh(connection, row, events), []
    ends: dict[str, float] = dict((row.watch or {}).get("ends", {}))
    stored = []
    for event in fresh:
        late = late_ms(row, event.side)
        book, why = (
            (books[event.side], NOT_SENT)
            if late is None
            else credit(
                books[event.side],
                bridged(event.start_ms, ends.get(event.side), rule),
                event.end_ms,
                rate=event.rate,
                visible=event.visible,
                duration_ms=lengths[event.side],
                elapsed_ms=elapsed - late,
                rule=rule,
            )
        )
        books[event.side] = book
        if why:
            ends.pop(event.side, None)
        else:
            ends[event.side] = event.end_ms
        refused += [f"{event.side}: {why}"] if why else []
        stored.append(asdict(event) | {"assignment_id": row.id, "refused": why, "at_ms": now})
    if stored:
        connection.execute(play.insert(), stored)
    watched: dict[str, object] = {side: book.plain() for side, book in books.items()}
    watched["ends"] = ends
    watched["newest"] = max(_newest(row), *(event.sequence for event in fresh)) if fresh else _newest(row)
    connection.execute(KEEP, {"wanted_id": row.id, "watch": watched, "shown_ms": shown, "touched_ms": now})
    return watch_state(row, rule, books=books, refused=refused)


def shown_since(row: Row[Any], now: int) -> int:
    """When the pair was shown, by the server's clock as it goes now.

    Where the clock was set back since the last sign of life, the showing moves with it: otherwise nothing that is
    watched would count until the clock is where it was. Steps within the watch rule's slack are left alone; two servers
    differ by as much.
    """
    shown = int(row.shown_ms if row.shown_ms is not None else row.assigned_ms)
    back = row.touched_ms - now
    return shown - back if back > SET_BACK_MS else shown


def _check_events(events: Sequence[PlayEvent], sides: Sequence[str]) -> None:
    if len(events) > MOST_EVENTS:
        raise StudyError(f"a report holds at most {MOST_EVENTS} stretches of play; got {len(events)}")
    for event in events:
        numbers = (event.start_ms, event.end_ms, event.rate)
        if event.side not in sides or not all(map(math.isfinite, numbers)):
            raise StudyError(f"a stretch of play needs side {' or '.join(sides)} and finite times")
        if not all(abs(number) < 2**62 for number in (event.sequence, event.client_ms)):
            raise StudyError("a stretch of play has a sequence or a clock out of range")


def _newest(row: Row[Any]) -> int:
    return int((row.watch or {}).get("newest", -(2**62)))


def _fresh(connection: Connection, row: Row[Any], events: Sequence[PlayEvent]) -> list[PlayEvent]:
    """The events not stored yet: a page that got no answer sends its report again."""
    doubtful = [event.sequence for event in events if event.sequence <= _newest(row)]
    known: set[tuple[str, int]] = set()
    if doubtful:
        query = select(play.c.side, play.c.sequence).where(
            play.c.assignment_id == row.id, play.c.sequence.in_(doubtful)
        )
        known = {(side, sequence) for side, sequence in connection.execute(query)}
    fresh = []
    for event in events:
        if (event.side, event.sequence) not in known:
            known.add((event.side, event.sequence))
            fresh.append(event)
    return fresh
