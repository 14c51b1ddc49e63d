"""Same within margin, worse, cannot tell: by hand, counted over simulated gates, and on bad input."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from tests.compare.gate.gate_runs import BLUR, FVD, LPIPS, PLAYS, PSNR, gate_run

import rushes
from rushes.compare.gate.gate import check_regression
from rushes.core.errors import InputError
from rushes.storage.runs import Run

BASE = [30.0, 32.0, 34.0, 36.0]
REPEAT = [30.2, 31.8, 34.2, 35.8]


def shifted(values: list[float], *moves: float) -> list[float]:
    return [value + moves[i % len(moves)] for i, value in enumerate(values)]


def test_the_default_margin_is_the_repeatability_limit_by_hand() -> None:
    # each clip's two values are 0.2 apart: variance 0.02 each. Run means are equal, so MS_run = 0 and MS_rest =
    # 4 · 0.02 / 3; sd² = 0.02 and ν = 3
    found = check_regression(
        gate_run("a", {PSNR: BASE}), gate_run("b", {PSNR: BASE}), repeats=[gate_run("c", {PSNR: REPEAT})]
    )
    (gate,) = found.metrics
    assert gate.noise.value == pytest.approx(math.sqrt(0.02))
    assert gate.margin.value == pytest.approx(stats.t.ppf(0.975, 3) * math.sqrt(2 * 0.02))
    assert gate.margin.signature == "gate_margin|of:psnr;v:1|rule:repeatability-limit-0.95-x1|v:1"
    assert (gate.verdict, gate.sentence, found.answer) == ("same", "no clip changed", "same")
    twice = check_regression(found.baseline, found.candidate, repeats=found.repeats, margin=2.0)
    assert twice.metrics[0].margin.value == pytest.approx(2 * float(gate.margin.value or 0))


@pytest.mark.parametrize(
    ("moves", "verdict"),
    [
        ((0.01, -0.02, 0.0, 0.01), "same"),
        ((-3.0, -3.4, -2.8, -3.1), "worse"),
        ((-3.0, 2.0, 0.5, -1.0), "cannot tell"),
        ((3.0, 3.4, 2.8, 3.1), "better"),
        ((0.8, 0.1, 0.3, 1.4), "not worse"),
    ],
)
def test_verdicts_with_a_margin_of_ones_own(moves: tuple[float, ...], verdict: str) -> None:
    found = check_regression(
        gate_run("a", {PSNR: BASE}), gate_run("b", {PSNR: shifted(BASE, *moves)}), metrics={"psnr": 0.5}
    )
    gate = found.metrics[0]
    assert gate.verdict == verdict and gate.holds == (verdict in ("same", "better", "not worse"))
    # "not worse" is no sixth outcome: which it is cannot be told, and the gate holds
    assert gate.outcome == ("cannot tell" if verdict == "not worse" else verdict)
    assert (gate.first, gate.second) == ("baseline", "candidate")
    assert found.answer == ("same" if verdict in ("better", "not worse") else verdict)


def test_worse_goes_down_where_lower_is_better() -> None:
    runs = gate_run("a", {LPIPS: [0.1, 0.2, 0.3, 0.1]}), gate_run("b", {LPIPS: [0.3, 0.41, 0.5, 0.29]})
    found = check_regression(*runs, metrics={"lpips": "10%"})
    # 10 % of the baseline's mean, 0.175
    assert found.metrics[0].margin.value == pytest.approx(0.0175)
    assert found.answer == "worse"
    assert [pair.subject for pair in found.metrics[0].worst] == ["clip1", "clip0", "clip2"]
    assert check_regression(*runs[::-1], metrics={"lpips": 0.01}).metrics[0].verdict == "better"


def test_what_only_moves_is_information_until_it_is_named() -> None:
    base, moved = {PSNR: BASE, BLUR: [9.0, 8, 7, 9]}, {PSNR: BASE, BLUR: [5.0, 4.1, 3, 5]}
    repeat = gate_run("c", {PSNR: REPEAT, BLUR: [9.1, 7.9, 7.1, 8.9]})
    runs = gate_run("a", base), gate_run("b", moved)
    found = check_regression(*runs, repeats=[repeat])
    blur = found.find("blur")[0]
    assert (blur.verdict, blur.gated, found.answer) == ("moved", False, "same")
    assert check_regression(*runs, metrics={"blur": 0.5}).answer == "worse"
    assert check_regression(*runs, repeats=[repeat], metrics=["blur"]).answer == "worse"


def test_holm_runs_over_the_readings_gated_on() -> None:
    worse = shifted(BASE, -0.6, -1.5, -1.2, -0.7)
    one = check_regression(gate_run("a", {PSNR: BASE}), gate_run("b", {PSNR: worse}), metrics={"psnr": 0.2})
    p = float(one.metrics[0].beyond_p.value or 0)
    assert 0.01 < p < 0.05 and one.answer == "worse"
    still = {LPIPS: [0.1, 0.2, 0.3, 0.1]}
    wobble = {LPIPS: [0.12, 0.19, 0.31, 0.1]}
    two = check_regression(
        gate_run("a", {PSNR: BASE} | still), gate_run("b", {PSNR: worse} | wobble), metrics={"psnr": 0.2, "lpips": 0.5}
    )
    psnr = two.find("psnr")[0]
    assert psnr.beyond_p.value == pytest.approx(2 * p) and "adjust:holm-2" in psnr.beyond_p.signature


def test_cannot_tell_says_what_would() -> None:
    moves = (-0.9, 0.8, -0.2, 0.4)  # mean 0.025, s = 0.7455
    found = check_regression(
        gate_run("a", {PSNR: BASE}), gate_run("b", {PSNR: shifted(BASE, *moves)}), metrics={"psnr": 0.5}
    )
    (gate,) = found.metrics
    assert gate.verdict == "cannot tell" and gate.power is not None
    from statsmodels.stats.power import TTestPower

    sd = float(np.std(moves, ddof=1))
    assert gate.power.value == pytest.approx(TTestPower().power(0.5 / sd, 4, 0.05, alternative="larger"))
    needed = [TTestPower().solve_power(d / sd, alpha=0.05, power=0.9, alternative="larger") for d in (0.5, 0.525)]
    assert [m.value for m in gate.clips] == [math.ceil(n) for n in needed]
    assert f"{gate.clips[0].value} with 0.9" in gate.sentence


def test_a_baseline_without_noise_makes_every_difference_real() -> None:
    base, again = gate_run("a", {PSNR: BASE}), gate_run("c", {PSNR: BASE})
    found = check_regression(base, gate_run("b", {PSNR: shifted(BASE, -0.1, -0.12)}), repeats=[again])
    assert found.answer == "worse" and "every difference is real" in found.metrics[0].sentence
    assert found.metrics[0].margin.value == 0
    assert check_regression(base, gate_run("b", {PSNR: BASE}), repeats=[again]).answer == "same"
    unsure = check_regression(base, gate_run("b", {PSNR: shifted(BASE, -0.1, 0.12)}), repeats=[again])
    assert unsure.answer == "cannot tell" and "metrics=" in unsure.metrics[0].sentence


def test_flags_are_counted_exactly() -> None:
    base = gate_run("a", {PLAYS: [True] * 8})
    broken = gate_run("b", {PLAYS: [False] * 6 + [True] * 2})
    (gate,) = check_regression(base, broken, metrics={"plays": 0.1}).metrics
    assert gate.verdict == "worse" and gate.difference.value == -0.75
    assert gate.beyond_p.value == pytest.approx(max(0.5**6, stats.binom.sf(5, 8, 0.1)))


def test_one_number_by_repeats_by_intervals_or_not_at_all() -> None:
    base, worse, near = (gate_run(name, {FVD: [value]}) for name, value in (("a", 100.0), ("b", 300.0), ("n", 102.0)))
    repeats = [gate_run(f"r{value}", {FVD: [value]}) for value in (98.0, 103.0, 101.0)]
    assert check_regression(base, worse, repeats=repeats).answer == "worse"
    kept = check_regression(base, near, repeats=repeats)
    assert kept.answer == "same" and "first:mean-of-4-runs" in kept.metrics[0].difference.signature
    bare = check_regression(base, near, metrics={"fvd": 20})
    assert bare.answer == "cannot tell" and "needs repeats" in bare.metrics[0].sentence
    drawn = gate_run("a", {FVD: [100.0]}, interval=4.0), gate_run("n", {FVD: [102.0]}, interval=4.0)
    assert check_regression(*drawn, metrics={"fvd": 20}).answer == "same"
    assert check_regression(*drawn, metrics={"fvd": 9}).metrics[0].verdict == "cannot tell"


def test_a_clip_that_the_candidate_lost_is_never_left_out_in_silence() -> None:
    base = gate_run("a", {PSNR: BASE})
    found = check_regression(base, gate_run("b", {PSNR: [*BASE[:3], None]}), metrics={"psnr": 1})
    assert found.answer == "cannot tell"
    assert found.metrics[0].sentence == "1 of 4 clips is without a value in the candidate (clip3; the first: it broke)"
    fewer = check_regression(base, gate_run("b", {PSNR: BASE[:3]}), metrics={"psnr": 1})
    assert fewer.answer == "cannot tell" and "1 of 4 clips is without" in fewer.metrics[0].sentence


def size(width: int) -> dict[str, object]:
    return {"media": {"video": {"width": width, "height": 96}}}


def test_media_and_references_that_differ_are_not_compared() -> None:
    base = gate_run("a", {PSNR: BASE}, facts=size(160))
    found = check_regression(base, gate_run("b", {PSNR: BASE}, facts=size(80)), metrics={"psnr": 1})
    assert found.answer == "cannot tell"
    assert "frame size 160×96 in the baseline, 80×96 in the candidate" in found.metrics[0].sentence
    one, other = ({"reference": {"sha256": digest, "path": f"{digest}.mp4"}} for digest in ("aa", "bb"))
    apart = check_regression(
        gate_run("a", {PSNR: BASE}, facts=one), gate_run("b", {PSNR: BASE}, facts=other), metrics={"psnr": 1}
    )
    assert apart.answer == "cannot tell" and "another reference: aa.mp4" in apart.metrics[0].sentence


def test_other_signatures_are_refused_by_name() -> None:
    base = gate_run("a", {PSNR: BASE, LPIPS: [0.1] * 4})
    other = gate_run("b", {PSNR: BASE, LPIPS.with_params(net="vgg"): [0.1] * 4})
    found = check_regression(base, other, metrics={"psnr": 1, "lpips": 1})
    assert found.answer == "cannot tell"
    assert "net is alex in one and vgg in the other" in found.find("lpips")[0].sentence
    twin = gate_run("c", {PSNR: BASE, LPIPS: [0.1] * 4})
    repeated = check_regression(base, twin, repeats=[other], metrics=["lpips"])
    assert repeated.answer == "cannot tell" and "no repeat has this metric" in repeated.metrics[0].sentence


def test_runs_that_moved_as_a_whole_are_remarked_on() -> None:
    repeat = gate_run("c", {PSNR: shifted(BASE, 1.0, 1.01, 0.99)})
    found = check_regression(gate_run("a", {PSNR: BASE}), gate_run("b", {PSNR: BASE}), repeats=[repeat])
    assert "differ as a whole" in found.remarks[0]
    # one degree of freedom: t(1, .975) = 12.7 · √2 · 0.707
    assert float(found.metrics[0].margin.value or 0) == pytest.approx(12.7, abs=0.1)


def test_a_repeat_of_the_same_files_is_remarked_on() -> None:
    base, again, other = (gate_run(name, {PSNR: BASE}, sha256="ab") for name in "acb")
    assert "the same files as the baseline" in check_regression(base, other, repeats=[again]).remarks[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "no margin for psnr.*repeats=.*metrics={'psnr': …}"),
        ({"metrics": ["psnr"]}, "no margin for psnr"),
        ({"metrics": {"vmaf": 1}}, "vmaf: the baseline has no value of it; it has psnr"),
        ({"metrics": {"psnr": 1, PSNR.signature: 2}}, "psnr: given twice"),
        ({"metrics": "psnr"}, "no margin for psnr"),
        ({"metrics": {"psnr": "much"}}, "psnr: expected a margin from 0.*'much'"),
        ({"metrics": {"psnr": -1}}, "expected a margin from 0"),
        ({"metrics": {"psnr": 1}, "level": 1.5}, "expected a level"),
        ({"metrics": {"psnr": 1}, "margin": 0}, "expected a margin above 0"),
        ({"repeats": [gate_run("a", {PSNR: BASE})]}, "this is the baseline itself"),
        ({"repeats": [gate_run("b", {PSNR: BASE})]}, "b: a repeat is another run .*; this is the candidate"),
        ({"repeats": [gate_run("c", {PSNR: BASE})] * 2}, "given twice"),
        ({"repeats": [gate_run("c", {PSNR: [1.0]}, clips=["else"])]}, "c is not a repeat of the baseline: no subject"),
        ({"repeats": [gate_run("c", {PSNR: BASE}, status="running")]}, "c: the run is running; .*let it finish"),
    ],
)
def test_bad_input_is_one_line(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words) as raised:
        check_regression(gate_run("a", {PSNR: BASE}), gate_run("b", {PSNR: BASE}), **arguments)  # type: ignore[arg-type]
    assert "\n" not in str(raised.value)


def test_a_run_is_not_its_own_baseline() -> None:
    base = gate_run("a", {PSNR: BASE})
    with pytest.raises(InputError, match="a is both baseline and candidate; .* name another one"):
        check_regression(base, gate_run("./a", {PSNR: BASE}), metrics={"psnr": 1})


def test_the_candidate_under_another_name_is_no_repeat() -> None:
    """Its loss of 5 dB would count as noise: with it the margin is far above 5, and the gate held."""
    base, worse = gate_run("a", {PSNR: BASE}, sha256="aa"), gate_run("b", {PSNR: shifted(BASE, -5.0)}, sha256="bb")
    copied = Run(Path("elsewhere"), worse.info, worse.subjects, worse.measurements)
    with pytest.raises(InputError, match="elsewhere: a repeat is .* this is a copy of the candidate"):
        check_regression(base, worse, repeats=[copied])
    again = gate_run("c", {PSNR: shifted(BASE, -5.0)}, sha256="bb")
    with pytest.raises(InputError, match="this is a run of the candidate's files"):
        check_regression(base, worse, repeats=[again])


def test_the_same_files_on_both_sides_are_remarked_on() -> None:
    base, copy = (gate_run(name, {PSNR: BASE}, sha256="aa") for name in "ab")
    found = check_regression(base, copy, metrics={"psnr": 1})
    assert found.answer == "same" and "compares these clips with themselves" in found.remarks[0]


def test_nothing_shared_or_nothing_that_judges() -> None:
    base = gate_run("a", {PSNR: BASE})
    with pytest.raises(InputError, match="no subject has the same id"):
        check_regression(base, gate_run("b", {PSNR: [1.0]}, clips=["x"]), metrics={"psnr": 1})
    runs = [gate_run(name, {BLUR: BASE}) for name in "abc"]
    with pytest.raises(InputError, match="has a better direction; name one.*metrics={'blur': …}"):
        check_regression(runs[0], runs[1], repeats=runs[2:])


def test_it_is_public() -> None:
    assert rushes.check_regression is check_regression


NOISE, EFFECT_SPREAD = 0.47, 0.9
"""dB, measured on real clips by benchmarks/gate_rates.py: of a clip over encodes of one quality, and of a loss of 3 dB
over clips."""


def simulated_gate(rng: np.random.Generator, loss: float, clips: int = 8) -> rushes.GateReport:
    """Eight clips whose PSNR, SSIM-like and LPIPS-like readings move by themselves, two repeats, and a candidate."""
    truth = rng.normal(36, 4, clips)
    lost = rng.normal(loss, EFFECT_SPREAD, clips) if loss else np.zeros(clips)

    def run(name: str, lost: np.ndarray) -> rushes.Run:
        psnr = truth - lost + rng.normal(0, NOISE, clips)
        lpips = 0.2 + 0.01 * lost + rng.normal(0, 0.004, clips)
        return gate_run(name, {PSNR: list(psnr), LPIPS: list(lpips)})

    base, *repeats = (run(name, np.zeros(clips)) for name in ("base", "seed2", "seed3"))
    return check_regression(base, run("candidate", lost), repeats=repeats)


def test_gates_of_equal_systems_raise_no_more_than_5_percent_false_alarms() -> None:
    rng = np.random.default_rng(17)
    answers = [simulated_gate(rng, 0.0).answer for _ in range(120)]
    assert answers.count("worse") <= 6
    assert answers.count("same") >= 114


def test_a_loss_of_3_db_over_8_clips_is_found_9_times_in_10() -> None:
    rng = np.random.default_rng(18)
    reports = [simulated_gate(rng, 3.0) for _ in range(60)]
    verdicts = [report.find("psnr")[0].verdict for report in reports]
    assert verdicts.count("worse") >= 54 and "same" not in verdicts
