"""From clips to one feature vector per video, in input order, with what failed named and left out.

On a CPU every segment runs alone on one thread, several at a time: a vector's bits then depend on nothing but the
segment. On a GPU segments of many videos fill batches of a fixed size.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, Protocol, TypeAlias

import numpy as np
import torch

from rushes.distribution.backbones import BACKBONES
from rushes.distribution.cache import RecipeCache
from rushes.distribution.clip_reading import Segment, Task
from rushes.distribution.decoding import Event, read_clips
from rushes.distribution.feature_set import Features, FeatureSet
from rushes.distribution.networks.operations import PackedOperations, PlainOperations
from rushes.distribution.protocols import Recipe
from rushes.distribution.remarks import ReadFacts
from rushes.distribution.sets import Clip
from rushes.distribution.weights import Weights
from rushes.errors import InputError, MediaError, MissingDependency
from rushes.remote.errors import Unreachable
from rushes.workers.local import cpu_count

Device: TypeAlias = Literal["cpu", "cuda"]
Precision: TypeAlias = Literal["fp32", "tf32", "fp16"]
Warn: TypeAlias = Callable[[str], None]

GPU_BATCH = 64


class Extractor(Protocol):
    """Turns segments into feature vectors, in order."""

    def features(self, segments: Iterable[Segment]) -> Iterator[Features]:
        """One vector (D,) per segment."""


class CpuExtractor:
    """The quick path on a CPU: batch norm folded, weights packed, one segment per thread.

    A backbone without a quick path runs as it is, in the same way.
    """

    def __init__(self, weights: Weights, recipe: Recipe, *, threads: int | None = None) -> None:
        network = weights.network(recipe)
        operations = PackedOperations() if PackedOperations.available() else PlainOperations()
        fast = BACKBONES[recipe.backbone].fast
        self._forward: Callable[[torch.Tensor], torch.Tensor]
        if fast is not None:
            self._forward = fast(network, operations, deepened=False)
        else:
            self._forward = lambda clips: network(clips.permute(0, 4, 1, 2, 3))
        self.threads = threads or cpu_count()
        self._warm = False

    def features(self, segments: Iterable[Segment]) -> Iterator[Features]:
        before = torch.get_num_threads()
        waiting: deque[Future[Features]] = deque()
        try:
            with ThreadPoolExecutor(self.threads, initializer=_one_thread) as pool:
                for segment in segments:
                    if not self._warm:  # packs the weights once, before threads could race for it
                        self._warm = True
                        waiting.append(pool.submit(self._one, segment))
                        waiting[0].result()
                        continue
                    waiting.append(pool.submit(self._one, segment))
                    if len(waiting) > 2 * self.threads:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
        finally:
            torch.set_num_threads(before)

    def _one(self, segment: Segment) -> Features:
        with torch.inference_mode():
            vector: Features = self._forward(torch.from_numpy(segment[None]))[0].numpy()
        return vector


def _one_thread() -> None:
    torch.set_num_threads(1)


class BatchedExtractor:
    """Fixed batches over equal shapes; out of memory halves the batch, says so, and goes on.

    `spare` is how many places at the end of a batch no segment takes, where the forward pass rounds otherwise there.
    """

    def __init__(self, forward: Callable[[Segment], Features], *, batch: int, warn: Warn, spare: int = 0) -> None:
        self._forward, self._warn, self._spare = forward, warn, spare
        self.batch = batch

    @property
    def _room(self) -> int:
        return max(self.batch - self._spare, 1)

    def features(self, segments: Iterable[Segment]) -> Iterator[Features]:
        held: list[Segment] = []
        for segment in segments:
            if held and held[0].shape != segment.shape:
                yield from self._run(held)
                held = []
            held.append(segment)
            if len(held) >= self._room:
                yield from self._run(held)
                held = []
        yield from self._run(held)

    def _run(self, held: list[Segment]) -> Iterator[Features]:
        while held:
            now = held[: self._room]
            # a short batch is filled up, so that every batch runs through the same launches
            filled = np.stack(now + [now[-1]] * (self.batch - len(now)))
            try:
                vectors = self._forward(filled)
            except (torch.OutOfMemoryError, MemoryError):
                if self.batch == 1:
                    raise InputError(
                        "out of memory with a single segment in the batch; use the device cpu or shorter clips"
                    ) from None
                self.batch //= 2
                self._warn(f"out of memory: the batch is now {self.batch} segments")
                continue
            yield from vectors[: len(now)]
            held = held[len(now) :]


def gpu_extractor(
    weights: Weights, recipe: Recipe, *, precision: Precision, batch: int, warn: Warn
) -> BatchedExtractor:
    """The quick path on one GPU; plain torch when fp32 is asked for, or where the backbone has no quick path.

    `MissingDependency` where Triton is not there.
    """
    network = weights.network(recipe)
    backbone = BACKBONES[recipe.backbone]
    if precision != "fp32" and backbone.fast is not None:
        from rushes.distribution.networks.gpu import GpuRunner
        from rushes.distribution.networks.kernels import HAVE_TRITON

        if not HAVE_TRITON:
            raise MissingDependency("the quick GPU path needs Triton: pip install triton, or ask for precision fp32")
        # A batch's last row comes out with other last bits than the rest (I3D on an H200, tf32 and fp16). With that
        # place left free a row depends on its segment alone: resumed runs and any number of GPUs give the same bytes.
        forward = GpuRunner(network, backbone, precision=precision)
        return BatchedExtractor(forward, batch=batch, warn=warn, spare=1)
    if precision == "fp16":
        raise InputError(f"{backbone.name} has no fp16 path; ask for precision tf32 or fp32")
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    plain = network.cuda()

    def plain_forward(segments: Segment) -> Features:
        clips = torch.from_numpy(segments).cuda().permute(0, 4, 1, 2, 3)
        with torch.inference_mode():
            vectors: Features = plain(clips).cpu().numpy()
        return vectors

    return BatchedExtractor(plain_forward, batch=batch, warn=warn)


def make_extractor(
    weights: Weights, recipe: Recipe, *, device: str, precision: Precision | None, batch: int | None, warn: Warn
) -> Extractor:
    """The extractor for a device that `resolve_device` named."""
    if device == "cpu":
        if precision not in (None, "fp32"):
            raise InputError(f"a CPU computes in fp32; got precision {precision}")
        return CpuExtractor(weights, recipe)
    return gpu_extractor(weights, recipe, precision=precision or "tf32", batch=batch or GPU_BATCH, warn=warn)


def resolve_device(wanted: str | None) -> Device:
    """ "cpu" or "cuda": the one wanted, or the GPU where there is one. CUDA wanted and absent is an error."""
    if wanted not in (None, "auto", "cpu", "cuda"):
        raise InputError(f"expected device cpu or cuda; got {wanted!r}")
    available = torch.cuda.is_available()
    if wanted == "cuda" and not available:
        raise InputError("CUDA was asked for, but torch sees no CUDA device here; ask for the device cpu")
    return "cuda" if available and wanted != "cpu" else "cpu"


@dataclass(frozen=True, slots=True)
class ClipFeatures:
    """What became of one clip: its rows of features (R, D) and its digest, or why it was left out."""

    rows: Features | None
    digest: str = ""
    error: str = ""
    facts: ReadFacts | None = None


FeatureSource: TypeAlias = Callable[[Sequence[Clip]], Iterator[tuple[int, ClipFeatures]]]
"""Computes features of clips: (number of the clip, what became of it), in any order."""


def clip_features(tasks: Sequence[Task], extractor: Extractor, *, workers: int) -> Iterator[tuple[int, ClipFeatures]]:
    """Features of each clip, in order, while later clips are read; a clip is done when the next one's first come out.

    Raises `Unreachable` for a clip that its store did not deliver: a set without it would be another set.
    """
    ends: dict[int, Event] = {}
    owners: deque[int] = deque()

    def segments() -> Iterator[Segment]:
        for event in read_clips(tasks, workers=workers):
            if not isinstance(event.payload, str):
                owners.append(event.clip)
                yield event.payload
            elif event.kind == "lost":
                raise Unreachable(event.payload)
            else:
                ends[event.clip] = event

    vectors = extractor.features(segments())
    done = 0
    for number, group in groupby(vectors, key=lambda _: owners.popleft()):
        parts = list(group)
        yield from ((n, _outcome(tasks[n], ends[n], [])) for n in range(done, number))  # those that failed at once
        yield number, _outcome(tasks[number], ends[number], parts)
        done = number + 1
    yield from ((n, _outcome(tasks[n], ends[n], [])) for n in range(done, len(tasks)))


def _outcome(task: Task, end: Event, parts: list[Features]) -> ClipFeatures:
    """A clip's windows, or their mean, summed in double precision; of one that failed half-way nothing is kept."""
    if end.kind != "done":
        return ClipFeatures(None, error=str(end.payload))
    rows = np.stack(parts)
    if task.windows.rows == "video-mean":
        rows = np.asarray(np.mean(rows, axis=0, keepdims=True, dtype=np.float64), np.float32)
    return ClipFeatures(rows, digest=str(end.payload))


