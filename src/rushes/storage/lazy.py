"""Sequences whose items are made when they are asked for: a million of them need not be held."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

Item = TypeVar("Item")


class LazySequence(Sequence[Item]):
    """Items by their number, each made when it is asked for."""

    @abstractmethod
    def _at(self, position: int) -> Item:
        """The item of this position, from 0; `IndexError` where there is none."""

    @overload
    def __getitem__(self, position: int) -> Item: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, position: int | slice) -> Item | tuple[Item, ...]:
        if isinstance(position, slice):
            return tuple(self[number] for number in range(*position.indices(len(self))))
        return self._at(position + len(self) if position < 0 else position)
