"""The device's way from raw frames to windows, run on the CPU: the host's windows, through slots and messages alike."""

from __future__ import annotations

import os
import signal
import time
from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import torch

from rushes.instruments.distribution.clips import decoding
from rushes.instruments.distribution.clips.decoding import Decoders, Parts, read_clip
from rushes.instruments.distribution.clips.device_preparation import TOLERANCE, DevicePreparation
from rushes.instruments.distribution.clips.device_windows import DeviceWindows
from rushes.instruments.distribution.clips.frame_slots import InSlot, SlotReader, SlotWriter, new_slots
from rushes.instruments.distribution.clips.preparation import resize_frames
from rushes.instruments.distribution.clips.raw_frames import RawWindow
from rushes.instruments.distribution.clips.reading import Task, clip_segments
from rushes.instruments.distribution.protocols import Recipe
from rushes.instruments.distribution.recipes import recipe
from rushes.media.find.sets import read_set

SIZES = [(512, 512), (64, 64), (360, 640), (224, 100), (225, 224)]


@pytest.mark.parametrize(
    "resizer", ["pil-bicubic-squash", "bilinear-squash", "bilinear-short-crop", "tf1-bilinear-squash"]
)
@pytest.mark.parametrize("size", SIZES)
def test_the_device_resizes_as_the_host(resizer: str, size: tuple[int, int]) -> None:
    chosen = replace(recipe("genhoi", "fvd"), resize=resizer)  # type: ignore[arg-type]
    frames = np.random.RandomState(0).randint(0, 256, (2, *size, 3)).astype(np.uint8)
    want = resize_frames(frames, 224, chosen.resize) / np.float32(127.5) - 1
    got = DevicePreparation(chosen, "cpu")(torch.from_numpy(frames)).numpy()
    assert got.dtype == np.float32 and np.abs(got - want).max() <= TOLERANCE / 127.5


def test_bicubic_is_the_hosts_bit_for_bit() -> None:
    chosen = recipe("genhoi", "fid-vid")
    frames = np.random.RandomState(1).randint(0, 256, (1, 96, 128, 3)).astype(np.uint8)
    want = resize_frames(frames, 112, chosen.resize) - np.array([114.7748, 107.7354, 99.475], np.float32)
    assert DevicePreparation(chosen, "cpu")(torch.from_numpy(frames)).numpy().tobytes() == want.tobytes()


def test_a_resizer_that_cuts_half_way_stays_on_the_host() -> None:
    assert not DevicePreparation.can_do(recipe("cd-fvd", "fvd"))
    assert DevicePreparation.can_do(recipe("genhoi", "fvd"))


def windows(tasks: list[Task], chosen: Recipe, workers: int) -> dict[int, list[np.ndarray]]:
    found: dict[int, list[np.ndarray]] = {number: [] for number in range(len(tasks))}
    ended: list[int] = []
    preparation = DevicePreparation(chosen, "cpu")
    with Decoders(workers) as decoders:
        for event in DeviceWindows(decoders, "cpu").read(tasks):
            if event.kind == "segment":
                assert isinstance(event.payload, RawWindow)
                found[event.clip].append(preparation.batch([event.payload])[0].numpy())
            else:
                ended.append(event.clip)
    assert sorted(ended) == list(range(len(tasks)))
    return found


def read_in_small_slots(task: Task) -> Parts:
    """Read a clip in a process whose slots hold seven frames: a window spans more slots than there are."""
    decoding.slot_writer = _small_writer  # type: ignore[assignment]
    return (yield from read_clip(task))


