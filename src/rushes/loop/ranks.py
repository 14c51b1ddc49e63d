"""One metric over the ranks of `torch.distributed`."""

from __future__ import annotations

from typing import Any, TypeVar

from rushes.errors import InputError
from rushes.loop.metric import LoopMetric, State

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
