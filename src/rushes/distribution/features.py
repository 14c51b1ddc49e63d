"""From clips to one feature row per video, in input order, with what failed named and left out.

On a CPU every segment runs alone on one thread, several at a time: a row's bits then depend on nothing but the segment.
On a GPU segments of many videos fill batches of a fixed size.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np
import torch

from rushes.distribution.cache import FeatureCache
from rushes.distribution.clip_reading import Segment, Task
from rushes.distribution.decoding import Event, read_clips
from rushes.distribution.feature_set import FeatureSet, Rows
from rushes.distribution.networks.fast import FastI3D, FastNetwork, FastResNet3D50
from rushes.distribution.networks.i3d import I3D
from rushes.distribution.networks.operations import PackedOperations, PlainOperations
from rushes.distribution.protocols import Recipe, Side
from rushes.distribution.sets import Clip
from rushes.distribution.weights import Weights
from rushes.errors import InputError, MediaError, MissingDependency
from rushes.remote.errors import Unreachable

Precision: TypeAlias = Literal["fp32", "tf32", "fp16"]
Say: TypeAlias = Callable[[str], None]

GPU_BATCH = 64


class Extractor(Protocol):
    """Turns segments into feature rows, in order."""

    precision: Precision

    def rows(self, segments: Iterable[Segment]) -> Iterator[Rows]:
        """One row (D,) per segment."""


class CpuExtractor:
    """The quick path on a CPU: batch norm folded, weights packed, one segment per thread."""

    precision: Precision = "fp32"

    def __init__(self, weights: Weights, recipe: Recipe, *, threads: int | None = None) -> None:
        network = weights.network(recipe)
        operations = PackedOperations() if PackedOperations.available() else PlainOperations()
        self._fast: FastNetwork
        if isinstance(network, I3D):
            self._fast = FastI3D(network, operations, deepened=False)
        else:
            self._fast = FastResNet3D50(network, operations, deepened=False)
        self.threads = threads or len(os.sched_getaffinity(0))
        self._warm = False

    def rows(self, segments: Iterable[Segment]) -> Iterator[Rows]:
        before = torch.get_num_threads()
        waiting: deque[Future[Rows]] = deque()
        try:
            with ThreadPoolExecutor(self.threads, initializer=_one_thread) as pool:
                for segment in segments:
                    if not self._warm:  # packs the weights once, before threads could race for it
                        self._warm = True
                        waiting.append(pool.submit(self._row, segment))
                        waiting[0].result()
                        continue
                    waiting.append(pool.submit(self._row, segment))
                    if len(waiting) > 2 * self.threads:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
        finally:
            torch.set_num_threads(before)

    def _row(self, segment: Segment) -> Rows:
        with torch.inference_mode():
            row: Rows = self._fast(torch.from_numpy(segment[None]))[0].numpy()
        return row


def _one_thread() -> None:
    torch.set_num_threads(1)


class BatchedExtractor:
    """Fixed batches over equal shapes; out of memory halves the batch, says so, and goes on.

    `spare` is how many places at the end of a batch no segment takes, where the forward pass rounds otherwise there.
    """

    def __init__(
        self, forward: Callable[[Segment], Rows], *, batch: int, precision: Precision, say: Say, spare: int = 0
    ) -> None:
        self._forward, self._say, self._spare = forward, say, spare
        self.batch, self.precision = batch, precision

    @property
    def _room(self) -> int:
        return max(self.batch - self._spare, 1)

    def rows(self, segments: Iterable[Segment]) -> Iterator[Rows]:
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

    def _run(self, held: list[Segment]) -> Iterator[Rows]:
        while held:
            now = held[: self._room]
            # a short batch is filled up, so that every batch runs through the same launches
            filled = np.stack(now + [now[-1]] * (self.batch - len(now)))
            try:
                rows = self._forward(filled)
            except (torch.OutOfMemoryError, MemoryError):
                if self.batch == 1:
                    raise InputError(
                        "out of memory with a single segment in the batch; use --device cpu or shorter clips"
                    ) from None
                self.batch //= 2
                self._say(f"out of memory: the batch is now {self.batch} segments")
                continue
            yield from rows[: len(now)]
            held = held[len(now) :]


def gpu_extractor(weights: Weights, recipe: Recipe, *, precision: Precision, batch: int, say: Say) -> BatchedExtractor:
    """The quick path on one GPU; plain torch when fp32 is asked for. `MissingDependency` where Triton is not there."""
    network = weights.network(recipe)
    if precision != "fp32":
        from rushes.distribution.networks.gpu import GpuRunner
        from rushes.distribution.networks.kernels import HAVE_TRITON

        if not HAVE_TRITON:
            raise MissingDependency("the quick GPU path needs Triton: pip install triton, or ask for --precision fp32")
        # A batch's last row comes out with other last bits than the rest (I3D on an H200, tf32 and fp16). With that
        # place left free a row depends on its segment alone: resumed runs and any number of GPUs give the same bytes.
        forward = GpuRunner(network, precision=precision)
        return BatchedExtractor(forward, batch=batch, precision=precision, say=say, spare=1)
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    plain = network.cuda()

    def plain_forward(segments: Segment) -> Rows:
        clips = torch.from_numpy(segments).cuda().permute(0, 4, 1, 2, 3)
        with torch.inference_mode():
            rows: Rows = plain(clips).cpu().numpy()
        return rows

    return BatchedExtractor(plain_forward, batch=batch, precision=precision, say=say)


def make_extractor(
    weights: Weights, recipe: Recipe, *, device: str, precision: Precision | None, batch: int | None, say: Say
) -> Extractor:
    """The extractor for a device that `choose_device` settled."""
    if device == "cpu":
        if precision not in (None, "fp32"):
            raise InputError(f"a CPU computes in fp32; got --precision {precision}")
        return CpuExtractor(weights, recipe)
    return gpu_extractor(weights, recipe, precision=precision or "tf32", batch=batch or GPU_BATCH, say=say)


def choose_device(asked: str | None) -> str:
    """ "cpu" or "cuda": what was asked for, or the GPU where there is one. CUDA asked for and absent is an error."""
    if asked not in (None, "auto", "cpu", "cuda"):
        raise InputError(f"expected device cpu or cuda; got {asked!r}")
    there = torch.cuda.is_available()
    if asked == "cuda" and not there:
        raise InputError("CUDA was asked for, but torch sees no CUDA device here; use --device cpu")
    return "cuda" if there and asked != "cpu" else "cpu"


def features_of_clips(
    clips: Sequence[Clip],
    recipe: Recipe,
    side: Side,
    weights: Weights,
    extractor: Extractor,
    *,
    workers: int,
    cache: FeatureCache | None = None,
    strict: bool = False,
    advance: Callable[[int], None] = lambda n: None,
) -> FeatureSet:
    """Features of a set. A clip that fails is excluded by name; with `strict` it stops the run instead."""
    gather = Gather(clips, strict, advance, cache)
    gather.take_cached(recipe, side, weights, extractor.precision)
    left = [number for number in range(len(clips)) if number not in gather.rows]
    tasks = [Task(clips[number], recipe, side) for number in left]
    events = read_clips(tasks, workers=workers)
    for row in extractor.rows(gather.segments(events, left)):
        gather.add(row)
    return gather.result(recipe.dimensions)


@dataclass(frozen=True, slots=True)
class ClipRow:
    """What became of one clip: its row and its digest, or why it was left out."""

    row: Rows | None
    digest: str = ""
    failed: str = ""


class Gather:
    """Puts rows that come segment by segment back together into videos."""

    def __init__(
        self, clips: Sequence[Clip], strict: bool, advance: Callable[[int], None], cache: FeatureCache | None
    ) -> None:
        self._clips, self._strict, self._advance, self._cache = clips, strict, advance, cache
        self.rows: dict[int, Rows] = {}
        self._keys: dict[int, str] = {}
        self._how: list[dict[str, object]] = []
        self._digests: dict[int, str] = {}
        self._failed: dict[int, str] = {}
        self._owners: deque[int] = deque()
        self._parts: dict[int, list[Rows]] = {}
        self._wanted: dict[int, int] = {}
        self._passed: Counter[int] = Counter()

    def take_cached(self, recipe: Recipe, side: Side, weights: Weights, precision: Precision) -> None:
        """Take what an earlier run computed; remember under which key the rest belongs."""
        if self._cache is None:
            return
        how = recipe.feature_params(side) | {"weights": weights.sha256, "precision": precision}
        self._how = [how | ({"name": c.name} if recipe.cut(side) == "random" else {}) for c in self._clips]
        for number, clip in enumerate(self._clips):
            try:
                digest = self._cache.digest_of(clip)
            except MediaError:
                continue  # reading it will say so
            if digest is None:
                continue  # in a store, and not read before: reading it will tell
            self._keys[number] = self._cache.key(digest, self._how[number])
            row = self._cache.get(self._keys[number])
            if row is not None and len(row) == recipe.dimensions:
                self.rows[number], self._digests[number] = row, digest
                self._advance(1)

    def segments(self, events: Iterator[Event], numbers: Sequence[int]) -> Iterator[Segment]:
        """Pass segments on to the network, remembering whose they are."""
        for event in events:
            number = numbers[event.clip]
            if not isinstance(event.payload, str):
                self._owners.append(number)
                self._passed[number] += 1
                yield event.payload
            elif event.kind == "done":
                self._digests[number] = event.payload
                self._remember(number, event.payload)
                self._wanted[number] = self._passed[number]
                self._settle(number)
                self._advance(1)
            elif event.kind == "lost":  # a set without the clips that did not arrive would be another set
                raise Unreachable(event.payload)
            else:
                self._fail(number, event.payload)

    def _remember(self, number: int, digest: str) -> None:
        if self._cache is not None and number not in self._keys and number < len(self._how):
            self._keys[number] = self._cache.key(digest, self._how[number])
            self._cache.remember(self._clips[number], digest)

    def add(self, row: Rows) -> None:
        number = self._owners.popleft()
        if number not in self._failed:
            self._parts.setdefault(number, []).append(row)
            self._settle(number)

    def put(self, number: int, outcome: ClipRow) -> None:
        """Take a whole clip that was computed elsewhere."""
        if outcome.row is None:
            self._fail(number, outcome.failed)
            return
        self._digests[number] = outcome.digest
        self._remember(number, outcome.digest)
        self._keep(number, outcome.row)
        self._advance(1)

    def _fail(self, number: int, why: str) -> None:
        self._failed[number] = why
        self._parts.pop(number, None)
        self._advance(1)
        if self._strict:
            raise MediaError(f"{why} (--strict stops here; without it the clip is left out)")

    def _settle(self, number: int) -> None:
        """Once a video's last row is there: their mean, summed in double precision."""
        parts = self._parts.get(number, [])
        if len(parts) != self._wanted.get(number):
            return
        del self._parts[number]
        self._keep(number, np.asarray(np.mean(np.stack(parts), axis=0, dtype=np.float64), np.float32))

    def _keep(self, number: int, row: Rows) -> None:
        self.rows[number] = row
        if self._cache is not None and number in self._keys:
            self._cache.put(self._keys[number], row)

    def outcomes(self) -> tuple[ClipRow, ...]:
        """Every clip's row, or why it has none, in input order."""
        return tuple(
            ClipRow(self.rows[n], self._digests[n]) if n in self.rows else ClipRow(None, failed=self._failed[n])
            for n in range(len(self._clips))
        )

    def result(self, dimensions: int) -> FeatureSet:
        kept = sorted(self.rows)
        rows = np.stack([self.rows[n] for n in kept]) if kept else np.empty((0, dimensions), np.float32)
        return FeatureSet(
            names=tuple(self._clips[n].name for n in kept),
            digests=tuple(self._digests[n] for n in kept),
            rows=rows,
            excluded=tuple((self._clips[n].name, self._failed[n]) for n in sorted(self._failed)),
        )
