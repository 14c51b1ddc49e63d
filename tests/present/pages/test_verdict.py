"""The verdict strip: the worst clips first, reasons in words, text that fits a terminal."""

from __future__ import annotations

import pytest

from rushes.core.reason import Cause, Reason
from rushes.present.pages.subjects import subject_table
from rushes.present.verdict.opening import take_lines
from rushes.present.verdict.verdict import Highlight, Side, clip_verdict, worst_of
from rushes.storage.runs import Entry, Subject


def clip(name: str, badge: str | None, *reasons: str) -> Subject:
    return Subject(id=name, kind="clip", path=f"{name}.mp4", sha256=None, badge=badge, reasons=reasons)


FROZEN = "frozen 1.0–2.4 s (longest_freeze_ms=1400 > 450)"
SOFT = "soft (sharpness=0.1 < 0.33)"
CLIPS = [
    clip("good", "pass"),
    clip("still", "flagged", FROZEN),
    clip("both", "flagged", FROZEN, SOFT),
    clip("lost", "reject", "cannot be decoded: expected a video (decode_ok=false)"),
]


def test_the_worst_come_first_with_reasons_in_words() -> None:
    found = clip_verdict(CLIPS, pictures={"still": "data:x"}, link=lambda subject: f"#{subject.id}")
    assert found.headline == "3 of 4 clips need a look: 1 reject, 2 flagged. 1 pass."
    assert found.counts == (("reject", 1), ("flagged", 2), ("pass", 1)) and found.total == 4
    assert [take.id for take in found.takes] == ["lost", "both", "still"]
    assert found.takes[1].why == "soft (3.30× its threshold); frozen 1.0–2.4 s" and found.takes[2].picture == "data:x"
    assert found.takes[0].reasons == ("cannot be decoded",) and found.takes[0].link == "#lost"
    assert found.reasons == (("frozen", 2), ("cannot be decoded", 1), ("soft", 1)), "by clips, then by name"


def test_one_kind_of_fault_does_not_hide_the_others() -> None:
    stills = [clip(f"still_{number}", "flagged", FROZEN) for number in range(9)]
    chosen = [subject.id for subject in worst_of([*stills, clip("dim", "flagged", SOFT)], 3)]
    assert chosen == ["dim", "still_0", "still_1"]  # 3.30 and 3.11 times their thresholds
    assert [subject.id for subject in worst_of(stills, 3)] == ["still_0", "still_1", "still_2"], (
        "where there is no other"
    )


@pytest.mark.parametrize(
    ("clips", "headline"),
    [
        ([], "No clip is in this run yet."),
        ([clip("a", "pass")], "The one clip passes: no rule fired."),
        ([clip("a", "pass"), clip("b", "pass")], "All 2 clips pass: no rule fired."),
        ([clip("a", "reject", SOFT)], "The one clip needs a look: reject."),
        ([clip("a", "reject", SOFT), clip("b", "pass")], "1 of 2 clips needs a look: 1 reject. 1 pass."),
        ([clip("a", None), clip("b", None)], "2 clips, without review signals."),
    ],
)
def test_headlines(clips: list[Subject], headline: str) -> None:
    assert clip_verdict(clips).headline == headline


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_clips_to_look_at_fit_the_terminal_and_no_name_is_broken(width: int) -> None:
    long = Highlight(id="a_rather_long_name_of_a_clip", signal="flagged", reasons=("frozen 1.0–2.4 s", "soft"))
    lines = take_lines((long, Highlight(id="b", signal="reject", reasons=("no picture",))), width)
    assert all(len(line) <= width for line in lines), lines
    assert lines[0] == "Look first at:" and lines[1].startswith("  a_rather_long_name_of_a_clip  flagged")
    beside = 2 + 28 + 2 + 7 + 2 + len("frozen 1.0–2.4 s; soft") <= width  # else below the name
    assert lines[1 if beside else 2].endswith("frozen 1.0–2.4 s; soft")
    assert take_lines((), width) == []


def test_sides_say_what_is_known() -> None:
    assert Side(name="B", against="A", same=4).sentence == "B and A: identical on every metric."
    assert Side(name="B", against="A").sentence == "B and A have no comparable values."
    assert Side(name="B", against="A", worse=("x", "y"), better=("z",), cannot_tell=("w",)).sentence == (
        "B is worse than A on 2 metrics, better on 1; no significant difference on 1."
    )
    moved = Side(name="B", against="A", moved=("blur",)).sentence
    assert moved == "B differs from A; changed (no better direction): blur."


def test_reasons_are_counted_by_words_without_gaps() -> None:
    """A chart of reasons says what is wrong: neither a metric's name nor "… of … frames missing"."""
    why = [
        Reason(metric="luma_alternation", value=3.0, comparison="above", threshold=1.0, words="flickers"),
        *(Reason(cause=cause, value=1, threshold=2) for cause in Cause if cause not in (Cause.RULE, Cause.OTHER)),
    ]
    entries = [
        Entry(
            subject=Subject(id=f"c{n}", kind="clip", path="x", sha256=None, badge="flagged", why=[one]), measurements=()
        )
        for n, one in enumerate(why)
    ]
    table = subject_table(
        entries, noun="clip", signals=("flagged",), columns=(), about=lambda one: "", details=lambda one: {}
    )
    words = [text for _, text, _ in table.reasons]
    assert "flickers" in words and len(words) == len(why)
    assert not [text for text in words if "…" in text or "_" in text or not text.strip()], words
