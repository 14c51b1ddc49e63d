"""Thresholds from good clips: order statistics by hand, and the command as a user meets it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tests.clips import noise, write_luma
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.instruments.clip import calibrate, evaluate_clips, load_profile
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.signals.profile import parse_profile
from rushes.storage.runs import Entry, Run, Subject, open_run, pack, read_run

PROFILE = parse_profile(
    'name = "two"\n[reject]\ndecode_ok = { is = false }\n'
    "[flagged]\nluma_alternation = { above = 1.0 }\nsharpness = { below = 0.33 }\nlongest_flat_ms = { above = 150 }\n",
    source="two",
)


def a_run(folder: Path, clips: list[dict[str, float]]) -> Run:
    """A run whose clips have these readings."""
    ids = [f"clip{n}" for n in range(len(clips))]
    with open_run(folder, instrument="clip", settings={}, inputs=ids) as writer:
        for name, values in zip(ids, clips, strict=True):
            numbers = tuple(
                Measurement(definition=METRICS[key].definition, value=value, count=1) for key, value in values.items()
            )
            subject = Subject(id=name, kind="clip", path=f"{name}.mp4", sha256=None, badge="pass")
            writer.add(pack(Entry(subject=subject, measurements=numbers)))
        writer.finish(ids)
    return read_run(folder)


def test_thresholds_are_order_statistics(tmp_path: Path) -> None:
    """19 clips at the 90th percentile: the 18th of 19, which 2 of 20 pass. Sharpness from the other end."""
    clips = [{"luma_alternation": n / 100, "sharpness": 0.5 + n / 100, "longest_flat_ms": 0.0} for n in range(1, 20)]
    found = calibrate(a_run(tmp_path / "run", clips), profile=PROFILE, percentile=90.0, name="mine")
    assert [rule.threshold for rule in found.profile.rules] == [False, 0.18, 0.52, 150]
    assert [row.expected for row in found.rules] == [None, 0.1, 0.1, None]
    assert [row.kept for row in found.rules] == ["says what is broken", "", "", "the same on every clip"]
    # Left out one at a time, of 18 others the 18th: only the clips that are the very ends lie beyond.
    assert found.false_alarms.value == pytest.approx(2 / 19) and found.false_alarms.count == 19
    assert found.false_alarms.interval is not None and found.false_alarms.interval.method == "wilson"
    assert (round(found.false_alarms.interval.low, 4), round(found.false_alarms.interval.high, 4)) == (0.0294, 0.3139)


def test_the_file_is_a_profile_and_says_where_it_came_from(tmp_path: Path) -> None:
    clips = [{"luma_alternation": n / 7, "sharpness": 0.5 + n / 90} for n in range(1, 10)]
    found = calibrate(a_run(tmp_path / "run", clips), profile=PROFILE, name="mine")
    text = found.toml(source="takes/")
    again = parse_profile(text, source="my.toml")
    assert again.name == "mine" and again.rules == found.profile.rules
    assert "Calibrated on 9 clips of takes/" in text and "False alarms to expect" in text
    # 9/7 = 1.2857142… is rounded up, 0.5111… down: no good clip lies beyond its own threshold.
    assert "luma_alternation = { above = 1.286 }" in text and "sharpness = { below = 0.5111 }" in text


def test_a_signature_is_calibrated_as_well(tmp_path: Path) -> None:
    signature = METRICS["flicker_delta"].definition.signature
    profile = parse_profile(f'name = "x"\n[flagged]\n"{signature}" = {{ above = 9 }}\n', source="x")
    clips = [{"flicker_score": 50.0, "flicker_delta": float(n)} for n in range(1, 8)]
    found = calibrate(a_run(tmp_path / "run", clips), profile=profile)
    assert found.profile.rules[0].threshold == 7.0
    assert parse_profile(found.toml(source="x"), source="x").rules == found.profile.rules


def test_too_few_clips_and_a_foolish_percentile(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", [{"sharpness": 0.5}] * 4)
    with pytest.raises(InputError, match="at least 5 good clips to calibrate on; 4 can be read"):
        calibrate(run, profile=PROFILE)
    with pytest.raises(InputError, match="between 50 and 100; got 10"):
        calibrate(run, profile=PROFILE, percentile=10)


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "good").mkdir()
    for n in range(6):
        (texture,) = noise(1, size=(64, 48), seed=n)
        frames = [np.roll(texture, (2 + n) * t, axis=1) for t in range(12)]
        write_luma(tmp_path / "good" / f"take{n}.mkv", frames, "gray")
    (tmp_path / "good" / "broken.mkv").write_text("no video")
    out = tmp_path / "my.toml"
    words = ["calibrate", str(tmp_path / "good"), "-o", str(out), "--run", str(tmp_path / "run")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-1] == str(out)
    assert re.search(r"^ *metric +level", done.output, re.MULTILINE) and "reading" not in done.output
    assert "False alarms to expect" in done.output and "could not be fully read: 1" in done.output
    profile = load_profile(out)
    assert profile.name == "my" and [r.metric for r in profile.rules] == [
        r.metric for r in load_profile("general").rules
    ]
    judged = evaluate_clips(tmp_path / "good", run=tmp_path / "judged", profile=out)
    assert [subject.badge for subject in judged.subjects].count("pass") == 6
    few = CliRunner().invoke(
        app, ["calibrate", str(tmp_path / "good" / "take1.mkv"), "-o", str(out), "--run", str(tmp_path / "few")]
    )
    assert few.exit_code == 1 and "at least 5 good clips" in few.output
