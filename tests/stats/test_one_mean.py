"""The mean over clips is made once: whoever asks for it gets the same interval under the same signature."""

from __future__ import annotations

import pytest

from rushes.compare.paper.systems import _mean as of_paper
from rushes.compare.readings.samples import mean_over_prompts
from rushes.core import Measurement
from rushes.instruments.clip.metrics.timing import DECODE_OK
from rushes.instruments.pose.measurements import set_measurements
from rushes.stats.means import clip_means

SIX = [True, True, True, True, True, False]
# Wilson, 5 of 6, z² = 3.841459: (0.833333 + 0.320122 ± 1.96 √(0.023148 + 0.026677)) / 1.640243
LOW, HIGH = 0.43649, 0.96994


def test_six_booleans_have_one_interval() -> None:
    values = [Measurement(definition=DECODE_OK, value=value, count=1) for value in SIX]
    of_runs, of_pose = clip_means(values)[0], list(set_measurements([[m] for m in values]))[-1]
    found = [of_runs, of_pose, of_paper(values), mean_over_prompts(values, left_out=0)]
    assert {m.signature for m in found[:3]} == {"decode_ok|aggregate:mean|decoder:libav|v:1"}
    assert [m.value for m in found] == [5 / 6] * 4
    for m in found:
        assert m.interval is not None and m.interval.method == "wilson"
        assert (m.interval.low, m.interval.high) == (pytest.approx(LOW, abs=1e-5), pytest.approx(HIGH, abs=1e-5))
