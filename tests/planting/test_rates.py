"""Counts, intervals and tables, by hand."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.planting.clips import read_clips
from benchmarks.planting.fetv import read_ratings
from benchmarks.planting.page import MARK, profile_sections, table, write_page, write_section
from benchmarks.planting.rates import (
    Verdict,
    controls_of,
    fired_anew,
    found,
    kind_rates,
    reasons_counted,
    rule_rates,
    where,
    with_kinds,
    with_profile,
)
from benchmarks.planting.source import write_source
from tests.planting.test_picture import moving

from rushes.core.errors import InputError
from rushes.instruments.clip.signals.profile import parse_profile
from rushes.instruments.clip.signals.verdict_rates import read_rates

ROOT = Path(__file__).parents[2]


def verdict(
    fault: str, *fired: str, clip: str = "c", strength: str = "±7 levels", encoder: str = "x264", declared: bool = True
) -> Verdict:
    return Verdict(
        clip=clip,
        source="s",
        split="check",
        kind="film",
        fault=fault,
        strength=strength,
        declared=declared,
        encoder=encoder,
        profile="general",
        badge="flagged" if fired else "pass",
        fired=fired,
    )


VERDICTS = [
    verdict("strobe", "luma_alternation"),
    verdict("strobe", "longest_freeze_ms", clip="d"),
    verdict("strobe", clip="e"),
    verdict("strobe", "luma_alternation", clip="f"),
    verdict("", clip="c"),
    verdict("", clip="d"),
    verdict("", clip="e"),
    verdict("", "luma_alternation", clip="f"),
]


def test_what_fires_on_the_control_too_has_found_nothing() -> None:
    controls = controls_of(VERDICTS)
    strobes = where(VERDICTS, fault="strobe")
    assert [sorted(fired_anew(one, controls)) for one in strobes] == [
        ["luma_alternation"],
        ["longest_freeze_ms"],
        [],
        [],
    ]
    assert found(strobes, controls).text() == "2 of 4 (50 %, 15–85 %)"
    other = verdict("strobe", "luma_alternation", clip="f", encoder="mpeg4")  # no control through that encoder
    assert fired_anew(other, controls) == {"luma_alternation"}
    assert reasons_counted(VERDICTS) == [("luma_alternation", 3), ("longest_freeze_ms", 1)]


def test_a_kind_is_counted_by_encoder_and_covered_from_90_percent() -> None:
    ten = [verdict("strobe", *(["x"] if n < 9 else []), clip=str(n), encoder="ab"[n % 2]) for n in range(10)]
    (rate,) = kind_rates(ten, ["general"])
    assert (rate.fault, rate.group, rate.strength) == ("strobe", "colour and light", "±7 levels")
    assert [(name, c.hits, c.total) for name, c in rate.encoders] == [("a", 5, 5), ("b", 4, 5)]
    assert rate.covered
    (less,) = kind_rates([*ten[:7], *ten[8:], verdict("strobe", clip="z")], ["general"])
    assert not less.covered  # 8 of 10


def test_a_rule_has_its_own_hits_and_its_own_false_alarms() -> None:
    profile = parse_profile('name = "general"\n[flagged]\nluma_alternation = { above = 1.0 }', source="here")
    (rate,) = rule_rates(VERDICTS, [profile])
    assert (rate.false_alarms.hits, rate.false_alarms.total) == (1, 4)
    assert rate.faults == ()  # 1 of 4 strobes: less than half
    (rate,) = rule_rates(VERDICTS[:1] + VERDICTS[2:3] + VERDICTS[4:7], [profile])
    (strobe,) = rate.faults
    assert (strobe.fault, strobe.strength, strobe.found.hits, strobe.found.total) == ("strobe", "±7 levels", 1, 2)


def test_a_rule_on_either_side_counts_what_is_on_its_own() -> None:
    text = 'name = "general"\n[flagged]\nlip_sync_offset_ms = { above = 150, below = -150 }'
    late = replace(verdict("strobe", "lip_sync_offset_ms"), sides={"lip_sync_offset_ms": "above"})
    early = replace(verdict("", "lip_sync_offset_ms", clip="d"), sides={"lip_sync_offset_ms": "below"})
    above, below = rule_rates([late, early, verdict("")], [parse_profile(text, source="here")])
    assert (above.comparison, above.false_alarms.hits, len(above.faults)) == ("above", 0, 1)
    assert (below.comparison, below.false_alarms.hits, len(below.faults)) == ("below", 1, 0)


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


def test_a_section_is_replaced_where_it_is_and_added_where_it_is_not(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Head\n\n## One\n\n1\n\n## Two\n\n2\n")
    write_section(page, "## Three\n\n3")
    write_section(page, "## One\n\n### Part\n\nnew\n")
    assert page.read_text() == "# Head\n\n## One\n\n### Part\n\nnew\n\n## Two\n\n2\n\n## Three\n\n3\n"


def test_a_profile_measured_alone_stands_beside_the_others_and_has_what_its_part_finds() -> None:
    row = {"level": "flagged", "metric": "flicker_score", "comparison": "above", "threshold": 10.0}
    x264 = [["x264", 1, 1]]
    kinds = [["glitch", "structure", "three frames", x264], ["strobe", "colour and light", "±7 levels", x264]]
    known = read_rates(
        {
            "measured_on": "old clips",
            "rates": [
                {"profile": "generated", **row, "false_alarms": [1, 9], "faults": [["glitch", "three frames", 1, 1]]}
            ],
            "kinds": [[name, *kind] for name in ("generated", "thorough") for kind in kinds],
            "clean": [["generated", "film", 1, 9], ["thorough", "film", 9, 9]],
        }
    )
    new = read_rates(
        {
            "measured_on": "new clips",
            "rates": [
                {"profile": "thorough", **row, "false_alarms": [2, 9], "faults": [["strobe", "±7 levels", 3, 3]]}
            ],
            "kinds": [["thorough", "strobe", "colour and light", "±7 levels", [["x264", 3, 3]]]],
            "clean": [["thorough", "film", 2, 9]],
        }
    )
    merged = with_profile(known, new, "thorough", "generated")
    assert merged.measured_on == "old clips" and merged.kinds_of("generated") == known.kinds_of("generated")
    assert {kind.fault: kind.found.hits for kind in merged.kinds_of("thorough")} == {"strobe": 3, "glitch": 1}
    assert [(rate.profile, rate.false_alarms.hits) for rate in merged.rates] == [("generated", 1), ("thorough", 2)]
    assert [fault.fault for fault in merged.rates[1].faults] == ["glitch", "strobe"]
    assert [(name, found.hits) for name, _, found in merged.clean] == [("generated", 1), ("thorough", 2)]
    summary, counts = profile_sections("general", "generated", VERDICTS, read_rates(DATA), "make it")
    assert "| strobe, ±7 levels | 2 of 4 (50 %, 15–85 %) |" in summary and "Made by `make it`" in summary
    assert "False alarms: 1 of 4 (25 %, 5–70 %)." in summary and "every rule of `generated`" in summary
    assert counts.startswith("## The profile `general`\n") and "\n## " not in counts
    assert "### False alarms" in counts and "| strobe | **±7 levels** | `general` |" in counts


def test_kinds_that_were_counted_later_are_added_and_nothing_else_changes() -> None:
    row = {"level": "flagged", "comparison": "above", "threshold": 10.0}
    old = {"profile": "general", "metric": "flicker_score", **row, "false_alarms": [1, 9], "faults": []}
    later = {"profile": "general", "metric": "colour_loss", **row, "false_alarms": [0, 3], "faults": []}
    glitch, fade = (["general", name, "", "all", [["x264", 1, 1]]] for name in ("glitch", "fade to grey"))
    known = read_rates({"measured_on": "old", "rates": [old], "kinds": [glitch], "clean": [["general", "film", 1, 9]]})
    again = {**old, "false_alarms": [0, 3]}
    new = read_rates({"measured_on": "new", "rates": [again, later], "kinds": [fade], "clean": []})
    merged = with_kinds(known, new)
    assert [rate.metric for rate in merged.rates] == ["flicker_score", "colour_loss"]
    assert merged.rates[0] == known.rates[0] and (merged.measured_on, merged.clean) == ("old", known.clean)
    assert [kind.fault for kind in merged.kinds] == ["fade to grey", "glitch"]  # in the order of the harness
    assert with_kinds(merged, new) == merged


DATA = {
    "measured_on": "4 clips",
    "rates": [],
    "kinds": [["general", "strobe", "colour and light", "±7 levels", [["x264", 2, 4]]]],
    "clean": [],
}


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
    kinds = ["--kinds", "strobe,soft,truncated,late sound"]
    done = run_harness(tmp_path / "clips", "--quick", "--jobs", "2", *kinds, *out, "--json", tmp_path / "all.json")
    assert done.returncode == 0, done.stderr
    assert "## In one table" in (tmp_path / "page.md").read_text()
    text = (tmp_path / "verdict-rates.md").read_text()
    assert (
        "## In one table" not in text
        and "| film, as it is |" in text
        and "| strobe | **±7 levels** | `general` |" in text
    )
    assert "| clips | film | tune | 1 |" in text
    rates = read_rates(json.loads((tmp_path / "rates.json").read_text()))
    assert rates.measured_on.startswith("1 real clips from 1 sources, 0 of them speakers; ")
    assert {kind.fault for kind in rates.kinds_of("general")} == {"strobe", "soft", "truncated"}  # nobody speaks
    planted_files = {p.parent.name for p in (tmp_path / "work").glob("planted-*/*/*/*")}
    assert {"clean", "strobe@7-levels", "fine-candle"} <= planted_files
    wrong = run_harness(tmp_path / "clips", "--kinds", "strob", *out)
    assert wrong.returncode == 1 and "no kind of fault is called strob" in wrong.stderr
