"""From clips to rows of features, video by video, with what failed named and left out.

On a CPU every window runs alone on one thread, several at a time: a vector's bits then depend on nothing but the
window. On a GPU windows of many videos fill batches of a fixed size, and no row depends on its neighbours either. So
clips may be read in any order, and the set's rows are in input order all the same.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import torch

from rushes.core.errors import InputError, MediaError, MissingDependency
from rushes.core.machine.installing import pip_install
from rushes.core.words.options import option
from rushes.instruments.distribution.clips.decoding import Decoders, Done, Event
from rushes.instruments.distribution.clips.device_preparation import DevicePreparation, fill
from rushes.instruments.distribution.clips.device_windows import DeviceWindows
from rushes.instruments.distribution.clips.reading import Segment, Task
from rushes.instruments.distribution.features.cache import RecipeCache
from rushes.instruments.distribution.features.rows import Features, FeatureSet, as_rows
from rushes.instruments.distribution.features.weights import Weights
from rushes.instruments.distribution.networks.fast import PackedOperations, PlainOperations
from rushes.instruments.distribution.protocols import Recipe
from rushes.instruments.distribution.show.remarks import ReadFacts
from rushes.media.find.sets import Clip
from rushes.storage.remote.errors import Unreachable
from rushes.workers.local import cpu_count

Device: TypeAlias = Literal["cpu", "cuda"]
Precision: TypeAlias = Literal["fp32", "tf32", "fp16"]
Warn: TypeAlias = Callable[[str], None]

GPU_BATCH = 64
_WAITING_BATCHES = 4
"""Windows that may wait for others of their shape, in batches."""


class Extractor(Protocol):
    """Turns windows into feature vectors, in order."""

    preparation: DevicePreparation | None
    """What prepares raw frames where the network is; None: it is given windows that were prepared on the host."""

    def features(self, segments: Iterable[Any]) -> Iterator[Features]:
        """One vector (D,) per window (T, S, S, 3): an array, or a `RawWindow` where `preparation` prepares them."""


class CpuExtractor:
    """The quick path on a CPU: batch norm folded, weights packed, one segment per thread.

    A backbone without a quick path runs as it is, in the same way.
    """

    preparation: DevicePreparation | None = None

    def __init__(self, weights: Weights, recipe: Recipe, *, threads: int | None = None) -> None:
        network = weights.network(recipe)
        operations = PackedOperations() if PackedOperations.available() else PlainOperations()
        fast = weights.kind.fast
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
                    waiting.append(pool.submit(self._one, segment))
                    if not self._warm:  # packs the weights once, before threads could race for it
                        self._warm = True
                        waiting[0].result()
                    elif len(waiting) > 2 * self.threads:
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


_Numbered: TypeAlias = "list[tuple[int, Any]]"


@dataclass(frozen=True, slots=True)
class _Batch:
    """A batch under way."""

    windows: _Numbered
    rest: _Numbered
    """Windows that found no room in it."""
    wait: Callable[[], Features]


class BatchedExtractor:
    """Fixed batches over equal shapes; out of memory halves the batch, says so, and goes on.

    `forward` starts on a batch's windows, as many as it has places; what it returns waits for their vectors. While one
    batch is under way the next is collected and started. `spare` is how many places at the end of a batch no window
    takes, where the forward pass rounds otherwise there. Windows of one shape wait for each other while those of others
    run; vectors come out in the order of their windows all the same.
    """

    def __init__(
        self,
        forward: Callable[[list[Any]], Callable[[], Features]],
        *,
        batch: int,
        warn: Warn,
        spare: int = 0,
        preparation: DevicePreparation | None = None,
    ) -> None:
        self._forward, self._warn, self._spare = forward, warn, spare
        self.batch, self.preparation = batch, preparation

    @property
    def _room(self) -> int:
        return max(self.batch - self._spare, 1)

    def features(self, segments: Iterable[Any]) -> Iterator[Features]:
        done: dict[int, Features] = {}
        given = 0
        started: deque[_Batch] = deque()
        for batch in self._batches(segments):
            started.append(self._started(batch))
            if len(started) > 1:
                done.update(self._ended(started.popleft()))
            while given in done:
                yield done.pop(given)
                given += 1
        while started:
            done.update(self._ended(started.popleft()))
        yield from (done[number] for number in range(given, given + len(done)))

    def _batches(self, segments: Iterable[Any]) -> Iterator[_Numbered]:
        """Windows of one shape, as many as there is room for; the last ones of each shape in the end."""
        held: dict[tuple[int, ...], _Numbered] = {}
        for number, segment in enumerate(segments):
            group = held.setdefault(tuple(segment.shape), [])
            group.append((number, segment))
            if len(group) >= self._room:
                yield held.pop(tuple(segment.shape))
            elif sum(map(len, held.values())) >= _WAITING_BATCHES * self.batch:
                yield held.pop(max(held, key=lambda shape: len(held[shape])))
        yield from held.values()

    def _started(self, batch: _Numbered) -> _Batch:
        """As many of a batch as there is room for, under way; the windows are kept until the vectors are there."""
        while True:
            now = batch[: self._room]
            # a short batch is filled up, so that every batch runs through the same launches
            filled = [segment for _, segment in now] + [now[-1][1]] * (self.batch - len(now))
            try:
                return _Batch(now, batch[len(now) :], self._forward(filled))
            except (torch.OutOfMemoryError, MemoryError):
                self._halve()

    def _ended(self, batch: _Batch) -> Iterator[tuple[int, Features]]:
        """The vectors of a batch, and of what was left of it after its size was halved."""
        while True:
            vectors = batch.wait()
            yield from ((number, vector) for (number, _), vector in zip(batch.windows, vectors, strict=False))
            if not batch.rest:
                return
            batch = self._started(batch.rest)

    def _halve(self) -> None:
        if self.batch == 1:
            raise InputError(
                "out of memory with a single segment in the batch; use the device cpu or shorter clips"
            ) from None
        self.batch //= 2
        self._warn(f"out of memory: the batch is now {self.batch} segments")


def gpu_extractor(
    weights: Weights, recipe: Recipe, *, precision: Precision, batch: int, warn: Warn
) -> BatchedExtractor:
    """The quick path on one GPU; plain torch when fp32 is asked for, or where the backbone has no quick path.

    `MissingDependency` where Triton is not there.
    """
    network = weights.network(recipe)
    backbone = weights.kind
    preparation = DevicePreparation(recipe, "cuda") if DevicePreparation.can_do(recipe) else None
    if precision != "fp32" and backbone.fast is not None:
        from rushes.instruments.distribution.networks.gpu import GpuRunner
        from rushes.instruments.distribution.networks.kernels import HAVE_TRITON

        if not HAVE_TRITON:
            raise MissingDependency(
                f"the quick GPU path needs Triton; run: {pip_install('triton')}, or use {option('--precision fp32')}"
            )
        # A batch's last row comes out with other last bits than the rest (I3D on an H200, tf32 and fp16). With that
        # place left free a row depends on its window alone: resumed runs and any number of GPUs give the same bytes.
        forward = GpuRunner(network, backbone, precision=precision, fill=partial(fill, preparation=preparation))
        return BatchedExtractor(forward, batch=batch, warn=warn, spare=1, preparation=preparation)
    if precision == "fp16":
        raise InputError(f"{backbone.name} has no fp16 path; ask for precision tf32 or fp32")
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    plain = network.cuda()

    def plain_forward(windows: list[Any]) -> Callable[[], Features]:
        from rushes.instruments.distribution.networks.gpu import reading_back

        clips = torch.empty((len(windows), *windows[0].shape), device="cuda")
        fill(clips, windows, preparation)
        with torch.inference_mode():
            return reading_back(plain(clips.permute(0, 4, 1, 2, 3)))

    return BatchedExtractor(plain_forward, batch=batch, warn=warn, preparation=preparation)


def make_extractor(
    weights: Weights,
    recipe: Recipe,
    *,
    device: str,
    precision: Precision | None,
    batch: int | None,
    warn: Warn,
    threads: int | None = None,
) -> Extractor:
    """The extractor for a device that `resolve_device` named; on a CPU with so many threads, or one for each core."""
    if device == "cpu":
        if precision not in (None, "fp32"):
            raise InputError(f"a CPU computes in fp32; got precision {precision}")
        return CpuExtractor(weights, recipe, threads=threads)
    return gpu_extractor(weights, recipe, precision=precision or "tf32", batch=batch or GPU_BATCH, warn=warn)


def resolve_device(wanted: str | None) -> Device:
    """ "cpu" or "cuda": the one wanted, or the GPU where there is one. CUDA wanted and absent is an error."""
    if wanted not in (None, "auto", "cpu", "cuda"):
        raise InputError(f"expected device cpu or cuda; got {wanted!r}")
    available = torch.cuda.is_available()
    if wanted == "cuda" and not available:
        raise InputError("torch finds no CUDA device here; use the device cpu")
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


class FeatureReader(ExitStack):
    """Clips to features on this machine; decoding processes, and what they need, are kept from set to set."""

    def __init__(self, decoders: Decoders, on_device: DeviceWindows | None = None) -> None:
        """`on_device` is what fetches these processes' frames to a device already."""
        super().__init__()
        self._decoders = self.enter_context(decoders)
        self._on_device = None if on_device is None else self.enter_context(closing(on_device))

    def can_read(self, tasks: Sequence[Task], extractor: Extractor) -> bool:
        """Whether these are next, in the form that the extractor takes, or nothing was begun."""
        if extractor.preparation is None:
            return not (self._on_device and self._on_device.is_ahead) and self._decoders.can_read(tasks)
        return self._windows_on(extractor.preparation.device).can_read(tasks)

    def features(self, tasks: Sequence[Task], extractor: Extractor) -> Iterator[tuple[int, ClipFeatures]]:
        """Features of each clip as they come, while others are read.

        Raises `Unreachable` for a clip that its store did not deliver: a set without it would be another set.
        """
        owners: deque[int] = deque()
        parts: dict[int, list[Features]] = {}
        given: Counter[int] = Counter()
        ends: dict[int, Event] = {}

        def segments() -> Iterator[Any]:
            for event in self._windows(tasks, extractor.preparation):
                if event.kind == "segment":
                    owners.append(event.clip)
                    given[event.clip] += 1
                    yield event.payload
                elif event.kind == "lost":
                    raise Unreachable(str(event.payload))
                else:
                    ends[event.clip] = event

        def finished() -> Iterator[tuple[int, ClipFeatures]]:
            for number in [n for n in ends if given[n] == len(parts.get(n, ()))]:
                yield number, _outcome(tasks[number], ends.pop(number), parts.pop(number, []))

        for vector in extractor.features(segments()):
            parts.setdefault(owners.popleft(), []).append(vector)
            yield from finished()
        yield from finished()

    def _windows(self, tasks: Sequence[Task], preparation: DevicePreparation | None) -> Iterator[Event]:
        if preparation is None:
            return self._decoders.read(tasks)
        return self._windows_on(preparation.device).read(tasks)

    def _windows_on(self, device: torch.device) -> DeviceWindows:
        if self._on_device is None:
            self._on_device = self.enter_context(closing(DeviceWindows(self._decoders, device.type)))
        return self._on_device


def _outcome(task: Task, end: Event, parts: list[Features]) -> ClipFeatures:
    """A clip's rows; of one that failed half-way nothing is kept."""
    if not isinstance(end.payload, Done):
        return ClipFeatures(None, error=str(end.payload))
    return ClipFeatures(as_rows(parts, task.windows), digest=end.payload.digest, facts=end.payload.facts)


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
            raise MediaError(f"{outcome.error} (strict stops here; without it the clip is skipped)")
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
