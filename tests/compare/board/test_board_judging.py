"""Verdicts of boards: planted orders and ties by hand, false alarms counted over simulated boards, bad input."""

from __future__ import annotations

import csv
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, norm
from tests.compare.board.boards import around, board, clips, metric, number, numbers, reading

import rushes
from rushes.compare.board.judging import judge_board
from rushes.compare.board.model import BoardData, Contrast, Reading, ReadingVerdict, System
from rushes.compare.comparison import WhyNot
from rushes.core import Definition, Measurement
from rushes.core.errors import DefinitionMismatch, InputError
from rushes.storage.runs import Run, Subject


def only(data: BoardData, **more: float) -> ReadingVerdict:
    (verdict,) = judge_board(data, **more).values()  # type: ignore[arg-type]
    return verdict


def pair(verdict: ReadingVerdict, first: str, second: str) -> Contrast:
    return next(c for c in verdict.contrasts if (c.first, c.second) == (first, second))


def three(definition: Definition | None = None) -> BoardData:
    """Twelve prompts: amber 1 above birch on each, birch and cedar apart by signs that cancel."""
    base = [float(i) for i in range(12)]
    birch = [b + 0.1 * (-1) ** i for i, b in enumerate(base)]
    return board((reading(definition), {"amber": [b + 1 for b in birch], "birch": birch, "cedar": base}))


def test_planted_order_and_planted_tie() -> None:
    found = only(three())
    # birch − amber is −1 twelve times: p = 2^−11. Cedar − amber is −1.1 and −0.9 in turn: the same. Cedar − birch
    # cancels. Outcomes are those of the second system.
    assert [(c.first, c.second, c.verdict) for c in found.contrasts] == [
        ("amber", "birch", "worse"),
        ("amber", "cedar", "worse"),
        ("birch", "cedar", "cannot tell"),
    ]
    assert [c.p.value for c in found.contrasts] == [2**-11, 2**-11, 1.0]
    # Holm over three tests: 3·2^−11, max(3·2^−11, 2·2^−11), 1
    assert [c.adjusted_p.value for c in found.contrasts] == [3 * 2**-11, 3 * 2**-11, 1.0]
    assert dict(found.letters) == {"amber": "a", "birch": "b", "cedar": "b"}
    assert dict(found.ranks) == {"amber": (1, 1), "birch": (2, 3), "cedar": (2, 3)}
    assert found.why_not == ""
    c = pair(found, "birch", "cedar")
    assert (c.wins, c.ties, c.losses) == (6, 0, 6) and c.difference.count == 12


def test_lower_is_better() -> None:
    found = only(three(metric(better="lower")))
    assert [c.verdict for c in found.contrasts] == ["better", "better", "cannot tell"]
    assert dict(found.letters) == {"amber": "b", "birch": "a", "cedar": "a"}
    assert dict(found.ranks) == {"amber": (3, 3), "birch": (1, 2), "cedar": (1, 2)}
    assert (found.contrasts[0].wins, found.contrasts[0].losses) == (12, 0)


@pytest.mark.parametrize(
    ("definition", "why"),
    [
        (metric(better="neither"), "neither direction is better"),
        (metric(raised_by=("noise",), lowered_by=("blur",)), "(raised by noise; lowered by blur)"),
        (metric(raised_by=("sharpening",)), "(raised by sharpening)"),
        (metric(better="lower", lowered_by=("re-encoding",)), "(lowered by re-encoding)"),
    ],
)
def test_what_only_moves_is_told_apart_and_not_ranked(definition: Definition, why: str) -> None:
    """On one side alone it does not rank either: a sharpened copy would come out above its source."""
    found = only(three(definition))
    assert [c.verdict for c in found.contrasts] == ["moved", "moved", "cannot tell"]
    assert sorted(found.letters.values()) in (["a", "b", "b"], ["a", "a", "b"])
    assert found.letters["birch"] == found.letters["cedar"] != found.letters["amber"]
    assert dict(found.ranks) == {} and why in found.why_not
    assert {c.difference.definition.better for c in found.contrasts} == {"neither"}


