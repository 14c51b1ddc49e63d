"""The registry: the bundle's order, and no second list of names anywhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rushes.core.errors import InputError
from rushes.instruments.clip import METRICS
from rushes.instruments.clip import metrics as metrics_module
from rushes.instruments.clip.bundle import KEYS
from rushes.instruments.clip.definitions import DEFINITIONS
from rushes.instruments.clip.input_param import open_input
from rushes.instruments.clip.metrics import is_extra, known, metrics_of
from rushes.instruments.clip.settings import ClipSettings


def test_the_bundles_keys_are_metrics_in_its_order() -> None:
    names = [name for name in METRICS if METRICS.is_built_in(name)]
    assert [name for name in names if name in KEYS] == list(KEYS[:-2])


def test_a_metric_is_called_what_its_definition_is_but_for_second_readings() -> None:
    """A second reading stands beside a first, under its definition's name, and never under its signature."""
    for name, metric in METRICS.items():
        first = METRICS[metric.definition.name]
        assert first.definition.name == metric.definition.name
        assert (name == metric.definition.name) == (first.definition.signature == metric.definition.signature), name
    assert [d.signature for d in DEFINITIONS[:-1]] == [open_input(m.definition).signature for _, m in METRICS.items()]


@pytest.mark.parametrize("tier", [0, 1, 2])
def test_a_tier_takes_those_below_it(tier: int) -> None:
    names = list(metrics_of(tier))
    below = [name for name in METRICS if METRICS[name].tier <= tier and not METRICS[name].on_request]
    assert names == [name for name in below if "motion" not in METRICS[name].needs]
    assert max(METRICS[name].tier for name in names) == tier
    assert list(metrics_of(tier, motion=True)) == below


def test_a_metric_of_a_higher_tier_says_which_to_give() -> None:
    assert list(metrics_of(0, ["blur_score"])) == list(metrics_of(0))
    with pytest.raises(InputError, match="landmark_jitter needs tier 1; give tier=1 as well"):
        metrics_of(0, ["landmark_jitter"])
    assert known("no_such_metric") is None


def test_a_metric_on_request_runs_only_where_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    rare = replace(METRICS["blur_p10"], on_request=True, require=lambda: asked.append("blur_p10"))
    monkeypatch.setitem(METRICS._loaded, "blur_p10", rare)
    assert "blur_p10" not in metrics_of(0) and is_extra("blur_p10") and not is_extra("blur_score")
    assert list(metrics_of(0, ["blur_p10"])).index("blur_p10") < list(metrics_of(0, ["blur_p10"])).index(
        "frame_diff_spike_count"
    )
    usual = ClipSettings.load().extra
    assert "blur_p10" not in usual and asked == []
    settings = ClipSettings.load(metrics="blur_p10")
    assert set(settings.extra) == {*usual, "blur_p10"} and asked == ["blur_p10"] and "blur_p10" in settings.metrics
    found = settings.as_dict()["metrics"]
    assert found["blur_p10"] == {"signature": rare.definition.add_params(input="raw").signature}


def test_what_tier_0_leaves_unloaded_has_nothing_for_it() -> None:
    later = [name for name, home in metrics_module._HOMES.items() if home.endswith(metrics_module._LATER)]
    assert len(later) > 20
    for name in later:
        metric = METRICS[name]
        assert metric.tier > 0 or metric.on_request or "motion" in metric.needs, name
