"""The registry: the bundle's order, and no second list of names anywhere."""

from __future__ import annotations

import pytest

from rushes.clip import METRICS
from rushes.clip.bundle import KEYS
from rushes.clip.definitions import DEFINITIONS
from rushes.clip.inputs import open_input
from rushes.clip.metrics import known, metrics_of
from rushes.errors import InputError


def test_the_bundles_keys_are_metrics_in_its_order() -> None:
    names = [name for name in METRICS if METRICS.is_built_in(name)]
    assert [name for name in names if name in KEYS] == list(KEYS[:-2])
    # Beside the bundle: what was dropped, the two second readings, and what goes with lip sync.
    assert set(names) - set(KEYS) == {
        "decode_failures",
        "flicker_delta",
        "blur_p10",
        "mouth_audio_lag",
        "mouth_audio_null_mean",
        "mouth_audio_null_share",
        "lse_offset",
    }


def test_a_metric_is_called_what_its_definition_is_but_for_second_readings() -> None:
    other = {name: m.definition.name for name, m in METRICS.items() if m.definition.name != name}
    assert other == {"flicker_delta": "flicker_score", "blur_p10": "blur_score"}
    assert [d.signature for d in DEFINITIONS] == [open_input(m.definition).signature for _, m in METRICS.items()]


@pytest.mark.parametrize(
    ("tier", "last"), [(0, "frame_diff_spike_count"), (1, "mouth_audio_null_share"), (2, "lse_offset")]
)
def test_a_tier_takes_those_below_it(tier: int, last: str) -> None:
    names = list(metrics_of(tier))
    assert names == [name for name in METRICS if METRICS[name].tier <= tier] and names[-1] == last


def test_a_metric_of_a_higher_tier_says_which_to_give() -> None:
    assert list(metrics_of(0, ["blur_score"])) == list(metrics_of(0))
    with pytest.raises(InputError, match="landmark_jitter needs tier 1; give --tier 1 as well"):
        metrics_of(0, ["landmark_jitter"])
    assert known("no_such_metric") is None