def test_holm_over_every_reading() -> None:
    """The same pairs beside nine readings of noise have 10 times the tests; a reading that never differs costs none."""
    rng = np.random.default_rng(2)
    noise = [
        (reading(metric(f"noise{k}")), {name: rng.normal(size=12).tolist() for name in ("amber", "birch", "cedar")})
        for k in range(9)
    ]
    still = (reading(metric("still")), {name: [1.0] * 12 for name in ("amber", "birch", "cedar")})
    first = three()
    values = {name: [m.value for m in first.values[name, first.readings[0].key].values()] for name in first.names}
    data = board((reading(), values), *noise, still)
    found = judge_board(data)
    c = found[reading().key].contrasts[0]
    assert c.adjusted_p.value == pytest.approx(30 * 2**-11)
    assert "tests:30" in c.adjusted_p.signature
    quiet = found[still[0].key]
    assert {c.verdict for c in quiet.contrasts} == {"same"}
    assert [c.adjusted_p.value for c in quiet.contrasts] == [1.0] * 3
    assert set(quiet.letters.values()) == {"a"} and set(quiet.ranks.values()) == {(1, 3)}
    alone = judge_board(data, readings=[reading().key])
    assert list(alone) == [reading().key] and alone[reading().key].contrasts[0].adjusted_p.value == 3 * 2**-11


def test_too_few_prompts_for_so_many_tests_are_named() -> None:
    # five prompts: the smallest p is 2^−4 = 0.0625, so even one test needs six
    found = only(board((reading(), {"amber": [1.0, 2.0, 3.0, 4.0, 5.0], "birch": [0.0] * 5})))
    assert (found.contrasts[0].verdict, found.contrasts[0].why) == ("cannot tell", WhyNot.TOO_FEW)
    assert found.contrasts[0].adjusted_p.note == (
        "5 prompts with a difference; to be significant among 1 test it takes at least 6"
    )
    assert only(three()).contrasts[0].adjusted_p.note == "", "twelve are enough for three tests"


def test_missing_values_and_prompts_are_left_out_and_counted() -> None:
    found = only(board((reading(), {"amber": [2.0, None, 3.0, 4.0], "birch": [1.0, 1.0, 1.0]})))
    (c,) = found.contrasts
    assert (c.difference.value, c.difference.count) == (-1.5, 2)
    assert c.difference.note == "2 of 4 prompts without a value in one of the systems"


def test_a_system_without_values_has_no_letter_and_no_rank() -> None:
    found = only(board((reading(), {"amber": [2.0, 3.0], "birch": [1.0, 1.5], "cedar": [None, None]})))
    assert dict(found.letters) == {"amber": "a", "birch": "a", "cedar": ""}
    assert dict(found.ranks) == {"amber": (1, 2), "birch": (1, 2)}
    c = pair(found, "amber", "cedar")
    assert (c.verdict, c.why) == ("not comparable", WhyNot.NOTHING_SHARED)
    assert c.p.note == "no prompt of 2 has a value in both systems"


def test_no_shared_prompt() -> None:
    found = only(board((reading(), {"amber": [1.0, 2.0, None, None], "birch": [None, None, 1.0, 2.0]})))
    assert found.contrasts[0].verdict == "not comparable"
    assert found.why_not == "no two systems compare: no prompt of 4 has a value in both systems"
    assert set(found.letters.values()) == {""} and found.ranks == {}


def test_one_system_and_none() -> None:
    found = only(board((reading(), {"amber": [1.0, 2.0]})))
    assert found.contrasts == () and found.why_not == "fewer than two systems: there is nothing to compare"
    assert dict(found.letters) == {"amber": ""}
    assert judge_board(board()) == {}
    empty = BoardData(systems=(), prompts=(), readings=(reading(),), values={}, whole={})
    assert only(empty).contrasts == ()
    assert "neither system has a value" in only(board((reading(), {"amber": [], "birch": []}))).why_not


