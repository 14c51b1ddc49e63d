"""What Prolific takes: who is approved, and who gets a bonus of how much.

approvals   ids of participants who completed the study, one a line, as Prolific's bulk approval takes them
bonuses     `participant_id,amount` a line and no header, as Prolific's bulk bonuses take them (csv_bonuses)

The study's reward on Prolific is paid on approval. The bonus is what the declared rate suggests beyond that; for who
stopped early or was screened out, whose submission is returned, all of it. Exclusion from the results changes neither.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from rushes.study.recruiting.payments import Payment

_HASHED = "hashed:"


def is_known(line: Payment) -> bool:
    """Whether a line has the platform's own id, which the file needs."""
    return bool(line.participant) and not line.participant.startswith(_HASHED)


def approvals(lines: Iterable[Payment]) -> str:
    """Ids to approve, one a line."""
    return "".join(f"{line.participant}\n" for line in lines if is_known(line) and line.outcome == "completed")


def bonuses(lines: Iterable[Payment], *, reward: Decimal = Decimal(0)) -> str:
    """`id,amount` for everybody who is owed more than the reward that approval pays."""
    owed = [(line, bonus(line, reward)) for line in lines if is_known(line)]
    return "".join(f"{line.participant},{amount:.2f}\n" for line, amount in owed if amount > 0)


def bonus(line: Payment, reward: Decimal) -> Decimal:
    """What is owed beyond the reward; never below 0."""
    suggested = line.suggested_pay or Decimal(0)
    return max(Decimal(0), suggested - (reward if line.outcome == "completed" else Decimal(0)))
