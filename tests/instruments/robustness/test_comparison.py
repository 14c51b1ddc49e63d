"""Two judges on the same perturbed clips."""

from __future__ import annotations

import json

import pytest
from scipy.special import bdtr
from typer.testing import CliRunner

from rushes import measure_robustness, read_run
from rushes.cli.main import app
from rushes.core.errors import InputError
from rushes.instruments.robustness import compare_judges
from rushes.instruments.robustness.show import section
from rushes.stats.sign_flip import mcnemar_p

AXES = {"blur": [0, 2], "shift": [0, 1]}


def judges(make_sweep, tmp_path, clips=6):
    """The first judge never flips; the second flips at blur 2 in every other clip, and fails once."""
    for clip in range(clips):
        make_sweep(AXES, [1], lambda v, s: {"output": "A"}, name=f"one_{clip}")

        def flips(values, seed, clip=clip):
            if clip == 5 and values == {"blur": 2, "shift": 1}:
                return {"status": "error", "error": "late"}
            return {"output": "B" if values["blur"] and clip % 2 else "A", "justification": "xy"[bool(values["blur"])]}

        make_sweep(AXES, [1], flips, name=f"two_{clip}")
    for side in ("one", "two"):
        (tmp_path / side).mkdir()
        for clip in range(clips):
            (tmp_path / f"{side}_{clip}").rename(tmp_path / side / f"clip{clip}")
    return tmp_path / "one", tmp_path / "two"


@pytest.mark.parametrize(("first", "second"), [(0, 0), (0, 1), (3, 9), (9, 3), (10, 10), (0, 60), (41, 72)])
def test_mcnemar_against_scipy(first, second):
    expected = 2 * bdtr(min(first, second), first + second, 0.5)
    assert mcnemar_p(first, second) == pytest.approx(min(1.0, expected))


def test_by_hand(make_sweep, tmp_path):
    """Per clip three runs beside the baseline. Odd clips: the second judge loses two of three, of clip 5 one of two."""
    one, two = judges(make_sweep, tmp_path)
    found = compare_judges(measure_robustness(one), measure_robustness(two))
    whole = found.one("esi_difference", axis=None)
    assert (whole.value, whole.count) == (pytest.approx((2 / 3 + 2 / 3 + 1 / 2) / 6), 6)
    assert whole.interval.low >= 0
    outcomes = {m.place["outcome"]: m.value for m in found.select("paired_runs", axis=None)}
    assert outcomes == {"both": 12, "first": 5, "second": 0, "neither": 0}
    assert found.one("mcnemar_p", axis=None).value == pytest.approx(2 / 2**5)
    assert found.one("sign_flip_p", axis=None).value == pytest.approx(2 / 2**3)  # three clips differ, all one way
    alone = found.one("esi_difference", axis="shift")
    assert alone.value == 0.0 and alone.interval is None
    assert found.one("esi_difference", axis="blur").value == 0.5
    assert found.remarks == (f"{one / 'clip5'}: 1 runs have no partner or no answer on one side, and are left out",)


def test_one_sweep_each(make_sweep):
    one = make_sweep({"x": [1, 2, 3]}, [1], lambda v, s: {"output": "A"}, name="steady")
    two = make_sweep({"x": [1, 2, 3]}, [1], lambda v, s: {"output": "AAB"[v["x"] - 1]}, name="flips")
    found = compare_judges(measure_robustness(one), measure_robustness(two))
    difference = found.one("esi_difference")
    assert (difference.value, difference.interval) == (0.5, None)
    assert found.one("sign_flip_p").value is None


def test_what_cannot_be_compared(make_sweep, tmp_path):
    one = measure_robustness(make_sweep({"x": [1, 2]}, [1], lambda v, s: {"output": "A"}, name="one"))
    for name, axes, record, message in (
        ("axes", {"y": [1, 2]}, {"output": "A"}, "have different axes"),
        ("base", {"x": [2, 1]}, {"output": "A"}, "have different baselines"),
        ("none", {"x": [1, 2]}, {"status": "error", "error": "late"}, "has no baseline answer"),
    ):
        other = measure_robustness(make_sweep(axes, [1], lambda v, s, record=record: record, name=name))
        with pytest.raises(InputError, match=message):
            compare_judges(one, other)
    with pytest.raises(InputError, match="no sweep of .* has a counterpart"):
        compare_judges(one, measure_robustness([tmp_path / "axes", tmp_path / "base"]))


def test_another_clip_is_refused(make_sweep):
    for name in ("one", "two"):
        folder = make_sweep({"x": [1, 2]}, [1], lambda v, s: {"output": "A"}, name=name)
        (folder / "runs/x=1_seed=1/spec.json").write_text(json.dumps({"clip": {"sha256": name}}))
    reports = [measure_robustness(folder.parent / name) for name in ("one", "two")]
    with pytest.raises(InputError, match="sweeps of different clips"):
        compare_judges(*reports)


def test_on_the_command_line_and_in_the_run(make_sweep, tmp_path):
    one, two = judges(make_sweep, tmp_path)
    printed = CliRunner().invoke(app, ["robust", str(one), "--against", str(two), "-o", str(tmp_path / "run"), "-v"])
    assert printed.exit_code == 0, printed.output
    assert "First judge against second" in printed.stdout and "mcnemar_p|" in printed.stdout
    run = read_run(tmp_path / "run")
    assert [subject.id for subject in run.subjects][-2:] == ["over-clips", "first-against-second"]
    assert section.grids(run)[-1].title == "First judge against second"
