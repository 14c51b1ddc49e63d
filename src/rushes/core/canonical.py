"""Canonical JSON: the same data always gives the same bytes.

Keys sorted, no spaces, UTF-8 as is, floats rounded to 8 decimals (−0.0 becomes 0.0), NaN and infinity refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from rushes.core.errors import DefinitionError

DECIMALS = 8


def stored_float(value: float) -> float:
    """The float as stored: 8 decimals, never NaN or infinite, never −0.0.

    >>> stored_float(2 / 3), stored_float(-1e-12)
    (0.66666667, 0.0)
    """
    if not math.isfinite(value):
        raise DefinitionError("NaN and infinity cannot be stored; write null with a note")
    return round(value, DECIMALS) + 0.0


def canonical_json(data: object) -> str:
    """JSON text of plain data, the same for equal data.

    >>> canonical_json({"b": 1 / 3, "a": [True, None, "é"]})
    '{"a":[true,null,"é"],"b":0.33333333}'
    """
    return json.dumps(_plain(data), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_line(data: object) -> str:
    """One line of a JSON-lines file, newline included."""
    return canonical_json(data) + "\n"


def json_object(text: bytes) -> dict[str, Any]:
    """The object that somebody's JSON holds; {} where it holds something else, or is no JSON, as with NaN or infinity.

    >>> json_object(b'{"a": 1.5}'), json_object(b'{"a": Infinity}'), json_object(b'{"a": 1e999}')
    ({'a': 1.5}, {}, {})
    """
    try:
        found = json.loads(text, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no number of JSON")
    return value


def _plain(data: object) -> object:
    if isinstance(data, str):
        return _text(data)
    if data is None or isinstance(data, (bool, int)):
        return data
    if isinstance(data, float):
        return stored_float(data)
    if isinstance(data, Mapping):
        for key in data:
            if not isinstance(key, str):
                raise DefinitionError(f"canonical JSON needs text keys; got {key!r}")
        return {_text(key): _plain(value) for key, value in data.items()}
    if isinstance(data, (Sequence, frozenset, set)) and not isinstance(data, (bytes, bytearray)):
        items = sorted(data) if isinstance(data, (set, frozenset)) else data
        return [_plain(item) for item in items]
    raise DefinitionError(f"canonical JSON holds plain data only; got {type(data).__name__}")


def _text(text: str) -> str:
    """The text, which UTF-8 can hold: a file name in another encoding, or half a surrogate pair, cannot be stored."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            message = f"a name or text that is not UTF-8 cannot be stored; rename the file: {ascii(text)}"
            raise DefinitionError(message) from None
    return text
