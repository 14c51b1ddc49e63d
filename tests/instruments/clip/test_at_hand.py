"""What a profile does without where a network was not pulled: said, recorded, and kept by a run that goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.core.errors import MissingDependency
from rushes.instruments.clip import evaluate_clips
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.metrics.seen import whole_clip
from rushes.instruments.clip.signals.badges import judge
from rushes.instruments.clip.signals.profile import LEFT_OUT, at_hand, load_profile, parse_profile, profile_of
from rushes.instruments.clip.signals.rejudge import judged_again
from rushes.media import write_clip
from rushes.vision.models.cache import is_pulled
from rushes.vision.models.catalogue import group_named

SCORES = ("negative_score", "red_blue_swapped_score", "upside_down_score")
PROFILE = 'name = "two"\nchoose = ["screen", "thorough"]\n'  # no faces, no other models
pulled = pytest.mark.skipif(not is_pulled(group_named("mobilenet")), reason="rushes models pull mobilenet")


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    with monkeypatch.context() as here:
        here.setattr(whole_clip, "is_pulled", lambda group: False)
        yield here


@pytest.fixture
def take(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    wide = np.kron(rng.integers(40, 210, (16, 30, 3), dtype=np.uint8), np.ones((8, 8, 1), np.uint8))
    return write_clip(tmp_path / "a.mp4", [np.ascontiguousarray(wide[:, n : n + 160]) for n in range(30)], fps=25)


def test_what_is_left_out_is_said_with_the_command(no_network: pytest.MonkeyPatch) -> None:
    auto = load_profile("auto")
    here = at_hand(auto)
    assert set(SCORES) <= set(here.left_out)
    assert here.line.startswith("auto judges without ") and "upside_down_score, negative_score, " in here.line
    assert "whose networks are not here; run: " in here.line and here.line.endswith("rushes models pull mobilenet")
    assert here.profile.choose == ("talking-head", "screen", "animation", "generated")
    assert not {rule.metric for rule in here.profile.rules} & set(SCORES)
    assert here.profile.digest != auto.digest
    assert profile_of({"profile": "auto", LEFT_OUT: list(here.left_out), "profile_sha256": here.profile.digest})
    assert profile_of({"profile": "auto", "profile_sha256": here.profile.digest}) is None


def test_a_profile_that_was_asked_for_by_name_asks_its_network(no_network: pytest.MonkeyPatch) -> None:
    assert "upside_down_score" not in at_hand(load_profile("thorough")).left_out
    head = at_hand(load_profile("talking-head"))
    assert set(SCORES) <= set(head.left_out) and at_hand(load_profile("general")).line == ""


def test_without_it_a_clip_is_judged_by_the_profile_in_its_place() -> None:
    auto = load_profile("auto")
    assert judge({}, auto).profile == "thorough"
    badge = judge({}, auto.without(SCORES))
    assert badge.profile == "generated" and not set(SCORES) & set(badge.not_judged)


def test_a_profile_that_may_stand_in_is_a_built_in_one() -> None:
    with pytest.raises(Exception, match="expected `instead` to be one of general"):
        parse_profile('name = "x"\ninstead = "auto"', source="x.toml")


def test_the_command_says_it_once_and_the_run_keeps_it(
    take: Path, tmp_path: Path, no_network: pytest.MonkeyPatch
) -> None:
    (tmp_path / "two.toml").write_text(PROFILE)
    asked = ["clip", str(take), str(take.with_name("a.mp4")), "--profile", str(tmp_path / "two.toml"), "--jobs", "1"]
    shown = CliRunner().invoke(app, [*asked, "-o", str(tmp_path / "run"), "--json"])
    assert shown.exit_code == 0, shown.output
    assert shown.stderr.count("rushes models pull mobilenet") == 1
    data = json.loads(shown.stdout)
    assert data["profile"][LEFT_OUT] == list(SCORES)
    assert data["clips"][0]["facts"]["chosen_profile"] == "generated"


@pulled
def test_a_run_goes_on_as_it_began(take: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rushes.core.errors import RunError

    profile = tmp_path / "two.toml"
    profile.write_text(PROFILE)

    def measured(name: str) -> object:
        return evaluate_clips(take, run=tmp_path / name, profile=profile, jobs=1)

    with monkeypatch.context() as bare:
        bare.setattr(whole_clip, "is_pulled", lambda group: False)
        measured("without")
        bytes_before = (tmp_path / "without" / "subjects.jsonl").read_bytes()
    full = measured("with")
    assert full.subjects[0].facts["chosen_profile"] == "thorough"  # type: ignore[attr-defined]
    again = measured("without")  # the network is here now
    assert (tmp_path / "without" / "subjects.jsonl").read_bytes() == bytes_before
    assert any("as the run was begun" in line for line in again.remarks)  # type: ignore[attr-defined]
    assert judged_again(again, str(profile))[0] is again  # type: ignore[arg-type]
    monkeypatch.setattr(whole_clip, "is_pulled", lambda group: False)
    with pytest.raises(MissingDependency, match="rushes models pull mobilenet"):
        measured("with")
    with pytest.raises(RunError, match="already contains a run"):
        evaluate_clips(take, run=tmp_path / "with", profile="general", jobs=1)


def test_numbers_without_the_scores_are_judged_without_them(take: Path, tmp_path: Path) -> None:
    run = evaluate_clips(take, run=tmp_path / "run", profile="generated", jobs=1)
    again, rules = judged_again(run, "auto")
    assert again.subjects[0].facts["chosen_profile"] == "generated" and rules.choose[-1] == "generated"
    assert again.info["settings"][LEFT_OUT] == list(SCORES)
    assert set(SCORES) <= set(METRICS)