def test_clips_of_other_facts_are_left_out_for_that_pair() -> None:
    sized = metric(depends_on=("frame_size",))
    values = {"amber": [2.0, 3.0, 4.0], "birch": [1.0, 1.0, 1.5], "cedar": [0.0, 0.5, 0.5]}
    big, small = (64, 36), (32, 18)
    shown = clips({"amber": [big] * 3, "birch": [big, big, small], "cedar": [small] * 3})
    found = only(board((reading(sized), values), clips=shown))
    c = pair(found, "amber", "birch")
    assert c.difference.value == -1.5 and c.difference.count == 2
    assert c.difference.note == "1 of 3 prompts not comparable: frame size 64×36 in amber, 32×18 in birch"
    c = pair(found, "amber", "cedar")
    assert (c.verdict, c.why) == ("not comparable", WhyNot.MEDIA_DIFFER) and c.difference.value is None
    assert c.p.note == "3 of 3 prompts not comparable: frame size 64×36 in amber, 32×18 in cedar"
    assert pair(found, "birch", "cedar").difference.count == 1
    free = only(board((reading(), values), clips=shown))
    assert [c.difference.count for c in free.contrasts] == [3, 3, 3], "a metric that does not depend on it compares"


def test_facts_within_a_hundredth_agree_and_kinds_are_counted() -> None:
    timed = metric(depends_on=("duration",))
    shown = clips({"amber": [(4, 4)] * 4, "birch": [(4, 4)] * 4})
    for i, length in enumerate((1000, 1005, 1500, 2000)):
        clip = shown["birch", f"p{i}"]
        video = {"duration_ms": length}
        shown["birch", f"p{i}"] = type(clip)(
            path=clip.path, run=0, subject=clip.subject, facts={"media": {"video": video}}
        )
    found = only(board((reading(timed), {"amber": [1.0] * 4, "birch": [2.0] * 4}), clips=shown))
    assert found.contrasts[0].difference.count == 2
    assert "2 of 4 prompts not comparable: length 1.00 s in amber, 1.50 s in birch on 1 of them" in (
        found.contrasts[0].difference.note
    )


def test_true_false() -> None:
    found = only(board((reading(metric("ok")), {"amber": [True] * 12, "birch": [False] * 10 + [True] * 2})))
    (c,) = found.contrasts
    assert (c.wins, c.ties, c.losses) == (0, 2, 10) and c.verdict == "worse"
    assert c.p.value == pytest.approx(2**-9)
    assert c.difference.interval is not None and c.difference.interval.method == "clopper-pearson-of-changed"


def test_level_moves_interval_and_verdict() -> None:
    values = {"amber": [1.0, 2.0, 1.5, 1.2, 1.1, 1.3, 1.4], "birch": [0.0] * 7}  # p = 2^−6 = 0.0156
    data = board((reading(), values))
    assert only(data).contrasts[0].verdict == "worse"
    strict = only(data, level=0.99).contrasts[0]
    assert strict.verdict == "cannot tell"
    assert strict.difference.interval is not None and strict.difference.interval.level == 0.99
    assert only(data, level=1 - 2**-6).contrasts[0].verdict == "worse", "p equal to 1 − level is enough"


def test_an_interval_that_holds_zero_forbids_a_verdict() -> None:
    # ten differences of one sign: p = 2^−9; but 10 among nine of 0.1 gives 1.09 ± 2.24, which holds 0
    found = only(board((reading(), {"amber": [0.1] * 9 + [10.0], "birch": [0.0] * 10})))
    (c,) = found.contrasts
    assert c.adjusted_p.value == 2**-9 and c.verdict == "cannot tell"
    assert c.difference.interval is not None and c.difference.interval.low < 0 < c.difference.interval.high


def test_bad_input() -> None:
    data = three()
    with pytest.raises(InputError, match="between 0 and 1"):
        judge_board(data, level=95)
    with pytest.raises(InputError, match=r"no metric 'scor'. Did you mean `score\|v:1`"):
        judge_board(data, readings=["scor"])
    twice = board((reading(), {"amber": [1.0]}), systems=[System(name="amber", runs=())] * 2)
    with pytest.raises(InputError, match="two systems are called 'amber'"):
        judge_board(twice)
    mixed = board((reading(), {"amber": [1.0]}), systems=[System(name="amber", runs=()), System(name="birch", runs=())])
    values = {("birch", reading().key): {"p0": number(metric(history=("one", "two")), 1.0)}}
    with pytest.raises(DefinitionMismatch):
        judge_board(board((reading(), {"amber": [1.0]}), systems=mixed.systems, values=values))


