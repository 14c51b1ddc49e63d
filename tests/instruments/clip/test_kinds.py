"""What a clip is, which profile is for it, and what a pass covers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.instruments.clip import evaluate_clips
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.signals.badges import judge
from rushes.instruments.clip.signals.choice import chosen_lines, pass_lines, suggestion
from rushes.instruments.clip.signals.coverage import coverage
from rushes.instruments.clip.signals.kinds import kind_of
from rushes.instruments.clip.signals.profile import BUILT_IN, load_profile, parse_profile
from rushes.instruments.clip.signals.verdict_rates import read_rates
from rushes.media import write_clip


def numbers(**values: float | None) -> dict[str, Measurement]:
    made = {}
    for name, value in values.items():
        definition = METRICS[name].definition
        open_params = dict.fromkeys(definition.open_params, "none")
        definition = definition.with_params(**open_params)
        made[name] = (
            Measurement.missing(definition, "not here")
            if value is None
            else Measurement(definition=definition, value=value, count=9)
        )
    return made


HEAD = {"face_present_ratio": 0.5, "mouth_speech_motion": 0.02}
SCREEN = {"plain_area_ratio": 0.3, "moving_area_ratio": 0.02}
DRAWN = {"plain_area_ratio": 0.2, "moving_area_ratio": 0.3, "repeated_frame_ratio": 0.4}


@pytest.mark.parametrize(
    ("values", "profile"),
    [
        (HEAD, "talking-head"),
        (HEAD | SCREEN, "talking-head"),  # the first that holds
        (HEAD | {"face_present_ratio": 0.49}, "generated"),
        (HEAD | {"mouth_speech_motion": None}, "generated"),  # nobody speaks
        (SCREEN, "screen"),
        (SCREEN | {"moving_area_ratio": 0.021}, "generated"),
        (SCREEN | {"plain_area_ratio": 0.29}, "generated"),
        (DRAWN, "animation"),
        (DRAWN | {"repeated_frame_ratio": 0.39}, "generated"),
        (DRAWN | {"plain_area_ratio": 0.19}, "generated"),  # film at 12 pictures a second in 24
        (DRAWN | {"repeated_frame_ratio": 0.0, "plain_area_ratio": 0.55}, "animation"),
        ({"plain_area_ratio": 0.9, "face_present_ratio": 0.5}, "generated"),  # somebody before a plain wall
        (DRAWN | {"repeated_frame_ratio": 0.0, "plain_area_ratio": 0.54}, "generated"),
        ({}, "generated"),
    ],
)
def test_the_first_kind_that_holds_at_its_limit(values: dict[str, float | None], profile: str) -> None:
    assert kind_of(numbers(**values)).profile == profile


def test_auto_judges_by_the_profile_for_the_clip() -> None:
    auto = load_profile("auto")
    still = numbers(**SCREEN, longest_freeze_ms=9000.0)
    badge = judge(still, auto)
    assert (badge.status, badge.profile) == ("pass", "screen")
    assert badge.because == "30 % of the picture is plain and 2 % of it moves"
    assert badge.facts == {
        "not_judged": list(badge.not_judged),
        "chosen_profile": "screen",
        "chosen_because": badge.because,
    }
    moving = judge(numbers(**(SCREEN | {"moving_area_ratio": 0.5}), longest_freeze_ms=9000.0), auto)
    assert (moving.status, moving.profile) == ("flagged", "thorough")
    assert set(judge(still, load_profile("general")).facts) == {"not_judged"}


def test_auto_measures_what_any_of_its_profiles_needs() -> None:
    auto = load_profile("auto")
    for name in auto.choose:
        assert set(load_profile(name).rules) <= set(auto.rules), name
    assert auto.needs_motion and len(set(auto.rules)) == len(auto.rules)
    assert auto.digest != replace(auto, choose=auto.choose[:2]).digest


def test_every_profile_says_what_it_is_for() -> None:
    for name in BUILT_IN:
        assert load_profile(name).purpose or name == "metricbundle-v1"  # the specification's stays as it is


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('name = "x"\nfor = 3', "expected `for` to be a text"),
        ('name = "x"\nchoose = ["auto"]', "expected `choose` to be a list of general"),
        ('name = "x"\nchoose = ["screen"]\n[flagged]\nsharpness = { below = 1 }', "no rules of its own"),
    ],
)
def test_a_bad_profile_is_one_line(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_profile(text, source="x.toml")


def screen(path: Path) -> Path:
    """A white page with lines of text, over which a cursor of 4 × 8 pixels moves."""
    page = np.full((128, 160, 3), 250, np.uint8)
    page[8:60:6, 10:90:2] = 20
    frames = []
    for n in range(30):
        frame = page.copy()
        frame[80:88, 4 * n : 4 * n + 4] = 0
        frames.append(frame)
    return write_clip(path, frames, fps=10, crf=12)


def film(path: Path, seed: int) -> Path:
    rng = np.random.default_rng(seed)
    small = rng.integers(40, 210, (60, 100, 3), dtype=np.uint8)
    wide = cv2.resize(small, (240, 144), interpolation=cv2.INTER_CUBIC)
    return write_clip(path, [np.ascontiguousarray(wide[:128, n : n + 160]) for n in range(30)], fps=25, crf=14)


def test_a_screen_is_seen_and_its_profile_suggested(tmp_path: Path) -> None:
    screen(tmp_path / "a.mp4")
    run = evaluate_clips(tmp_path, run=tmp_path / "run", jobs=1)
    general = load_profile("general")
    line = suggestion(run, general)
    assert line.startswith("the clip looks like what the profile screen is for: ") and "--profile screen" in line
    assert not suggestion(run, load_profile("screen"))
    film(tmp_path / "b.mp4", 1), film(tmp_path / "c.mp4", 2)
    mixed = evaluate_clips(tmp_path, run=tmp_path / "mixed", jobs=1)
    assert not suggestion(mixed, general)  # one of three


def test_auto_is_the_same_for_any_number_of_workers_and_again(tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    screen(tmp_path / "clips" / "a.mp4"), film(tmp_path / "clips" / "b.mp4", 1)
    profile = tmp_path / "two.toml"
    profile.write_text('name = "two"\nchoose = ["screen", "generated"]\n')  # no faces, no models
    runs = [
        evaluate_clips(tmp_path / "clips", run=tmp_path / f"run{jobs}", profile=profile, jobs=jobs) for jobs in (1, 2)
    ]
    one, two = ([(s.id, s.badge, s.facts, s.why) for s in run.subjects] for run in runs)
    assert one == two
    assert [s.facts["chosen_profile"] for s in runs[0].subjects] == ["screen", "generated"]
    lines = list(chosen_lines(runs[0]))
    assert lines[1].startswith("profile: screen for a, because ") and len(lines) == 2


RATES = read_rates(
    {
        "measured_on": "clips",
        "rates": [],
        "kinds": [
            ["general", "strobe", "colour and light", "±7", [["x264", 9, 10]]],
            ["general", "melt", "structure", "5 %", [["x264", 8, 10]]],
            ["general", "loop", "time", "1 s", [["x264", 5, 5], ["mpeg4", 4, 5]]],
            ["general", "negative", "colour and light", "whole clip", [["x264", 0, 4]]],
            ["general", "upside-down", "structure", "whole clip", [["x264", 0, 4]]],
            ["general", "silent", "sound", "100 %", [["x264", 0, 4]]],
            ["auto", "strobe", "colour and light", "±7", [["x264", 9, 10]]],
            ["auto", "melt", "structure", "5 %", [["x264", 10, 10]]],
            ["auto", "loop", "time", "1 s", [["x264", 10, 10]]],
            ["auto", "negative", "colour and light", "whole clip", [["x264", 1, 2], ["mpeg4", 1, 2]]],
            ["auto", "upside-down", "structure", "whole clip", [["x264", 2, 2]]],
            ["auto", "silent", "sound", "100 %", [["x264", 1, 4]]],
            ["animation", "melt", "structure", "5 %", [["x264", 1, 10]]],
            ["animation", "strobe", "colour and light", "±7", [["x264", 8, 10]]],
        ],
    }
)


def test_what_a_pass_covers_is_counted_from_the_data() -> None:
    found = coverage("general", RATES)
    assert found.text == (
        "Checked for 2 kinds of fault (not for negative: --profile auto); docs/verdicts.md has the rates."
    )  # of upside-down auto has two clips, which are too few, and of silent it finds less than half
    assert coverage("auto", RATES).text == "Checked for 3 kinds of fault; docs/verdicts.md has the rates."
    assert [kind.fault for kind in found.missed] == ["melt", "negative", "upside-down", "silent"]
    assert [group for group, _ in found.groups] == ["colour and light", "structure", "time", "sound"]
    assert coverage("mine", RATES).text == ""
    nothing = "A pass covers no kind of fault that was planted (2 were); docs/verdicts.md has the rates."
    assert coverage("animation", RATES).text == nothing


def test_the_command_says_what_a_pass_covers(tmp_path: Path) -> None:
    film(tmp_path / "b.mp4", 1)
    shown = CliRunner().invoke(app, ["clip", str(tmp_path / "b.mp4"), "-o", str(tmp_path / "run"), "--jobs", "1"])
    assert shown.exit_code == 0 and "1 pass" in shown.output, shown.output
    run = evaluate_clips(tmp_path / "b.mp4", run=tmp_path / "run", jobs=1)
    general = load_profile("general")
    assert " ".join(pass_lines(run, general)) in " ".join(shown.output.split())
    assert not list(pass_lines(run, replace(general, rules=general.rules[:3])))  # rules of somebody's own


def test_the_profile_command(tmp_path: Path) -> None:
    every = CliRunner().invoke(app, ["profile"])
    assert every.exit_code == 0 and all(name in every.output for name in BUILT_IN)
    one = CliRunner().invoke(app, ["profile", "screen"])
    assert one.output.startswith("screen: recordings of a screen")
    data = json.loads(CliRunner().invoke(app, ["profile", "auto", "--json"]).output)
    assert data["profiles"][0]["choose"] == list(load_profile("auto").choose)
    wrong = CliRunner().invoke(app, ["profile", "screens"])
    assert wrong.exit_code == 1
