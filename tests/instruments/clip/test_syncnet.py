"""SyncNet: layout, safe loading, windows, crops, and the offset recovered from constructed embeddings."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.face_tracks import made_points, made_track  # noqa: E402

from rushes.core import Measurement  # noqa: E402
from rushes.core.errors import InputError, WeightsError  # noqa: E402
from rushes.core.machine.provenance import file_digest  # noqa: E402
from rushes.instruments.clip.faces.observation import FaceObservation  # noqa: E402
from rushes.instruments.clip.faces.track import FaceTrack  # noqa: E402
from rushes.instruments.clip.frames.observe import Observation  # noqa: E402
from rushes.instruments.clip.metrics import METRICS  # noqa: E402
from rushes.instruments.clip.metrics.face.syncnet.crops import crop, crops, instants, longest_stretch  # noqa: E402
from rushes.instruments.clip.metrics.face.syncnet.network import Evaluator, SyncNet  # noqa: E402
from rushes.instruments.clip.metrics.face.syncnet.scores import (  # noqa: E402
    clip_scores,
    lip_batches,
    sound_windows,
    sync_scores,
)
from rushes.media import AudioTrack  # noqa: E402

NAMES = ["lse_d", "lse_c", "lse_offset"]


@pytest.fixture(scope="module")
def network() -> SyncNet:
    torch.manual_seed(0)
    return SyncNet()


@pytest.fixture(scope="module")
def weights(network: SyncNet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of the public layout with random numbers."""
    path = tmp_path_factory.mktemp("weights") / "syncnet_v2.model"
    torch.save(network.state_dict(), path)
    return path


@pytest.fixture(scope="module")
def evaluator(weights: Path) -> Evaluator:
    return Evaluator.load(weights)


def test_layer_names_and_shapes_are_those_of_the_public_checkpoint(network: SyncNet) -> None:
    shapes = {name: tuple(value.shape) for name, value in network.state_dict().items()}
    assert shapes["netcnnaud.0.weight"] == (64, 1, 3, 3)
    assert shapes["netcnnaud.4.weight"] == (192, 64, 3, 3)
    assert shapes["netcnnaud.18.weight"] == (512, 256, 5, 4)
    assert shapes["netcnnlip.0.weight"] == (96, 3, 5, 7, 7)
    assert shapes["netcnnlip.4.weight"] == (256, 96, 1, 5, 5)
    assert shapes["netcnnlip.18.weight"] == (512, 256, 1, 6, 6)
    assert shapes["netfcaud.3.weight"] == shapes["netfclip.3.weight"] == (1024, 512)
    # Each stream: 6 convolutions × 2 + 6 norms × 5 tensors, and a head of 2 linear layers × 2 + 1 norm × 5.
    assert len(shapes) == 2 * (6 * 2 + 6 * 5 + 2 * 2 + 5)


def test_windows_become_1024_numbers(evaluator: Evaluator) -> None:
    rng = np.random.default_rng(0)
    assert evaluator.lips(rng.integers(0, 256, (2, 5, 224, 224, 3), dtype=np.uint8)).shape == (2, 1024)
    assert evaluator.sound(rng.normal(size=(3, 20, 13))).shape == (3, 1024)


def test_the_digest_is_the_files(evaluator: Evaluator, weights: Path) -> None:
    assert evaluator.digest == file_digest(weights)[:12]


class _Bomb:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.marker),)


@pytest.mark.parametrize("saved_by", ["torch", "pickle"])
def test_a_pickle_bomb_is_refused_and_never_run(tmp_path: Path, saved_by: str) -> None:
    path, marker = tmp_path / "bomb.model", tmp_path / "exploded"
    if saved_by == "torch":
        torch.save({"netcnnaud.0.weight": _Bomb(marker)}, path)
    else:
        path.write_bytes(pickle.dumps(_Bomb(marker), protocol=2))
    with pytest.raises(WeightsError, match="which was not loaded"):
        Evaluator.load(path)
    assert not marker.exists()


