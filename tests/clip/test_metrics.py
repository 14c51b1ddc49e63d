"""The registry: the bundle's order, and no second list of names anywhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rushes.clip import METRICS
from rushes.clip.bundle import KEYS
from rushes.clip.definitions import DEFINITIONS
from rushes.clip.inputs import open_input
from rushes.clip.metrics import is_extra, known, metrics_of
from rushes.clip.settings import ClipSettings
from rushes.errors import InputError


def test_the_bundles_keys_are_metrics_in_its_order() -> None:
    names = [name for name in METRICS if METRICS.is_built_in(name)]
    assert [name for name in names if name in KEYS] == list(KEYS[:-2])
    # Beside the bundle: what was lost or damaged, second readings, and what tells faults from films.
    assert set(names) - set(KEYS) == {
        "decode_failures",
        "corrupt_frames",
        "missing_frames",
        "duration_shortfall_ms",
        "flicker_delta",
        "blur_p10",
        "longest_freeze_ms",
        "longest_still_ms",
        "repeated_frame_ratio",
        "luma_alternation",
        "longest_flat_ms",
        "sharpness",
        "odd_frame_score",
        "flow_residual",
        "flow_backward_error",
        "flow_acceleration",
        "temporal_inconsistency",
        "temporal_disorder",
        "temporal_flickering",
        "temporal_flickering_opencv5",
        "warping_error",
        "warping_error_l1",
        "warping_error_raft",
        "warping_error_l1_raft",
        "motion_magnitude",
        "motion_magnitude_px",
        "motion_magnitude_raft",
        "motion_magnitude_px_raft",
        "mouth_audio_lag",
        "mouth_audio_null_mean",
        "mouth_audio_null_share",
        "mouth_audio_margin",
        "mouth_audio_offset_ms",
        "mouth_speech_motion",
        "longest_face_gap_ms",
        "blink_count_fixed",
        "blink_rate_hz_fixed",
        "lse_offset",
        "identity_drift",
        "loudness_lufs",
        "loudness_range_lu",
        "true_peak_dbtp",
        "clipping_ratio",
        "clipping_ratio_lossy",
        "silence_ratio",
        "longest_silence_ms",
        "dnsmos_sig",
        "dnsmos_bak",
        "dnsmos_ovrl",
        "dnsmos_p808",
    }


def test_a_metric_is_called_what_its_definition_is_but_for_second_readings() -> None:
    other = {name: m.definition.name for name, m in METRICS.items() if m.definition.name != name}
    assert other == {
        "flicker_delta": "flicker_score",
        "blur_p10": "blur_score",
        "blink_count_fixed": "blink_count",
        "blink_rate_hz_fixed": "blink_rate_hz",
        "temporal_flickering_opencv5": "temporal_flickering",
        "warping_error_l1": "warping_error",
        "warping_error_raft": "warping_error",
        "warping_error_l1_raft": "warping_error",
        "motion_magnitude_px": "motion_magnitude",
        "motion_magnitude_raft": "motion_magnitude",
        "motion_magnitude_px_raft": "motion_magnitude",
        "clipping_ratio_lossy": "clipping_ratio",
    }
    assert [d.signature for d in DEFINITIONS[:-1]] == [open_input(m.definition).signature for _, m in METRICS.items()]


@pytest.mark.parametrize(("tier", "last"), [(0, "odd_frame_score"), (1, "longest_face_gap_ms"), (2, "lse_offset")])
def test_a_tier_takes_those_below_it(tier: int, last: str) -> None:
    names = list(metrics_of(tier))
    below = [name for name in METRICS if METRICS[name].tier <= tier and not METRICS[name].on_request]
    assert names == [name for name in below if "motion" not in METRICS[name].needs] and names[-1] == last
    assert list(metrics_of(tier, motion=True)) == below


def test_a_metric_of_a_higher_tier_says_which_to_give() -> None:
    assert list(metrics_of(0, ["blur_score"])) == list(metrics_of(0))
    with pytest.raises(InputError, match="landmark_jitter needs tier 1; give --tier 1 as well"):
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
    assert ClipSettings.load().extra == () and asked == []
    settings = ClipSettings.load(metrics="blur_p10")
    assert settings.extra == ("blur_p10",) and asked == ["blur_p10"] and "blur_p10" in settings.metrics
    assert settings.as_dict()["metrics"] == {
        "blur_p10": {"signature": rare.definition.add_params(input="raw").signature}
    }