@lru_cache(maxsize=1)
def _small_writer(slots: int) -> SlotWriter:
    return slots_of(2, 24 * 32 * 3 // 2 * 7)


def slots_of(slots: int, slot_bytes: int) -> SlotWriter:
    made = new_slots(slots, slot_bytes=slot_bytes)
    assert made is not None
    return made


@pytest.mark.parametrize(("protocol", "workers"), [("genhoi", 0), ("disco", 0), ("videogpt", 0), ("disco", 2)])
def test_windows_are_the_hosts(sets: Path, monkeypatch: pytest.MonkeyPatch, protocol: str, workers: int) -> None:
    monkeypatch.setattr(decoding, "read_clip", read_in_small_slots)
    monkeypatch.setattr(decoding, "slot_writer", decoding.slot_writer)
    chosen = replace(recipe(protocol, "fvd"), size=56)  # small, to be quick
    tasks = [Task(clip, chosen, "gen") for clip in read_set(sets / "gen").clips]
    found = windows(tasks, chosen, workers)
    for number, task in enumerate(tasks):
        if protocol == "videogpt" and task.clip.name == "take12.mp4":
            assert found[number] == []  # ten frames: too short
            continue
        want = list(clip_segments(task))
        assert len(found[number]) == len(want)
        for got, host in zip(found[number], want, strict=True):
            np.testing.assert_allclose(got, host, atol=TOLERANCE / 127.5)


def test_overlapping_windows_share_their_frames(sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rushes.instruments.distribution.clips.segments import Windows

    sliding = Windows(cut="sliding", length=3, step=2, stride=4)
    monkeypatch.setattr(Recipe, "windows", lambda self, side, pictures=False: sliding)
    chosen = replace(recipe("genhoi", "fvd"), size=56)
    (task,) = [Task(clip, chosen, "gen") for clip in read_set(sets / "gen").clips if clip.name == "take6.mp4"]
    found, want = windows([task], chosen, 0)[0], list(clip_segments(task))
    assert len(want) == 4 and [w.tobytes() for w in found] == [w.tobytes() for w in want]


def test_a_frame_larger_than_a_slot_travels_in_the_message() -> None:
    writer, reader = slots_of(1, 100), SlotReader()
    small, large = np.full((3, 4, 3), 7, np.uint8), np.full((8, 8, 3), 9, np.uint8)
    assert writer.put(small) == []
    (place,) = writer.put(small)
    assert isinstance(place, InSlot) and (place.count, place.height, place.width, place.factors) == (2, 3, 4, None)
    assert reader.frames(place).shape == (2, 36) and reader.frames(place).mean() == 7
    (whole,) = writer.put(large)
    assert isinstance(whole, np.ndarray) and whole.shape == (1, 8, 8, 3)
    reader.free(place)
    assert writer.put(small) == [] and len(writer.flush()) == 1 and writer.flush() == []


def test_a_slot_whose_clip_failed_is_used_again() -> None:
    writer = slots_of(1, 1000)
    for _ in range(3):
        assert writer.put(np.zeros((3, 4, 3), np.uint8)) == []
        writer.drop()
        assert writer.put(np.zeros((3, 4, 3), np.uint8)) == []
        writer.drop(writer.flush())  # named, and the name was not sent


def crash_after_a_slot(task: Task) -> Parts:
    """Read a clip, or take a slot and die without naming it."""
    if task.clip.name == "take6.mp4":
        writer = decoding.slot_writer(task.slots)
        assert writer is not None
        writer.put(np.zeros((24, 32, 3), np.uint8))
        os.kill(os.getpid(), signal.SIGSEGV)
    return (yield from read_clip(task))


def test_a_worker_that_dies_with_a_slot_costs_one_clip(sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "read_clip", crash_after_a_slot)
    chosen = replace(recipe("genhoi", "fvd"), size=56)
    tasks = [Task(clip, chosen, "gen") for clip in read_set(sets / "gen").clips]
    found = windows(tasks, chosen, 1)
    assert [len(found[n]) for n in range(5)] == [1, 0, 3, 1, 2]


def test_readers_are_kept_from_set_to_set(sets: Path) -> None:
    chosen = replace(recipe("genhoi", "fvd"), size=56)
    with Decoders(1) as decoders:
        reader, kinds, processes = DeviceWindows(decoders, "cpu"), [], []
        for side in ("gen", "gt"):
            tasks = [Task(clip, chosen, side) for clip in read_set(sets / side).clips]  # type: ignore[arg-type]
            kinds.append([e.kind for e in reader.read(tasks)])
            processes.append([worker.fileno() for worker in decoders._pool._workers])
            time.sleep(0.2)  # a worker that ends with its set would have ended by now
    assert [found.count("done") for found in kinds] == [5, 5] and processes[0] == processes[1]


def test_sets_are_fetched_before_they_are_asked_for(sets: Path) -> None:
    """As far as there is room for, which comes back as windows are taken; then in their order."""
    chosen = replace(recipe("genhoi", "fvd"), size=56)
    given = [[Task(clip, chosen, side) for clip in read_set(sets / side).clips] for side in ("gen", "gt")]  # type: ignore[arg-type]
    with Decoders(2) as decoders, closing(DeviceWindows(decoders, "cpu", room=24 * 32 * 3 * 20)) as reader:
        for tasks in given:
            reader.begin(tasks)
        assert reader.can_read(given[0]) and not reader.can_read(given[1]) and reader.is_ahead
        ended = [sorted(e.clip for e in reader.read(tasks) if e.kind == "done") for tasks in given]
        assert reader.can_read(given[1]) and not reader.is_ahead  # nothing is begun any more
    assert ended == [[0, 1, 2, 3, 4]] * 2


def test_what_was_fetched_and_never_asked_for_is_let_go(sets: Path) -> None:
    chosen = replace(recipe("genhoi", "fvd"), size=56)
    tasks = [Task(clip, chosen, "gen") for clip in read_set(sets / "gen").clips]
    reader = DeviceWindows(Decoders(1), "cpu", room=1)
    for _ in range(3):
        reader.begin(tasks)
    next(reader.read(tasks))
    reader.close()
    assert reader._thread is not None and not reader._thread.is_alive()
