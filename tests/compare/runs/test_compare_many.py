"""Several runs against the first: judged together, refused with one clear line where they cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

import rushes
from rushes.compare.runs.as_data import as_many_data
from rushes.compare.runs.many import RunsComparison, compare_all
from rushes.compare.runs.page.clips import most_changed
from rushes.compare.runs.page.words import opening, opening_lines, sentence
from rushes.compare.runs.results import RunComparison
from rushes.core.errors import InputError

from .compared_runs import planted_run, planted_three


def test_two_give_what_they_always_gave_and_three_give_every_one_against_the_first(tmp_path: Path) -> None:
    a, b, c = planted_three(tmp_path)
    assert isinstance(rushes.compare_runs(a, b), RunComparison)
    found = rushes.compare_runs(a, b, c)
    assert isinstance(found, RunsComparison) and found.letters == ("A", "B", "C")
    assert [one.second.path for one in found.comparisons] == [b, c]
    said = {(one.second, one.name): one.text for one in found.judged}
    assert said == {
        ("B", "freeze_frame_ratio"): "same",
        ("C", "freeze_frame_ratio"): "same",
        ("B", "blur_score"): "changed: lower",
        ("C", "blur_score"): "not significant",
        ("B", "decode_failures"): "worse",
        ("C", "decode_failures"): "same",
    }
    # three changed at all, so Holm is over three
    assert found.family == 3 and "tests:3" in found.find("blur_score")[0].holm.signature
    assert [one.second for one in found.find("decode_failures")] == ["B", "C"]
    with pytest.raises(InputError, match="only one of the two runs has it"):
        found.find("no_such_metric")


def test_a_change_that_is_clear_alone_is_unclear_among_many(tmp_path: Path) -> None:
    """Six clips that all rise: of 2⁶ patterns of signs two are as far from 0, p = 2/2⁶; told alone, not among four."""
    base = {f"p{n}": (0.1, 100.0, 0) for n in range(6)}
    steps = (1.2, 2.2, 0.2, 1.7, 2.7, 0.9)
    moved = {name: (0.1, 100.0 + step, 0) for (name, _), step in zip(base.items(), steps, strict=True)}
    runs = [planted_run(tmp_path / "a", base)]
    for n in range(4):
        runs.append(planted_run(tmp_path / f"r{n}", {k: (f, b + n / 1000, d) for k, (f, b, d) in moved.items()}))
    alone = compare_all(runs[:2]).find("blur_score")[0]
    assert alone.p.value == 2 / 2**6 and (alone.verdict, alone.alone) == ("moved", False)
    among = compare_all(runs).find("blur_score")[0]
    assert among.p.value == alone.p.value and (among.verdict, among.alone) == ("cannot tell", True)
    assert "that can be chance" in sentence(among)


def test_words_say_what_happened(tmp_path: Path) -> None:
    found = compare_all(planted_three(tmp_path))
    worse = next(one for one in found.judged if one.verdict == "worse")
    moved = next(one for one in found.judged if one.verdict == "moved")
    assert sentence(worse) == "B is worse than A."
    assert sentence(moved).startswith("B is lower than A. That is neither better nor worse: other things affect it")
    assert opening_lines(found) == [
        "bad is worse than clean on 1 metric, better on none; changed (no better direction): blur_score.",
        "alike and clean: no significant difference on 1 metric.",
    ]
    assert opening(compare_all(found.runs[:2]), ("A", "B")).startswith("B is worse than A on 1 metric")


def test_clips_that_got_worse_come_first(tmp_path: Path) -> None:
    base = {name: (0.1, 100.0 + n, 0) for n, name in enumerate("wxyz")}
    other = {"w": (0.1, 180.0, 0), "x": (0.1, 101.0, 3), "y": (0.1, 103.0, 1), "z": (0.1, 103.0, 0)}
    found = compare_all([planted_run(tmp_path / "a", base), planted_run(tmp_path / "b", other)])
    assert [clip.subject for clip in most_changed(found, 10)] == ["x", "y", "w"], "z did not change"
    assert [clip.subject for clip in most_changed(found, 1)] == ["x"]


def test_a_single_shared_clip_is_shown_and_nothing_is_told_of_it(tmp_path: Path) -> None:
    runs = [planted_run(tmp_path / name, {"x": (0.1, blur, 0)}) for name, blur in (("a", 100.0), ("b", 90.0))]
    found = compare_all(runs)
    assert [clip.subject for clip in most_changed(found, 10)] == ["x"]
    blur = found.find("blur_score")[0]
    assert (blur.single, blur.verdict, found.family, blur.p.value) == (True, "cannot tell", 1, 1.0)
    assert sentence(blur) == "No significant difference (no interval: needs two clips or more)."


def test_facts_that_differ_are_told_with_the_runs_own_letter(tmp_path: Path) -> None:
    clips = {name: (0.1, 100.0 + n, 0) for n, name in enumerate("wxyz")}
    small = planted_run(tmp_path / "c", clips, size=(320, 180))
    found = compare_all([planted_run(tmp_path / "a", clips), planted_run(tmp_path / "b", clips), small])
    blur = found.find("blur_score")[1]
    assert sentence(blur) == "C is not comparable with A: frame size 640×360 in A, 320×180 in C."


def test_what_cannot_be_compared_is_one_clear_line(tmp_path: Path) -> None:
    clips = {"x": (0.1, 100.0, 0), "y": (0.1, 101.0, 0)}
    runs = [planted_run(tmp_path / f"r{n}", clips) for n in range(10)]
    with pytest.raises(InputError, match="2 to 9 runs; got 10; rushes board compares more systems"):
        rushes.compare_runs(*runs)
    with pytest.raises(InputError, match="r1 is given twice"):
        compare_all([runs[0], runs[1], tmp_path / "r0" / ".." / "r1"])
    with pytest.raises(InputError, match="is a run of clip and .* one of pose; runs of one instrument"):
        rushes.compare_runs(runs[0], planted_run(tmp_path / "pose", clips, instrument="pose"))
    stranger = planted_run(tmp_path / "stranger", {"q": (0.1, 1.0, 0)})
    with pytest.raises(InputError, match="no subject has the same id in both runs: .*stranger"):
        compare_all([runs[0], runs[1], stranger])


def test_the_plain_data_defines_every_number(tmp_path: Path) -> None:
    found = compare_all(planted_three(tmp_path))
    data = as_many_data(found)
    rows, definitions = data["judged"], data["definitions"]
    assert isinstance(rows, list) and isinstance(definitions, dict)
    assert {row[key]["signature"] for row in rows for key in ("p", "holm", "spread")} <= definitions.keys()
    assert data["tests"] == 3 and [row["run"] for row in rows] == ["B", "C"] * 3
