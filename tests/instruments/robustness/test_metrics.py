"""The result shapes, and the locked answers on extraction and rounding."""

from __future__ import annotations

import dataclasses

import pytest

from rushes.core.errors import RushesError
from rushes.instruments.robustness.seed.metrics import (
    DriftMetric,
    ESIMetric,
    MetricComputationError,
    MetricsResult,
    MissingSweepFile,
    extract_answer,
    extract_justification,
    mean_score,
    stored_score,
)


@pytest.mark.parametrize(
    ("record", "answer"),
    [
        ({"output": "A"}, "A"),
        ({"answer": "B"}, "B"),
        ({"output": "A", "answer": "B"}, "A"),
        ({"output": "", "answer": "B"}, "B"),
        ({"output": 7, "answer": "B"}, "B"),
        ({"output": None, "answer": "B"}, "B"),
        ({"output": " "}, " "),  # not empty: taken as it is
    ],
)
def test_output_comes_before_answer(record, answer):
    assert extract_answer(record) == answer


@pytest.mark.parametrize("record", [{}, {"output": ""}, {"answer": 3}, {"justification": "because"}])
def test_no_answer_is_an_error(record):
    with pytest.raises(MetricComputationError, match="No valid 'output' or 'answer'"):
        extract_answer(record)


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ({"justification": "Because X"}, "Because X"),
        ({}, ""),
        ({"justification": None}, ""),
        ({"output": "A"}, ""),  # never the output instead
        ({"justification": 42}, "42"),
        ({"justification": ["a", "b"]}, "['a', 'b']"),
        ({"justification": False}, "False"),
    ],
)
def test_justification_is_text_or_made_text(record, text):
    assert extract_justification(record) == text


def test_scores_are_stored_with_eight_decimals():
    assert stored_score(0.123456789012) == 0.12345679
    assert stored_score(1 / 3) == 0.33333333
    assert str(stored_score(-1e-12)) == "0.0"
    assert mean_score([1.0, 0.0, 0.0]) == 0.33333333


def test_results_are_frozen_and_compare_by_value():
    esi = ESIMetric(axis="a", value_scores={"1": 1.0}, overall_score=1.0)
    drift = DriftMetric(axis="a", value_scores={"1": 0.0}, overall_score=0.0)
    result = MetricsResult(esi=(esi,), drift=(drift,))
    assert result == MetricsResult(esi=(dataclasses.replace(esi),), drift=(dataclasses.replace(drift),))
    for target, field in ((esi, "axis"), (drift, "overall_score"), (result, "esi")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(target, field, None)


def test_errors_are_errors_a_user_can_act_on():
    assert issubclass(MetricComputationError, RushesError)
    assert issubclass(MissingSweepFile, FileNotFoundError)