def test_a_truncated_file_is_refused(weights: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.model"
    path.write_bytes(weights.read_bytes()[:500_000])
    with pytest.raises(WeightsError, match="cut.model: expected SyncNet"):
        Evaluator.load(path)


def test_text_and_empty_files_are_refused(tmp_path: Path) -> None:
    for name, content in (("text.model", b"hello there"), ("empty.model", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(WeightsError, match=name):
            Evaluator.load(tmp_path / name)


def test_another_networks_weights_are_refused_by_name_and_shape(network: SyncNet, tmp_path: Path) -> None:
    state = dict(network.state_dict())
    path = tmp_path / "other.model"
    torch.save({**state, "netfcaud.3.weight": torch.zeros(256, 512)}, path)
    with pytest.raises(WeightsError, match=r"has netfcaud.3.weight of \(256, 512\), SyncNet's is \(1024, 512\)"):
        Evaluator.load(path)
    del state["netfclip.0.bias"]
    torch.save(state, path)
    with pytest.raises(WeightsError, match=r"lacks netfclip.0.bias, SyncNet's is \(512,\)"):
        Evaluator.load(path)
    torch.save({"a": torch.zeros(3)}, path)
    with pytest.raises(WeightsError, match=r"the file has a of \(3,\), SyncNet has no such layer"):
        Evaluator.load(path)
    torch.save([1, 2], path)
    with pytest.raises(WeightsError, match="got list"):
        Evaluator.load(path)


def test_older_checkpoints_without_step_counters_load(network: SyncNet, tmp_path: Path) -> None:
    path = tmp_path / "old.model"
    torch.save({k: v for k, v in network.state_dict().items() if not k.endswith("num_batches_tracked")}, path)
    assert Evaluator.load(path).digest == file_digest(path)[:12]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="gone.model: no such weights file"):
        Evaluator.load(tmp_path / "gone.model")


@pytest.mark.parametrize("offset", [-15, -4, 0, 5, 15])
def test_the_offset_is_recovered_from_constructed_embeddings(offset: int) -> None:
    rng = np.random.default_rng(1)
    stream = rng.normal(size=(120, 16)).astype(np.float32)
    sound = stream[30:90]
    lips = stream[30 - offset : 90 - offset]  # lips_i = sound_(i − offset)
    scores = sync_scores(lips, sound)
    assert (scores.offset, scores.windows) == (offset, 60)
    assert scores.confidence > 1


def test_distance_and_confidence_by_hand() -> None:
    # One dimension, 40 windows, lips 3 everywhere and sound 1 everywhere: distance 2 at offset 0. At offset o, |o|
    # windows are compared with the zeros beyond an end, at distance 3: mean = 2 + |o| / 40. Offsets −15…15: the
    # median of |o| is 8 (1 zero, then each number twice), so LSE-C = 8 / 40.
    scores = sync_scores(np.full((40, 1), 3, np.float32), np.full((40, 1), 1, np.float32))
    assert (scores.distance, scores.confidence, scores.offset) == (
        pytest.approx(2.0, abs=1e-5),
        pytest.approx(0.2, abs=1e-5),
        0,
    )


def test_sound_windows_are_twenty_steps_every_four() -> None:
    steps = np.arange(33)[:, None] * np.ones(13)
    windows = sound_windows(steps)
    assert windows.shape == (4, 20, 13)
    assert windows[:, 0, 0].tolist() == [0, 4, 8, 12] and windows[2, -1, 0] == 27
    assert sound_windows(np.zeros((19, 13))).shape == (0, 20, 13)


@pytest.mark.parametrize(("images", "windows"), [(5, 1), (12, 8), (13, 9), (30, 26), (30, 20), (4, 1)])
def test_lip_windows_are_five_successive_crops(images: int, windows: int) -> None:
    pictures = (np.full((2, 2, 3), number, np.uint8) for number in range(images))
    batches = list(lip_batches(pictures, windows))
    starts = [int(window[0, 0, 0, 0]) for batch in batches for window in batch]
    assert starts == list(range(min(windows, max(images - 4, 0))))
    assert all(len(batch) <= 8 for batch in batches)
    assert all(window[4, 0, 0, 0] == window[0, 0, 0, 0] + 4 for batch in batches for window in batch)


def test_instants_at_25_a_second() -> None:
    assert instants(None, frames=3, fps=25.0).tolist() == [0, 1, 2]
    assert instants(None, frames=6, fps=30.0).tolist() == [0, 1, 3, 4, 5]  # middles 20, 60, 100, 140, 180 ms
    assert instants(np.array([0.0, 100.0]), frames=2, fps=25.0).tolist() == [0, 0, 1]
    assert instants(None, frames=0, fps=25.0).tolist() == []


def test_short_gaps_are_bridged_and_long_ones_part_the_track() -> None:
    short = made_track([made_points(dx=2.0 * n) if n not in (10, 11, 12) else None for n in range(30)])
    stretch = longest_stretch(short, 25.0)
    assert (stretch.start, len(stretch)) == (0, 30)
    assert np.diff(stretch.boxes[8:20, 1]) == pytest.approx(2.0)  # straight across the gap
    parted = made_track([made_points() if not 20 <= n < 50 else None for n in range(100)])
    assert (longest_stretch(parted, 25.0).start, len(longest_stretch(parted, 25.0))) == (50, 50)


def test_one_wild_box_is_smoothed_away() -> None:
    faces = [made_points(dx=500.0 if n == 15 else 0.0) for n in range(30)]
    assert np.ptp(longest_stretch(made_track(faces), 25.0).boxes[:, 1]) == 0.0


def test_crops_are_bgr_and_grey_outside_the_frame() -> None:
    rgb = np.zeros((100, 100, 3), np.uint8)
    rgb[..., 0] = 200  # red
    inside = crop(rgb, np.array([10.0, 50.0, 50.0]))
    assert inside.shape == (224, 224, 3) and inside[100, 100].tolist() == [0, 0, 200]
    outside = crop(rgb, np.array([20.0, 0.0, 0.0]))
    # Half side 20 at (0, 0): the left half and what is above the frame are padding.
    assert outside[0, 0].tolist() == [110] * 3 and outside[200, 200].tolist() == [0, 0, 200]


def test_a_crop_wholly_outside_the_frame_is_grey() -> None:
    gone = crop(np.zeros((50, 50, 3), np.uint8), np.array([10.0, 500.0, 500.0]))
    assert np.all(gone == 110)


def test_each_instant_gets_its_frame() -> None:
    stretch = longest_stretch(made_track([made_points(dx=60, dy=60)] * 4), 50.0)
    frames = (np.full((200, 200, 3), number * 10, np.uint8) for number in range(4))
    assert [int(image[0, 0, 0]) for image in crops(stretch, frames)] == [10, 30]


class _Echo:
    """Embeds a lip window as the brightness of its first crop and a sound window as its loudness."""

    digest = "echo"

    def lips(self, windows: np.ndarray) -> np.ndarray:
        return np.eye(256, dtype=np.float32)[windows[:, 0, 100, 100, 0]]

    def sound(self, windows: np.ndarray) -> np.ndarray:
        return np.eye(256, dtype=np.float32)[(np.arange(len(windows)) + self._next(len(windows))) % 256]

    def __init__(self) -> None:
        self._given = 0

    def _next(self, count: int) -> int:
        start, self._given = self._given, self._given + count
        return start


def _frames(count: int, first: int) -> Iterator[np.ndarray]:
    return (np.full((300, 300, 3), number + first, np.uint8) for number in range(count))


def tier2_measurements(
    track: FaceTrack, frames: Iterator[np.ndarray], *, fps: float | None, audio: AudioTrack, evaluator: Evaluator
) -> list[Measurement]:
    """The three numbers of a clip whose face track is known."""
    scores = clip_scores(track, frames, fps=fps, audio=audio, evaluator=evaluator)
    face = FaceObservation(track=track, model="m", syncnet=scores, weights=evaluator.digest)
    metrics = [METRICS[name] for name in NAMES]
    return [metric.measure(Observation(faces=face)) for metric in metrics if metric.measure is not None]


def test_from_frames_to_measurements() -> None:
    track = made_track([made_points(dx=60, dy=60)] * 60)
    sound = AudioTrack.of(np.zeros(60 * 640, np.float32), 16000)
    # Frame i is as bright as sound window i + 4 is numbered: the lips come 4 frames before the sound.
    measured = tier2_measurements(track, _frames(60, 4), fps=25.0, audio=sound, evaluator=_Echo())
    assert [m.definition.name for m in measured] == NAMES
    assert measured[2].value == -4
    assert {m.count for m in measured} == {55}
    assert "weights:echo" in measured[0].signature and "model:m" in measured[0].signature


@pytest.mark.parametrize(
    ("frames", "samples", "rate", "fps", "note"),
    [
        (60, 0, 16000, 25.0, "the clip has no sound"),
        (60, 38400, 8000, 25.0, "SyncNet needs sound at 16000 Hz; got 8000 Hz"),
        (60, 38400, 16000, None, "the clip states no frame rate"),
        (14, 38400, 16000, 25.0, "9 windows of 5 frames have both a face and sound; 10 are needed"),
        (60, 3200, 16000, 25.0, "0 windows of 5 frames have both a face and sound; 10 are needed"),
    ],
)
def test_reasons_for_no_score(frames: int, samples: int, rate: int, fps: float | None, note: str) -> None:
    track = made_track([made_points(dx=60, dy=60)] * frames)
    sound = AudioTrack.of(np.zeros(samples, np.float32), rate)
    measured = tier2_measurements(track, _frames(frames, 0), fps=fps, audio=sound, evaluator=_Echo())
    assert {(m.value, m.note) for m in measured} == {(None, note)}


def test_random_weights_give_the_same_finite_scores_twice(evaluator: Evaluator) -> None:
    rng = np.random.default_rng(4)
    track = made_track([made_points(dx=60, dy=60)] * 17)
    sound = AudioTrack.of(rng.uniform(-0.3, 0.3, 17 * 640).astype(np.float32), 16000)
    pictures = rng.integers(0, 256, (17, 300, 300, 3), dtype=np.uint8)
    runs = [tier2_measurements(track, iter(pictures), fps=25.0, audio=sound, evaluator=evaluator) for _ in range(2)]
    assert [m.value for m in runs[0]] == [m.value for m in runs[1]]
    assert runs[0][0].value is not None and runs[0][0].count == 12


def test_missing_tier_names_the_reason() -> None:
    measured = [METRICS[name].missing("give --syncnet-weights FILE") for name in NAMES]
    assert [(m.definition.name, m.value, m.note) for m in measured] == [
        (name, None, "give --syncnet-weights FILE") for name in NAMES
    ]
