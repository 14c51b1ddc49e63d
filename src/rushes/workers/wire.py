"""What travels between a parent and its worker process: a kind, a pickle, and large arrays beside it as they are.

An array of 64 KiB or more is written from its own memory and read into memory of its own: no other copy is made. Both
ends are processes of ours, joined by a socket that nobody else can open.
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


def send(descriptor: int, message: Message) -> None:
    """Write one message; `BrokenPipeError` or `ConnectionResetError` when the other process is gone."""
    sizes = struct.pack(f"<{len(message.arrays)}Q", *(memoryview(array).nbytes for array in message.arrays))
    head = _HEAD.pack(_KINDS.index(message.kind), len(message.arrays), len(message.pickled))
    for content in (head + sizes + message.pickled, *message.arrays):
        left = memoryview(content)
        while left:
            left = left[os.write(descriptor, left) :]


def receive(descriptor: int) -> Message:
    """Read one message; `EOFError` or `ConnectionResetError` when the other process is gone."""
    kind, arrays, size = _HEAD.unpack(_filled(descriptor, bytearray(_HEAD.size)))
    sizes = struct.unpack(f"<{arrays}Q", _filled(descriptor, bytearray(8 * arrays)))
    pickled = _filled(descriptor, bytearray(size))
    return Message(_KINDS[kind], pickled, [_filled(descriptor, _room(size)) for size in sizes])


def _room(size: int) -> Any:
    """Memory that nobody wipes before it is written over."""
    import numpy as np

    return np.empty(size, np.uint8)


def _filled(descriptor: int, room: Any) -> Any:
    left = memoryview(room)
    while left:
        count = os.readv(descriptor, [left])
        if not count:
            raise EOFError("the other process is gone")
        left = left[count:]
    return room
