"""Two runs of FVD against each other: both values and what differs, and no test over subjects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rushes import compare_runs
from rushes.cli.main import app
from rushes.compare.runs.checks import regression
from rushes.core import Interval, Measurement
from rushes.core.errors import InputError
from rushes.instruments.distribution.definitions import bound_definition
from rushes.instruments.distribution.recipes import recipe
from rushes.storage.runs import Entry, RunWriter, Subject


def write_run(
    folder: Path,
    values: dict[str, float],
    *,
    n_gen: int = 256,
    truth: str = "b" * 64,
    gen: str = "",
    reach: float | None = None,
    weights: str = "a867b87ac3a9",
) -> Path:
    """A run of FVD by protocol."""
    with RunWriter(folder, instrument="distribution", settings={}, inputs=["gen", "gt"]) as run:
        rows = []
        for protocol, value in values.items():
            definition = bound_definition(
                "fvd", recipe(protocol, "fvd"), weights=weights, precision="fp32", n_gen=n_gen, n_gt=256
            )
            interval = reach and Interval(low=value - reach, high=value + reach, level=0.95, method="jackknife-20")
            rows.append(Measurement(definition=definition, value=value, count=512, interval=interval or None))
        sets: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
            ("generated", gen or folder.name * 64, tuple(rows)),
            ("ground_truth", truth, ()),
        )
        for name, digest, numbers in sets:
            subject = Subject(id=name, kind="set", path=f"{name}/", sha256=digest, facts={"clips": 256})
            run.add(Entry(subject=subject, measurements=numbers))
        run.finish(["generated", "ground_truth"])
    return folder


def shown(*words: object) -> str:
    answer = CliRunner().invoke(app, ["compare", *map(str, words)])
    assert answer.exit_code == 0, answer.output
    return " ".join(answer.stdout.split())


def test_values_difference_and_per_cent(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", {"genhoi": 200.0, "videogpt": 300.0})
    b = write_run(tmp_path / "b", {"genhoi": 180.0, "videogpt": 330.0})
    found = compare_runs(a, b)
    first, second = found.distances
    assert first.difference is not None and first.difference.value == -20.0
    assert first.percent == pytest.approx(-10.0) and second.percent == pytest.approx(10.0)
    assert first.intervals == "none"
    text = shown(a, b)
    assert "fvd genhoi 200 180 −20 −10 256 256" in text
    assert "generated/ (256 clips, aaaaaaaaaaaa) against ground_truth/ (256 clips, bbbbbbbbbbbb)" in text
    for word in ("sign-flip", "clips in both", "unclear", "Review signals"):
        assert word not in text
    assert "rushes fvd B REAL --versus A" in text


def test_json_has_both_values_and_defines_them(tmp_path: Path) -> None:
    runs = [str(write_run(tmp_path / name, {"genhoi": value})) for name, value in (("a", 200.0), ("b", 180.0))]
    data = json.loads(CliRunner().invoke(app, ["compare", *runs, "--json"]).stdout)
    (change,) = data["distances"]
    assert (change["a"]["value"], change["b"]["value"], change["difference"]["value"]) == (200.0, 180.0, -20.0)
    assert data["metrics"] == [] and change["why_not"] == ""
    assert {change[key]["signature"] for key in ("a", "b", "difference")} <= data["definitions"].keys()


@pytest.mark.parametrize(("reach", "said"), [(5.0, "apart"), (10.0, "overlap"), (25.0, "overlap")])
def test_intervals(tmp_path: Path, reach: float, said: str) -> None:
    a = write_run(tmp_path / "a", {"genhoi": 200.0}, reach=reach)
    b = write_run(tmp_path / "b", {"genhoi": 180.0}, reach=reach)
    (change,) = compare_runs(a, b).distances
    assert change.intervals == said  # 195…205 and 175…185; 190…210 and 170…190 share 190
    assert said in shown(a, b)


def test_other_constants_are_named_and_no_difference_is_claimed(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", {"genhoi": 200.0})
    b = write_run(tmp_path / "b", {"genhoi": 180.0}, n_gen=200)
    (change,) = compare_runs(a, b).distances
    assert change.difference is None and change.percent is None
    text = shown(a, b)
    assert "fvd genhoi 200 180 – – 256 → 200 256" in text
    assert "Not compared: fvd under genhoi: n_gen is 256 in one and 200 in the other" in text


def test_another_ground_truth_is_no_difference_and_no_gate(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", {"genhoi": 200.0})
    b = write_run(tmp_path / "b", {"genhoi": 180.0}, truth="c" * 64)
    found = compare_runs(a, b)
    assert found.distances[0].difference is None
    assert "the ground truth is ground_truth/ (256 clips, bbbbbbbbbbbb) in one" in shown(a, b)
    with pytest.raises(InputError, match="fvd was not compared: the ground truth is"):
        regression(found, "fvd", 5.0)


def test_the_gate_still_holds_the_value(tmp_path: Path) -> None:
    a, b = write_run(tmp_path / "a", {"genhoi": 200.0}), write_run(tmp_path / "b", {"genhoi": 220.0})
    assert regression(compare_runs(a, b), "fvd", 10.0) and not regression(compare_runs(a, b), "fvd", 30.0)


def test_the_same_clips_twice_and_a_protocol_in_one_run_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")  # no line is broken, however long the folder's name is
    a = write_run(tmp_path / "a", {"genhoi": 200.0, "disco": 90.0}, gen="d" * 64)
    b = write_run(tmp_path / "b", {"genhoi": 200.0}, gen="d" * 64)
    text = shown(a, b)
    assert "The generated clips are the same in both." in text
    assert "Only in one run: fvd|" in text and "protocol:disco" in text
