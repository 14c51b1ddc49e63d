"""What travels between a parent and its worker process: a kind, a pickle, and large arrays beside it as they are.

An array of 64 KiB or more is written from its own memory and read into memory of its own: no other copy is made. Small
messages are written and read many at a time: beside a thread that computes in Python, every call to the system costs
a parent several milliseconds, until it has Python's lock again. Both ends are processes of ours, joined by a socket
that nobody else can open.
"""

from __future__ import annotations

import os
import pickle
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal["ready", "begin", "part", "done", "error", "no memory", "task"]
_KINDS: tuple[Kind, ...] = ("ready", "begin", "part", "done", "error", "no memory", "task")

_HEAD = struct.Struct("<BIQ")
"""Kind, number of arrays, bytes of the pickle; each array's bytes follow as 64-bit numbers."""
_BESIDE_BYTES = 64 * 1024
"""An array from this size on travels beside the pickle."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message, still packed: a process that only passes it on never loads what is inside."""

    kind: Kind
    pickled: bytes | bytearray = b""
    arrays: Sequence[Any] = ()

    def value(self) -> Any:
        """What was sent; an exception that the work function raised is raised here."""
        value = pickle.loads(self.pickled, buffers=self.arrays)  # from a process of our own  # nosec B301
        if self.kind == "error":
            raise value
        return value


def packed(kind: Kind, value: object) -> Message:
    """A message of its own bytes, except for large arrays, which stay where they are until it is sent.

    >>> packed("done", {"frames": 16}).value()
    {'frames': 16}
    """
    arrays: list[memoryview] = []

    def inside(array: pickle.PickleBuffer) -> bool:
        view = array.raw()
        if view.nbytes >= _BESIDE_BYTES:
            arrays.append(view)
        return view.nbytes < _BESIDE_BYTES

    return Message(kind, pickle.dumps(value, protocol=5, buffer_callback=inside), arrays)


def send(descriptor: int, *messages: Message) -> None:
    """Write messages; `BrokenPipeError` or `ConnectionResetError` when the other process is gone."""
    small = bytearray()
    for message in messages:
        sizes = struct.pack(f"<{len(message.arrays)}Q", *(memoryview(array).nbytes for array in message.arrays))
        small += _HEAD.pack(_KINDS.index(message.kind), len(message.arrays), len(message.pickled))
        small += sizes + message.pickled
        if message.arrays:
            for content in (small, *message.arrays):
                _write(descriptor, content)
            small = bytearray()
    _write(descriptor, small)


def _write(descriptor: int, content: Any) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]


class Inbox:
    """The messages that arrive on a descriptor, in order."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._unread = memoryview(b"")

    @property
    def has_message(self) -> bool:
        """Whether a whole message was read together with the one before it."""
        if len(self._unread) < _HEAD.size:
            return False
        _, arrays, size = _HEAD.unpack_from(self._unread)
        return not arrays and len(self._unread) >= _HEAD.size + size

    def receive(self) -> Message:
        """The next message, once it is there; `EOFError` or `ConnectionResetError` when the other process is gone."""
        kind, arrays, size = _HEAD.unpack(self._filled(bytearray(_HEAD.size)))
        sizes = struct.unpack(f"<{arrays}Q", self._filled(bytearray(8 * arrays)))
        pickled = self._filled(bytearray(size))
        return Message(_KINDS[kind], pickled, [self._filled(_room(size)) for size in sizes])

    def _filled(self, room: Any) -> Any:
        left = memoryview(room)
        while left:
            if self._unread or len(left) < _BESIDE_BYTES:
                count = self._take(left)
            else:
                count = os.readv(self._descriptor, [left])
            if not count:
                raise EOFError("the other process is gone")
            left = left[count:]
        return room

    def _take(self, left: memoryview) -> int:
        """Fill from what was read, and read more where there is nothing; how many bytes."""
        self._unread = self._unread or memoryview(os.read(self._descriptor, _BESIDE_BYTES))
        count = min(len(left), len(self._unread))
        left[:count] = self._unread[:count]
        self._unread = self._unread[count:]
        return count


def _room(size: int) -> Any:
    """Memory that nobody wipes before it is written over."""
    import numpy as np

    return np.empty(size, np.uint8)
