"""What a study may require of a rater's screen, device and line, before the instructions.

The page measures: the width of its window, whether there is a mouse or touchpad, and how long a small download takes
(the quickest of three, so that one hiccup turns nobody away). It reports that and the server decides; a report cannot
be proved, so this keeps out people who would see little, not people who lie. Who does not pass may change the window,
the device or the line and try again, or stop with a code: the time spent is paid as any other.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection, Row

from rushes.study.errors import StudyError
from rushes.study.queries import log, set_rater, signed_in
from rushes.study.raters.time import count_time
from rushes.study.records import ScreenRule

Lack: TypeAlias = Literal["width", "device", "mbps"]
SPEED_BYTES = 512 * 1024
_WIDEST, _FASTEST = 100_000, 100_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenFound:
    """What a rater's page measured."""

    width: int
    """Of its window, in CSS pixels."""
    pointer: bool
    """Whether the main pointing device is a mouse, a touchpad or the like, and can hover."""
    mbps: float
    """Megabits a second; 0 where nothing was measured."""


def check_screens(rule: ScreenRule | None) -> None:
    """`StudyError` for a rule that cannot be."""
    if rule is None:
        return
    if not 0 <= rule.min_width <= 10_000:
        raise StudyError(f"expected a minimum window width of 0 to 10000 pixels; got {rule.min_width}")
    if rule.device not in ("any", "desktop"):
        raise StudyError(f"a device is any or desktop; got {rule.device!r}")
    if not (math.isfinite(rule.min_mbps) and 0 <= rule.min_mbps <= 1000):
        raise StudyError(f"expected a minimum connection speed of 0 to 1000 Mbit/s; got {rule.min_mbps}")


def screen_rule(row: Row[Any]) -> ScreenRule:
    """The rule of a study, or of the study of a rater."""
    return ScreenRule(**row.screens)


def lacking(rule: ScreenRule, found: ScreenFound) -> tuple[Lack, ...]:
    """Which parts of the rule are not met.

    >>> lacking(ScreenRule(min_width=1000, min_mbps=5), ScreenFound(width=390, pointer=False, mbps=20.0))
    ('width',)
    """
    parts: dict[Lack, bool] = {
        "width": found.width < rule.min_width,
        "device": rule.device == "desktop" and not found.pointer,
        "mbps": found.mbps < rule.min_mbps,
    }
    return tuple(part for part, fails in parts.items() if fails)


def screen_to_pass(who: Row[Any]) -> bool:
    """Whether the rater has to pass the check before going on."""
    return who.screen_ms is None and screen_rule(who).asks


def answer_screen(connection: Connection, now: int, session: str, found: ScreenFound) -> tuple[Lack, ...]:
    """Keep what a rater's page measured; returns what is lacking, () for a rater who may go on."""
    who = signed_in(connection, session, now)
    count_time(connection, who, now=now)
    if not (0 <= found.width <= _WIDEST and math.isfinite(found.mbps) and 0 <= found.mbps <= _FASTEST):
        raise StudyError("the reported screen size is out of range; reload the page")
    if not screen_to_pass(who):
        return ()
    lacks = lacking(screen_rule(who), found)
    told = {**asdict(found), "lacking": list(lacks)}
    first = who.screen_found is None
    set_rater(connection, who.id, screen_found=told, **({} if lacks else {"screen_ms": now}))
    if first or not lacks:  # a rater may look again as often as they like: the log has the first time, and the last
        action = "failed the screen check" if lacks else "passed the screen check"
        log(connection, study_id=who.study_id, actor=who.code, action=action, now=now, **told)
    return lacks


def speed_bytes() -> bytes:
    """What the page downloads to time it: the same every time, and nothing that a line could compress."""
    return hashlib.shake_256(b"rushes speed").digest(SPEED_BYTES)
