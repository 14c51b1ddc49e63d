"""Data inside a page: JSON that no parser can take for markup."""

from __future__ import annotations

import json

_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def embedded_json(data: object) -> str:
    """Compact JSON for a script element: whatever the text, it can neither end the element nor open a comment.

    >>> embedded_json({"name": "</script><b>"})
    '{"name":"\\\\u003c/script\\\\u003e\\\\u003cb\\\\u003e"}'
    """
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    # JSON from elsewhere can carry half a surrogate pair, which no file can hold.
    return text.translate(_ESCAPES).encode("utf-8", "replace").decode()