# One number per system


def fvd(**more: str) -> Reading:
    settings = {"covariance": "1/(N-1)", "d": "400", "n_gen": "2048", "n_gt": "2048"} | more
    return reading(
        metric("fvd", better="lower", params=tuple(settings.items())), per_prompt=False, instrument="distribution"
    )


def test_two_numbers_by_their_intervals_with_errors_summed() -> None:
    column = fvd()
    found = only(
        numbers(column, {"amber": around(column.definition, 100, 4), "birch": around(column.definition, 110, 4)})
    )
    (c,) = found.contrasts
    # z = 1.959964·10/8 = 2.449955: p = 0.014287. As independent numbers it would be 1.96·10/√32: far less.
    assert c.p.value == pytest.approx(2 * norm.sf(norm.ppf(0.975) * 10 / 8), rel=1e-9)
    assert c.verdict == "worse" and c.difference.value == 10
    assert "evidence:two-intervals" in c.p.signature and "errors summed" in c.difference.note
    assert c.difference.interval is None
    # at 95 % the intervals 96–104 and 104–112 just touch: p = 0.05
    near = only(numbers(column, {"a": around(column.definition, 100, 4), "b": around(column.definition, 108, 4)}))
    assert near.contrasts[0].p.value == pytest.approx(0.05)


def test_levels_of_intervals_are_allowed_for() -> None:
    column = fvd()
    wide = around(column.definition, 110, 4 * norm.ppf(0.995) / norm.ppf(0.975), level=0.99)
    found = only(numbers(column, {"amber": around(column.definition, 100, 4), "birch": wide}))
    assert found.contrasts[0].p.value == pytest.approx(2 * norm.sf(norm.ppf(0.975) * 10 / 8), rel=1e-9)


def test_numbers_without_intervals_do_not_compare() -> None:
    column = fvd()
    found = only(
        numbers(column, {"amber": number(column.definition, 100.0), "birch": number(column.definition, 200.0)})
    )
    (c,) = found.contrasts
    assert c.verdict == "not comparable" and c.difference.value == 100
    assert c.p.note == (
        "the value of amber has no interval, so no difference can be tested; "
        "ask the sets: rushes fvd amber REAL --versus birch"
    )
    assert found.why_not.startswith("no two systems compare: the value of amber has no interval")
    lacking = only(numbers(column, {"amber": number(column.definition, None), "birch": number(column.definition, 2.0)}))
    assert lacking.contrasts[0].p.note == "amber has no value: no frames"


def test_a_frechet_distance_of_few_clips_says_nothing() -> None:
    """At N = 34 trained FVD puts the system that people like best last."""
    column = fvd(n_gen="34", n_gt="34")
    found = only(
        numbers(column, {"amber": around(column.definition, 2500, 10), "birch": around(column.definition, 3100, 10)})
    )
    assert found.contrasts[0].verdict == "not comparable"
    assert "no verdict with 34 clips for D = 400" in found.why_not and found.why is WhyNot.TOO_FEW


def distances(value: float, half: float, *, truth: str = "b" * 64, difference: Measurement | None = None) -> Run:
    """A run of FVD, with a difference of two models where one is given."""
    numbers = (around(kvd().definition, value, half), *((difference,) if difference else ()))
    sets = [Subject(id=name, kind="set", path=f"{name}/", sha256=truth) for name in ("generated", "ground_truth")]
    info = {"instrument": "distribution", "status": "complete"}
    return Run(path=Path("run"), info=info, subjects=tuple(sets), measurements={"generated": numbers})


def kvd() -> Reading:
    params = tuple({"degree": "3", "d": "400", "n_gen": "64", "n_gt": "64"}.items())
    definition = metric("kvd", better="lower", params=params)
    return reading(definition, per_prompt=False, instrument="distribution")


def versus(first: str, second: str, value: float, half: float, note: str = "told") -> Measurement:
    params = tuple({"degree": "3", "d": "400", "n_gen": "64", "n_gt": "64", "n_versus": "60", "cut": "none"}.items())
    definition = metric("kvd_difference", better="neither", params=params, places=("first", "versus"))
    return around(definition, value, half, at={"first": first, "versus": second}, note=note)


