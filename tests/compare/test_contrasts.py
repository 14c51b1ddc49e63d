"""Contrasts of two systems by hand, and against the statistics of two runs."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.compare.board.model import Contrast
from rushes.compare.board.pairs import paired_contrast
from rushes.compare.comparison import paired_statistics
from rushes.core import Definition, Measurement
from rushes.core.reading import Reading
from rushes.instruments.clip.metrics.motion import FREEZE_FRAME_RATIO
from rushes.instruments.clip.metrics.timing import DECODE_OK

NAN = float("nan")


def contrast(*differences: float, metric: Definition = FREEZE_FRAME_RATIO, note: str = "", **more: object) -> Contrast:
    names = ("amber", "birch")
    return paired_contrast(Reading(definition=metric), names, np.array(differences), note=note, **more)  # type: ignore[arg-type]


def counts(c: Contrast) -> tuple[int, int, int]:
    """On how many prompts the second is higher, equal, lower."""
    lower_wins = c.reading.definition.better == "lower"
    return (c.losses, c.ties, c.wins) if lower_wins else (c.wins, c.ties, c.losses)


def test_by_hand() -> None:
    # as in test_statistics: mean 0.125 ± 3.182446 · 0.170783 / 2. Patterns that reach the sum 0.5 of .1 .2 .3 .1:
    # + + + + (.7), − + + + and + + + − (.5), and their mirrors: 6 of 16
    c = contrast(0.1, 0.2, 0.3, -0.1)
    assert c.difference.value == pytest.approx(0.125) and c.difference.count == 4
    assert c.difference.interval is not None
    assert (c.difference.interval.low, c.difference.interval.high) == pytest.approx((-0.146753, 0.396753), abs=1e-6)
    assert c.p.value == 6 / 16 and c.p.count == 4
    assert counts(c) == (3, 0, 1)


def test_what_it_is_about() -> None:
    c = contrast(0.1, 0.2)
    inner = "freeze_frame_ratio;eps:1.0;plane:luma;range:full;v:1"
    assert c.difference.signature == f"paired_mean_difference|of:{inner}|v:1"
    assert c.p.signature == (f"sign_flip_p|alternative:two-sided|beyond:normal|exact:22|largest:12|of:{inner}|v:1")
    assert c.difference.place == c.p.place == {"first": "amber", "metric": "freeze_frame_ratio", "second": "birch"}
    assert c.difference.definition.unit == "ratio"


def test_a_difference_below_the_stored_decimals_is_a_tie() -> None:
    c = contrast(0.1 + 0.2 - 0.3, 1e-9, 0.5)
    assert counts(c) == (1, 2, 0)


def test_left_out_prompts_and_none_left() -> None:
    c = contrast(0.1, NAN, 0.3, note="1 of 3 prompts lack a value")
    assert c.difference.value == pytest.approx(0.2) and c.difference.note == "1 of 3 prompts lack a value"
    none = contrast(NAN, NAN, note="no prompt is shared")
    assert none.difference.value is None and none.difference.note == none.p.note == "no prompt is shared"


def test_nothing_differs() -> None:
    c = contrast(0.0, 0.0)
    assert (c.p.value, c.p.count, c.p.note) == (1.0, 0, "no prompt differs")
    assert c.difference.note == "no interval: all differences are equal: their spread is unknown"


def test_level() -> None:
    c = contrast(0.1, 0.2, 0.3, -0.1, level=0.99)
    # t(3, .995) = 5.840909: half = 5.840909 · 0.170783 / 2
    assert c.difference.interval is not None and c.difference.interval.level == 0.99
    assert c.difference.interval.high == pytest.approx(0.125 + 5.840909 * 0.1707825 / 2, abs=1e-5)


@pytest.mark.parametrize("binary", [False, True])
def test_the_same_mean_and_interval_as_two_runs(binary: bool) -> None:
    """Systems are compared as runs are: one definition, second − first."""
    rng = np.random.default_rng(6)
    metric = DECODE_OK if binary else FREEZE_FRAME_RATIO
    drawn = [rng.random(30) < 0.7 if binary else np.round(rng.random(30), 8) for _ in "ab"]
    a, b = (
        [Measurement(definition=metric, value=bool(v) if binary else float(v), count=1) for v in values]
        for values in drawn
    )
    runs = paired_statistics(list(zip(a, b, strict=True)))
    c = contrast(*(drawn[1].astype(float) - drawn[0]), metric=metric, binary=binary)
    assert c.difference.value == pytest.approx(runs.mean.value, abs=1e-12)
    assert c.difference.interval == runs.mean.interval and c.difference.signature == runs.mean.signature
    assert counts(c) == (runs.rose.value, runs.same.value, runs.fell.value)
    if binary:
        assert c.p.value == pytest.approx(runs.p.value, rel=1e-9), "flags: the exact sign test"
