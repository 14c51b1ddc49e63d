"""What raters are paid: a rate declared with the study, and what it suggests for each of them.

The suggestion is a sum of money in the declared currency, to the cent, half a cent up. Per hour: all the time from the
first page on (`rushes.study.raters.time`), and at least what the votes given take the typical rater; per vote: the
votes given, gold and repeats included; per study: all of it for who completed, else the share of the work done.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal, TypeAlias, cast

from rushes.study.errors import StudyError

Basis: TypeAlias = Literal["hour", "vote", "study"]
_RATE = re.compile(r"(\d{1,6}(?:\.\d{1,4})?) ?([A-Z]{3})/(hour|vote|study)")


@dataclass(frozen=True, slots=True, kw_only=True)
class PayRate:
    """So much money for each hour, vote or study."""

    amount: Decimal
    currency: str
    basis: Basis

    def suggested(self, *, paid_ms: int, votes: int, share: float) -> Decimal:
        """
        >>> read_rate("12 GBP/hour").suggested(paid_ms=25 * 60_000, votes=9, share=0.3)
        Decimal('5.00')
        >>> read_rate("5 EUR/study").suggested(paid_ms=25 * 60_000, votes=19, share=0.95)
        Decimal('4.75')
        """
        units = {"hour": Decimal(paid_ms) / 3_600_000, "vote": Decimal(votes), "study": Decimal(repr(share))}
        return (self.amount * units[self.basis]).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


def read_rate(text: str) -> PayRate:
    """
    >>> read_rate("0.40 USD/vote")
    PayRate(amount=Decimal('0.40'), currency='USD', basis='vote')
    """
    found = _RATE.fullmatch(text.strip())
    if found is None:
        raise StudyError(
            f"pay is an amount, a currency and what for: 12 GBP/hour, 0.40 USD/vote, 5 EUR/study; got {text!r}"
        )
    return PayRate(amount=Decimal(found[1]), currency=found[2], basis=cast(Basis, found[3]))


def rate_text(text: str) -> str:
    """A declared rate as it is kept; "" where none is.

    >>> rate_text(" 12 GBP/hour"), rate_text("")
    ('12 GBP/hour', '')
    """
    if not text.strip():
        return ""
    rate = read_rate(text)
    return f"{rate.amount} {rate.currency}/{rate.basis}"