def of_runs(**runs: Run) -> BoardData:
    column = kvd()
    systems = [System(name=name, runs=(run,)) for name, run in runs.items()]
    return numbers(column, {name: run.measurements["generated"][0] for name, run in runs.items()}, systems)


def test_a_difference_that_a_run_drew_comes_first() -> None:
    # the two intervals overlap by far; the difference, 6 ± 4, leaves 0 out: p = 2·Φ(−1.959964·6/4) = 0.00328
    drawn = versus("birch", "amber", 6, 4)
    found = only(of_runs(amber=distances(10, 9), birch=distances(16, 9, difference=drawn)))
    (c,) = found.contrasts
    assert c.difference == drawn and c.verdict == "worse"
    assert c.p.value == pytest.approx(2 * norm.sf(norm.ppf(0.975) * 6 / 4)) and "evidence:difference" in c.p.signature
    assert dict(found.ranks) == {"amber": (1, 1), "birch": (2, 2)}


def test_a_difference_without_its_bias_says_so_beside_values_that_differ_otherwise() -> None:
    drawn = versus("birch", "amber", 6, 4)
    drawn = replace(drawn, definition=drawn.definition.add_params(bias="jackknife-off"))
    (c,) = only(of_runs(amber=distances(10, 9), birch=distances(18, 9, difference=drawn))).contrasts
    assert c.difference.value == 6 and c.difference.note == (
        "the bias of small sets is removed from this difference; the two values differ by 8; told"
    )


def test_a_difference_the_other_way_round_is_turned() -> None:
    drawn = versus("amber", "birch", -6, 4)
    found = only(of_runs(amber=distances(10, 9, difference=drawn), birch=distances(16, 9)))
    (c,) = found.contrasts
    assert (c.difference.value, c.verdict) == (6, "worse")
    assert c.difference.interval is not None and (c.difference.interval.low, c.difference.interval.high) == (2, 10)
    assert c.difference.place == {"first": "birch", "versus": "amber"}
    assert "n_gen:60|" in c.difference.signature and "n_versus:64|" in c.difference.signature


def test_a_difference_without_a_verdict_gives_none() -> None:
    drawn = versus("amber", "birch", -6, 4, note="no verdict with 64 clips for D = 400; use kvd")
    found = only(of_runs(amber=distances(10, 1, difference=drawn), birch=distances(16, 1)))
    assert found.contrasts[0].verdict == "not comparable" and "no verdict with 64" in found.why_not


def test_another_ground_truth_does_not_compare() -> None:
    found = only(of_runs(amber=distances(10, 1), birch=distances(90, 1, truth="c" * 64)))
    assert found.contrasts[0].verdict == "not comparable" and "ground truth" in found.why_not


def test_numbers_under_two_signatures_do_not_compare() -> None:
    other = metric("kvd", better="lower", params=(("degree", "2"),))
    found = only(numbers(kvd(), {"amber": around(kvd().definition, 10, 1), "birch": around(other, 90, 1)}))
    assert found.contrasts[0].verdict == "not comparable" and "degree" in found.why_not


def test_false_alarms_of_two_intervals_whatever_the_numbers_share() -> None:
    column = reading(metric("elo"), per_prompt=False)
    for correlation in (-0.95, 0.0, 0.95):
        rng = np.random.default_rng(12)
        drawn = rng.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], 400)
        half = norm.ppf(0.975)
        alarms = sum(
            only(
                numbers(
                    column,
                    {"a": around(column.definition, float(a), half), "b": around(column.definition, float(b), half)},
                )
            )
            .contrasts[0]
            .verdict
            != "cannot tell"
            for a, b in drawn
        )
        assert alarms <= binom.ppf(0.999, 400, 0.05)


# Error rates


def simulated(rng: np.random.Generator, *, prompts: int, effects: list[float], kinds: int = 3) -> BoardData:
    """Six systems on skewed, tied and heavy-tailed readings that share the difficulty of the prompts."""
    columns = []
    for k in range(kinds):
        hard = rng.normal(0, 1, prompts)
        noise = (
            rng.lognormal(0, 1, (6, prompts)),
            rng.poisson(1.0, (6, prompts)).astype(float),
            rng.standard_t(2, (6, prompts)),
        )[k % 3]
        values = {f"s{i}": np.round(hard + effects[i] + noise[i], 8).tolist() for i in range(6)}
        columns.append((reading(metric(f"m{k}")), values))
    return board(*columns)


