"""Each locked protocol names metrics that there are."""

from __future__ import annotations

import pytest

from rushes.instruments.fidelity.metrics import METRICS
from rushes.instruments.fidelity.protocols import DEFAULT, PROTOCOLS


@pytest.mark.parametrize("name", PROTOCOLS)
def test_its_metrics(name: str):
    assert PROTOCOLS[name].name == name
    for metric in PROTOCOLS[name].metrics:
        assert METRICS[metric].definition.name == metric


def test_the_first_is_the_default():
    assert next(iter(PROTOCOLS)) == DEFAULT
