"""Several samples of one prompt: averaged within it, counted in the signature, marked where they are not as many."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from tests.compare.board.board_runs import CALM, NOISE, clip_run
from tests.compare.paper.paper_runs import planted
from tests.compare.readings.test_collect import column, suite_of, whole

from rushes.compare.board.board import write_board
from rushes.compare.readings.collect import collect_board
from rushes.compare.readings.systems import ClipRoots
from rushes.core import Definition, Measurement
from rushes.storage.runs import Entry, RunWriter, Subject
from rushes.suite.prompts import Prompt

PROMPTS = (Prompt(id="p1", text="a dog runs"), Prompt(id="p2", text="a kite-flyer waits"))


def drawn(*values: float | str, prompt: str = "p1") -> dict[str, dict[Definition, float | str]]:
    return {f"{prompt}-{n}": {CALM: value} for n, value in enumerate(values)}


def test_samples_are_averaged_within_their_prompt_and_the_prompt_counts_once(tmp_path: Path) -> None:
    clip_run(tmp_path / "amber" / "clip", drawn(1.0, 2.0, 6.0) | drawn(4.0, 5.0, 6.0, prompt="p2"), system="amber")
    named = drawn(2.0, 2.0, 2.0, prompt="a dog runs") | drawn(1.0, 1.0, 4.0, prompt="a kite-flyer waits")
    clip_run(tmp_path / "birch" / "clip", named, system="birch")
    board = collect_board(suite_of(tmp_path, "amber", "birch", prompts=PROMPTS))
    assert [prompt.id for prompt in board.prompts] == ["p1", "p2"]
    calm = column(board, "calm")
    # p1: (1 + 2 + 6) / 3 = 3; p2: 5; birch (2, 2, 2) and (1, 1, 4): 2 and 2.
    assert [board.values["amber", calm.key][p].value for p in ("p1", "p2")] == [3.0, 5.0]
    assert [board.values["birch", calm.key][p].value for p in ("p1", "p2")] == [2.0, 2.0]
    assert board.values["amber", calm.key]["p1"].count == 3
    assert calm.definition.signature == "calm|samples:3|window:7|within:sample-mean|v:1"
    found = whole(board, "amber", "calm")
    # Two prompts, not six clips: mean 4, s = √2, t(1, .975) = 12.706205, half = 12.706205 · √2 / √2.
    assert found.value == 4.0 and found.count == 2 and found.interval is not None
    assert math.isclose(found.interval.high - 4.0, 12.706205, abs_tol=1e-5)
    assert board.clips["amber", "p1"].path == "takes/amber/p1-0.mp4"
    assert any(line.startswith("3 samples of every prompt are averaged") for line in board.remarks)
    assert not any("belong to no prompt" in line for line in board.remarks)


def test_unequal_numbers_of_samples_are_in_the_signature_and_said(tmp_path: Path) -> None:
    clip_run(tmp_path / "amber" / "clip", drawn(1.0, 3.0) | drawn(4.0, prompt="p2"), system="amber")
    clip_run(tmp_path / "birch" / "clip", {"p1": {CALM: 7.0}, "p2": {CALM: 8.0}}, system="birch")
    board = collect_board(suite_of(tmp_path, "amber", "birch", prompts=PROMPTS))
    assert "samples:1-2" in column(board, "calm").key
    assert whole(board, "amber", "calm").value == 3.0 and whole(board, "birch", "calm").value == 7.5
    (said,) = [line for line in board.remarks if "numbers of samples" in line]
    assert "amber 1 to 2, birch 1" in said
    page = write_board(tmp_path, tmp_path / "board.html", strips=0)
    assert page.bytes > 0


def test_a_sample_without_a_value_leaves_the_prompt_without_one(tmp_path: Path) -> None:
    clip_run(tmp_path / "amber" / "clip", drawn(1.0, "too short") | drawn(4.0, 5.0, prompt="p2"), system="amber")
    clip_run(tmp_path / "birch" / "clip", drawn(1.0, 2.0) | drawn(4.0, 6.0, prompt="p2"), system="birch")
    board = collect_board(suite_of(tmp_path, "amber", "birch", prompts=PROMPTS))
    cell = board.values["amber", column(board, "calm").key]["p1"]
    assert cell.value is None and cell.note == "1 of 2 samples: too short"
    assert whole(board, "birch", "calm").value == 5.0  # over p2 alone, for both


def test_badges_of_samples_are_shares(tmp_path: Path) -> None:
    rows = drawn(1.0, 2.0) | drawn(4.0, 5.0, prompt="p2")
    badges = {"p1-0": "pass", "p1-1": "flagged", "p2-0": "pass", "p2-1": "pass"}
    for name in ("amber", "birch"):
        clip_run(tmp_path / name / "clip", rows, system=name, badges=badges)
    board = collect_board(suite_of(tmp_path, "amber", "birch", prompts=PROMPTS))
    passed = column(board, "pass rate")
    assert [board.values["amber", passed.key][p].value for p in ("p1", "p2")] == [0.5, 1.0]
    assert whole(board, "amber", "pass rate").value == 0.75 and passed.definition.unit == "ratio"


def test_samples_of_other_media_are_not_averaged_and_a_plain_clip_beside_samples_is_refused(tmp_path: Path) -> None:
    sized = replace(planted("sized", "lower"), depends_on=("frame_size",))
    for name in ("amber", "birch"):
        with RunWriter(tmp_path / name / "clip", instrument="clip", settings={}, asked=[f"takes/{name}"]) as run:
            for clip, width in (("p1-0", 64), ("p1-1", 32 if name == "amber" else 64), ("p2", 64)):
                facts = {"media": {"video": {"width": width, "height": 48}}}
                subject = Subject(id=clip, kind="clip", path=f"takes/{name}/{clip}.mp4", sha256=clip, facts=facts)
                run.add(Entry(subject=subject, measurements=(sized_value(sized), sized_value(NOISE))))
            run.finish(["p1-0", "p1-1", "p2"])
    board = collect_board(suite_of(tmp_path, "amber", "birch", prompts=PROMPTS))
    note = board.values["amber", column(board, "sized").key]["p1"].note
    assert note.startswith("its samples are not alike: frame size 64×48 in p1-0")
    assert board.values["amber", column(board, "noise").key]["p1"].value == 1.0
    clip_run(tmp_path / "cedar" / "clip", drawn(1.0, 2.0) | {"p1": {CALM: 3.0}, "p2": {CALM: 1.0}}, system="cedar")
    clip_run(tmp_path / "dogwood" / "clip", {"p1": {CALM: 3.0}, "p2": {CALM: 1.0}}, system="dogwood")
    mixed = collect_board(suite_of(tmp_path, "cedar", "dogwood", prompts=PROMPTS))
    assert any("cedar has 3 clips of the prompt p1" in line for line in mixed.remarks)


def sized_value(definition: Definition) -> Measurement:
    return Measurement(definition=definition, value=1.0, count=1)


def test_without_declared_prompts_a_number_is_part_of_the_name(tmp_path: Path) -> None:
    clip_run(tmp_path / "amber", drawn(1.0, 2.0))
    clip_run(tmp_path / "birch", drawn(3.0, 4.0))
    board = collect_board([tmp_path / "amber", tmp_path / "birch"])
    assert [prompt.id for prompt in board.prompts] == ["p1-0", "p1-1"]


@pytest.mark.parametrize(
    ("roots", "name"),
    [
        (["takes/amber"], "p1/out"),
        (["takes", "takes/amber"], "amber/p1/out"),  # the root given first
        (["takes/amber/p1/out.mp4"], "x"),  # a clip that was asked for by itself has its id
        (["", "elsewhere"], "x"),
        (["."], "takes/amber/p1/out"),
    ],
)
def test_a_clip_is_named_from_the_first_root_above_it(roots: list[str], name: str) -> None:
    clip = Subject(id="x", kind="clip", path="takes/amber/p1/out.mp4", sha256=None)
    assert ClipRoots(roots).name(clip) == name


def test_a_clip_among_hundreds_of_roots_is_looked_up_by_its_own_ancestors() -> None:
    roots = ClipRoots([f"takes/amber/c{n:03d}.mp4" for n in range(500)])
    seen: list[object] = []

    class Counted(dict):  # type: ignore[type-arg]
        def __contains__(self, key: object) -> bool:
            seen.append(key)
            return super().__contains__(key)

    roots._order = Counted(roots._order)
    roots.name(Subject(id="x", kind="clip", path="takes/amber/c499.mp4", sha256=None))
    assert len(seen) == 3  # takes/amber, takes and "."; not 500