def test_family_wise_error_of_six_equal_systems() -> None:
    """300 boards of 15 pairs × 3 readings; a longer count is made by benchmarks/board_rates.py."""
    alarms = 0
    for seed in range(300):
        data = simulated(np.random.default_rng([7, seed]), prompts=20, effects=[0.0] * 6)
        found = judge_board(data).values()
        alarms += any(c.outcome.is_change for verdict in found for c in verdict.contrasts)
    assert alarms <= 15, f"{alarms} of 300 boards: more than 5 %"


def test_planted_order_of_six_is_found() -> None:
    """Steps of one standard deviation, 50 prompts, one reading of normal noise: every pair, every time or nearly."""
    hits = wrong = total = 0
    for seed in range(20):
        rng = np.random.default_rng([8, seed])
        hard = rng.normal(0, 2, 50)
        values = {f"s{i}": (hard - i + rng.normal(0, 0.7, 50)).tolist() for i in range(6)}
        for c in only(board((reading(), values))).contrasts:
            hits, wrong, total = hits + (c.verdict == "worse"), wrong + (c.verdict == "better"), total + 1
    assert wrong == 0 and hits >= 0.99 * total


def test_people_on_generated_clips(shared: Path) -> None:
    """FETV, 17 prompts: three people's mean temporal quality puts ground truth first, surely."""
    with (shared / "suites" / "fetv" / "ratings.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    systems = list(dict.fromkeys(row["system"] for row in rows))
    prompts = list(dict.fromkeys(row["prompt_id"] for row in rows))
    values = {
        name: [
            sum(given) / len(given) if given else None
            for prompt in prompts
            for given in [
                [float(row["temporal_quality"]) for row in rows if (row["system"], row["prompt_id"]) == (name, prompt)]
            ]
        ]
        for name in systems
    }
    found = only(board((reading(metric("temporal_quality")), values)))
    assert found.ranks["ground-truth"] == (1, 1) and found.letters["ground-truth"] == "a"
    assert found.ranks["text2video-zero"] == (5, 5)


def test_forty_systems() -> None:
    rng = np.random.default_rng(4)
    hard = rng.normal(0, 1, 60)
    values = {f"s{i:02}": (hard - (i // 10) * 2 + rng.normal(0, 0.5, 60)).tolist() for i in range(40)}
    found = only(board((reading(), values)))
    assert len(found.contrasts) == 780
    # four groups of ten equal systems
    assert [found.letters[f"s{i:02}"] for i in (0, 10, 20, 30)] == ["a", "b", "c", "d"]
    assert found.ranks["s00"] == (1, 10) and found.ranks["s39"] == (31, 40)


def test_the_same_bytes_twice_and_in_any_order_of_systems() -> None:
    rng = np.random.default_rng(3)
    values = {name: rng.normal(k, 1, 30).tolist() for k, name in enumerate(("amber", "birch", "cedar"))}
    one, again = (only(board((reading(), values))) for _ in "ab")
    assert one == again
    turned = only(board((reading(), dict(reversed(values.items())))))
    for a, b in combinations(values, 2):
        assert pair(turned, b, a).outcome is pair(one, a, b).outcome.turned
        assert pair(turned, b, a).p.value == pytest.approx(pair(one, a, b).p.value, rel=1e-9)
    assert dict(turned.letters) == dict(one.letters) and dict(turned.ranks) == dict(one.ranks)


def test_what_python_shows_of_a_board_is_short() -> None:
    one = metric("calm")
    data = board((reading(one), {"amber": [1.0] * 40, "birch": [2.0] * 40}))
    assert repr(data) == "BoardData(2 systems, 40 prompts, 1 reading)"
    assert repr(rushes.judge_board(data)[reading(one).key]) == "ReadingVerdict(calm: amber b, birch a)"
    assert rushes.collect_board.__doc__ and rushes.judge_board.__doc__ and rushes.write_board.__doc__
