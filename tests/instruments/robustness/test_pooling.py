"""Several clips together: means, intervals, stability beyond chance, and what answers turn into."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from rushes import measure_robustness, read_run
from rushes.cli.main import app
from rushes.core import Why
from rushes.instruments.robustness import pool_sweeps
from rushes.instruments.robustness.show import section
from rushes.stats.agreement import krippendorff_alpha, unit_table
from rushes.stats.bootstrap import EXACT_METHOD, METHOD, clip_mean, drawn_alphas

AXES = {"blur": [0, 2], "shift": [0, 1]}


def nominal_alpha(units):
    return krippendorff_alpha(unit_table(units)).value


@pytest.fixture
def clips(make_sweep, tmp_path):
    """Six clips: blur turns "sharp" into "soft" in half of them, and shift does nothing."""

    def record(clip):
        flips = clip % 2

        def of_run(values, seed):
            soft = bool(values["blur"]) and flips
            return {"output": "soft" if soft else "sharp", "justification": "b" if soft else "a"}

        return of_run

    for clip in range(6):
        make_sweep(AXES, [1], record(clip), name=f"clip{clip}")
    return tmp_path


class TestAlpha:
    def test_krippendorffs_own_example(self):
        """Four coders, twelve units, gaps; nominal α 0.743 in Krippendorff 2011, section C."""
        coders = ("123321412...", "1233224125.3", ".33323422 51.".replace(" ", ""), "1233244125 1.".replace(" ", ""))
        units = [[coder[n] for coder in coders if coder[n] != "."] for n in range(12)]
        assert round(nominal_alpha(units), 3) == 0.743

    def test_by_hand(self):
        """Values a a | a b | b b: D_o = 2/6; D_e = (36 − 18) / 30 = 0.6; α = 1 − (1/3) / 0.6."""
        assert nominal_alpha([["a", "a"], ["a", "b"], ["b", "b"]]) == pytest.approx(1 - (1 / 3) / 0.6)

    @pytest.mark.parametrize("units", [[], [["a"], ["b"]], [["a", "a"], ["a", "a"]]])
    def test_nothing_to_be_said(self, units):
        assert nominal_alpha(units) is None

    @given(st.lists(st.lists(st.sampled_from("abc"), min_size=2, max_size=5), min_size=5, max_size=8))
    def test_every_draw_at_once_is_the_formula_draw_by_draw(self, units):
        drawn = np.random.Generator(np.random.PCG64(0)).integers(0, len(units), (2000, len(units)))
        at_once = drawn_alphas(units)
        for number in (0, 7, 1999):
            alone = nominal_alpha([units[n] for n in drawn[number]])
            if alone is None:
                assert np.isnan(at_once[number])
            else:
                assert at_once[number] == pytest.approx(alone)


class TestInterval:
    def test_too_few_clips_have_none(self):
        found = clip_mean([0.5, 1.0, 0.0, 1.0])
        assert (found.value, found.interval, found.why) == (0.625, None, Why.NEEDS_FIVE_CLIPS)

    def test_clips_that_never_fail_are_not_certain(self):
        """Clopper and Pearson: ten of ten is 0.0.25^(1/10) = 0.6915 to 1."""
        found = clip_mean([1.0] * 10).interval
        assert (round(found.low, 4), found.high, found.method) == (0.6915, 1.0, EXACT_METHOD)
        assert round(clip_mean([0.0] * 10).interval.high, 4) == 0.3085

    def test_it_is_the_same_every_time_and_names_its_method(self):
        values = [0.0, 0.5, 1.0, 1.0, 0.5, 0.25]
        assert clip_mean(values) == clip_mean(values)
        assert clip_mean(values).interval.method == METHOD

    def test_how_often_it_holds_the_truth(self):
        """Twenty clips of five runs, each clip steady in a share of its own (Beta(2, 1), mean ⅔): 300 samples.

        Plain percentiles would hold it in 93 of 100.
        """
        draw = np.random.Generator(np.random.PCG64(19))
        hits = 0
        for _ in range(300):
            clips = draw.binomial(5, draw.beta(2, 1, 20)) / 5
            found = clip_mean(clips.tolist()).interval
            hits += found.low <= 2 / 3 <= found.high
        assert 0.92 <= hits / 300 <= 0.98


def test_how_a_null_is_read_is_in_the_signature_of_every_drift(clips):
    """Of several clips together and of two judges too; the metrics of answers keep theirs."""
    usual, text = (measure_robustness(clips, against=clips, null_justification=how) for how in ("empty", "text"))
    for before, after in ((usual[0], text[0]), (usual.pooled, text.pooled), (usual.comparison, text.comparison)):
        marked = {m.name for m in after.measurements if m.definition.param("null_justification") == "text"}
        assert marked == {m.name for m in before.measurements if "drift" in m.name and "entropy" not in m.name}
        assert not any(m.definition.param("null_justification") for m in before.measurements)


def test_by_hand(clips):
    """ESI at blur 2 is 1 in three clips and 0 in three: ½; over both values ¾. Shift alone: 1."""
    pooled = pool_sweeps(measure_robustness(clips))
    assert len(pooled.sweeps) == 6 and pooled.remarks == ()
    at = pooled.one("esi_over_clips", axis="blur", value=2)
    assert (at.value, at.count) == (0.5, 6) and at.interval.low < 0.5 < at.interval.high
    assert pooled.one("esi_over_clips", axis="blur", value=None).value == 0.75
    steady = pooled.one("esi_over_clips", axis="shift", value=1)
    assert (steady.value, steady.interval.method) == (1.0, EXACT_METHOD)
    assert pooled.one("justification_drift_over_clips", axis="blur", value=2).value == 0.5
    # α of blur: nine "sharp", three "soft"; D_o = 3 · 2/12 = ½, D_e = (144 − 90) / 132; α = 1 − 0.5 / 0.409091
    assert pooled.one("answer_alpha", axis="blur").value == pytest.approx(1 - 0.5 / (54 / 132))
    always = pooled.one("answer_alpha", axis="shift")
    assert always.value is None and "every answer is the same" in always.note
    flips = {(m.place["from"], m.place["to"]): m.value for m in pooled.select("answer_flips", axis="blur")}
    assert flips == {("sharp", "sharp"): 3, ("sharp", "soft"): 3}
    assert pooled.one("judge_failure_rate").value == 0.0


def test_what_cannot_be_pooled_is_named(make_sweep, clips):
    make_sweep({"blur": [0, 9]}, [1], lambda v, s: {"output": "A"}, name="other")
    make_sweep(AXES, [1], lambda v, s: {"status": "error", "error": "late"}, name="failed")
    pooled = pool_sweeps(measure_robustness(clips))
    assert len(pooled.sweeps) == 6
    failed, other = pooled.remarks
    assert failed == f"{clips / 'failed'}: the judge failed in the baseline run, so it is not pooled"
    assert other == f"{clips / 'other'} has other axes, values or seeds than {clips / 'clip0'}, and is not pooled"
    assert pool_sweeps(measure_robustness(clips / "other")) is None


def test_a_run_holds_the_pool_as_a_set(clips, tmp_path):
    measure_robustness(clips, run=tmp_path / "run")
    run = read_run(tmp_path / "run")
    assert [(subject.id, subject.kind) for subject in run.subjects][-1] == ("over-clips", "set")
    titles = [table.title for table in section.grids(run)]
    assert titles[-2:] == ["Over clips, each axis by itself", "What answers turn into"]
    assert run.one("esi_over_clips", axis="blur", value=2).interval is not None


def test_on_the_command_line(clips, tmp_path):
    printed = CliRunner().invoke(app, ["robust", str(clips), "-o", str(tmp_path / "run")])
    assert "Over clips, each axis by itself" in printed.stdout
    data = json.loads(CliRunner().invoke(app, ["robust", str(clips), "--json", "-o", str(tmp_path / "j")]).stdout)
    assert len(data["sweeps"]) == 6 and len(data["over_clips"]["sweeps"]) == 6
