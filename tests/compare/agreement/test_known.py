"""What is known of a metric's agreement with people, beside its numbers: in words, in tables, on pages."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.compare.agreement.rated import definition
from tests.compare.board.board_made import credential

from rushes.compare.agreement.credential import Agreed, shipped_credentials
from rushes.compare.agreement.known import NOT_KNOWN, agreement_notes, agreement_text, known_agreement
from rushes.compare.questions import QUESTIONS, MetricRow, one_way_each, question_table
from rushes.core.table import Cell
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.fidelity.metrics import METRICS as PAIR_METRICS

GOOD = definition("good")
EARNED = replace(credential(GOOD), question="look", pairs_right=Agreed(value=0.93, low=0.65, high=0.99))


def test_a_mean_and_a_coin_are_known_and_another_signature_is_not() -> None:
    coin = replace(EARNED, pairs_right=Agreed(value=0.5, low=0.3, high=0.7))
    mean = GOOD.add_params(aggregate="mean", over="shared-prompts")
    assert known_agreement(GOOD, [EARNED]) == known_agreement(mean, [coin, EARNED]) == (EARNED,)
    assert known_agreement(GOOD, [coin]) == (coin,)  # it may not rank, and is known all the same
    assert known_agreement(GOOD.add_params(eps="2"), [EARNED]) == known_agreement(definition("other"), [EARNED]) == ()
    assert known_agreement(GOOD, [EARNED], kind="talking-head") == ()
    assert known_agreement(GOOD, [EARNED], kind="text-to-video") == (EARNED,)
    assert known_agreement(GOOD, [EARNED], at=(("joint", "wrist"),)) == ()
    motion = replace(EARNED, question="a_motion")
    assert known_agreement(GOOD, [EARNED, motion]) == (motion, EARNED)  # questions in text order


def test_words_say_the_share_its_interval_and_the_side() -> None:
    more = replace(EARNED, better="neither", question="temporal_quality")
    assert agreement_text([EARNED]) == "look 93 % (65–99 %)"
    assert agreement_text([EARNED, more]) == "look 93 % (65–99 %); temporal quality 93 % with more (65–99 %)"
    assert agreement_text([EARNED], kinds=True) == "look 93 % (65–99 %, text-to-video)"
    assert agreement_text([]) == NOT_KNOWN == "not known"
    assert agreement_notes([(), ()]) == []
    (note,) = agreement_notes([(EARNED,), (more,)])
    assert "FETV: 17 prompts, 2 systems" in note and "With more" in note and "a coin is right in 50 %" in note
    assert "With more" not in agreement_notes([(EARNED,)])[0]


def test_a_question_is_answered_once_and_by_the_way_that_is_known() -> None:
    rows = [("head_distance", ()), ("pck", ()), ("head_distance", (EARNED,)), ("pck", ()), ("head_distance", ())]
    assert one_way_each(rows) == [1, 2, 3]
    assert one_way_each([("voice_similarity", ()), ("voice_similarity", ())]) == [0]


def test_the_table_has_the_question_the_values_and_the_agreement() -> None:
    cells = [Cell("0.4"), Cell("2.8")]
    rows = [
        MetricRow(metric="head_distance", head="head_distance ↓", cells=cells, known=(EARNED,)),
        MetricRow(metric="psnr", head="PSNR ↑", cells=cells, known=()),
    ]
    table = question_table(rows, ("amber", "birch"))
    assert table.header == ("question", "metric", "amber", "birch", "agrees with people")
    assert table.texts() == [
        ["head", "head_distance ↓", "0.4", "2.8", "look 93 % (65–99 %)"],
        ["", "PSNR ↑", "0.4", "2.8", "not known"],
    ]
    assert table.notes[0] == "head_distance ↓: how far from real speakers, who have 0.4 to 2.0."
    assert question_table(rows[1:], ("amber", "birch")).header[0] == "metric"


def _definition(metric: str):  # type: ignore[no-untyped-def]
    return METRICS[metric].definition if metric in METRICS else PAIR_METRICS[metric].definition


@pytest.mark.parametrize(
    ("metric", "ends"),
    [
        ("lip_sync_offset_ms", ("−120", "160")),
        ("lip_speech_fit", ("0.5",)),
        ("articulation_distance", ("0.4", "1.7")),
        ("voice_similarity", ("0.51", "0.87", "0.06")),
        ("head_distance", ("0.4", "2.0")),
        ("gaze_spread", ("0.007", "0.105")),
        ("brow_motion", ("0.003", "0.035")),
    ],
)
def test_what_to_expect_of_a_talking_head_is_what_the_definition_says(metric: str, ends: tuple[str, ...]) -> None:
    (one,) = (one for one in QUESTIONS["talking-head"] if one.metric == metric)
    found = _definition(metric)
    assert all(end in one.expect and end in found.summary + found.edge_cases for end in ends)


def test_every_metric_of_a_question_exists_and_the_shipped_agreement_is_about_todays() -> None:
    for one in QUESTIONS["talking-head"]:
        assert _definition(one.metric).name == one.metric
    known = {
        name: [one.question for one in shipped_credentials() if one.metric == name and one.kind == "talking-head"]
        for name in ("articulation_distance", "head_distance", "gaze_spread", "brow_motion")
    }
    assert known == {"articulation_distance": ["lip"]} | dict.fromkeys(list(known)[1:], ["head"])
