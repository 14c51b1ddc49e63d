"""Differences from the reference: values by hand, what is refused, and the same columns on boards and in tables."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from tests.reseal import edit_suite

from rushes.compare.board.board import write_board
from rushes.compare.board.judging import judge_board
from rushes.compare.board.model import BoardClip, BoardData
from rushes.compare.board.reference_differences import with_declared_differences
from rushes.compare.paper.evaluation import Evaluation, open_evaluation
from rushes.compare.paper.table import paper_table
from rushes.core.errors import InputError
from rushes.suite.folder import read_suite_folder

from .board_made import board_data, measured, reading

BLINKS = reading("blinks", label="Blinks", better="neither", depends_on=("frame_size",))
JITTER = reading("jitter", label="Jitter", raised_by=("noise",))
GIVEN = {"amber": (3.0, 1.0, 4.0, None), "birch": (2.0, 9.0, 0.0, 5.0), "real": (2.5, 2.0, 2.0, 2.0)}


def made(**more: object) -> BoardData:
    data = board_data(tuple(GIVEN), (BLINKS, JITTER), reference="real", **more)
    rows = {
        (name, BLINKS.key): {f"p{n:03d}": measured(BLINKS.definition, value) for n, value in enumerate(row)}
        for name, row in GIVEN.items()
    }
    return replace(data, values={**data.values, **rows})


def test_values_means_and_intervals_are_those_by_hand() -> None:
    data = with_declared_differences(made(), ["blinks"])
    column = data.readings[-1]
    values = {name: [m.value for m in data.values[name, column.key].values()] for name in ("amber", "birch")}
    assert values == {"amber": [0.5, 1.0, 2.0, None], "birch": [0.5, 7.0, 2.0, 3.0]}
    assert data.values["amber", column.key]["p003"].note == "no value of amber: not measured"
    birch = data.whole["birch", column.key]  # over the three prompts that amber has as well
    low, high = stats.t.interval(0.95, 2, loc=9.5 / 3, scale=stats.sem([0.5, 7.0, 2.0]))
    assert birch.value == pytest.approx(9.5 / 3) and birch.count == 3 and birch.interval is not None
    assert (birch.interval.low, birch.interval.high) == pytest.approx((max(low, 0.0), high))
    assert data.whole["real", column.key].value is None and ("real", column.key) not in data.values


def test_the_definition_names_the_metric_and_keeps_what_changes_it() -> None:
    blinks, jitter = with_declared_differences(made(), ["blinks", "jitter"]).readings[-2:]
    assert blinks.definition.signature == "reference_difference|of:blinks;v:1|v:1"
    assert (blinks.definition.unit, blinks.definition.better) == ("luma levels", "lower")
    assert blinks.definition.depends_on == ("frame_size",) and blinks.definition.ranks_systems
    # Noise brings the jitter of a clip closer to the reference's or further from it: no system is better for that.
    assert jitter.definition.raised_by == jitter.definition.lowered_by == ("noise",)


def test_a_clip_of_another_size_than_its_reference_has_no_difference() -> None:
    sizes = {"amber": 64, "birch": 32, "real": 64}
    clips = {
        (name, "p000"): BoardClip(path="x", run=0, subject="x", facts={"media": {"video": {"width": w, "height": 48}}})
        for name, w in sizes.items()
    }
    data = with_declared_differences(made(clips=clips), ["blinks"])
    found = {name: data.values[name, data.readings[-1].key]["p000"] for name in ("amber", "birch")}
    assert found["amber"].value == 0.5
    assert found["birch"].value is None and "frame size 32×48 in birch, 64×48 in real" in found["birch"].note


def test_the_board_tests_systems_and_never_the_reference() -> None:
    data = board_data(("amber", "birch", "real"), (BLINKS,), prompts=16, reference="real")
    level = {"amber": 1.0, "birch": 4.0, "real": 0.0}
    rows = {
        (name, BLINKS.key): {p.id: measured(BLINKS.definition, 9 + add + n / 50) for n, p in enumerate(data.prompts)}
        for name, add in level.items()
    }
    data = with_declared_differences(replace(data, values=rows, clips={}), ["blinks"])
    verdict = judge_board(data)[data.readings[-1].key]
    assert verdict.ranked == (("amber", "birch"),) and verdict.letters["real"] == ""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("blinsk", "[reference] differences: no metric 'blinsk' was measured here. Did you mean `blinks`"),
        ("elo", "a value per system"),
        ("gone", "real has no value of it"),
    ],
)
def test_what_cannot_be_had_is_refused_in_one_line(name: str, why: str) -> None:
    data = made()
    more = (reading("elo", per_prompt=False), reading("gone"))
    refused = with_declared_differences(replace(data, readings=(*data.readings, *more)), [name]).refused
    assert [one.name for one in refused] == [f"diff:{name}"] and why in refused[0].why and "\n" not in refused[0].why
    alone = with_declared_differences(replace(data, reference=""), ["blinks"])
    assert "add [reference] with on_board = true" in alone.refused[0].why


def test_a_table_has_the_difference_of_any_metric_by_name(measured_suite: Path) -> None:
    evaluation = open_evaluation(measured_suite)
    table = paper_table(evaluation, columns="sharpness,diff:sharpness")
    frame = table.to_pandas()
    (base,) = evaluation.pick("sharpness")
    truth = evaluation.values(base, "truth")
    for name in ("amber", "birch", "cedar"):
        ours = evaluation.values(base, name)
        assert frame.loc[name, "diff:sharpness"] == pytest.approx(np.mean([abs(ours[p] - truth[p]) for p in truth]))
    assert np.isnan(frame.loc["truth", "diff:sharpness"])
    assert any("not tested" in note for note in table.notes)
    with pytest.raises(InputError, match=r"diff:sharpnes: no column is called 'sharpnes'. Did you mean `sharpness`"):
        evaluation.pick("diff:sharpnes")
    with pytest.raises(InputError, match="truth has no value of it"):
        evaluation.pick("diff:psnr")


def test_a_suite_declares_differences_and_its_board_tests_them(measured_suite: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(measured_suite, tmp_path / "out"))
    names = ["luma_alternation", "freeze_ratio", "luma_alternatoin"]
    edit_suite(folder, lambda told: told["suite"].update(differences=names))
    assert read_suite_folder(folder).suite.differences[0] == "luma_alternation"
    board = write_board(folder, tmp_path / "board.md", strips=0)
    (column,) = [one for one in board.data.readings if "luma_alternation" in (one.definition.param("of") or "")]
    assert board.verdicts[column.key].family is not None and column.label in (tmp_path / "board.md").read_text()
    assert any("Did you mean `luma_alternation`" in one.why for one in board.data.refused)
    evaluation: Evaluation = open_evaluation(folder)
    (pick,) = evaluation.pick("diff:luma_alternation")
    assert evaluation.verdict(pick) is not None and "diff:luma_alternation" in evaluation.names
