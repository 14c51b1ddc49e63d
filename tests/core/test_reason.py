"""Reasons: one sentence for each, the same from disk, and nothing read out of a sentence."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from rushes.core.canonical import canonical_json
from rushes.core.reason import NO_SIZE, SIGNALS, Cause, Reason, ranked, severity_of, severity_text, worst_key
from rushes.core.span import Span

FROZEN = Reason(
    level="flagged",
    metric="longest_freeze_ms",
    signature="longest_freeze_ms|v:1",
    value=1400.0,
    comparison="above",
    threshold=450,
    words="frozen",
    span=Span(1000.0, 2400.0),
)
BARE = Reason(level="flagged", metric="blur_p10", value=19.999, comparison="below", threshold=20.0)
LATE = replace(FROZEN, metric="mouth_audio_margin", words="out of sync", span=None, note="sound 200 ms early")
STATE = Reason(level="reject", metric="decode_ok", value=False, comparison="is", threshold=False, note="no video")


@pytest.mark.parametrize(
    ("reason", "text", "brief", "kind", "about", "limit"),
    [
        (
            FROZEN,
            "frozen 1.0–2.4 s (longest_freeze_ms=1400 > 450)",
            "frozen 1.0–2.4 s",
            "frozen",
            "longest_freeze_ms",
            "> 450",
        ),
        (
            LATE,
            "out of sync, sound 200 ms early (mouth_audio_margin=1400 > 450)",
            "out of sync, sound 200 ms early",
            "out of sync",
            "mouth_audio_margin",
            "> 450",
        ),
        (
            replace(FROZEN, metric="odd_frame_score", words="glitch at", span=Span(2000.0, 2000.0)),
            "glitch at 2.0 s (odd_frame_score=1400 > 450)",
            "glitch at 2.0 s",
            "glitch",
            "odd_frame_score",
            "> 450",
        ),
        # Four digits would show 20.00; as many more as tell it from the threshold.
        (BARE, "blur_p10=19.999 < 20.0", "blur_p10 19.999, below 20.0", "blur_p10", "blur_p10", "< 20.0"),
        (STATE, "decode_ok=false: no video", "decode_ok=false", "decode_ok", "decode_ok", "false"),
        (
            replace(STATE, words="cannot be decoded"),
            "cannot be decoded: no video (decode_ok=false)",
            "cannot be decoded",
            "cannot be decoded",
            "decode_ok",
            "false",
        ),
    ],
)
def test_a_rule_in_words(reason: Reason, text: str, brief: str, kind: str, about: str, limit: str) -> None:
    assert (reason.text, reason.brief, reason.kind, reason.about, reason.limit) == (text, brief, kind, about, limit)
    assert reason.about in reason.text, "what reasons are counted by can be searched for"


@pytest.mark.parametrize(
    ("facts", "text", "brief"),
    [
        ({"cause": Cause.UNREADABLE, "note": "no video"}, "cannot be decoded (no video)", "cannot be decoded"),
        ({"cause": Cause.PARTLY, "note": "out of time"}, "not measured as a whole: out of time", None),
        # 8000 ms promised, 3800 came: 4200 are missing.
        (
            {"cause": Cause.ENDS_EARLY, "value": 4200.0, "threshold": 8000.0},
            "picture ends 4.2 s before the file says (3800 of 8000 ms)",
            "picture ends 4.2 s before the file says (3800 of 8000 ms)",
        ),
        ({"cause": Cause.MISSING, "value": 105, "threshold": 200}, *["105 of 200 frames missing"] * 2),
        ({"cause": Cause.DAMAGED, "value": 1}, *["1 frame damaged"] * 2),
        ({"cause": Cause.DAMAGED, "value": 43}, *["43 frames damaged"] * 2),
        ({"cause": Cause.UNDECODED, "value": 2}, *["2 packets could not be decoded"] * 2),
        ({"cause": Cause.OTHER, "words": "late"}, *["late"] * 2),
    ],
)
def test_decode_sanity_in_words(facts: dict[str, Any], text: str, brief: str | None) -> None:
    reason = Reason(**facts)
    assert (reason.text, reason.brief, reason.limit) == (text, brief or reason.kind, "")
    assert reason.about == reason.kind and reason.kind in reason.text


@pytest.mark.parametrize("reason", [FROZEN, BARE, LATE, STATE, Reason(cause=Cause.MISSING, value=3, threshold=9)])
def test_a_reason_comes_back_from_disk(reason: Reason) -> None:
    row = json.loads(canonical_json(reason.as_row()))
    assert Reason.from_row(row) == reason and Reason.from_row(row).text == reason.text
    assert all(value not in ("", None) for value in row.values())


def test_the_value_is_the_one_that_is_stored() -> None:
    """A sentence made before the run is written is the one made after it is read."""
    assert replace(BARE, value=1 / 3).value == 0.33333333


@pytest.mark.parametrize(
    "change",
    [
        {"cause": "whim"},
        {"level": "pass"},
        {"comparison": "near"},
        {"value": "much"},
        {"threshold": [1]},
        {"words": 3},
        {"span": [1]},
        {"span": [1, None]},
        {"unknown": 1},
        {"value": None},
        {"metric": ""},
    ],
)
def test_what_is_no_reason_is_refused(change: dict[str, Any]) -> None:
    row = FROZEN.as_row()
    assert isinstance(row, dict)
    with pytest.raises((TypeError, ValueError)):
        Reason.from_row(row | change)


def test_signals_and_counts_have_one_order() -> None:
    assert SIGNALS == ("reject", "flagged", "pass")
    assert ranked({"b": 1, "a": 1, "c": 2}) == [("c", 2), ("a", 1), ("b", 1)]


def rule(value: float, comparison: Any, threshold: float) -> Reason:
    return Reason(level="flagged", metric="m", value=value, comparison=comparison, threshold=threshold)


@pytest.mark.parametrize(
    ("reason", "severity"),
    [
        (rule(10.37, "above", 1.0), 10.37),
        (rule(1400, "above", 450), 1400 / 450),
        (rule(0.11, "below", 0.33), 3.0),
        (rule(0.033, "below", 0.33), 10.0),  # the ratio is 10; from here on it says no more
        (rule(0.001, "below", 0.33), 10.0),
        (rule(-0.2, "below", 0.1), 10.0),
        (rule(-0.25, "below", 0.0), 1.25),  # no ratio to a threshold of 0
        (rule(0.5, "above", -1.0), 2.5),
        (rule(1e9, "above", 1.0), NO_SIZE),
        (STATE, NO_SIZE),
        (Reason(cause=Cause.UNREADABLE, note="no video"), NO_SIZE),
        (Reason(cause=Cause.MISSING, value=105, threshold=200), 200 / 95),
        (Reason(cause=Cause.ENDS_EARLY, value=2000.0, threshold=4000.0), 2.0),
        (Reason(cause=Cause.MISSING, value=200, threshold=200), NO_SIZE),
        (Reason(cause=Cause.DAMAGED, value=3), 4.0),
        (Reason(cause=Cause.OTHER, words="odd"), 1.0),
    ],
)
def test_severity_says_how_far_past_its_threshold_a_value_is(reason: Reason, severity: float) -> None:
    assert reason.severity == pytest.approx(severity, abs=1e-12)


def test_severity_never_falls_as_a_value_gets_worse() -> None:
    above = [rule(value, "above", 0.5).severity for value in (0.51, 1, 5, 1e4)]
    below = [rule(value, "below", 0.5).severity for value in (0.49, 0.1, 0.05, 0.01, 0.0, -1.0)]
    assert above == sorted(above) and below == sorted(below) and min(*above, *below) >= 1


def test_worst_first_goes_by_signal_then_by_the_worst_reason() -> None:
    """A mild reject comes before a strong flag; among flags the strongest reason counts, not how many there are."""
    clips = [
        ("many", "flagged", [rule(1.5, "above", 1.0)] * 3),
        ("strong", "flagged", [rule(1.1, "above", 1.0), rule(10.37, "above", 1.0)]),
        ("fine", "pass", []),
        ("none", None, []),
        ("late", "reject", [rule(501, "above", 500)]),
    ]
    order = sorted(clips, key=lambda clip: worst_key(clip[1], clip[2]))
    assert [name for name, _, _ in order] == ["late", "strong", "many", "fine", "none"]
    assert severity_text(severity_of(clips[1][2])) == "10.4×" and severity_text(severity_of([])) == ""
