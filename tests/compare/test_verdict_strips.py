"""The strip of a comparison and of a board says what their tables say."""

from __future__ import annotations

from pathlib import Path

from tests.compare.board.boards import board, metric, reading
from tests.compare.runs.compared_runs import planted_three

from rushes.compare.board.judging import judge_board
from rushes.compare.board.page.columns import board_columns
from rushes.compare.board.page.words import opening_of
from rushes.compare.runs.many import compare_all
from rushes.compare.runs.page.words import opening
from rushes.compare.summaries import board_verdict, comparison_verdict, leader_sides


def test_every_verdict_of_a_comparison_is_counted_once(tmp_path: Path) -> None:
    found = compare_all(planted_three(tmp_path))
    strip = comparison_verdict(found)
    for place, side in enumerate(strip.sides, 1):
        mine = [one for one in found.judged if one.run == place]
        assert len(side.better) == sum(one.verdict == "better" for one in mine)
        assert len(side.worse) == sum(one.verdict == "worse" for one in mine)
        assert len(side.cannot_tell) == sum(one.verdict == "cannot tell" for one in mine)
        assert side.clips == len(found.comparisons[place - 1].paired)
    assert strip.takes and all(take.reasons for take in strip.takes)
    two = compare_all(found.runs[:2])
    assert comparison_verdict(two).headline == opening(two), "the terminal opens as the page does"
    assert "Holm" in strip.sure or "At most" in strip.sure


def test_a_board_names_its_leader_and_the_prompts_apart() -> None:
    """amber is one higher on all of 12 prompts, birch and cedar are the same up to a swap of neighbours."""
    rows = {
        "birch": [float(n % 2) / 10 for n in range(12)],
        "amber": [1.0 + n / 100 for n in range(12)],
        "cedar": [float((n + 1) % 2) / 10 for n in range(12)],
    }
    data = board((reading(metric("score")), rows))
    columns = board_columns(data, judge_board(data))
    sides = leader_sides(data, columns)
    assert [(side.name, side.against, side.better) for side in sides] == [
        ("amber", "birch", ("score",)),
        ("amber", "cedar", ("score",)),
    ]
    opening = opening_of(data, columns, level=0.95)
    strip = board_verdict(data, columns, opening, order=[3, 1, 0, 2])
    assert strip.headline == opening.headline and len(strip.sides) == 2
    assert [take.id for take in strip.takes] == [
        "p3",
        "p3",
        "p1",
        "p1",
        "p0",
        "p0",
    ] and "12 shared prompts" in strip.sure
    # p3: amber 1.03, birch 0.1, cedar 0: furthest is cedar
    assert [(take.group, take.why) for take in strip.takes[:2]] == [("amber", "score 1.030"), ("cedar", "score 0")]
