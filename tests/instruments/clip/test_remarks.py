"""Remarks: said beside the review signal, counted apart, and no reason to flag or to fail a gate."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.core import Measurement
from rushes.instruments.clip import evaluate_clips
from rushes.instruments.clip.evaluate import evaluate_clip
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.signals.badges import judge
from rushes.instruments.clip.signals.gate import check_gate
from rushes.instruments.clip.signals.profile import load_profile, parse_profile
from rushes.instruments.clip.signals.rejudge import judged_again
from rushes.media import AudioTrack, write_clip
from rushes.storage.runs import read_run

GENERAL = load_profile("general")


def numbers(**values: float) -> dict[str, Measurement]:
    return {
        name: Measurement(definition=METRICS[name].definition, value=value, count=9) for name, value in values.items()
    }


def test_a_remark_changes_nothing() -> None:
    badge = judge(numbers(silence_ratio=1.0, repeated_frame_ratio=0.5), GENERAL)
    assert badge.status == "pass" and badge.why == () and badge.reasons == ()
    assert [reason.metric for reason in badge.remarks] == ["silence_ratio", "repeated_frame_ratio"]
    assert judge(numbers(silence_ratio=0.99, repeated_frame_ratio=0.45), GENERAL).remarks == ()  # on the threshold
    assert "remarks" not in judge({}, GENERAL).facts
    assert not {"silence_ratio", "repeated_frame_ratio"} & set(judge({}, GENERAL).not_judged)


def test_what_a_rule_fired_on_is_not_said_again() -> None:
    badge = judge(numbers(silence_ratio=1.0), load_profile("talking-head"))
    assert [reason.metric for reason in badge.why] == ["silence_ratio"] and badge.remarks == ()


def test_a_remark_is_always_optional() -> None:
    (rule,) = parse_profile('name = "x"\n[remark]\nsharpness = { below = 1 }', source="x.toml").rules
    assert rule.level == "remark" and rule.optional


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    folder = tmp_path / "clips"
    folder.mkdir()
    rng = np.random.default_rng(3)
    wide = cv2.resize(rng.integers(40, 210, (60, 130, 3), dtype=np.uint8), (312, 144), interpolation=cv2.INTER_CUBIC)
    frames = [np.ascontiguousarray(wide[:128, 2 * n : 2 * n + 160]) for n in range(48)]
    silence = AudioTrack.of(np.zeros(96_000, np.float32), 48_000)
    write_clip(folder / "fine.mp4", frames, fps=24)
    write_clip(folder / "silent.mp4", frames, fps=24, audio=silence)
    write_clip(folder / "twice.mp4", [frames[n // 2 * 2] for n in range(48)], fps=24)
    return folder


def test_silent_and_doubled_clips_pass_with_a_remark_everywhere(clips: Path, tmp_path: Path) -> None:
    shown = CliRunner().invoke(app, ["clip", str(clips), "-o", str(tmp_path / "run"), "--jobs", "1"])
    assert shown.exit_code == 0, shown.output
    assert "3 pass (2 with a remark)" in shown.output
    told = " ".join(shown.output.split())
    assert "remark: silent sound, from beginning to end (silence_ratio=1 > 0.99)" in told
    assert "remark: repeats frames, each picture 2 times: 12 fps shown at 24 (repeated_frame_ratio=" in told
    run = read_run(tmp_path / "run")
    assert [bool(subject.remarks) for subject in run.subjects] == [False, True, True]
    assert run.summary.endswith("All 3 clips pass (2 with a remark): no rule fired.")
    data = json.loads(CliRunner().invoke(app, ["clip", str(tmp_path / "run"), "--json"]).stdout)
    assert data["with_a_remark"] == 2 and data["review_signals"]["pass"] == 3
    assert data["clips"][1]["facts"]["remarks"][0]["level"] == "remark"
    page = tmp_path / "report.html"
    assert CliRunner().invoke(app, ["report", str(tmp_path / "run"), "-o", str(page)]).exit_code == 0
    assert "remark: silent sound, from beginning to end" in page.read_text("utf-8")


def test_no_gate_fails_on_a_remark(clips: Path, tmp_path: Path) -> None:
    run = evaluate_clips(clips, run=tmp_path / "run", jobs=1)
    found = check_gate(run, GENERAL, "flagged")
    assert found.caught == () and not found.unjudged
    again, _ = judged_again(run, "metricbundle-v1")
    assert not any(subject.remarks for subject in again.subjects)  # a profile that says nothing of it


def test_one_clip_in_python(clips: Path) -> None:
    result = evaluate_clip(clips / "silent.mp4")
    assert result.badge == "pass" and [one.brief for one in result.badge_detail.remarks] == [
        "silent sound, from beginning to end"
    ]
