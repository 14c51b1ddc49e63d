"""Padding behind a clip's bytes: the clips of one sample are sent in equally many, and never in the same twice.

The padding is one element that players skip: `free` in MP4 (ISO/IEC 14496-12, 8.1.2), Void in WebM (RFC 8794, 11.3.4).
What is in it comes from the address the clip is sent under, so that the bytes of one clip differ between assignments
and agree between two requests of one.
"""

from __future__ import annotations

import hashlib
from typing import Any

_BLOCK = 1 << 16


class Padding:
    """The last bytes of what is sent, from the clip's own size on."""

    def __init__(self, key: str, *, size: int, padded: int, webm: bool = False) -> None:
        self.size, self.padded = size, padded
        length = padded - size
        self._head = b"\xec\x01" + (length - 9).to_bytes(7, "big") if webm else length.to_bytes(4, "big") + b"free"
        if not webm and length >= 1 << 32:
            self._head = (1).to_bytes(4, "big") + b"free" + length.to_bytes(8, "big")
        self._block = min(_BLOCK, length)
        self._noise = hashlib.shake_256(b"rushes padding " + key.encode()).digest(self._block)

    def read(self, start: int, end: int) -> bytes:
        """Bytes [start, end) of what is sent, all of them behind the clip's own.

        >>> made = Padding("key", size=100, padded=164)
        >>> made.read(100, 108), len(made.read(100, 164)), made.read(110, 120) == made.read(100, 164)[10:20]
        (b'\\x00\\x00\\x00@free', 64, True)
        """
        head = self._head[start - self.size : end - self.size]
        first = max(start - self.size, len(self._head)) - len(self._head)
        count = end - start - len(head)
        return head + self._filler(first, count)

    def _filler(self, first: int, count: int) -> bytes:
        offset = first % self._block
        return (self._noise * ((offset + count) // self._block + 1))[offset : offset + count]


class PaddedFile:
    """An open file with padding behind it; reads and seeks as `anyio.AsyncFile` does."""

    def __init__(self, file: Any, padding: Padding) -> None:
        self._file, self._padding, self._place = file, padding, 0

    async def seek(self, place: int) -> int:
        self._place = place
        return int(await self._file.seek(min(place, self._padding.size)))

    async def read(self, count: int) -> bytes:
        """So many bytes; fewer only at the end."""
        parts, end = [], min(self._place + count, self._padding.padded)
        while self._place < min(end, self._padding.size):
            part = await self._file.read(min(end, self._padding.size) - self._place)
            if not part:
                break
            parts.append(part)
            self._place += len(part)
        if self._padding.size <= self._place < end:
            parts.append(self._padding.read(self._place, end))
            self._place = end
        return b"".join(parts)
