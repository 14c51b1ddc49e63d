"""Reading clips: segments as the protocol cuts them, sequences, GIFs, damage, and worker processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.processes import is_alive

from rushes.core.errors import MediaError, RunError
from rushes.instruments.distribution.clips import decoding
from rushes.instruments.distribution.clips.decoding import Decoders, Parts, read_clip
from rushes.instruments.distribution.clips.reading import Task, clip_digest, clip_segments
from rushes.instruments.distribution.protocols import Recipe
from rushes.instruments.distribution.recipes import recipe
from rushes.media.find.sets import Clip, read_set
from rushes.vision.normalise import normalised
from rushes.workers.worker import WorkerProcess


def one(path: Path) -> Clip:
    return read_set(path).clips[0]


def shapes(path: Path, chosen: Recipe, side: str = "gen") -> list[tuple[int, ...]]:
    return [s.shape for s in clip_segments(Task(one(path), chosen, side))]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("frames", "genhoi", "disco", "first"),
    [(10, [16], [10], []), (16, [16], [16], [16]), (17, [16, 16], [17], [16]), (40, [16, 16, 16], [40], [16])],
)
def test_segments_of_a_real_clip(
    make_clip: Callable[..., Path], frames: int, genhoi: list[int], disco: list[int], first: list[int]
) -> None:
    path = make_clip("clip.mp4", frames)
    assert [s[0] for s in shapes(path, recipe("genhoi", "fvd"))] == genhoi
    assert [s[0] for s in shapes(path, recipe("disco", "fvd"))] == disco
    assert shapes(path, recipe("genhoi", "fid-vid"))[0] == (16, 112, 112, 3)
    for name in ("stylegan-v", "videogpt", "cd-fvd"):
        for side in ("gen", "gt"):
            if first:
                assert [s[0] for s in shapes(path, recipe(name, "fvd"), side)] == first
            else:
                with pytest.raises(MediaError, match=f"clip.mp4: 10 frames; protocol {name} needs 16"):
                    shapes(path, recipe(name, "fvd"), side)


def test_the_last_frame_is_repeated(make_clip: Callable[..., Path]) -> None:
    *_, last = clip_segments(Task(one(make_clip("clip.mp4", 20)), recipe("genhoi", "fvd"), "gen"))
    means = last.mean(axis=(1, 2, 3))
    assert means[0] < means[1] < means[3] and np.all(means[3:] == means[3])


def test_google_tf_needs_nine_frames(make_clip: Callable[..., Path]) -> None:
    assert shapes(make_clip("nine.mp4", 9), recipe("google-tf", "fvd"))[0][0] == 9
    with pytest.raises(MediaError, match="8 frames; protocol google-tf needs 9"):
        shapes(make_clip("eight.mp4", 8), recipe("google-tf", "fvd"))


def test_a_random_run_is_a_run_of_the_clip(make_clip: Callable[..., Path]) -> None:
    clip = one(make_clip("clip.mp4", 40))
    (taken,) = clip_segments(Task(clip, recipe("cd-fvd", "fvd"), "gen"))
    means = taken.mean(axis=(1, 2, 3))
    assert len(taken) == 16 and np.all(np.diff(means) > 0)


def test_a_gif_of_16_frames_is_16_frames(tmp_path: Path) -> None:
    frames = [Image.fromarray(np.full((20, 30, 3), 40 + 10 * n, np.uint8)) for n in range(16)]
    frames[0].save(tmp_path / "slow.gif", save_all=True, append_images=frames[1:], duration=333, loop=0)
    assert shapes(tmp_path / "slow.gif", recipe("disco", "fvd")) == [(16, 224, 224, 3)]


def save_frames(folder: Path, count: int, size: tuple[int, int] = (20, 30)) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for n in range(count):
        Image.fromarray(np.full((*size, 3), 40 + 10 * n, np.uint8)).save(folder / f"f_{n}.png")
    return folder


def test_a_frame_sequence(tmp_path: Path) -> None:
    save_frames(tmp_path / "set" / "walk", 12)
    clip = one(tmp_path / "set")
    (whole,) = clip_segments(Task(clip, recipe("google-tf", "fvd"), "gen"))
    # frame n is a flat 40 + 10n, and /127.5 − 1 keeps it flat: natural order shows in the means (f_10 after f_9)
    np.testing.assert_allclose(whole.mean(axis=(1, 2, 3)), (40 + 10 * np.arange(12)) / 127.5 - 1, atol=1e-5)
    assert len(clip_digest(clip)) == 64


def test_pictures_with_other_depths(tmp_path: Path) -> None:
    folder = tmp_path / "set" / "deep"
    folder.mkdir(parents=True)
    Image.fromarray(np.full((8, 8), 200 << 8, np.uint16)).save(folder / "1.png")
    Image.fromarray(np.full((8, 8, 4), 200, np.uint8)).save(folder / "2.png")
    Image.fromarray(np.full((8, 8), 200, np.uint8)).save(folder / "3.png")
    (whole,) = clip_segments(Task(one(tmp_path / "set"), recipe("disco", "fid-vid", sample_duration=3), "gen"))
    np.testing.assert_allclose(
        whole, np.broadcast_to(200 - np.array([114.7748, 107.7354, 99.475]), whole.shape), atol=1e-3
    )


def test_a_sequence_that_changes_size_or_is_damaged(tmp_path: Path) -> None:
    folder = save_frames(tmp_path / "set" / "a", 3)
    Image.fromarray(np.zeros((9, 9, 3), np.uint8)).save(folder / "f_7.png")
    with pytest.raises(MediaError, match="a: the size changes from 30×20 to 9×9 at f_7.png"):
        shapes(tmp_path / "set", recipe("disco", "fvd"))
    (folder / "f_7.png").write_bytes(b"no picture")
    with pytest.raises(MediaError, match="f_7.png: cannot be read as a picture"):
        shapes(tmp_path / "set", recipe("disco", "fvd"))


@pytest.mark.parametrize(
    ("how", "low", "high"),
    [("2x/255-1", -1.0, 1.0), ("(x/255-0.5)*2", -1.0, 1.0), ("x/127.5-1", -1.0, 1.0)],
)
def test_normalisations(how: str, low: float, high: float) -> None:
    got = normalised(np.array([0.0, 255.0], np.float32), how)  # type: ignore[arg-type]
    assert got.tolist() == [low, high] and got.dtype == np.float32


def broken(path: Path, source: Path) -> Path:
    data = bytearray(source.read_bytes())
    middle = len(data) // 2
    data[middle : middle + len(data) // 4] = bytes(len(data) // 4)
    path.write_bytes(data)
    return path


def events(folder: Path, workers: int) -> list[tuple[int, str, object]]:
    clips = read_set(folder).clips
    tasks = [Task(clip, recipe("genhoi", "fid-vid"), "gen") for clip in clips]
    with Decoders(workers) as decoders:
        found = list(decoders.read(tasks))
    messages = [(e.clip, e.kind, getattr(e.payload, "tobytes", lambda e=e: e.payload)()) for e in found]
    return sorted(messages, key=lambda message: message[0])  # stable: each clip's own messages stay in order


def test_workers_hand_over_the_same_bytes(sets: Path) -> None:
    here = events(sets / "gen", 0)
    assert [number for number, kind, _ in here if kind == "done"] == [0, 1, 2, 3, 4]
    assert events(sets / "gen", 1) == here
    assert events(sets / "gen", 3) == here


def test_a_corrupt_clip_among_good_ones(make_clip: Callable[..., Path], tmp_path: Path) -> None:
    good = make_clip("set/a.mp4", 16)
    broken(tmp_path / "set" / "b.mp4", good)
    (tmp_path / "set" / "c.mp4").write_bytes(b"")
    make_clip("set/d.mp4", 16)
    kinds = [(number, kind) for number, kind, _ in events(tmp_path / "set", 2) if kind != "segment"]
    assert kinds == [(0, "done"), (1, "failed"), (2, "failed"), (3, "done")]


def crash_on_take6(task: Task) -> Parts:
    """Read a clip, or kill this process after the first segment of one of them."""
    parts = read_clip(task)
    yield next(parts)
    if task.clip.name == "take6.mp4":
        os.kill(os.getpid(), signal.SIGSEGV)
    return (yield from parts)


def fail(task: Task) -> Parts:
    raise ValueError("a defect")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_that_dies_costs_one_clip(sets: Path, monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    monkeypatch.setattr(decoding, "read_clip", crash_on_take6)
    outcome = {number: (kind, payload) for number, kind, payload in events(sets / "gen", workers) if kind != "segment"}
    assert outcome[1] == ("failed", "take6.mp4: the decoder crashed on it; re-export it")
    assert [outcome[n][0] for n in (0, 2, 3, 4)] == ["done"] * 4


def test_sets_begun_before_they_are_asked_for_come_in_their_order(sets: Path) -> None:
    chosen = recipe("genhoi", "fid-vid")
    given = [[Task(clip, chosen, "gen") for clip in read_set(sets / name).clips] for name in ("gen", "gt")]
    with Decoders(2) as decoders:
        for tasks in given:
            decoders.begin(tasks)
        assert decoders.can_read(given[0]) and not decoders.can_read(given[1])
        ended = [sorted(e.clip for e in decoders.read(tasks) if e.kind == "done") for tasks in given]
        assert decoders.can_read(given[1])  # nothing is begun any more
    assert ended == [[0, 1, 2, 3, 4]] * 2


@pytest.mark.workers
@pytest.mark.parametrize(("raw", "behind"), [(True, 10), (False, 0)])
def test_decoders_that_feed_a_device_let_the_network_go_first(sets: Path, raw: bool, behind: int) -> None:
    tasks = [Task(clip, recipe("videogpt", "fvd"), "gen") for clip in read_set(sets / "gen").clips]
    with Decoders(2) as decoders:
        list(decoders.read(decoders.as_raw(tasks) if raw else tasks))
        found = {os.getpriority(os.PRIO_PROCESS, worker._process.pid) for worker in decoders._pool._workers}
    assert found == {min(os.nice(0) + behind, 19)}


def test_a_clip_whose_messages_are_few_is_one_message(sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a network's own preparation reads: frames in slots, the window over them, and the end together."""
    monkeypatch.setattr(decoding, "_step_back", lambda: None)  # it would hold for the tests that follow
    tasks = [Task(clip, recipe("videogpt", "fvd"), "gen") for clip in read_set(sets / "gen").clips]
    with Decoders(1) as decoders:
        raw = decoders.as_raw(tasks)[2]
        assert raw.slots >= 3
        parts = list(decoding._to_the_end(read_clip(raw)))
    assert [[kind for kind, _ in part] for part in parts] == [["frames", "window", "done"]]


def test_a_defect_is_raised_not_hidden(sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "read_clip", fail)
    with pytest.raises(ValueError, match="a defect"):
        events(sets / "gen", 2)


def test_readers_that_cannot_start_end_the_run(sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A set without the clips that nobody tried to read would be another set."""
    monkeypatch.setattr(fail, "__module__", "tests.instruments.distribution.nowhere")
    monkeypatch.setattr(decoding, "read_clip", fail)
    with pytest.raises(RunError, match="ModuleNotFoundError: No module named 'tests.instruments.distribution.nowhere'"):
        events(sets / "gen", 2)


def test_leaving_early_stops_the_workers(sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[WorkerProcess] = []
    start = WorkerProcess.__init__

    def noted(self: WorkerProcess, *given: Any, **options: Any) -> None:
        start(self, *given, **options)
        started.append(self)

    monkeypatch.setattr(WorkerProcess, "__init__", noted)
    tasks = [Task(clip, recipe("genhoi", "fvd"), "gen") for clip in read_set(sets / "gen").clips]
    with Decoders(2) as decoders:
        next(decoders.read(tasks))
    assert started and not any(is_alive(worker._process.pid) for worker in started)
