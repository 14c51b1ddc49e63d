"""Does the picture show the words it was asked for: text_error, text_legible_ratio and text_stability; on request.

The words are those in quotation marks in the clip's prompt: `a sign that says "OPEN"`. PP-OCRv6 reads two frames a
second.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from rushes.core import Definition, Measurement, signature_params
from rushes.core.errors import MissingDependency
from rushes.core.machine.provenance import short_digest
from rushes.core.metric import ClipMetric
from rushes.instruments.clip.metrics.making import metric, share
from rushes.instruments.clip.seen.text_watch import RATE, TextObservation
from rushes.instruments.clip.seen.wanted_text import error_rate, likeness, plain, quoted
from rushes.vision.models.cache import is_pulled, pull_command
from rushes.vision.models.catalogue import file_named, group_named, licence_of
from rushes.vision.ocr.finding import DETECTOR_FILE, GROWTH, LINE, PIXEL, SHORT_SIDE
from rushes.vision.ocr.reading import GROUP, READER_FILE, SURE

LEGIBLE = 0.2
"""Most letters that may be wrong, as a share, for the words to count as legible: none of four, one of five."""
_HOW: dict[str, str | int | float] = {
    "network": "pp-ocrv6-small",
    "detector_weights": short_digest(file_named(DETECTOR_FILE)[1].sha256),
    "weights": short_digest(file_named(READER_FILE)[1].sha256),
    "short_side": SHORT_SIDE,
    "pixel": PIXEL,
    "line": LINE,
    "growth": GROWTH,
    "letter": SURE,
    "looks_per_s": RATE,
    "compare": "nfkc-casefold-alnum",
}
_COST = "Cost: 0.25 s of one core a look at 256 × 256 and 0.5 s at 1280 × 720, so 0.5 to 1 s for a second of video."
_RATE = (
    "Lines rendered by OpenCV are read exactly; of 18 lines on a poster and a photo of street signs 17 were, of ten "
    "words cut tightly out of photos 4: without a margin the detector finds no line"
)
_REFERENCE = f"PP-OCRv6 small as rapidocr 3.10.0 runs it, without its turn classifier. {_RATE}. {licence_of(GROUP)}"
_PROMPT = (
    "No prompt, or none with a text in quotation marks: no value. Letters and digits alone count, without case. Lines "
    "are joined row by row, so words may be broken over lines; upside-down text is not read."
)
_DEPENDS = ("frame_size",)


def _error_definition() -> Definition:
    return share(
        name="text_error",
        better="lower",
        summary="Wrong letters in the words that the prompt puts in quotation marks, as a share: 0 says they are shown "
        "right all the time, 1 that none is.",
        formula="mean over looks of Σ_w edits(w, best part of what was read) / Σ_w letters(w); w the quoted texts, "
        f"edits: insert, delete, replace; {RATE:g} looks a second",
        edge_cases=f"{_PROMPT} A look without any text has 1. {_COST}",
        reference=_REFERENCE,
        params=signature_params(statistic="mean", match="anywhere", **_HOW),
        depends_on=_DEPENDS,
        raised_by=("words that appear late or leave early", "small, turned or curved writing", "fancy lettering"),
        lowered_by=("much other text, in which short words are found by chance",),
    )


def _legible_definition() -> Definition:
    return share(
        name="text_legible_ratio",
        better="higher",
        summary="Share of the clip in which the words that the prompt quotes can be read.",
        formula=f"share of looks whose text_error is at most {LEGIBLE}; {RATE:g} looks a second",
        edge_cases=f"{_PROMPT} {_COST}",
        reference=_REFERENCE,
        params=signature_params(statistic="share", match="anywhere", legible=LEGIBLE, **_HOW),
        depends_on=_DEPENDS,
        raised_by=("much other text, in which short words are found by chance",),
        lowered_by=("words that appear late or leave early", "small, turned or curved writing"),
    )


def _stability_definition() -> Definition:
    return share(
        name="text_stability",
        better="higher",
        summary="How alike the text in the picture stays from one look to the next: 1 where every letter stays.",
        formula="mean over successive looks, of which one shows a letter at least, of 1 − edits(a, b) / letters of the "
        f"longer; a, b: all the text of a look; {RATE:g} looks a second",
        edge_cases="Fewer than two looks, or no look with a letter: no value. No prompt is needed. Text that is meant "
        f"to change (subtitles, a page that scrolls, a cut) lowers it like text that melts. {_COST}",
        reference=_REFERENCE,
        params=signature_params(statistic="mean", match="whole", **_HOW),
        depends_on=_DEPENDS,
        raised_by=("a still picture",),
        lowered_by=("text that moves in or out", "subtitles", "cuts", "text too small to be read twice alike"),
    )


def _require() -> None:
    if not is_pulled(group_named(GROUP)):
        raise MissingDependency(f"text in the picture needs two networks; run: {pull_command(GROUP)}")


def text_error(definition: Definition, texts: tuple[str, ...], wanted: tuple[str, ...]) -> Measurement:
    """The mean error over looks; the note quotes the best of them where it is not right.

    >>> text_error(TEXT_ERROR, ("OPEM", "OPEN"), ("Open",)).value
    0.125
    """
    errors = [error_rate(wanted, text) for text in texts]
    best = int(np.argmin(errors))
    shown = " ".join(texts[best].split())[:60]
    note = "" if errors[best] == 0 else f"read at best: {shown!r}" if plain(shown) else "no text was found"
    return Measurement(definition=definition, value=float(np.mean(errors)), count=len(errors), note=note)


def text_legible_ratio(definition: Definition, texts: tuple[str, ...], wanted: tuple[str, ...]) -> Measurement:
    """The share of looks in which at most a fifth of the letters are wrong."""
    fine = [error_rate(wanted, text) <= LEGIBLE for text in texts]
    return Measurement(definition=definition, value=float(np.mean(fine)), count=len(fine))


def text_stability(definition: Definition, texts: tuple[str, ...]) -> Measurement:
    """The mean likeness of successive looks.

    >>> text_stability(TEXT_STABILITY, ("OPEN", "OPEM", "", "")).value
    0.375
    """
    steps = [likeness(one, other) for one, other in pairwise(texts) if plain(one + other)]
    if not steps:
        why = "fewer than two looks" if len(texts) < 2 else "no text was found"
        return Measurement.missing(definition, why)
    return Measurement(definition=definition, value=float(np.mean(steps)), count=len(steps))


def _of_text(definition: Definition, value: Callable[[TextObservation], Measurement], seen: Any) -> Measurement:
    if isinstance(seen.text, str):
        return Measurement.missing(definition, seen.text or seen.error)
    return value(seen.text)


def _asked(definition: Definition, value: Callable[..., Measurement], seen: Any) -> Measurement:
    wanted = quoted(seen.prompt)
    if not wanted:
        why = seen.prompt_missing if not seen.prompt else "the prompt has no text in quotation marks"
        return Measurement.missing(definition, why)
    return _of_text(definition, lambda found: value(definition, found.texts, wanted), seen)


def _metric(definition: Definition, measure: Callable[[Any], Measurement], *needs: Any, **shown: Any) -> ClipMetric:
    return metric(definition, measure, "text", *needs, on_request=True, require=_require, **shown)


TEXT_ERROR, TEXT_LEGIBLE_RATIO, TEXT_STABILITY = _error_definition(), _legible_definition(), _stability_definition()
TEXT_ERROR_METRIC = _metric(
    TEXT_ERROR,
    lambda seen: _asked(TEXT_ERROR, text_error, seen),
    "prompt",
    label="text error",
    too_high="the words asked for are not shown",
)
TEXT_LEGIBLE_RATIO_METRIC = _metric(
    TEXT_LEGIBLE_RATIO,
    lambda seen: _asked(TEXT_LEGIBLE_RATIO, text_legible_ratio, seen),
    "prompt",
    label="legible",
    room="page",
    too_low="the words asked for cannot be read",
)
TEXT_STABILITY_METRIC = _metric(
    TEXT_STABILITY,
    lambda seen: _of_text(TEXT_STABILITY, lambda found: text_stability(TEXT_STABILITY, found.texts), seen),
    label="text stability",
    room="page",
    too_low="text changes",
)
