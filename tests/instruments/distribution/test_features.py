"""Features per video: averaging, failures, caching, batching, and the same bytes however the work is spread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from rushes.core.errors import InputError, MediaError
from rushes.core.machine.progress import no_progress
from rushes.instruments.distribution.clips import device_windows
from rushes.instruments.distribution.clips.decoding import Decoders
from rushes.instruments.distribution.clips.device_preparation import DevicePreparation
from rushes.instruments.distribution.clips.device_windows import DeviceWindows
from rushes.instruments.distribution.clips.reading import Task, clip_segments
from rushes.instruments.distribution.features import extraction, set_reader
from rushes.instruments.distribution.features.cache import FeatureCache, RecipeCache
from rushes.instruments.distribution.features.extraction import (
    BatchedExtractor,
    CpuExtractor,
    FeatureReader,
    features_of_clips,
    make_extractor,
    resolve_device,
)
from rushes.instruments.distribution.features.rows import FeatureSet
from rushes.instruments.distribution.features.set_reader import SetReader
from rushes.instruments.distribution.features.weights import Weights, read_weights
from rushes.instruments.distribution.protocols import Recipe
from rushes.instruments.distribution.recipes import recipe
from rushes.instruments.distribution.settings import Settings
from rushes.instruments.distribution.show.remarks import ReadFacts
from rushes.media.find.sets import read_set

R3D = recipe("genhoi", "fid-vid")


@pytest.fixture(scope="module")
def weights(random_weights: dict[str, Path]) -> Weights:
    return read_weights(random_weights["r3d50"])


def features_of(
    folder: Path,
    weights: Weights,
    extractor: Any,
    *,
    recipe: Recipe = R3D,
    workers: int = 0,
    cache: FeatureCache | None = None,
    **options: Any,
) -> FeatureSet:
    how = recipe.feature_params("gen") | {"weights": weights.sha256, "precision": "fp32"}
    with FeatureReader(Decoders(workers)) as reader:
        return features_of_clips(
            read_set(folder).clips,
            lambda clips: reader.features([Task(clip, recipe, "gen") for clip in clips], extractor),
            dimensions=recipe.d,
            cache=None if cache is None else RecipeCache(cache, how),
            **options,
        )


def test_segments_are_averaged_per_video(sets: Path, weights: Weights, stand_in: Callable[[int], Any]) -> None:
    extractor = stand_in(2048)
    found = features_of(sets / "gen", weights, extractor)
    assert found.names == ("take3.mp4", "take6.mp4", "take9.mp4", "take12.mp4", "take15.mp4")  # natural order
    assert extractor.segments == 1 + 2 + 3 + 1 + 2 and found.features.shape == (5, 2048)
    # take6 has 17 frames: 0 to 15, then frame 16 sixteen times; frames brighten, so first < mean < last
    assert found.features[1, 2] > found.features[1, 0] > found.features[1, 1]
    assert len(set(found.digests)) == 5 and len(found.sha256) == 64


def test_the_same_bytes_for_any_workers(sets: Path, weights: Weights, stand_in: Callable[[int], Any]) -> None:
    want = features_of(sets / "gen", weights, stand_in(2048)).features.tobytes()
    assert features_of(sets / "gen", weights, stand_in(2048), workers=2).features.tobytes() == want


def test_a_clip_that_fails_is_left_out_by_name_and_strict_stops(
    make_clip: Callable[..., Path], tmp_path: Path, weights: Weights, stand_in: Callable[[int], Any]
) -> None:
    make_clip("set/good1.mp4", 16)
    (tmp_path / "set" / "good2.mp4").write_bytes(make_clip("x.mp4", 20).read_bytes())
    (tmp_path / "set" / "bad.mp4").write_bytes(b"not a video")
    found = features_of(tmp_path / "set", weights, stand_in(2048))
    assert found.names == ("good1.mp4", "good2.mp4")
    assert found.excluded[0][0] == "bad.mp4" and "bad.mp4" in found.excluded[0][1]
    with pytest.raises(MediaError, match="strict stops here"):
        features_of(tmp_path / "set", weights, stand_in(2048), strict=True)


def test_features_of_a_clip_that_fails_half_way_are_dropped(
    monkeypatch: pytest.MonkeyPatch, sets: Path, weights: Weights, stand_in: Callable[[int], Any]
) -> None:
    from rushes.instruments.distribution.clips import decoding

    def breaking(task: Any, seen: Any) -> Any:
        for number, segment in enumerate(clip_segments(task, seen=seen)):
            if task.clip.name == "take9.mp4" and number == 2:
                raise MediaError("take9.mp4: breaks off")
            yield segment

    clip_segments = decoding.clip_segments
    monkeypatch.setattr(decoding, "clip_segments", breaking)
    found = features_of(sets / "gen", weights, stand_in(2048))
    assert "take9.mp4" not in found.names and len(found.features) == 4
    assert found.excluded == (("take9.mp4", "take9.mp4: breaks off"),)


def test_the_cache_saves_the_network_and_keeps_the_bytes(
    sets: Path, weights: Weights, tmp_path: Path, stand_in: Callable[[int], Any]
) -> None:
    cache, first, second = FeatureCache(tmp_path / "cache"), stand_in(2048), stand_in(2048)
    fresh = features_of(sets / "gen", weights, first, cache=cache)
    again = features_of(sets / "gen", weights, second, cache=cache)
    assert (
        second.segments == 0 and again.features.tobytes() == fresh.features.tobytes() and again.digests == fresh.digests
    )
    # another recipe, another key
    shorter = recipe("genhoi", "fid-vid", sample_duration=8)
    other = features_of(sets / "gen", weights, second, recipe=shorter, cache=cache)
    assert second.segments > 0 and not np.array_equal(other.features, fresh.features)


def test_a_damaged_cache_file_is_computed_again(
    sets: Path, weights: Weights, tmp_path: Path, stand_in: Callable[[int], Any]
) -> None:
    cache, extractor = FeatureCache(tmp_path / "cache"), stand_in(2048)
    features_of(sets / "gen", weights, stand_in(2048), cache=cache)
    files = sorted((tmp_path / "cache").rglob("*.npy"))
    files[0].write_bytes(b"torn")
    features_of(sets / "gen", weights, extractor, cache=cache)
    assert len(files) == 5 and extractor.segments in (1, 2, 3)
    for facts in (None, ReadFacts(frames=16, fps=25.0), ReadFacts(frames=9, variable=True, padded=7)):
        cache.put("ab" * 32, np.ones((1, 4), np.float32), facts)
        stored = cache.get("ab" * 32)
        assert stored is not None and stored[1] == facts
    with pytest.raises(InputError, match="cannot be used as a cache"):
        FeatureCache(files[0])


def test_progress_counts_every_clip(sets: Path, weights: Weights, stand_in: Callable[[int], Any]) -> None:
    seen: list[int] = []
    features_of(sets / "gen", weights, stand_in(2048), advance=seen.append)
    assert sum(seen) == 5


def pieces(count: int, frames: int = 2) -> list[np.ndarray]:
    return [np.full((frames, 4, 4, 3), n, np.float32) for n in range(count)]


class Forward:
    """Counts batches; runs out of memory above a size."""

    def __init__(self, most: int = 100) -> None:
        self.most, self.sizes = most, []  # type: ignore[var-annotated]

    def __call__(self, batch: list[np.ndarray]) -> Callable[[], np.ndarray]:
        if len(batch) > self.most:
            raise torch.OutOfMemoryError("out of memory")
        self.sizes.append(len(batch))
        return lambda: np.stack(batch).mean(axis=(1, 2, 3))


def test_batches_are_full_and_features_stay_in_order() -> None:
    forward = Forward()
    extractor = BatchedExtractor(forward, batch=4, warn=print)
    vectors = list(extractor.features(pieces(10)))
    assert [row[0] for row in vectors] == list(range(10))
    assert forward.sizes == [4, 4, 4]  # the last one is filled up


def test_spare_places_at_the_end_of_a_batch_stay_free() -> None:
    """A forward pass that rounds the last row otherwise: no segment meets it."""

    def forward(batch: list[np.ndarray]) -> Callable[[], np.ndarray]:
        assert len(batch) == 4
        rows = np.stack(batch).mean(axis=(1, 2, 3))
        rows[-1] += 0.5
        return lambda: rows

    extractor = BatchedExtractor(forward, batch=4, warn=print, spare=1)
    assert [row[0] for row in extractor.features(pieces(10))] == list(range(10))


def test_segments_of_different_lengths_do_not_share_a_batch() -> None:
    forward = Forward()
    extractor = BatchedExtractor(forward, batch=4, warn=print)
    vectors = list(extractor.features([*pieces(3), *pieces(2, frames=5)]))
    assert [row[0] for row in vectors] == [0, 1, 2, 0, 1] and forward.sizes == [4, 4]


def test_segments_wait_for_others_of_their_length_and_stay_in_order() -> None:
    forward = Forward()
    extractor = BatchedExtractor(forward, batch=4, warn=print)
    mixed = [piece for pair in zip(pieces(8), pieces(8, frames=5), strict=True) for piece in pair]
    assert [row[0] for row in extractor.features(mixed)] == [n for n in range(8) for _ in range(2)]
    assert forward.sizes == [4] * 4
    lengths = [piece for frames in range(1, 30) for piece in pieces(1, frames=frames)]
    assert len(list(extractor.features(lengths))) == 29


def test_out_of_memory_halves_the_batch_and_says_so() -> None:
    said: list[str] = []
    forward = Forward(most=2)
    extractor = BatchedExtractor(forward, batch=8, warn=said.append)
    assert [row[0] for row in extractor.features(pieces(9))] == list(range(9))
    assert said == ["out of memory: the batch is now 4 segments", "out of memory: the batch is now 2 segments"]
    assert set(forward.sizes) == {2}
    with pytest.raises(InputError, match="out of memory with a single segment"):
        list(BatchedExtractor(Forward(most=0), batch=2, warn=said.append).features(pieces(1)))


def test_a_batch_is_started_before_the_one_before_it_is_waited_for() -> None:
    """While the device works on a batch, the host collects the next one."""
    order: list[str] = []

    def forward(batch: list[np.ndarray]) -> Callable[[], np.ndarray]:
        number = int(batch[0].flat[0]) // 2
        order.append(f"start {number}")

        def wait() -> np.ndarray:
            order.append(f"wait {number}")
            return np.stack(batch).mean(axis=(1, 2, 3))

        return wait

    rows = BatchedExtractor(forward, batch=2, warn=print).features(pieces(6))
    assert [row[0] for row in rows] == list(range(6))
    assert order == ["start 0", "start 1", "wait 0", "start 2", "wait 1", "wait 2"]


def test_cuda_asked_for_and_absent(monkeypatch: pytest.MonkeyPatch, weights: Weights) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert resolve_device(None) == resolve_device("auto") == resolve_device("cpu") == "cpu"
    with pytest.raises(InputError, match="torch finds no CUDA device here"):
        resolve_device("cuda")
    with pytest.raises(InputError, match="expected device cpu or cuda; got 'tpu'"):
        resolve_device("tpu")
    with pytest.raises(InputError, match="a CPU computes in fp32; got precision tf32"):
        make_extractor(weights, R3D, device="cpu", precision="tf32", batch=None, warn=print)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert resolve_device(None) == "cuda" and resolve_device("cpu") == "cpu"


def test_a_cpu_feature_depends_on_its_segment_alone(weights: Weights) -> None:
    draw = np.random.RandomState(0)
    segments = [draw.uniform(-100, 100, (9, 112, 112, 3)).astype(np.float32) for _ in range(2)]
    before = torch.get_num_threads()
    one = list(CpuExtractor(weights, R3D, threads=1).features(segments))
    two = list(CpuExtractor(weights, R3D, threads=2).features(segments[::-1]))[::-1]
    assert [row.tobytes() for row in one] == [row.tobytes() for row in two]
    assert torch.get_num_threads() == before


@pytest.mark.workers
@pytest.mark.parametrize(("prepares", "device"), [(True, "cuda"), (True, "cpu"), (False, "cuda"), (False, "cpu")])
def test_sets_are_read_while_torch_is_loaded(
    sets: Path, stand_in: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch, prepares: bool, device: str
) -> None:
    """The processes begin where a GPU is likely; if the network is elsewhere after all, the sets are read again.

    Frames go to the device at once where it is a GPU, which here is the host's memory.
    """
    chosen = replace(R3D, size=56)
    begun: list[int] = []
    begin = Decoders.begin

    def noted(self: Decoders, tasks: Sequence[Task]) -> None:
        begun.append(tasks[0].slots)
        begin(self, tasks)

    def make(*given: Any, **options: Any) -> Any:
        extractor = stand_in(2048)
        if prepares:
            extractor.preparation = preparation = DevicePreparation(chosen, "cpu")
            plain = extractor.features
            extractor.features = lambda windows: plain(preparation.batch([window])[0].numpy() for window in windows)
        return extractor

    monkeypatch.setattr(Decoders, "begin", noted)
    monkeypatch.setattr(set_reader, "may_have_gpu", lambda: True)
    monkeypatch.setattr(extraction, "make_extractor", make)
    monkeypatch.setattr(SetReader, "device", device)
    monkeypatch.setattr(DeviceWindows, "_upload", lambda self: device_windows._ToHost("cpu"))
    monkeypatch.setattr(device_windows._ToHost, "free_memory", lambda self: 4 << 20)
    monkeypatch.setattr(SetReader, "weights", lambda self, backbone: SimpleNamespace(sha256="0"))
    settings = Settings(metrics=("fid-vid",), protocol="genhoi", jobs=1)
    with closing(SetReader(settings, {"gen": sets / "gen", "gt": sets / "gt"}, no_progress, print)) as reader:
        reader.begin(chosen)
        found = [reader.features(chosen, side) for side in ("gen", "gt")]
    assert len(begun) == (2 if prepares else 4) and all(begun[:2])
    for side, name in zip(found, ("gen", "gt"), strict=True):
        tasks = [Task(clip, chosen, name) for clip in read_set(sets / name).clips]  # type: ignore[arg-type]
        want = [np.mean([window.mean() for window in clip_segments(task)]) for task in tasks]
        assert np.allclose(side.features[:, 0], want, atol=1e-3) and len(side.names) == 5
