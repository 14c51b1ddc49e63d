"""A degraded copy never ranks above its source on a board, whatever reading it shows; nor do both pass for equals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.compare.planted import PLANTED, Picture, Planting, clean, moving_texture, pictures_of, write_set

from rushes import evaluate_clips, evaluate_fidelity
from rushes.compare.board.judging import judge_board
from rushes.compare.board.model import BoardData, Contrast
from rushes.compare.board.page.clips import ClipIndex, board_timeline
from rushes.compare.readings.collect import collect_board
from rushes.core import Measurement
from rushes.media import AudioTrack, write_clip

SOURCE = "source"
FAULTS = ("crf-38", "half-size", "blur", "dropped")
PROMPTS = 10
"""Ten differences of one sign have p = 2⁻⁹, which tells systems apart after Holm over the ten pairs of a reading."""
Clips = list[tuple[str, list[Picture], float, None]]


def _here(work: Callable[[Any], Any], tasks: Sequence[Any], **_: object) -> Iterator[tuple[int, Any]]:
    """The tasks in this process: starting a worker for each of a dozen runs would take most of the time."""
    return ((n, work(task)) for n, task in enumerate(tasks))


@pytest.fixture(scope="module", autouse=True)
def _in_this_process() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("rushes.instruments.clip.evaluate", "rushes.instruments.fidelity.evaluate"):
            patch.setattr(f"{name}.run_tasks", _here)
        yield


def measured(folder: Path, clips: Clips) -> BoardData:
    """One board of the source and its degraded copies."""
    runs = []
    for name in (SOURCE, *FAULTS):
        write_set(folder / name, clips, clean if name == SOURCE else PLANTED[name])
        done = evaluate_clips(
            folder / name, run=folder / f"run-{name}", jobs=1, motion=True, metrics=["temporal_disorder"]
        )
        runs.append(f"{name}={done.path}")
    return collect_board(runs)


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> BoardData:
    clips = [(f"take_{n}", moving_texture(n, frames=8, size=(128, 96)), 10.0, None) for n in range(PROMPTS)]
    return measured(tmp_path_factory.mktemp("synthetic"), clips)


@pytest.fixture(scope="module")
def real(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> BoardData:
    found = sorted(p for p in (shared / "clips").iterdir() if p.suffix != ".csv")
    read = [(p.stem, *pictures_of(p, most=8, width=96), None) for p in found]
    return measured(tmp_path_factory.mktemp("real"), [clip for clip in read if len(clip[1]) == 8])


def above(board: BoardData) -> list[str]:
    """Every reading and copy for which the source is called worse, or a copy better, in either order of the systems."""
    flipped = replace(board, systems=board.systems[::-1])
    wrong = []
    for data in (board, flipped):
        for reading in data.readings:
            verdict = judge_board(data, readings=[reading.key])[reading.key]
            wrong += [f"{reading.label}: {c.first}, {c.second}" for c in verdict.contrasts if _is_wrong(c)]
            ranks = verdict.ranks
            wrong += [f"{reading.label}: ranks {ranks}" for copy in FAULTS if copy in ranks and _passed(ranks, copy)]
    return wrong


def _is_wrong(contrast: Contrast) -> bool:
    return contrast.ranked is not None and contrast.ranked[1] == SOURCE


def _passed(ranks: Mapping[str, tuple[int, int]], copy: str) -> bool:
    (_, worst), (best, _) = ranks[copy], ranks[SOURCE]
    return worst < best


@pytest.mark.parametrize("kind", ["synthetic", "real"])
def test_a_degraded_copy_never_ranks_above_its_source(kind: str, request: pytest.FixtureRequest) -> None:
    board: BoardData = request.getfixturevalue(kind)
    assert {"sharpness", "unrest", "disorder"} <= {reading.label for reading in board.readings}
    assert not above(board)


def test_the_copies_are_seen_all_the_same(synthetic: BoardData) -> None:
    apart = {
        c.second
        for reading in synthetic.readings
        for c in judge_board(synthetic, readings=[reading.key])[reading.key].contrasts
        if c.first == SOURCE and c.verdict == "moved"
    }
    assert apart >= {"crf-38", "blur"}, "a board that could see nothing would prove nothing"


def test_against_a_reference_the_source_ranks_above_its_copies(tmp_path: Path) -> None:
    clips = [(f"take_{n}", moving_texture(n, frames=3, size=(64, 48)), 10.0, None) for n in range(PROMPTS)]
    kinds: dict[str, Planting] = {"real": clean, SOURCE: _slightly_coded}
    kinds |= {name: PLANTED[name] for name in ("blur", "crf-38")}
    for name, how in kinds.items():
        write_set(tmp_path / name, clips, how)
    runs = []
    for name in (SOURCE, "blur", "crf-38"):
        runs.append(f"{name}={(run := tmp_path / f'run-{name}')}")
        evaluate_fidelity(tmp_path / name, tmp_path / "real", run=run, metrics=["psnr", "ssim"])
    board = collect_board(runs)
    for verdict in judge_board(board).values():
        assert {c.second for c in verdict.contrasts if c.first == SOURCE and c.verdict == "worse"} == {
            "blur",
            "crf-38",
        }
    drawn = board_timeline(ClipIndex(board), (SOURCE, "take_0"))
    assert drawn is not None and [lane["label"] for lane in drawn["lanes"]] == [r.label for r in board.readings]
    means = [board.whole[SOURCE, reading.key] for reading in board.readings]
    assert all(isinstance(m, Measurement) and m.value is not None for m in means) and not above(board)


def _slightly_coded(path: Path, pictures: list[Picture], fps: float, sound: AudioTrack | None) -> Path:
    return write_clip(path, pictures, fps, sound, crf=22)
