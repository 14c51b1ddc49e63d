"""Counts, intervals and tables, by hand."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.planting.clips import read_clips
from benchmarks.planting.fetv import read_ratings
from benchmarks.planting.page import MARK, table, write_page
from benchmarks.planting.rates import (
    Verdict,
    controls_of,
    count,
    found_anew,
    names,
    planted,
    reasons_counted,
    rule_rates,
)
from benchmarks.planting.source import write_source
from tests.planting.test_picture import moving

from rushes.core.errors import InputError
from rushes.instruments.clip.signals.profile import parse_profile

ROOT = Path(__file__).parents[2]


def verdict(fault: str, badge: str, *reasons: str, strength: str = "±7 levels", split: str = "check") -> Verdict:
    return Verdict(
        clip="c",
        split=split,
        fault=fault,
        strength=strength,
        declared=True,
        profile="general",
        badge=badge,
        reasons=reasons,
    )


FLICKERS = "flickers (luma_alternation=12.00 > 1.0)"
FROZEN = "frozen 1.0–2.4 s (longest_freeze_ms=1400 > 500)"
VERDICTS = [
    verdict("strobe", "flagged", FLICKERS),
    verdict("strobe", "flagged", FROZEN),  # noticed, for another reason
    verdict("strobe", "pass"),
    verdict("strobe", "reject", FROZEN, FLICKERS, split="tune"),
    verdict("", "flagged", FLICKERS, strength="as it is"),
    verdict("", "pass", strength="as it is"),
    verdict("", "pass", strength="re-encoded"),
]


def test_a_hit_and_a_hit_for_the_right_reason_are_counted_apart() -> None:
    strobes = planted(VERDICTS, "strobe")
    assert count(strobes, lambda v: v.noticed).text() == "3 of 4 (75 %, 30–95 %)"
    rightly = count(strobes, lambda v: v.noticed_rightly)
    assert (rightly.hits, rightly.total) == (2, 4)
    assert len(planted(VERDICTS, "strobe", split="tune")) == 1
    assert reasons_counted(VERDICTS) == [("luma_alternation", 3), ("longest_freeze_ms", 2)]


def test_a_rule_that_fires_on_the_control_too_has_found_nothing() -> None:
    strobe = VERDICTS[0]
    assert found_anew(strobe, controls_of(VERDICTS, "general"))  # the control of VERDICTS passes
    assert not found_anew(strobe, {"c": verdict("", "flagged", FLICKERS)})
    assert found_anew(strobe, {"c": verdict("", "flagged", FROZEN)}) and found_anew(strobe, {})
    assert not found_anew(VERDICTS[1], {})


@pytest.mark.parametrize(
    ("reason", "word", "expected"),
    [
        ("blur_score=3.00 < 20.0", "blur_score", True),
        ("reference_blur_score=3.00 < 20.0", "blur_score", False),
        ("95 of 200 declared frames are missing", "missing", True),
        ("dismissing", "missing", False),
    ],
)
def test_a_reason_names_whole_words(reason: str, word: str, expected: bool) -> None:
    assert names(reason, word) is expected


def test_a_rule_has_its_own_hits_and_its_own_false_alarms() -> None:
    profile = parse_profile('name = "general"\n[flagged]\nluma_alternation = { above = 1.0 }', source="here")
    (rate,) = rule_rates(VERDICTS, [profile])
    assert (rate.false_alarms.hits, rate.false_alarms.total) == (1, 2)  # as they are
    (strobe,) = rate.faults  # of all faults luma_alternation is right for the strobe alone, at its declared strength
    assert (strobe.fault, strobe.strength, strobe.found.hits, strobe.found.total) == ("strobe", "±7 levels", 2, 4)


def test_a_list_says_what_is_known_of_its_clips(tmp_path: Path) -> None:
    with (tmp_path / "list.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [("path", "speech", "split", "faulty", "source"), ("a/x.mp4", "yes", "check", "no", "s"), ("b/x.mp4",) * 5]
        )
    first, second = read_clips([tmp_path / "list.csv"])
    assert (first.path, first.name, first.speech, first.split) == (tmp_path / "a/x.mp4", "a-x", True, "check")
    assert (second.name, second.speech, second.faulty) == ("b-x", False, False)
    (tmp_path / "other.csv").write_text("name\nx.mp4\n")
    with pytest.raises(InputError, match="expected a column `path`; got name"):
        read_clips([tmp_path / "other.csv"])


def test_ratings_are_the_mean_of_the_raters(tmp_path: Path) -> None:
    rows = ["prompt_id,system,rater,temporal_quality", "p1,a,r0,3", "p1,a,r1,4", "p1,b,r0,5"]
    (tmp_path / "ratings.csv").write_text("\n".join(rows))
    assert read_ratings(tmp_path) == {("a", "p1"): 3.5, ("b", "p1"): 5.0}


def test_the_hand_written_head_of_the_page_is_kept(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# Head\n\nBy hand.\n\n{MARK}\n\nold\n")
    write_page(page, ["## New", table(["a", "b"], [["1", "2"]])])
    assert page.read_text() == f"# Head\n\nBy hand.\n\n{MARK}\n\n## New\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n"


def run_harness(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "benchmarks" / "verdicts.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def test_without_clips_the_harness_says_so_and_fails(tmp_path: Path) -> None:
    done = run_harness(tmp_path / "nowhere")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and "no such folder or list" in done.stderr


def test_the_harness_runs_from_clips_to_page_and_data(tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    write_source(moving(50), tmp_path / "clips" / "one.mp4")
    out = ["--work", tmp_path / "work", "--page", tmp_path / "page.md", "--data", tmp_path / "rates.json"]
    done = run_harness(tmp_path / "clips", "--quick", "--jobs", "2", *out, "--json", tmp_path / "all.json")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "page.md").read_text()
    assert "| general | as it is |" in text and "| strobe | **±7 levels** |" in text and "| clips | tune | 1 |" in text
    assert '"measured_on": "1 real clips from 1 sources, 0 of them speakers; ' in (tmp_path / "rates.json").read_text()
    planted_files = {p.parent.name for p in (tmp_path / "work").glob("planted-*/*/*")}
    assert {"clean", "strobe", "soft", "truncated", "freeze-tail"} <= planted_files
    assert "late-sound" not in planted_files  # nobody speaks
