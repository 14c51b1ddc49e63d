"""A board of talking heads at a glance: a row per question, and beside it how far people agree."""

from __future__ import annotations

import re
from dataclasses import replace

from tests.compare.board.board_made import board_data, credential, reading

from rushes.compare.agreement.credential import Agreed
from rushes.compare.board.board import board_page
from rushes.compare.board.model import BoardData
from rushes.compare.board.page.page import render_served

HEAD = reading("head_distance", label="head vs people")
EYES = reading("gaze_spread", label="gaze", better="neither")
OTHER = reading("flicker")
KNOWN = replace(
    credential(HEAD.definition), question="head", kind="talking-head", pairs_right=Agreed(value=0.8, low=0.5, high=0.94)
)
MORE = replace(
    credential(EYES.definition), question="head", kind="talking-head", pairs_right=Agreed(value=0.87, low=0.75, high=1)
)


def page(data: BoardData) -> str:
    return render_served(board_page(data), urls={}, static="/static", twin="/x.json")


def section(html: str) -> str:
    found = re.search(r'<section class="run" id="glance".*?</section>', html, flags=re.S)
    return " ".join(re.sub(r"<[^>]+>", " ", found[0]).split()) if found else ""


def made(kind: str = "talking-head") -> BoardData:
    return board_data(("amber", "birch"), (OTHER, EYES, HEAD), kind=kind, credentials=(KNOWN, MORE))


def test_a_row_per_question_in_their_order_with_what_people_say() -> None:
    text = section(page(made()))
    assert text.index("Head head_ distance") < text.index("Eyes gaze_ spread") and "flicker" not in text
    assert "in 80 % of pairs asked about head; 50 to 94 %" in text
    assert "prefer more in 87 % of pairs asked about head; 75 to 100 %" in text
    assert "Not measured: lip_sync_offset_ms, lip_speech_fit, articulation_distance, voice_similarity" in text
    values = [float(made().whole[name, HEAD.key].value or 0) for name in ("amber", "birch")]
    cells = " ".join(f"{value:.2f} {value - 0.25:.2f} to {value + 0.25:.2f}" for value in values)
    assert cells in text  # each system's mean with its interval


def test_nothing_known_says_so_and_a_value_without_interval_says_over_how_many() -> None:
    data = made()
    alone = {key: replace(m, interval=None, count=1) for key, m in data.whole.items()}
    html = page(replace(data, credentials=(), whole=alone))
    assert html.count('<span class="unknown">not known') == 4  # of both rows, for wide and for narrow windows
    assert "1 prompt" in section(html)


def test_another_kind_of_video_has_no_glance_and_definitions_say_what_is_known() -> None:
    html = page(made("text-to-video"))
    assert section(html) == "" and 'href="#glance"' not in html
    known = page(made())
    assert "<dt>People agree</dt><dd>head 80 % (50–94 %)</dd>" in known
    assert known.count("<dt>People agree</dt><dd>not known</dd>") == 1  # flicker
