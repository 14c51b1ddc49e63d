"""Facts of the medium: which are told, how they read, when two clips agree in them."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from rushes.compare.readings.media_facts import differing_facts, medium_fact
from rushes.core import Definition
from rushes.core.definition import MEDIUM_FACTS
from rushes.core.media_facts import Transfer
from rushes.storage.runs import Subject

VIDEO: dict[str, Any] = {
    "width": 640,
    "height": 360,
    "rotation": 0,
    "pix_fmt": "yuv420p",
    "bits": 8,
    "color_range": "limited",
    "transfer": "sdr",
    "fps": "25/1",
    "duration_ms": 4000.0,
}
ALL = Definition(
    name="all_facts",
    unit="1",
    lowest=None,
    highest=None,
    better="higher",
    summary="s",
    formula="f",
    depends_on=tuple(MEDIUM_FACTS),
)


def subject(*, canon: dict[str, Any] | None = None, converted: bool = False, **video: Any) -> Subject:
    facts: dict[str, object] = {"media": {"video": VIDEO | video}, "luma_converted": converted}
    if canon is not None:
        facts["canon"] = {"video": VIDEO | canon}
    return Subject(id="x", kind="clip", path="x.mp4", sha256=None, facts=facts)


BARE = Subject(id="x", kind="clip", path="x.mp4", sha256=None)


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({}, ""),
        ({"width": 320, "height": 180}, "frame size 640×360 in A, 320×180 in B"),
        ({"width": 360, "height": 640, "rotation": 90}, ""),
        ({"fps": "30000/1001"}, "frame rate 25 fps in A, 29.97 fps in B"),
        ({"fps": "24/1"}, "frame rate 25 fps in A, 24 fps in B"),
        ({"fps": "2510/101"}, ""),  # 24.85, within 1 %
        ({"fps": None}, "frame rate 25 fps in A, unknown in B"),
        ({"fps": "0/0"}, "frame rate 25 fps in A, unknown in B"),
        ({"duration_ms": 4030.0}, ""),
        ({"duration_ms": 3000.0}, "length 4.00 s in A, 3.00 s in B"),
        ({"color_range": "full"}, "coded range limited in A, full in B"),
        ({"bits": 10}, "bit depth 8 bits in A, 10 bits in B"),
        ({"transfer": "pq"}, "transfer curve SDR in A, PQ in B"),
        ({"converted": True, "pix_fmt": "bgr0"}, "luma as coded in A, computed from RGB in B"),
        ({"converted": True, "pix_fmt": "yuyv422"}, ""),  # taken apart, the values are the coded ones
        (
            {"width": 1280, "height": 720, "fps": "50/1"},
            "frame size 640×360 in A, 1280×720 in B; frame rate 25 fps in A, 50 fps in B",
        ),
    ],
)
def test_what_differs_is_said_in_words(other: dict[str, Any], says: str) -> None:
    assert differing_facts(ALL, subject(), subject(**other)) == says


def test_only_what_the_metric_depends_on_counts() -> None:
    blind = Definition.from_dict(ALL.as_dict() | {"depends_on": ["fps"]})
    assert differing_facts(blind, subject(), subject(width=320, height=180)) == ""


def test_what_neither_run_tells_is_taken_as_equal() -> None:
    assert differing_facts(ALL, BARE, BARE) == ""
    assert differing_facts(ALL, BARE, subject()).startswith("frame size unknown in A, 640×360 in B; ")


def test_the_canonical_form_has_its_own_facts_and_the_original_s_rate() -> None:
    """The form is at 30 fps whatever the clip was; which frames repeat, the clip's own rate decides."""
    canon = {"fps": "30/1", "bits": 8, "color_range": "limited"}
    one, other = subject(canon=canon, bits=10, color_range="full"), subject(canon=canon, fps="24/1")
    assert differing_facts(ALL, one, other) == "frame rate 25 fps in A, 24 fps in B"
    assert medium_fact(one, "bit_depth").text == "8 bits"


@pytest.mark.parametrize("fact", MEDIUM_FACTS)
def test_every_fact_can_be_told(fact: str) -> None:
    assert medium_fact(subject(), fact).text != "unknown"


def test_every_curve_has_a_word() -> None:
    assert [medium_fact(subject(transfer=curve), "transfer").text for curve in get_args(Transfer)] == [
        "SDR",
        "PQ",
        "HLG",
    ]
