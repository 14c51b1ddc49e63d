"""A board of runs in shards is that of runs in one piece, to the byte, and holds no number for each clip."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.compare.runs.test_stored_columns import CLIPS, write

from rushes.compare.board.board import board_page, write_board
from rushes.compare.board.page import page as pages
from rushes.compare.readings.collect import collect_board
from rushes.compare.readings.value_rows import ValueRow, row_floats

pytest.importorskip("pyarrow")
SYSTEMS = {"amber": 1, "birch": 2, "cedar": 3}


@pytest.fixture
def both_ways(tmp_path: Path) -> dict[str, list[str]]:
    """Three systems, of which two lack clips, in one piece and in shards."""
    lacking = {"birch": CLIPS[3:4], "cedar": [CLIPS[3], CLIPS[17]]}
    found: dict[str, list[str]] = {}
    for kind, shards in (("whole", 0), ("parts", 5)):
        for name, seed in SYSTEMS.items():
            clips = [clip for clip in CLIPS if clip not in lacking.get(name, [])]
            write(tmp_path / kind / name, seed, shards=shards, clips=clips)
            found.setdefault(kind, []).append(f"{name}={tmp_path / kind / name}")
    return found


@pytest.mark.parametrize("ending", ["html", "md", "tex"])
def test_a_board_of_runs_in_shards_has_the_bytes_of_runs_in_one_piece(
    both_ways: dict[str, list[str]], tmp_path: Path, ending: str
) -> None:
    made = [Path(write_board(runs, tmp_path / kind / f"b.{ending}").path) for kind, runs in both_ways.items()]
    whole, parts = (_plain(path.read_text()) for path in made)
    assert parts == whole
    assert len(whole) > 500


def _plain(text: str) -> str:
    """Without the folder, and with 0.0 as 0 in lists: the clips made up here mix the two in one metric."""
    return re.sub(r"(?<=[\[,])(-?\d+)\.0(?=[,\]])", r"\1", text.replace("/whole/", "/").replace("/parts/", "/"))


def test_values_of_a_run_in_shards_stay_columns(both_ways: dict[str, list[str]]) -> None:
    whole, parts = (collect_board(runs) for runs in (both_ways["whole"], both_ways["parts"]))
    assert parts.values and all(isinstance(row, ValueRow) for row in parts.values.values() if row)
    for key, row in whole.values.items():
        assert dict(parts.values[key]) == dict(row)
    assert dict(parts.clips) == dict(whole.clips)
    assert ("birch", CLIPS[3]) not in parts.clips
    absent = next(row for (name, _), row in parts.values.items() if name == "birch")[CLIPS[3]]
    assert absent.value is None and absent.note == "birch has no clip of this prompt"


def test_a_page_lists_the_prompts_that_differ_most_and_counts_all(
    both_ways: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = board_page(both_ways["parts"])
    assert pages.first_rows(whole) is whole
    monkeypatch.setattr(pages, "ROWS", 7)
    listed = pages.first_rows(whole)
    chosen = [whole.data.prompts[place].id for place in whole.order[:7]]
    assert [listed.data.prompts[place].id for place in listed.order] == chosen
    assert {prompt.id for prompt in listed.data.prompts} == set(chosen)
    assert listed.data.remarks[-1] == "7 of 24 prompts are listed here: those on which the systems differ most"
    assert listed.data.whole == whole.data.whole and listed.columns == whole.columns
    data = pages.page_data(listed.data, listed.columns, order=listed.order, clips=pages.ClipIndex(listed.data), urls={})
    shown = next(one for one in data["readings"] if one["per_prompt"])  # type: ignore[attr-defined]
    assert [len(row) for row in shown["values"]] == [7, 7, 7]


def test_a_row_of_a_column_takes_prompts_in_any_order(both_ways: dict[str, list[str]]) -> None:
    data = collect_board(both_ways["parts"])
    row = next(row for row in data.values.values() if isinstance(row, ValueRow) and not np.isnan(row.floats).all())
    back = replace(data, prompts=data.prompts[::-1])
    turned = row_floats(row, [prompt.id for prompt in back.prompts])
    assert np.array_equal(turned[::-1], row.floats, equal_nan=True)
