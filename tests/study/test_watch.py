"""The play ledger: what counts as two full passes."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rushes.core.errors import InputError
from rushes.study.raters.play_credit import Ledger, WatchRule, credit

RULE = WatchRule()
D = 4000  # tolerance: min(250, 10 %) = 250 ms, so a pass covers 3750 ms


def play(*spans: tuple[float, float], ledger: Ledger | None = None) -> Ledger:
    ledger = ledger or Ledger()
    for start, end in spans:
        ledger, why = credit(ledger, start, end, rate=1, visible=True, duration_ms=D, elapsed_ms=10**9, rule=RULE)
        assert why == ""
    return ledger


@pytest.mark.parametrize(
    ("spans", "passes"),
    [
        ([], 0),
        ([(0, D)], 1),
        ([(0, D), (0, D)], 2),
        ([(0, D)] * 5, 2),
        # The end is reported late: 3750 of 4000 ms is a pass, 3749 is not.
        ([(0, 3750)], 1),
        ([(0, 3749)], 0),
        # Pieces in any order, each moment twice.
        ([(2000, D), (0, 2000), (1000, D), (0, 1000)], 2),
        # One half four times is no pass; looping the start does not stand in for the end.
        ([(0, 2000)] * 4, 0),
        ([(0, D), (0, 2000), (0, 2000)], 1),
        # A pass with a hole larger than the tolerance: 0–1500 and 1800–4000 cover 3700 ms.
        ([(0, 1500), (1800, D)], 0),
        # Times outside the clip are cut: −500 to 9000 covers it once.
        ([(-500, 9000)], 1),
    ],
)
def test_passes(spans, passes):
    assert play(*spans).passes(D, RULE) == passes


def test_a_very_short_clip_is_not_all_tolerance():
    # 300 ms: the tolerance is 10 % = 30 ms, not 250.
    assert play((0, 269)).passes(300, RULE) == 0
    assert play((0, 270)).passes(300, RULE) == 1


def test_share_is_of_the_pass_under_way():
    half = play((0, 1875))
    assert half.share(D, RULE) == 0.5  # 1875 / 3750
    assert play((0, D), (0, 1875)).share(D, RULE) == 0.5
    assert play((0, D), (0, D)).share(D, RULE) == 1.0


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"rate": 1.5}, "played at 1.5× (at most 1×)"),
        ({"rate": 2.0}, "played at 2× (at most 1×)"),
        ({"rate": -1.0}, "played backwards"),
        ({"rate": 0.0}, "played backwards"),
        ({"rate": math.nan}, "the reported times are not numbers"),
        ({"visible": False}, "the clip was hidden while it played"),
        ({"elapsed_ms": 2999}, "more play was reported than time has passed"),
    ],
)
def test_what_is_not_credited(change, why):
    settings = {"rate": 1.0, "visible": True, "duration_ms": D, "elapsed_ms": 10**9, "rule": RULE} | change
    assert credit(Ledger(), 0, D, **settings) == (Ledger(), why)


def test_slow_motion_counts_and_time_may_run_one_second_ahead():
    ledger, why = credit(Ledger(), 0, D, rate=0.5, visible=True, duration_ms=D, elapsed_ms=3000, rule=RULE)
    assert (ledger.passes(D, RULE), why) == (1, "")


def test_going_backwards_credits_nothing_and_is_no_offence():
    ledger, why = credit(Ledger(), 3000, 1000, rate=1, visible=True, duration_ms=D, elapsed_ms=10**9, rule=RULE)
    assert (ledger, why) == (Ledger(), "")


def test_spans_name_clip_and_pass():
    assert play((0, 2000), (1000, 3000)).spans("b") == (("b", 1, 0, 3000), ("b", 2, 1000, 2000))


def test_plain_and_back():
    ledger = play((0, 2000), (1000, 3000))
    assert Ledger.from_plain(ledger.plain()) == ledger and Ledger.from_plain(None) == Ledger()
    with pytest.raises(InputError):
        Ledger.from_plain([1])


spans = st.lists(st.tuples(st.integers(0, D), st.integers(0, D)).map(lambda s: (min(s), max(s))), max_size=12)


@given(spans)
def test_the_ledger_counts_every_moment_as_a_naive_count_does(given_spans):
    ledger = play(*given_spans)
    times = [0] * D
    for start, end in given_spans:
        for moment in range(start, end):
            times[moment] += 1
    for level in (1, 2):
        covered = sum(count >= level for count in times)
        stored = ledger.covered[level - 1] if len(ledger.covered) >= level else ()
        assert sum(end - start for start, end in stored) == covered
    expected = sum(sum(count >= level for count in times) >= 3750 for level in (1, 2))
    assert ledger.passes(D, RULE) == expected


@given(spans, st.randoms())
def test_the_order_of_reports_does_not_matter(given_spans, random):
    shuffled = list(given_spans)
    random.shuffle(shuffled)
    assert play(*given_spans).covered == play(*shuffled).covered
