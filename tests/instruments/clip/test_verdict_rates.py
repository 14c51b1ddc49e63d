"""The shipped rates: Wilson's interval by hand, and that every shipped rule has one at its own threshold."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.instruments.clip.signals.profile import BUILT_IN, load_profile
from rushes.instruments.clip.signals.verdict_rates import Count, read_rates, verdict_rates


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    [
        # z² = 3.8415. 0 of 10: upper = z²/(n + z²) = 3.8415/13.8415
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        # 5 of 10: 0.5 ± z·√(0.025 + 3.8415/400)/(1 + 0.38415) = 0.5 ± 1.96·0.18602/1.38415
        (5, 10, 0.2366, 0.7634),
        # 9 of 10: (0.9 + 0.19207 ± 1.96·√(0.009 + 0.0096036))/1.38415
        (9, 10, 0.5958, 0.9821),
        (0, 0, 0.0, 1.0),
    ],
)
def test_wilsons_interval(hits: int, total: int, low: float, high: float) -> None:
    assert Count(hits=hits, total=total).interval() == pytest.approx((low, high), abs=5e-5)


DATA = {
    "measured_on": "12 real clips",
    "rates": [
        {
            "profile": "general",
            "level": "flagged",
            "metric": "flicker_score",
            "comparison": "above",
            "threshold": 10.0,
            "false_alarms": [1, 12],
            "faults": [["strobe", "±7 levels", 9, 10]],
        }
    ],
    "kinds": [["general", "strobe", "colour and light", "±7 levels", [["x264", 4, 5], ["mpeg4", 5, 5]]]],
    "clean": [["general", "film", 1, 12]],
}


def test_rates_are_read_and_written_the_same() -> None:
    rates = read_rates(DATA)
    assert rates.as_dict() == DATA
    assert json.loads(json.dumps(rates.as_dict())) == DATA


def test_a_metrics_rules_in_words() -> None:
    assert read_rates(DATA).lines("flicker_score") == [
        "  Verdicts    measured on 12 real clips",
        "              general: flagged where flicker_score > 10",
        "                false alarms on 1 of 12 (8 %, 1–35 %) clean clips",
        "                finds 9 of 10 (90 %, 60–98 %) with strobe, ±7 levels",
    ]
    assert read_rates(DATA).lines("blur_score") == []


def test_a_new_rule_says_that_it_was_not_measured_yet() -> None:
    row = {**DATA["rates"][0], "metric": "blur_score", "threshold": 2.0, "false_alarms": [0, 0], "faults": []}
    lines = read_rates({**DATA, "rates": [row]}).lines("blur_score")
    assert lines[1:] == [f"{'':14}general: flagged where blur_score > 2", f"{'':14}  not measured yet"]


@pytest.mark.parametrize("name", ["general", "thorough", "talking-head"])
def test_every_rule_of_a_shipped_profile_has_a_rate_at_its_threshold(name: str) -> None:
    """`make verdicts` writes them; a changed profile needs them measured again, or a row that says "not yet"."""
    assert name in BUILT_IN
    measured = {(r.metric, r.level, r.comparison, r.threshold) for r in verdict_rates().rates if r.profile == name}
    rules = {(r.metric, r.level, r.comparison, r.threshold) for r in load_profile(name).rules if r.level != "remark"}
    assert measured == rules


def test_the_command_prints_them() -> None:
    rate = next(rate for rate in verdict_rates().rates if rate.comparison != "is")
    shown = CliRunner().invoke(app, ["metrics", rate.metric])
    assert shown.exit_code == 0
    for line in rate.lines():
        assert line.strip() in shown.output
    assert "Verdicts" not in CliRunner().invoke(app, ["metrics", "frame_count"]).output
