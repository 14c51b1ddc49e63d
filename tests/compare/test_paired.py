"""Paired statistics against hand computations."""

from __future__ import annotations

import math
from typing import Any

import pytest

from rushes.compare.comparison import PairedStatistics, paired_statistics
from rushes.core import Definition, Measurement
from rushes.core.errors import DefinitionError, DefinitionMismatch
from rushes.instruments.clip.metrics.motion import FREEZE_FRAME_RATIO
from rushes.instruments.clip.metrics.timing import DECODE_OK


def reading(value: float | bool | None, definition: Definition = FREEZE_FRAME_RATIO) -> Measurement:
    return Measurement(definition=definition, value=value, count=1, note="" if value is not None else "no frames")


def of_values(pairs: list[tuple[float | bool | None, float | bool | None]], **more: Definition) -> PairedStatistics:
    return paired_statistics([(reading(a, **more), reading(b, **more)) for a, b in pairs])


def ends(s: PairedStatistics) -> tuple[float, float]:
    assert s.mean.interval is not None
    return s.mean.interval.low, s.mean.interval.high


def test_mean_t_interval_and_sign_flips_by_hand() -> None:
    # differences 0.1, 0.2, 0.3, −0.1: mean 0.125; squares about it .000625 .005625 .030625 .050625, sum .0875,
    # s = √(.0875/3) = 0.170783; t(3, .975) = 3.182446; half = 3.182446 · 0.170783 / 2 = 0.271753
    s = of_values([(0.1, 0.2), (0.1, 0.3), (0.1, 0.4), (0.3, 0.2)])
    assert s.mean.value == pytest.approx(0.125)
    assert ends(s) == pytest.approx((0.125 - 0.271753, 0.125 + 0.271753), abs=1e-6)
    # sums of ±0.1 ±0.2 ±0.3 ±0.1 at 0.5 or more: nothing negative, or one of the two 0.1: 3 patterns, and 3 below 0
    assert s.p.value == pytest.approx(6 / 16)
    assert (s.rose.value, s.fell.value, s.same.value) == (3, 1, 0)


def test_signatures_name_the_metric_and_the_interval() -> None:
    s = of_values([(0.1, 0.2), (0.2, 0.2)])
    inner = "freeze_frame_ratio;eps:1.0;plane:luma;range:full;v:1"
    assert s.mean.signature == f"paired_mean_difference|of:{inner}|v:1"
    assert s.mean.interval is not None
    assert (s.mean.interval.level, s.mean.interval.method) == (0.95, "student-t")
    assert (s.mean.definition.unit, s.mean.definition.better) == ("ratio", "neither"), "a change of it is no verdict"
    directed = Measurement(definition=DECODE_OK, value=True, count=1)
    assert paired_statistics([(directed, directed)]).mean.definition.better == "higher"
    assert s.mean.place == {"metric": "freeze_frame_ratio"}
    assert s.rose.place == {"change": "rose", "metric": "freeze_frame_ratio"}
    assert s.rose.definition == s.fell.definition == s.same.definition
    assert len({(m.signature, m.at) for m in s.measurements}) == 5


def test_clips_that_do_not_compare_count_in_the_note_alone() -> None:
    alike, apart = [(reading(0.1), reading(0.3)), (reading(0.2), None)], [(reading(0.0), reading(1.0))]
    pairs = [(a, b or reading(None)) for a, b in alike]
    s = paired_statistics(pairs, unlike=apart, why_unlike="frame size 4×4 in A, 2×2 in B")
    assert (s.mean.value, s.mean.count, s.rose.value) == (0.2, 1, 1)
    assert s.mean.note == (
        "1 of 3 clips lack a value in one of the runs; 1 of 3 clips are not comparable: frame size 4×4 in A, 2×2 in B; "
        "no interval: needs two clips or more"
    )
    none = paired_statistics([], unlike=apart, why_unlike="frame size 4×4 in A, 2×2 in B")
    assert none.mean.value is None and none.rose.value is None
    assert none.mean.note == none.rose.note == "no clip is comparable: frame size 4×4 in A, 2×2 in B"


