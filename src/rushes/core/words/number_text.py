"""How a number is written for people, everywhere: terminal, tables, pages, charts, reasons.

Four significant digits. Whole numbers are whole; from 1000 on there are no decimals; below 0.1 there are as many
decimals as four digits take; zeros past the fourth decimal are left out. Below 0.0001 a number has a power of ten,
because nobody counts zeros in a column of 0.1428s. Some units are whole for people (`WHOLE`). Halves round away from
zero, as `toFixed` does in the pages' scripts, so a page shows what a terminal shows.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal

DIGITS = 4
STORED = 8
"""Decimals that a run stores."""
WHOLE = ("Elo",)
"""Units of which a fraction says nothing to a reader."""
_KEPT = 4
_MINUS = re.compile(r"(?<![\w.)\]-])-(?=\d)")


def number_text(value: float, *, unit: str = "") -> str:
    """A number with four significant digits.

    >>> [number_text(v) for v in (0.45945946, 54.5, 748.81, 1245.02, 12345.678, 3.0, 0, 0.25, 1.5)]
    ['0.4595', '54.50', '748.8', '1245', '12346', '3', '0', '0.2500', '1.500']
    >>> [number_text(v) for v in (0.0187074, 0.0001793, 0.00005, 0.00000001, 3e-10, -0.73, 6.0000000000001)]
    ['0.01871', '0.0001793', '5e-5', '1e-8', '0', '-0.7300', '6']
    >>> number_text(0.00002309), number_text(-0.0000999)
    ('2.309e-5', '-9.99e-5')
    >>> number_text(725.6675, unit="Elo"), number_text(999.96), number_text(0.99996)
    ('726', '1000', '1.000')
    """
    stored = round(float(value), STORED)
    if stored.is_integer():
        return str(int(stored))
    if unit in WHOLE:
        return fixed_text(stored, 0)
    power = _power(abs(stored))
    if power < -_KEPT:
        mantissa = f"{stored:.{DIGITS - 1}e}".partition("e")[0].rstrip("0").rstrip(".")
        return f"{mantissa}e{power}"
    decimals = max(DIGITS - 1 - power, 0)
    text = fixed_text(stored, decimals)
    return _without_zeros(text, keep=_KEPT) if decimals > _KEPT else text


def signed_text(value: float) -> str:
    """A difference: `number_text` with its sign, a proper minus; exactly none is "0".

    >>> [signed_text(v) for v in (-480.0, 0.018707, -348.6416, 0.0, 12345.6, 0.25)]
    ['−480', '+0.01871', '−348.6', '0', '+12346', '+0.2500']
    """
    if value == 0:
        return "0"
    return ("−" if value < 0 else "+") + number_text(abs(value))


def with_minus(text: str) -> str:
    """Numbers in a text for a page, with a proper minus.

    >>> with_minus("-307.9"), with_minus("-736 to 3241"), with_minus("MS-SSIM, 1e-05")
    ('−307.9', '−736 to 3241', 'MS-SSIM, 1e-05')
    """
    return _MINUS.sub("−", text)


def fixed_text(value: float, decimals: int) -> str:
    """So many decimals, halves away from zero.

    >>> fixed_text(0.5, 0), fixed_text(2.5, 0), fixed_text(-0.125, 2)
    ('1', '3', '-0.13')
    """
    return f"{Decimal(value).quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP):f}"


def _power(size: float) -> int:
    """Of ten, after rounding to four digits: 999.96 is 1000."""
    return int(f"{size:.{DIGITS - 1}e}".partition("e")[2])


def _without_zeros(text: str, *, keep: int) -> str:
    whole, _, part = text.partition(".")
    return f"{whole}.{part[:keep]}{part[keep:].rstrip('0')}"
