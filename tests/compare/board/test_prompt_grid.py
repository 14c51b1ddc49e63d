"""Prompts × systems: rows in order, cells marked only where the board's own test tells the two systems apart."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.compare.board.boards import board, metric, reading

from rushes.compare.board.judging import judge_board
from rushes.compare.board.model import BoardData
from rushes.compare.board.prompt_grid import PromptGrid, grid_readings, prompt_grid
from rushes.core.errors import InputError
from rushes.suite.prompts import Prompt


def planted() -> BoardData:
    """Twelve prompts: amber is 1 above birch and 1.1 or 0.9 above cedar on each; birch and cedar cancel out."""
    base = [float(i) for i in range(12)]
    birch = [b + 0.1 * (-1) ** i for i, b in enumerate(base)]
    amber = [b + 1 for b in birch]
    return board((reading(), {"amber": amber, "birch": birch, "cedar": base}))


def grid(data: BoardData, **asked: object) -> PromptGrid:
    return prompt_grid(data, judge_board(data), **asked)  # type: ignore[arg-type]


def marks(found: PromptGrid) -> dict[str, dict[str, str]]:
    return {row.prompt.id: {cell.system: cell.mark for cell in row.cells if cell.mark} for row in found.rows}


def test_best_and_worst_are_marked_where_the_board_tells_them_apart() -> None:
    found = grid(planted(), sort="prompt")
    # The worst of even rows is cedar (0.1 below birch), of odd rows birch. Amber is told apart from both.
    assert marks(found)["p0"] == {"amber": "best", "cedar": "worst"}
    assert marks(found)["p1"] == {"amber": "best", "birch": "worst"}
    assert found.marked == 12 and "amber over birch and amber over cedar. Rows marked: 12 of 12." in found.words


def test_no_mark_between_systems_that_cannot_be_told_apart() -> None:
    found = grid(planted(), systems=("birch", "cedar"))
    assert found.marked == 0 and found.systems == ("birch", "cedar")
    assert found.words == "No winner marked: over all prompts, these systems do not differ significantly on score."


def test_no_mark_against_the_board_s_direction_and_none_for_a_shared_best() -> None:
    data = planted()
    key = data.readings[0].key
    values = {place: dict(row) for place, row in data.values.items()}
    # Worst of p3 is now amber, best birch: the board says amber over birch, so this row says nothing about systems.
    values["birch", key]["p3"] = replace(values["birch", key]["p3"], value=9.0)
    # On p5 amber and birch share the best value.
    values["birch", key]["p5"] = values["amber", key]["p5"]
    found = grid(replace(data, values=values))
    assert marks(found)["p3"] == {} and marks(found)["p5"] == {}
    assert found.rows[0].prompt.id == "p3", "9 − 3 is the largest difference"


def test_a_reading_without_a_direction_says_why_nothing_is_marked() -> None:
    definition = metric(better="neither")
    found = grid(board((reading(definition), {"a": [1.0] * 9, "b": [2.0] * 9})))
    assert found.marked == 0 and found.words == "No winner marked: on score, neither direction is better."


def test_rows_are_found_by_words_and_sorted_by_difference() -> None:
    data = board((reading(), {"a": [1.0, 5.0, None], "b": [1.5, 1.0, 2.0]}))
    prompts = (Prompt(id="p0", text="A dog"), Prompt(id="p1", text="A cat", group="pets"), Prompt(id="p2"))
    data = replace(data, prompts=prompts)
    # Differences: 0.5, 4, and none where a system has no value.
    assert [row.prompt.id for row in grid(data).rows] == ["p1", "p0", "p2"]
    assert [row.prompt.id for row in grid(data, sort="prompt").rows] == ["p0", "p1", "p2"]
    for text, ids in (("DOG", ["p0"]), ("pets", ["p1"]), ("p2", ["p2"]), ("bird", [])):
        assert [row.prompt.id for row in grid(data, text=text).rows] == ids


def test_what_says_better_and_worse_is_shown_first() -> None:
    moved = reading(metric("moved", raised_by=("noise",), lowered_by=("blur",)))
    flat = reading(metric("flat", better="neither"))
    data = board(
        (flat, {"a": [1.0], "b": [1.0]}), (moved, {"a": [1.0], "b": [2.0]}), (reading(), {"a": [1.0], "b": [1.0]})
    )
    assert [one.label for one in grid_readings(data)] == ["score", "moved", "flat"]


def test_what_the_board_does_not_have_is_named() -> None:
    with pytest.raises(InputError, match="no metric 'blur'"):
        grid(planted(), reading="blur")
    with pytest.raises(InputError, match="no system 'x'; it has amber, birch and cedar"):
        grid(planted(), systems=("x",))


def test_a_board_without_numbers_per_prompt_still_shows_its_clips() -> None:
    data = replace(planted(), readings=())
    found = grid(data)
    assert found.reading is None and len(found.rows) == 12 and "no cell is marked" in found.words
