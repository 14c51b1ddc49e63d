"""The play ledger: which moments of a clip were watched, how often, and whether that makes two full passes.

Credited is forward play, at 1× or slower, while the page was visible, and no more of it than time has passed on the
server since the pair was shown. Passes are counted by moment: a clip has k passes when all of it but the declared
tolerance was played at least k times. Playing one half four times is therefore no pass at all, and looping a passage
never stands in for the rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rushes.core.errors import InputError
from rushes.instruments.preference.votes import WatchedSpan

Span: TypeAlias = tuple[int, int]
_RATE_SLACK = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchRule:
    """What counts as having watched a clip. Declared with the study, and part of what its votes mean."""

    passes: int = 2
    """Full passes of each clip before a vote: the rubric's "fully at least twice"."""
    tolerance_ms: float = 250.0
    """How much of a clip a pass may miss: browsers report the last position late."""
    tolerance_share: float = 0.1
    """And never more than this share of the clip, however short it is."""
    max_rate: float = 1.0
    clock_slack_ms: float = 1000.0
    """How far a report may run ahead of the server's clock."""
    bridge_ms: float = 250.0
    """A stretch that begins so little after the last one ended goes on from there: on a busy machine the browser says
    late that a clip plays again after it was held. What is bridged must fit the server's clock like all play."""

    def wanted_ms(self, duration_ms: float) -> float:
        """Milliseconds of a clip that one pass must cover.

        >>> WatchRule().wanted_ms(4000), WatchRule().wanted_ms(1000)
        (3750.0, 900.0)
        """
        return duration_ms - min(self.tolerance_ms, self.tolerance_share * duration_ms)


@dataclass(frozen=True, slots=True)
class Ledger:
    """What was credited for one clip: for each pass, the stretches it covers, sorted and disjoint."""

    covered: tuple[tuple[Span, ...], ...] = ()
    credited_ms: int = 0
    """All credited play, also beyond the last pass; what is held against the server's clock."""

    def add(self, start_ms: int, end_ms: int, *, passes: int) -> Ledger:
        """Credit one stretch: what pass 1 lacks goes to pass 1, what it has goes on to pass 2, and so on.

        >>> Ledger().add(0, 600, passes=2).add(400, 1000, passes=2).covered
        (((0, 1000),), ((400, 600),))
        """
        pieces: tuple[Span, ...] = ((start_ms, end_ms),)
        levels = list(self.covered)
        for level in range(passes):
            have = levels[level] if level < len(levels) else ()
            if not pieces:
                break
            again = _overlap(pieces, have)
            merged = union(have, pieces)
            levels[level : level + 1] = [merged]
            pieces = again
        return Ledger(tuple(levels), self.credited_ms + end_ms - start_ms)

    def passes(self, duration_ms: float, rule: WatchRule) -> int:
        """Full passes so far, at most `rule.passes`. What has no duration (a refusal) asks for no watching."""
        if duration_ms <= 0:
            return rule.passes
        wanted = rule.wanted_ms(duration_ms)
        done = 0
        while done < min(rule.passes, len(self.covered)) and _length(self.covered[done]) >= wanted:
            done += 1
        return done

    def share(self, duration_ms: float, rule: WatchRule) -> float:
        """How far the pass under way has come, 0 to 1; 1 when all are done."""
        done = self.passes(duration_ms, rule)
        if done >= rule.passes:
            return 1.0
        covered = _length(self.covered[done]) if done < len(self.covered) else 0
        return min(1.0, covered / max(rule.wanted_ms(duration_ms), 1.0))

    def spans(self, clip: str) -> tuple[WatchedSpan, ...]:
        """The ledger as a vote keeps it."""
        return tuple(
            WatchedSpan(clip, number, start, end)
            for number, level in enumerate(self.covered, 1)
            for start, end in level
        )

    def plain(self) -> dict[str, object]:
        return {"covered": [[list(piece) for piece in level] for level in self.covered], "credited": self.credited_ms}

    @classmethod
    def from_plain(cls, data: object) -> Ledger:
        """Back from `plain`; an empty ledger from None."""
        if data is None:
            return cls()
        if not isinstance(data, dict):
            raise InputError(f"a stored ledger is an object; got {type(data).__name__}")
        covered = tuple(tuple((int(s), int(e)) for s, e in level) for level in data["covered"])
        return cls(covered, int(data["credited"]))


def bridged(start_ms: float, last_end_ms: float | None, rule: WatchRule) -> float:
    """Where a stretch begins, given where the last credited one of this clip ended.

    >>> bridged(1127.0, 1000.0, WatchRule()), bridged(1400.0, 1000.0, WatchRule()), bridged(0.0, 1000.0, WatchRule())
    (1000.0, 1400.0, 0.0)
    """
    follows = last_end_ms is not None and 0 < start_ms - last_end_ms <= rule.bridge_ms
    return last_end_ms if follows and last_end_ms is not None else start_ms


def credit(
    ledger: Ledger,
    start_ms: float,
    end_ms: float,
    *,
    rate: float,
    visible: bool,
    duration_ms: float,
    elapsed_ms: float,
    rule: WatchRule,
) -> tuple[Ledger, str]:
    """The ledger with one reported stretch credited, or as it was with the reason in words.

    `elapsed_ms` is the server's time since the pair was shown: a browser's clock can be wrong, or lie.
    """
    reason = _refusal(start_ms, end_ms, rate, visible, rule)
    if reason:
        return ledger, reason
    start, end = max(0, round(start_ms)), min(round(duration_ms), round(end_ms))
    if end <= start:
        return ledger, ""
    if ledger.credited_ms + (end - start) > elapsed_ms + rule.clock_slack_ms:
        return ledger, "more play was reported than time has passed"
    return ledger.add(start, end, passes=rule.passes), ""


def _refusal(start_ms: float, end_ms: float, rate: float, visible: bool, rule: WatchRule) -> str:
    if not all(map(math.isfinite, (start_ms, end_ms, rate))):
        return "the reported times are not numbers"
    if not visible:
        return "the clip was hidden while it played"
    if rate > rule.max_rate + _RATE_SLACK:
        return f"played at {rate:g}× (at most {rule.max_rate:g}×)"
    return "" if rate > 0 else "played backwards"


def union(one: Sequence[Span], other: Sequence[Span]) -> tuple[Span, ...]:
    """What either covers, sorted and disjoint.

    >>> union([(0, 5), (9, 12)], [(5, 7)])
    ((0, 7), (9, 12))
    """
    merged: list[Span] = []
    for start, end in sorted((*one, *other)):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _overlap(one: Sequence[Span], other: Sequence[Span]) -> tuple[Span, ...]:
    return tuple((max(a, c), min(b, d)) for a, b in one for c, d in other if max(a, c) < min(b, d))


def _length(level: Sequence[Span]) -> int:
    return sum(end - start for start, end in level)
