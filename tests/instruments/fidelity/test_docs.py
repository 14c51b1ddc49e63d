"""The page names every metric and every protocol, and nothing else that looks like one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rushes.instruments.fidelity.metrics import METRICS
from rushes.instruments.fidelity.protocols import PROTOCOLS, chosen_metrics

PAGE = (Path(__file__).parents[3] / "docs" / "fidelity.md").read_text()
BUILT_IN = [name for name in METRICS if METRICS.is_built_in(name)]


def test_every_name_is_on_the_page() -> None:
    words = set(re.findall(r"`([\w-]+)`", PAGE))
    # "`ffmpeg_psnr_y`, `_u`, `_v`": planes after the first are written by their ending.
    short = {name for name in BUILT_IN if f"`_{name.rpartition('_')[2]}`" in PAGE}
    assert set(BUILT_IN) - words - short == set()
    assert set(PROTOCOLS) <= words


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_protocol_is_made_of_metrics_and_called_by_its_name(name: str) -> None:
    assert PROTOCOLS[name].name == name
    assert all(metric in METRICS for metric in PROTOCOLS[name].metrics)
    assert chosen_metrics(name) == PROTOCOLS[name].metrics


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_metric_says_what_it_is(name: str) -> None:
    metric = METRICS[name]
    definition = metric.definition
    assert metric.label and definition.better != "neither" and definition.reference and definition.edge_cases
    assert not {"pair", "cut", "lag", "resize"} & {*dict(definition.params), *definition.open_params}


def test_columns_are_told_apart_by_their_heads_and_signatures() -> None:
    metrics = [METRICS[name] for name in BUILT_IN]
    assert len({metric.label for metric in metrics}) == len(metrics)
    assert len({metric.definition.signature for metric in metrics}) == len(metrics)
