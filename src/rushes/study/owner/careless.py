"""Which raters meet a study's declared exclusion rule, and the votes that say so.

Whether somebody is left out of the results has nothing to do with their pay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from rushes.instruments.preference.methods.method import Method, method
from rushes.study.database.tables import pair
from rushes.study.owner.attention import Attention, GivenVote, attention
from rushes.study.queries import TRIAL, watch_rule, with_all_clips
from rushes.study.raters.screen import letters, order_of
from rushes.study.records import ExclusionRule
from rushes.study.status import RaterStatus

_LEAST_SIDE_VOTES = 10
_LEAST_REPEATS = 3


def attention_of(connection: Connection, found: Row[Any], rows: Sequence[Row[Any]]) -> dict[int, Attention]:
    """What the answers to samples show of each rater's attention, by the rater's row id."""
    asked, passes = method(found.method), watch_rule(found).passes
    watched = {row.id: _least_watch(asked, row[1:]) for row in connection.execute(_LENGTHS, {"study_wanted": found.id})}
    return attention(
        [
            GivenVote(
                rater=row.rater_id,
                sample=row.pair_id,
                order=row.first_id,
                think_s=None
                if row.shown_ms is None
                else max(0.0, (row.at_ms - row.shown_ms - passes * watched[row.pair_id]) / 1000),
                **_answer(asked, row),
            )
            for row in rows
            if row.purpose == "sample"
        ]
    )


def _answer(asked: Method, row: Row[Any]) -> dict[str, Any]:
    """What was chosen, and where it stood on the screen."""
    if asked.rates:
        score = asked.main({name: both[0] for name, both in row.ratings.items() if both[0] is not None})
        return {"score": float(score), "screen": str(score)}
    if asked.is_pairs:
        side = letters("ab" if row.left == "a" else "ba")[row.winner] if row.left else row.winner
        return {"choices": (row.winner,), "screen": side}
    ends = (row.answer["best"], row.answer["worst"])
    places = letters(order_of(row))
    return {"choices": ends, "screen": "".join(places[clip] for clip in ends)}


def _least_watch(asked: Method, lengths: Sequence[int | None]) -> int:
    """Milliseconds that one watch of a trial takes: of clips side by side the longest, of `dcr` one after the other."""
    known = [length for length in lengths if length]
    return sum(known) if asked.sequential else max(known, default=0)


_LENGTHS = with_all_clips(
    select(pair.c.id, *(table.c.duration_ms.label(f"length_{k}") for k, table in enumerate(TRIAL)))
).where(pair.c.study_id == bindparam("study_wanted"))


def rule_met(rule: ExclusionRule, line: RaterStatus) -> str:
    """Which part of the declared rule a rater meets, in words such as "1 gold answers wrong (at most 0)"; "" when
    none."""
    wrong, sided = line.gold_total - line.gold_right, line.chose_a + line.chose_b
    if rule.max_gold_errors is not None and wrong > rule.max_gold_errors:
        return f"{wrong} gold answers wrong (at most {rule.max_gold_errors})"
    if rule.max_side_bias is not None and sided >= _LEAST_SIDE_VOTES:
        bias = abs(line.chose_a / sided - 0.5)
        if bias > rule.max_side_bias:
            most = f"(bias {bias:.2f}, at most {rule.max_side_bias})"
            return f"chose the left clip in {line.chose_a} of {sided} votes {most}"
    if rule.min_repeat_agreement is not None and line.repeats_total >= _LEAST_REPEATS:
        same, total, least = line.repeats_same, line.repeats_total, rule.min_repeat_agreement
        if same / total < least:
            return f"repeated {same} of {total} votes (at least {least:g})"
    return _inattention(rule, line)


def _inattention(rule: ExclusionRule, line: RaterStatus) -> str:
    if rule.max_consensus_p is not None and line.consensus_p is not None and line.consensus_p < rule.max_consensus_p:
        most = f"(p {line.consensus_p:.2g}, at least {rule.max_consensus_p:g})"
        return f"agreed with the other raters in {line.agreed} of {line.compared} votes {most}"
    if rule.max_run_p is not None and line.run_p is not None and line.run_p < rule.max_run_p:
        most = f"(p {line.run_p:.2g}, at least {rule.max_run_p:g})"
        return f"gave the same answer {line.longest_run} times in a row {most}"
    if rule.min_think_s is not None and line.think_s is not None and line.think_s < rule.min_think_s:
        return f"voted {line.think_s:.1f} s after watching, in the median (at least {rule.min_think_s:g} s)"
    return ""
