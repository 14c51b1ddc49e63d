"""What a comparison of two runs answers first: review signals, then metrics; facts of the file are a remark."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy.stats import binomtest
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.compare.readings.file_facts import fact_means, fact_sentences
from rushes.compare.runs.as_data import comparison_data
from rushes.compare.runs.many import RunsComparison, compare_all
from rushes.compare.runs.page.clips import most_changed
from rushes.compare.runs.page.words import opening
from rushes.compare.runs.tables import change_table, difference_table
from rushes.core import Measurement
from rushes.instruments.clip.metrics.image import BLUR_SCORE
from rushes.instruments.clip.metrics.timing import FPS, FRAME_COUNT, VIDEO_DURATION_MS
from rushes.storage.runs import Entry, RunWriter, Subject

SETTINGS = {"tier": 0, "profile": "general", "profile_sha256": "ab" * 32}
CLIPS = 12


def write(folder: Path, *, frames: int = 32, flagged: int = 0, rejected: int = 0, blur: float = 100.0) -> Path:
    """A run of twelve clips of 10 frames a second, the first few rejected, the next few flagged."""
    with RunWriter(folder, instrument="clip", settings=SETTINGS) as run:
        for n in range(CLIPS):
            rows = (
                Measurement(definition=VIDEO_DURATION_MS, value=100.0 * frames, count=frames),
                Measurement(definition=FRAME_COUNT, value=frames, count=frames),
                Measurement(definition=FPS, value=10.0, count=frames),
                Measurement(definition=BLUR_SCORE, value=blur + n, count=frames),
            )
            badge = "reject" if n < rejected else "flagged" if n < rejected + flagged else "pass"
            subject = Subject(id=f"p{n}", kind="clip", path=f"p{n}.mp4", sha256=None, badge=badge)
            run.add(Entry(subject=subject, measurements=rows))
        run.finish([f"p{n}" for n in range(CLIPS)])
    return folder


def compared(tmp_path: Path, first: dict[str, float], second: dict[str, float]) -> RunsComparison:
    """Two systems of a suite, whose runs are called like the instrument."""
    runs = [write(tmp_path / name / "clip", **facts) for name, facts in (("monday", first), ("tuesday", second))]  # type: ignore[arg-type]
    return compare_all(runs)


def test_facts_of_the_file_are_a_remark_and_no_metric(tmp_path: Path) -> None:
    found = compared(tmp_path, {"frames": 32}, {"frames": 16, "blur": 90.0})
    one = found.comparisons[0]
    assert found.family == 1 and [metric.name for metric in found.judged] == ["blur_score"]
    assert one.fact_lines() == ["B's clips are shorter: 1.60 s against 3.20 s (16 frames against 32)."]
    assert "frame_count" not in opening(found) and len(difference_table(found).rows) == 1
    assert {row[0] for row in change_table(one).texts()} == {"blur_score"}
    assert {row.judged.name for clip in most_changed(found, 9) for row in clip.changes} == {"blur_score"}
    data = comparison_data(found)
    assert [row["reading"] for row in data["facts"]] == ["video_duration_ms", "frame_count", "fps"]
    numbers = [m["signature"] for row in data["facts"] for m in row["measurements"]]
    assert set(numbers) <= data["definitions"].keys()
    assert one.find("frame_count")[0].difference.value == -16, "a fact may still be asked for"


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ({"fps": [8.0, 8.0]}, {"fps": [24.0, 24.0]}, ["B's clips have another frame rate: 24 fps against 8."]),
        ({"frame_count": [9, 9]}, {"frame_count": [9, 12]}, ["B's clips have more frames: 10.5 against 9 on average."]),
        (
            {"audio_duration_ms": [1000]},
            {"audio_duration_ms": [1001]},
            ["B's sound is longer: 1.0010 s against 1.0000 s."],
        ),
        ({"width": [640]}, {"width": [320]}, ["B: width 320 against 640."]),
        ({"fps": [8.0]}, {"fps": [8.0]}, []),
    ],
)
def test_facts_in_words(first: dict[str, list[float]], second: dict[str, list[float]], words: list[str]) -> None:
    assert fact_sentences({name: fact_means(first[name], second[name]) for name in first}, "B") == words


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"flagged": 4}, {"flagged": 12}, "tuesday has more clips flagged: 12 of 12, monday 4 of 12."),
        ({"flagged": 8}, {"flagged": 2}, "tuesday has fewer clips flagged: 2 of 12, monday 8 of 12."),
        (
            {"flagged": 4},
            {"flagged": 9},
            "tuesday: 9 of 12 clips flagged, monday: 4 of 12; not significant. Identical",
        ),
        (
            {"flagged": 1},
            {"flagged": 7, "rejected": 1},
            "tuesday has more clips flagged or rejected: 8 of 12, monday 1 of",
        ),
        ({"flagged": 9}, {"rejected": 9}, "tuesday has more clips rejected: 9 of 12, monday 0 of 12."),
    ],
)
def test_review_signals_lead(tmp_path: Path, before: dict[str, float], after: dict[str, float], words: str) -> None:
    found = compared(tmp_path, before, after)
    signals = found.comparisons[0].signals
    assert signals is not None and opening(found).startswith(words)
    # every clip that changed went the same way: the exact sign test of n of n
    changed = abs(signals.second - signals.first)
    assert signals.p.value == pytest.approx(binomtest(changed, changed).pvalue)
    data = comparison_data(found)["signals"]
    assert (data["a"], data["b"], data["clips"]) == (signals.first, signals.second, CLIPS)


def test_as_many_flagged_is_no_headline_and_identical_is_called_so(tmp_path: Path) -> None:
    found = compared(tmp_path, {"flagged": 3}, {"flagged": 3})
    assert found.comparisons[0].signals is None
    assert opening(found) == "tuesday and monday: identical on every metric."


def test_several_runs_share_the_error_of_the_signals(tmp_path: Path) -> None:
    """Six clips of twelve: p = 2/2⁶ = 0.031, enough for one run, not for two."""
    runs = [write(tmp_path / name, flagged=flagged) for name, flagged in (("a", 0), ("b", 6), ("c", 0))]
    assert "b has more clips flagged" in opening(compare_all(runs[:2]))
    assert "b: 6 of 12 clips flagged, a: 0 of 12; not significant." in opening(compare_all(runs))


def test_the_terminal_names_runs_once_by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    compared(Path("."), {}, {"flagged": 9, "frames": 16, "blur": 90.0})
    shown = CliRunner().invoke(app, ["compare", "monday/clip", "tuesday/clip"]).stdout.splitlines()
    assert shown[0].startswith("tuesday has more clips flagged: 9 of 12, monday 0 of 12.")
    assert {"A  monday/clip", "B  tuesday/clip"} <= set(shown)
    assert "B's clips are shorter: 1.60 s against 3.20 s (16 frames against 32)." in shown
    assert any(line.startswith("blur_score  ·  ") and line.endswith("0.0004883  changed: lower") for line in shown)
