"""What a metric object must say about itself."""

from __future__ import annotations

from typing import Any

import pytest

from rushes.core import Definition, Measurement
from rushes.core.errors import DefinitionError
from rushes.core.metric import ClipMetric

LENGTH = Definition(
    name="length",
    unit="frames",
    lowest=0,
    highest=None,
    better="neither",
    summary="How long.",
    formula="frames",
    open_params=("model",),
)


def measure(seen: Any) -> Measurement:
    return Measurement(definition=LENGTH.with_params(model="m"), value=seen.frames, count=seen.frames)


def test_a_missing_value_closes_what_was_never_set() -> None:
    missing = ClipMetric(definition=LENGTH, measure=measure).missing("no model")
    assert (missing.value, missing.note, missing.signature) == (None, "no model", "length|model:none|v:1")


@pytest.mark.parametrize("ways", [{}, {"measure": measure, "start": lambda facts: None}])
def test_it_says_how_it_is_computed_and_once(ways: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError, match="length: a metric needs either `measure` or `start`"):
        ClipMetric(definition=LENGTH, **ways)


def test_what_it_needs_is_something_that_can_be_had() -> None:
    with pytest.raises(DefinitionError, match="got 'lumma'"):
        ClipMetric(definition=LENGTH, measure=measure, needs=frozenset({"lumma"}))  # type: ignore[arg-type]
