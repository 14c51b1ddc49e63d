"""Text in the picture: read as rapidocr reads it, and held against the words that a prompt quotes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.oracle.text_pictures import LINES, pictures, sign

import rushes
from rushes.core.errors import InputError, MissingDependency, WeightsError
from rushes.instruments.clip.frames.observe import Observation
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.metrics.seen.text import (
    TEXT_ERROR,
    TEXT_LEGIBLE_RATIO,
    TEXT_STABILITY,
    text_error,
    text_legible_ratio,
    text_stability,
)
from rushes.instruments.clip.seen.text_watch import TextObservation
from rushes.instruments.clip.seen.wanted_text import edits, error_rate, quoted
from rushes.media import write_clip
from rushes.vision.models.cache import is_pulled
from rushes.vision.models.catalogue import group_named
from rushes.vision.ocr.finding import lines_of
from rushes.vision.ocr.reading import metadata, read_lines

pulled = pytest.mark.skipif(not is_pulled(group_named("ocr")), reason="rushes models pull ocr")
GOLDENS = Path(__file__).parents[3] / "goldens" / "rapidocr.json"


# --- words and errors by hand


def test_quotation_marks_of_several_kinds() -> None:
    assert quoted("""a “Café” by the sea, „Bäckerei“ above, 'No 5' beside, «Рынок» and 「駅」""") == (
        *("Café", "Bäckerei", "No 5", "Рынок", "駅"),
    )
    assert quoted("a dog's toy, the dogs' bowls and '80s neon") == ()


def test_errors_by_hand() -> None:
    # open: exact in the middle. closed → "cl0sd": 0 for o, e missing = 2 of 6. Together 2 of 10.
    assert error_rate(("OPEN", "Closed"), "we are open / cl0sd") == pytest.approx(0.2)
    assert error_rate(("OPEN",), "") == 1.0
    assert edits("abc", "xabcx", anywhere=True) == 0 and edits("abc", "xabcx") == 2


def test_values_by_hand() -> None:
    # Errors 0, ¼ (OPEM), 1 (nothing): mean 5/12; legible (≤ 0.2) one of three.
    texts = ("OPEN", "open OPEM"[5:], "")
    assert text_error(TEXT_ERROR, texts, ("Open",)).value == pytest.approx(5 / 12)
    assert text_legible_ratio(TEXT_LEGIBLE_RATIO, texts, ("Open",)).value == pytest.approx(1 / 3)
    # Steps: OPEN–OPEM ¾, OPEM–nothing 0.
    assert text_stability(TEXT_STABILITY, texts).value == pytest.approx(3 / 8)
    wrong = text_error(TEXT_ERROR, ("OPEM", "0PEM"), ("Open",))
    assert wrong.note == "read at best: 'OPEM'" and wrong.count == 2


def test_without_text_or_quotes_there_is_no_value_and_a_reason() -> None:
    assert text_stability(TEXT_STABILITY, ("", "")).note == "no text was found"
    seen = Observation(text=TextObservation((0,), ("OPEN",)), prompt="a red door")
    measure = METRICS["text_error"].measure
    assert measure is not None
    assert measure(seen).note == "the prompt has no text in quotation marks" and measure(seen).value is None


def test_areas_become_lines_grown_by_area_over_perimeter() -> None:
    likely = np.zeros((96, 192), np.float32)
    likely[40:60, 50:150] = 0.9
    likely[10:14, 10:14] = 0.4  # above the pixel's limit, below the line's
    (found,) = lines_of(likely, (96, 192))
    # Dilated by 2 × 2: 21 rows × 101 columns, so a rectangle of 20 × 100; 1.6 · 2000 / 240 = 13.3 on each side.
    assert found.tolist() == pytest.approx(
        np.array([[49.5 - 13, 39.5 - 13], [150 + 13, 39.5 - 13], [150 + 13, 60 + 13], [49.5 - 13, 60 + 13]]), abs=1.6
    )


def test_texts_of_an_onnx_file_are_read_without_its_network() -> None:
    entry = b"\x0a\x01k" + b"\x12\x02ab"
    assert metadata(b"\x08\x07" + b"\x72" + bytes([len(entry)]) + entry) == {"k": "ab"}
    with pytest.raises(WeightsError, match="field of kind"):
        metadata(b"\x0b")


# --- rapidocr 3.10.0 as the oracle; tests/oracle/rapidocr_lines.py makes the numbers


@pulled
@pytest.mark.parametrize(
    "name", ["line0", "line2", "sign", *(pytest.param(more, marks=pytest.mark.soak) for more in ("line1", "line3"))]
)
def test_reads_as_rapidocr_does_and_exactly(name: str) -> None:
    expected = json.loads(GOLDENS.read_text(encoding="utf-8"))[name]
    found = read_lines(pictures()[name])
    assert [one.text for one in found] == [one["text"] for one in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.score == pytest.approx(other["score"], abs=0.03)
        assert np.abs(one.corners - np.array(other["corners"])).max() <= 2
    wanted = "GRAND OPENING" if name == "sign" else LINES[int(name[-1])]
    assert error_rate((wanted,), " ".join(one.text for one in found)) == 0


@pulled
def test_a_clip_with_a_sign_that_goes_away(tmp_path: Path) -> None:
    clip = tmp_path / "sign.mp4"
    shown, gone = sign(), np.full((288, 512, 3), 110, np.uint8)
    write_clip(clip, [shown] * 5 + [gone] * 5, fps=10)
    names = ["text_error", "text_legible_ratio", "text_stability"]
    found = rushes.clip.evaluate_clip(clip, metrics=names, prompt='a shop sign that says "Grand Opening"')
    # Looks at 0 and 0.5 s: the whole text, then nothing.
    assert [found[name].value for name in names] == [0.5, 0.5, 0.0]
    run = rushes.clips(clip, run=tmp_path / "run", metrics=names, prompts={"sign": "a shop"})
    assert run["sign"]["text_error"].value is None and run["sign"]["text_stability"].value == 0.0


def test_prompts_need_a_metric_that_reads_them(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="text_error or word_error_rate"):
        rushes.clips(tmp_path, prompts={"a": "b"})


def test_without_the_networks_the_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path))
    with pytest.raises(MissingDependency, match="rushes models pull ocr"):
        METRICS["text_error"].require()
