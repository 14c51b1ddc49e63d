"""What every object of the loop can do, whatever it measures; one over the ranks of `torch.distributed`."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.core.selection import Numbers, machine_names

State: TypeAlias = dict[str, NDArray[Any]]
Packed: TypeAlias = NDArray[np.uint8]


class LoopMetric(Protocol):
    """`rushes.FVD`, `Fidelity`, `Clip` and `Pose`, and any object of yours that does the same."""

    def update(self, *args: Any, **kwargs: Any) -> Any:
        """Count a batch; each object has its own arguments."""
        ...

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


Metric = TypeVar("Metric", bound=LoopMetric)


def gathered(metric: Metric, *, group: Any = None) -> Metric:
    """A metric that holds what every rank holds, on every rank; the one that was given stays as it is.

    States are gathered in rank order (`all_gather_object`, so any backend with a device for objects will do) and may be
    of any size: ranks with more clips, fewer or none. The numbers are those of one process that saw everything, to the
    bit. A named clip that several ranks saw (a sampler fills its last batch up) counts once. Without an initialised
    process group it is a copy.

        total = rushes.loop.gathered(fvd)
        if rank == 0:
            print(total.compute()["fvd"].value)
    """
    import torch.distributed as dist

    states: list[State | None] = [metric.state_dict()]
    if dist.is_available() and dist.is_initialized():
        states = [None] * dist.get_world_size(group)
        dist.all_gather_object(states, metric.state_dict(), group=group)
    whole = metric.clone()
    for rank, state in enumerate(states):
        if state is None:
            raise InputError(f"rank {rank} sent no state; every rank of the group calls gathered()")
        whole.merge(state)
    return whole


def by_name(measurements: Iterable[Measurement]) -> dict[str, Measurement]:
    """Numbers by metric name, in letters that loggers and trackers take; those that share one have behind it what they
    differ in: "pck/k_20/norm_absolute-px"."""
    found = list(measurements)
    return dict(zip(machine_names(found), found, strict=True))


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
