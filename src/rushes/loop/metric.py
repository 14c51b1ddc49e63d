"""What every object of the loop can do, whatever it measures."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core.selection import Numbers
from rushes.errors import InputError

State: TypeAlias = dict[str, NDArray[Any]]
Packed: TypeAlias = NDArray[np.uint8]


class LoopMetric(Protocol):
    """`rushes.FVD`, `Fidelity`, `Clip` and `Pose`, and any object of yours that does the same."""

    update: Any
    """Count a batch; each object has its own arguments."""

    def compute(self) -> Numbers:
        """The numbers of all that came. May be called at any time; nothing is forgotten."""
        ...

    def reset(self) -> None:
        """Forget all that came."""

    def clone(self) -> Self:
        """The same settings and networks, with nothing in it."""
        ...

    def merge(self, *others: Any) -> None:
        """Count what others of the same settings, or their states, hold."""

    def state_dict(self) -> State:
        """All that came as plain numpy arrays."""
        ...

    def load_state_dict(self, state: Mapping[str, NDArray[Any]], /) -> None:
        """Hold what a state holds, and nothing else."""


def packed(state: State) -> Packed:
    """A state as one array of bytes: eight that say how many follow, then an `.npz`. Equal states give equal bytes."""
    target = io.BytesIO()
    np.savez(target, **state)  # type: ignore[arg-type]
    data = target.getvalue()
    return np.frombuffer(len(data).to_bytes(8, "little") + data, np.uint8)


def unpacked(data: Packed) -> list[State]:
    """The states of one packed after the other; `InputError` for bytes that are none."""
    found: list[State] = []
    rest = data.tobytes()
    while rest:
        size = int.from_bytes(rest[:8], "little")
        body, rest = rest[8 : 8 + size], rest[8 + size :]
        try:
            with np.load(io.BytesIO(body), allow_pickle=False) as arrays:
                found.append({name: arrays[name] for name in arrays.files})
        except (ValueError, OSError, zipfile.BadZipFile) as error:
            raise InputError(f"expected packed states; got other bytes ({error})") from None
    return found
