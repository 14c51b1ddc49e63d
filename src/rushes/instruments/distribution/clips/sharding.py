"""Features computed by worker processes, on this machine or others: what travels to them, and what comes back.

On a CPU a shard is one clip: a vector's bits depend on nothing but the clip. On a GPU a shard fills several batches of
the fixed size, and a short batch is filled up, so that a vector does not depend on its neighbours there either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rushes.core.errors import WeightsError
from rushes.instruments.distribution.clips.decoding import Decoders, decoders
from rushes.instruments.distribution.clips.reading import Task, crash_line
from rushes.instruments.distribution.features.extraction import (
    ClipFeatures,
    Extractor,
    FeatureReader,
    FeatureSource,
    Precision,
    make_extractor,
)
from rushes.instruments.distribution.features.weights import read_weights
from rushes.instruments.distribution.protocols import Recipe, Side
from rushes.media.find.sets import Clip
from rushes.workers.engine import Crash, Engine, run_tasks

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
    jobs: int | None
    """Decoding processes beside a GPU; the cores there when None."""

    def files(self) -> list[str]:
        """What a worker reads for it."""
        return [str(self.network.weights), *(str(path) for clip in self.clips for path in clip.files)]


def shard_features(shard: Shard) -> tuple[ClipFeatures, ...]:
    """What became of every clip of a shard, in order; this runs in the worker."""
    tasks = [Task(clip, shard.network.recipe, shard.side) for clip in shard.clips]
    # on a CPU the worker reads for itself: there is one for every core
    readers = 0 if shard.network.device == "cpu" else decoders(shard.jobs, len(shard.clips))
    with FeatureReader(Decoders(readers)) as reader:
        found = dict(reader.features(tasks, _extractor(shard.network)))
    return tuple(found[number] for number in range(len(tasks)))


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
            f"{network.weights}: another machine has a different file at this path: expected "
            f"{network.sha256}, got {weights.sha256}"
        )
    device, precision, batch = network.device, network.precision, network.batch
    return make_extractor(
        weights, network.recipe, device=device, precision=precision, batch=batch, threads=1, warn=lambda line: None
    )


def features_on_workers(engine: Engine, side: Side, network: Network, *, jobs: int | None = None) -> FeatureSource:
    """A source of features that runs shards as tasks of the engine: one worker per core, or per GPU."""
    on_gpu = network.device != "cpu"

    def source(clips: Sequence[Clip]) -> Iterator[tuple[int, ClipFeatures]]:
        size = _gpu_shard(len(clips)) if on_gpu else 1
        starts = range(0, len(clips), size)
        shards = [
            Shard(clips=tuple(clips[start : start + size]), side=side, network=network, jobs=jobs) for start in starts
        ]
        workers = None if on_gpu else jobs or None
        outcomes = run_tasks(shard_features, shards, engine=engine, jobs=workers, needs=Shard.files, gpus=int(on_gpu))
        for position, outcome in outcomes:
            if isinstance(outcome, Crash):
                outcome = tuple(ClipFeatures(None, error=crash_line(clip)) for clip in shards[position].clips)
            yield from enumerate(outcome, starts[position])

    return source
