"""What chat endpoints take and give: the address, a picture, and the text of a completion."""

from __future__ import annotations

import base64
import ipaddress
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from rushes.core.errors import InputError


def check_address(url: str, option: str) -> None:
    """Refuse an address that cannot be asked, or that holds a secret."""
    try:
        parts = urlsplit(url)
        readable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        readable = False
    if not readable:
        raise InputError(f"{option} reads http(s)://host/v1; got {url!r}")
    if parts.username or parts.password:
        raise InputError(f"{option} must not contain a user name or password; put the key into the environment")


def is_loopback(url: str) -> bool:
    """Whether the address is this machine.

    >>> is_loopback("http://127.0.0.1:8000/v1"), is_loopback("http://localhost/v1"), is_loopback("https://api.x.org/v1")
    (True, True, False)
    """
    return is_local(urlsplit(url).hostname or "")


def is_local(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def image_part(jpeg: bytes) -> dict[str, object]:
    """A picture as a part of a message."""
    return {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64," + base64.b64encode(jpeg).decode()}}


def without_fence(text: str) -> str:
    """The inside of a Markdown code fence, which models like to put around JSON."""
    lines = text.strip().splitlines()
    return "\n".join(lines[1:-1]) if len(lines) > 2 and lines[0].startswith("```") and lines[-1] == "```" else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One answer of a model, and what the endpoint says of who gave it."""

    text: str
    """"" where the model gave none; `refusal` may say why."""
    model: str = ""
    fingerprint: str = ""
    refusal: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None


def read_completion(reply: bytes) -> Completion | None:
    """The completion in a reply; None where it is something else."""
    try:
        data = json.loads(reply.decode("utf-8"))
        choice = data["choices"][0]
        message = choice["message"]
        text, usage = message["content"], data.get("usage")
        refused = message.get("refusal") or ("filtered" if choice.get("finish_reason") == "content_filter" else "")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return Completion(
        text=text if isinstance(text, str) else "",
        model=_word(data.get("model")),
        fingerprint=_word(data.get("system_fingerprint")),
        refusal=_word(refused),
        tokens_in=_count(usage, "prompt_tokens"),
        tokens_out=_count(usage, "completion_tokens"),
    )


def _word(found: Any) -> str:
    return " ".join(found.split())[:200] if isinstance(found, str) else ""


def _count(usage: Any, key: str) -> int | None:
    found = usage.get(key) if isinstance(usage, Mapping) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found < 1 << 40 else None
