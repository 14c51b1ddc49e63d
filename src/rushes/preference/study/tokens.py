"""Secrets for links, cookies and media: made here, shown once, stored as hashes. And the clock they expire by."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from typing import TypeAlias

Clock: TypeAlias = Callable[[], int]
"""Milliseconds since 1970."""


def system_clock() -> int:
    return time.time_ns() // 1_000_000


def new_token() -> str:
    """192 random bits, safe in a URL."""
    return secrets.token_urlsafe(24)


def token_hash(token: str) -> str:
    """What is stored of a secret. It has 192 bits of its own, so a plain digest cannot be turned back."""
    return hashlib.sha256(token.encode()).hexdigest()