def test_the_metric_s_own_place_stays() -> None:
    joints = Definition(**_fields(FREEZE_FRAME_RATIO) | {"name": "of_joint", "places": ("joint", "metric")})
    here = {"joint": "wrist|%", "metric": "pck"}
    pair = [Measurement(definition=joints, value=v, count=1, at=tuple(here.items())) for v in (0.1, 0.2)]
    s = paired_statistics([(pair[0], pair[1])])
    assert s.mean.place == here and "wrist" not in s.mean.signature
    assert s.rose.place == here | {"change": "rose"}


def _fields(definition: Definition) -> dict[str, Any]:
    return {"unit": definition.unit, "lowest": 0, "highest": 1, "better": "lower", "summary": "s", "formula": "f"}


def test_six_up_and_none_down() -> None:
    # 2 / 2^6 = 0.03125; all differences equal, so no spread
    s = of_values([(0.1, 0.2)] * 6)
    assert s.p.value == pytest.approx(0.03125)
    assert s.mean.interval is None
    assert s.mean.note == "no interval: all differences are equal: their spread is unknown"


def test_unchanged_clips_are_ties_even_where_floats_are_not() -> None:
    # 0.1 + 0.2 is not 0.3 in floats, but both are stored as 0.3
    s = of_values([(0.1 + 0.2, 0.3), (0.5, 0.5)])
    assert (s.same.value, s.mean.value) == (2, 0.0)
    assert (s.p.value, s.p.count, s.p.note) == (1.0, 0, "no clip changed")


def test_missing_values_are_left_out_and_counted() -> None:
    s = of_values([(0.1, 0.3), (None, 0.3), (0.2, None)])
    assert (s.mean.value, s.mean.count) == (pytest.approx(0.2), 1)
    assert s.mean.note == ("2 of 3 clips lack a value in one of the runs; no interval: needs two clips or more")


def test_nothing_to_pair_gives_no_number() -> None:
    s = of_values([(None, 0.3)])
    assert [m.value for m in s.measurements] == [None] * 5
    assert all(m.note for m in s.measurements)


def test_true_false_gets_the_exact_interval() -> None:
    # 10 clips: 3 fell (true → false), none rose. Clopper–Pearson for 0 of 3: (0, 1 − .025^(1/3)) = (0, 0.707598).
    # Scaled: 3/10 · (2π − 1) = (−0.3, 0.124559)
    s = of_values([(True, False)] * 3 + [(True, True)] * 7, definition=DECODE_OK)
    assert s.mean.value == pytest.approx(-0.3)
    assert ends(s) == pytest.approx((-0.3, 0.3 * (2 * (1 - 0.025 ** (1 / 3)) - 1)))
    assert s.mean.interval is not None
    assert (s.mean.interval.level, s.mean.interval.method) == (0.95, "clopper-pearson-of-changed")
    assert s.p.value == pytest.approx(0.25)


def test_the_exact_interval_agrees_with_the_sign_test() -> None:
    # six of six fell: p = 0.03125 < 0.05, so the interval leaves 0 out; five of five: p = 0.0625, so it does not
    for fell, clear in ((6, True), (5, False)):
        s = of_values([(True, False)] * fell + [(True, True)] * 4, definition=DECODE_OK)
        assert (ends(s)[1] < 0) is clear


def test_no_flag_changed_gives_no_exact_interval() -> None:
    s = of_values([(True, True)] * 3, definition=DECODE_OK)
    assert s.mean.interval is None and s.mean.note == "no interval: no clip changed"


def test_swapping_the_runs_mirrors_everything() -> None:
    pairs: list[tuple[float | bool | None, float | bool | None]] = [(0.1, 0.25), (0.4, 0.1), (0.2, 0.3), (0.9, 0.9)]
    one, other = of_values(pairs), of_values([(b, a) for a, b in pairs])
    assert isinstance(one.mean.value, float) and isinstance(other.mean.value, float)
    assert math.isclose(one.mean.value, -other.mean.value)
    assert one.p.value == other.p.value and one.rose.value == other.fell.value


def test_other_signatures_and_no_pairs_are_refused() -> None:
    with pytest.raises(DefinitionMismatch, match=r"eps is 1.0 in one and 2.0"):
        paired_statistics([(reading(0.1), reading(0.1, FREEZE_FRAME_RATIO.with_params(eps=2.0)))])
    with pytest.raises(DefinitionError):
        paired_statistics([])