def features_of_clips(
    clips: Sequence[Clip],
    source: FeatureSource,
    *,
    dimensions: int,
    cache: RecipeCache | None = None,
    strict: bool = False,
    advance: Callable[[int], None] = lambda n: None,
) -> FeatureSet:
    """Features of a set. A clip that fails is excluded by name; with `strict` it stops the run instead."""
    known: dict[int, ClipFeatures] = {}
    if cache is not None:
        for number, clip in enumerate(clips):
            if (stored := cache.get(clip)) is not None and stored[0].shape[1] == dimensions:
                known[number] = ClipFeatures(stored[0], digest=stored[1], facts=stored[2])
        advance(len(known))
    left = [number for number in range(len(clips)) if number not in known]
    for position, outcome in source([clips[number] for number in left]) if left else ():
        if outcome.error and strict:
            raise MediaError(f"{outcome.error} (strict stops here; without it the clip is left out)")
        known[left[position]] = outcome
        if cache is not None and outcome.rows is not None:
            cache.put(clips[left[position]], outcome.digest, outcome.rows, outcome.facts)
        advance(1)
    return _feature_set(clips, [known[number] for number in range(len(clips))], dimensions)


def _feature_set(clips: Sequence[Clip], outcomes: Sequence[ClipFeatures], dimensions: int) -> FeatureSet:
    kept = [(clip.name, o.digest, o.rows) for clip, o in zip(clips, outcomes, strict=True) if o.rows is not None]
    return FeatureSet(
        names=tuple(name for name, _, rows in kept for _ in rows),
        digests=tuple(digest for _, digest, rows in kept for _ in rows),
        features=np.concatenate([rows for _, _, rows in kept]) if kept else np.empty((0, dimensions), np.float32),
        excluded=tuple((clip.name, o.error) for clip, o in zip(clips, outcomes, strict=True) if o.rows is None),
        facts={clip.name: o.facts for clip, o in zip(clips, outcomes, strict=True) if o.facts and o.rows is not None},
    )
