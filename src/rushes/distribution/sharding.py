"""Features computed by other processes, on this machine or others: what travels there, and what comes back.

On a CPU a shard is one clip: a row's bits depend on nothing but the clip. On a GPU a shard fills several batches of the
fixed size, and a short batch is filled up, so that a row does not depend on its neighbours there either.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from rushes.distribution.cache import FeatureCache
from rushes.distribution.clip_reading import Task
from rushes.distribution.decoding import read_clips
from rushes.distribution.feature_set import FeatureSet
from rushes.distribution.features import ClipRow, CpuExtractor, Extractor, Gather, Precision, make_extractor
from rushes.distribution.protocols import Recipe, Side
from rushes.distribution.sets import Clip
from rushes.distribution.weights import Weights, read_weights
from rushes.errors import WeightsError

GPU_SHARD = (128, 1024)
"""Fewest and most clips of one shard on a GPU: each starts its decoding processes anew, a lost one is done again."""
GPU_SHARDS = 32
"""Shards to make of a set between these bounds, so that several GPUs end at about the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """Which network on which device, as a worker loads them; kept from shard to shard."""

    weights: Path
    sha256: str
    recipe: Recipe
    device: str
    precision: Precision | None
    batch: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """Clips to compute features of; travels to a worker process."""

    clips: tuple[Clip, ...]
    side: Side
    network: Network
    workers: int | None
    """Decoding processes beside a GPU; the cores there when None."""

    def files(self) -> list[str]:
        """What a worker reads for it."""
        return [str(self.network.weights), *(str(path) for clip in self.clips for path in clip.files)]


RowSource: TypeAlias = Callable[[Sequence[Shard]], Iterator[tuple[int, tuple[ClipRow, ...]]]]
"""Runs `shard_rows` somewhere: (number of the shard, a row per clip), in any order."""


def shard_rows(shard: Shard) -> tuple[ClipRow, ...]:
    """The row of every clip of a shard, or why there is none; this runs in the worker."""
    network = shard.network
    extractor = _extractor(network)
    gather = Gather(shard.clips, strict=False, advance=lambda n: None, cache=None)
    tasks = [Task(clip, network.recipe, shard.side) for clip in shard.clips]
    events = read_clips(tasks, workers=_decoders(shard))
    for row in extractor.rows(gather.segments(events, range(len(tasks)))):
        gather.add(row)
    return gather.outcomes()


def _decoders(shard: Shard) -> int:
    """On a CPU the worker reads for itself: there is one for every core."""
    if shard.network.device == "cpu":
        return 0
    there = len(os.sched_getaffinity(0))
    return min(there if shard.workers is None else shard.workers, there, len(shard.clips))


def _gpu_shard(clips: int) -> int:
    """Clips per shard; no value depends on it.

    >>> _gpu_shard(500), _gpu_shard(10_000), _gpu_shard(1_000_000)
    (128, 313, 1024)
    """
    fewest, most = GPU_SHARD
    return min(max(-(-clips // GPU_SHARDS), fewest), most)


@lru_cache(maxsize=2)
def _extractor(network: Network) -> Extractor:
    """Loading takes longer than a clip: once per process is enough."""
    weights = read_weights(network.weights)
    if weights.sha256 != network.sha256:
        raise WeightsError(
            f"{network.weights}: another machine has another file there: wanted {network.sha256}, got {weights.sha256}"
        )
    if network.device == "cpu" and network.precision in (None, "fp32"):
        return CpuExtractor(weights, network.recipe, threads=1)
    device, precision, batch = network.device, network.precision, network.batch
    return make_extractor(
        weights, network.recipe, device=device, precision=precision, batch=batch, say=lambda line: None
    )


def features_elsewhere(
    clips: Sequence[Clip],
    side: Side,
    network: Network,
    weights: Weights,
    *,
    rows: RowSource,
    precision: Precision,
    workers: int | None = None,
    cache: FeatureCache | None = None,
    strict: bool = False,
    advance: Callable[[int], None] = lambda n: None,
) -> FeatureSet:
    """`features_of_clips` with the work done by `rows`; the same set, in the same order."""
    gather = Gather(clips, strict, advance, cache)
    gather.take_cached(network.recipe, side, weights, precision)
    left = [number for number in range(len(clips)) if number not in gather.rows]
    size = 1 if network.device == "cpu" else _gpu_shard(len(left))
    groups = [left[start : start + size] for start in range(0, len(left), size)]
    shards = [
        Shard(clips=tuple(clips[number] for number in group), side=side, network=network, workers=workers)
        for group in groups
    ]
    for position, outcomes in rows(shards):
        for number, outcome in zip(groups[position], outcomes, strict=True):
            gather.put(number, outcome)
    return gather.result(network.recipe.dimensions)
