"""Power and numbers of clips against closed forms and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from rushes.stats.equivalence import paired_test
from rushes.stats.power import beyond_power, clips_to_tell, paired_power, same_power


@pytest.mark.parametrize(
    ("effect", "clips", "alpha"), [(1.0, 10, 0.05), (0.5, 34, 0.025), (3.0, 3, 0.05), (0.2, 200, 0.01), (5.0, 2, 0.05)]
)
def test_the_power_beyond_a_margin_is_the_noncentral_t(effect: float, clips: int, alpha: float) -> None:
    expected = TTestPower().power(effect, clips, alpha, alternative="larger")
    found = beyond_power(2 * effect + 0.7, sd=2.0, clips=clips, margin=0.7, alpha=alpha)
    assert found == pytest.approx(expected, abs=1e-9)


def test_at_the_margin_the_power_is_alpha() -> None:
    assert beyond_power(0.7, sd=3.0, clips=9, margin=0.7, alpha=0.05) == pytest.approx(0.05, abs=1e-9)


def test_the_power_of_sameness_is_the_published_one() -> None:
    # PowerTOST's first example: cross-over of 40, CV 0.3, true ratio 0.95, limits 0.80 to 1.25: 0.815845
    sd = math.sqrt(math.log(1 + 0.3**2))
    found = paired_power(38, sd * math.sqrt(2 / 40), difference=math.log(0.95), margin=math.log(1.25), alpha=0.05)
    assert found == pytest.approx(0.815845, abs=5e-7)


def test_the_power_of_sameness_is_what_a_simulation_counts() -> None:
    # at 8 clips and a margin of one standard deviation
    draws = np.random.default_rng(3).normal(0.1, 1.0, (3000, 8))
    hits = sum(paired_test(list(row), margin=1.0, alpha=0.05).same <= 0.05 for row in draws)
    expected = same_power(0.1, sd=1.0, clips=8, margin=1.0, alpha=0.05)
    assert hits / 3000 == pytest.approx(expected, abs=3 * math.sqrt(0.25 / 3000))


def test_edges() -> None:
    assert same_power(0.0, sd=1.0, clips=8, margin=0.0, alpha=0.05) == 0.0
    assert same_power(0.0, sd=1e-9, clips=2, margin=1.0, alpha=0.05) == pytest.approx(1.0)
    assert beyond_power(1e6, sd=1.0, clips=2, margin=0.0, alpha=0.05) == pytest.approx(1.0)


@pytest.mark.parametrize("change", [0.0, 0.4, -0.4])
def test_the_number_of_clips_is_the_least_that_shows_sameness(change: float) -> None:
    clips = clips_to_tell(change, sd=1.0, margin=1.0, alpha=0.05, power=0.9, either=True)
    assert clips is not None
    powers = [same_power(change, sd=1.0, clips=n, margin=1.0, alpha=0.05) for n in (clips - 1, clips)]
    assert powers[0] < 0.9 <= powers[1]


@pytest.mark.parametrize("loss", [1.5, 0.5, 0.0, -1.0])
def test_the_number_of_clips_that_settles_a_loss_is_that_of_statsmodels(loss: float) -> None:
    # 1.5 is 0.5 beyond the margin of 1, 0.5 is 0.5 inside it, a gain of 1 is 2 away from it
    needed = TTestPower().solve_power(abs(1 - loss), alpha=0.05, power=0.9, alternative="larger")
    assert clips_to_tell(loss, sd=1.0, margin=1.0, alpha=0.05, power=0.9) == math.ceil(needed)


def test_a_change_to_either_side_is_tested_at_half_of_alpha() -> None:
    needed = TTestPower().solve_power(0.5, alpha=0.025, power=0.9, alternative="larger")
    found = clips_to_tell(-1.5, sd=1.0, margin=1.0, alpha=0.05, power=0.9, either=True)
    assert found == math.ceil(needed)


@pytest.mark.parametrize("loss", [1.0, 1.0 - 1e-6])
def test_no_number_of_clips_tells_a_loss_from_a_margin_of_its_size(loss: float) -> None:
    assert clips_to_tell(loss, sd=1.0, margin=1.0, alpha=0.05, power=0.9) is None
    assert clips_to_tell(loss, sd=1.0, margin=1.0, alpha=0.05, power=0.9, either=True) is None
