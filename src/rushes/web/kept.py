"""What was made once and is asked for again: the latest of it, for all threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """The latest `most` of what was made, by key. What is empty is made again: a clip may be put back."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._found: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What is there under this key; made now where there is nothing, while others go on."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
        made = make()
        if made:
            with self._lock:
                self._found[key] = made
                while len(self._found) > self._most:
                    self._found.popitem(last=False)
        return made


class Current(Generic[T]):
    """What was read from a file or folder, by key, for as long as its stamp stays as it was."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[Hashable, tuple[Hashable, T]] = {}

    def knows(self, key: Hashable, stamp: Hashable) -> bool:
        """Whether it is at hand and of this state."""
        with self._lock:
            return key in self._found and self._found[key][0] == stamp

    def get(self, key: Hashable, stamp: Hashable, read: Callable[[], T]) -> T:
        """What is there of this state; read now where there is nothing, while others go on."""
        with self._lock:
            known = self._found.get(key)
        if known is None or known[0] != stamp:
            known = (stamp, read())
            with self._lock:
                self._found[key] = known
        return known[1]
