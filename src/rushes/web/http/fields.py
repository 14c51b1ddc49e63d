"""Numbers out of what people and programs send."""

from __future__ import annotations


def whole_number(text: str, *, highest: int) -> int | None:
    """The whole number from 0 to `highest` that a text is; None for anything else, however long or strange.

    >>> whole_number("007", highest=10), whole_number("11", highest=10), whole_number("-1", highest=10)
    (7, None, None)
    >>> whole_number("²", highest=10), whole_number("9" * 5000, highest=10)  # int() takes neither
    (None, None)
    """
    if not text.isdecimal() or len(text.lstrip("0")) > len(str(highest)):
        return None
    number = int(text.lstrip("0") or "0")
    return number if number <= highest else None
