"""004, Metrics Core (M05): one test a requirement, in the document's order. Each quotes the words it holds to.

Code blocks run as they stand. Coverage targets are held by `scripts/coverage_gate.py`, over all tests.
"""

from __future__ import annotations

import ast
import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, dataclass, fields
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.instruments.robustness.seed import metrics, metrics_engine
from rushes.instruments.robustness.seed.encoding import encode_value, run_directory
from rushes.instruments.robustness.seed.metrics import (
    MetricComputationError,
    extract_answer,
    extract_justification,
    levenshtein,
)
from rushes.instruments.robustness.seed.metrics_engine import MetricsEngine

STRUCTURES = """\
@dataclass(frozen=True)
class ESIMetric:
    axis: str
    value_scores: dict[str, float]
    overall_score: float

@dataclass(frozen=True)
class DriftMetric:
    axis: str
    value_scores: dict[str, float]
    overall_score: float

@dataclass(frozen=True)
class MetricsResult:
    esi: tuple[ESIMetric, ...]
    drift: tuple[DriftMetric, ...]
"""
EXCEPTION = '''\
class MetricComputationError(Exception):
    """Raised when metric computation fails."""
    pass
'''
API = """\
class MetricsEngine:
    def compute(self, sweep_dir: Path) -> MetricsResult:
        ...
"""
ESI = """\
ESI(A) = mean_over_values(
    proportion_of_seeds_where_answer_matches_baseline
)
"""
DRIFT = "drift = levenshtein(baseline_justification, run_justification) / max_len\n"

Record = dict[str, Any]


@pytest.fixture
def sweep(tmp_path: Path) -> Callable[..., Path]:
    """A sweep of exactly the three named files: `sweep_manifest.json`, and `manifest.json` and `trace_pack.jsonl` of
    each run. No hash is in it."""

    def make(
        axes: dict[str, list[Any]], seeds: list[int], record: Callable[[dict[str, Any], int], Record], **extra: Any
    ) -> Path:
        folder = tmp_path / f"sweep{len(list(tmp_path.iterdir()))}"
        names = sorted(axes)
        points = [dict(zip(names, values, strict=True)) for values in itertools.product(*(axes[n] for n in names))]
        runs = [{"axis_values": point, "seed": seed} for point in points for seed in seeds]
        for run in runs:
            place = folder / "runs" / run_directory(run["axis_values"], run["seed"])
            place.mkdir(parents=True)
            (place / "manifest.json").write_text(json.dumps({"seed": run["seed"]}))
            lines = ({"output": "an earlier record"}, record(run["axis_values"], run["seed"]))
            (place / "trace_pack.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        manifest = {"axes": axes, "seeds": seeds, "runs": runs} | extra
        (folder / "sweep_manifest.json").write_text(json.dumps(manifest))
        return folder

    return make


def of_value(**records: Record) -> Callable[[dict[str, Any], int], Record]:
    """The record of a run by its value of the axis `x`."""
    return lambda values, seed: records[str(values["x"])]


def test_the_blocks_are_the_document_s(shared: Path) -> None:
    (document,) = (shared / "seeds").glob("004*.txt")
    text = document.read_text(encoding="utf-8")
    for block in (STRUCTURES, EXCEPTION, API, ESI, DRIFT):
        assert block in text


OUTSIDE = {"numpy", "subprocess", "r2l", "random", "uuid", "datetime", "threading", "multiprocessing"}


def test_non_negotiable_constraints(sweep: Callable[..., Path]) -> None:
    """ "No new randomness", "No `datetime.now()` / `uuid`", "No r2l imports", "No numpy (pure Python only)", "No
    subprocess", "No concurrency": the engine computes, and none of them is loaded."""
    folder = sweep({"x": ["a", "b"]}, [1], lambda values, seed: {"output": "A"})
    script = f"""
import sys
from rushes.instruments.robustness.seed.metrics_engine import MetricsEngine
print(MetricsEngine().compute({str(folder)!r}).esi[0].overall_score, {OUTSIDE!r} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, text=True, env=_own_path())
    assert done.stdout == "1.0 set()\n", done.stderr


def _own_path() -> dict[str, str]:
    return {"PYTHONPATH": str(Path(rushes.__file__).parents[1])}


def test_all_input_data_comes_from_three_files(sweep: Callable[..., Path]) -> None:
    """ "All input data comes from: `sweep_manifest.json`, per-run `manifest.json`, per-run `trace_pack.jsonl`": that is
    enough for `rushes robust` too, which remarks that nothing could be verified."""
    folder = sweep({"x": ["a", "b"]}, [1], of_value(a={"output": "A"}, b={"output": "B"}))
    assert {path.name for path in folder.rglob("*.json*")} == {
        "sweep_manifest.json",
        "manifest.json",
        "trace_pack.jsonl",
    }
    done = CliRunner().invoke(app, ["robust", str(folder), "-o", str(folder.parent / "run"), "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["metrics"] == json.loads(json.dumps(asdict(MetricsEngine().compute(folder))))
    assert said["remarks"] == ["no run could be verified: the sweep gives no manifest_hash"]


def test_what_such_a_sweep_does_give_is_checked(sweep: Callable[..., Path]) -> None:
    """A seed or a digest in a manifest that does not fit is refused all the same."""
    folder = sweep({"x": ["a", "b"]}, [1], lambda values, seed: {"output": "A"})
    place = folder / "runs" / "x=b_seed=1" / "manifest.json"
    for content, words in (
        ({"seed": 2}, "expected seed 1; got 2"),
        ({"artifact_sha256": {"trace_pack.jsonl": "0" * 64}}, "trace_pack.jsonl: hash mismatch"),
    ):
        place.write_text(json.dumps(content))
        with pytest.raises(MetricComputationError, match=words):
            rushes.measure_robustness(folder)
    assert rushes.measure_robustness(folder, verify=False)[0].remarks == ()


def test_answer_extraction(sweep: Callable[..., Path]) -> None:
    """ "Use the last JSONL record: 1. If "output" exists and is a non-empty string → use it; 2. Else if "answer" …;
    3. Else → raise `MetricComputationError`"."""
    assert extract_answer({"output": "A", "answer": "B"}) == "A"
    assert extract_answer({"output": "", "answer": "B"}) == extract_answer({"output": 3, "answer": "B"}) == "B"
    for record in ({}, {"output": ""}, {"output": 3, "answer": None}):
        with pytest.raises(MetricComputationError):
            extract_answer(record)
    folder = sweep({"x": ["a", "b"]}, [1], of_value(a={"output": "A"}, b={"answer": "A"}))
    assert MetricsEngine().compute(folder).esi[0].value_scores == {"a": 1.0, "b": 1.0}


def test_justification_extraction() -> None:
    """ "If `"justification"` missing → empty string; if present but non-string → coerce with `str(...)`; do NOT fall
    back to `"output"`; do NOT raise if missing"."""
    assert extract_justification({"output": "A"}) == ""
    assert extract_justification({"justification": 3}) == "3" and extract_justification({"justification": [1]}) == "[1]"


def test_a_null_justification(sweep: Callable[..., Path]) -> None:
    """ "If present but non-string → coerce with `str(...)`" makes "None" of null. The document's own code makes
    "" of it, and so do we; the words' way is `null_justification="text"`. "Nope" to "None": one of four characters."""
    folder = sweep(
        {"x": ["a", "b"]},
        [1],
        of_value(a={"output": "A", "justification": "Nope"}, b={"output": "A", "justification": None}),
    )
    assert MetricsEngine().compute(folder).drift[0].value_scores == {"a": 0.0, "b": 1.0}
    to_the_letter = MetricsEngine(null_justification="text").compute(folder)
    assert to_the_letter.drift[0].value_scores == {"a": 0.0, "b": 0.25}
    (usual,), (letter,) = (rushes.measure_robustness(folder, null_justification=how) for how in ("empty", "text"))
    assert letter.metrics == to_the_letter and usual.metrics == MetricsEngine().compute(folder)
    drift = {"axis": "x", "value": "b"}
    before, after = (report.one("justification_drift", **drift).signature for report in (usual, letter))
    assert after == before.replace("|pool:", "|null_justification:text|pool:") and "null_justification" not in before
    assert usual.one("esi", **drift).signature == letter.one("esi", **drift).signature
    with pytest.raises(rushes.InputError, match="expected null_justification empty or text; got 'None'"):
        rushes.measure_robustness(folder, null_justification="None")  # type: ignore[arg-type]
    words = ["robust", str(folder), "-o", str(folder.parent / "run"), "--null-justification", "text", "--json"]
    assert json.loads(CliRunner().invoke(app, words).stdout)["metrics"]["drift"][0]["value_scores"]["b"] == 0.25


def test_baseline_definition(sweep: Callable[..., Path]) -> None:
    """ "Baseline = first run in deterministic execution order: axes sorted alphabetically, axis values in declared
    order, seeds in declared order; do NOT search for identity values"."""

    def record(values: dict[str, Any], seed: int) -> Record:
        return {"output": f"{values['a']} {values['b']} {seed}"}

    folder = sweep({"b": [1.2, 1.0], "a": ["v", "u"]}, [7, 3], record)
    (report,) = rushes.measure_robustness(folder)
    assert report.baseline == "a=v_b=1p2_seed=7"
    manifest = json.loads((folder / "sweep_manifest.json").read_text())
    before = MetricsEngine().compute(folder)
    (folder / "sweep_manifest.json").write_text(json.dumps(manifest | {"runs": manifest["runs"][::-1]}))
    assert MetricsEngine().compute(folder) == before, "however the manifest lists its runs"


def test_metric_computation_error_location() -> None:
    """ "Define in `metrics.py` alongside dataclasses." """
    assert MetricComputationError.__module__ == metrics.ESIMetric.__module__ == metrics.__name__
    assert metrics.__name__.endswith(".metrics") and metrics_engine.__name__.endswith(".metrics_engine")


def test_empty_sweep_handling(sweep: Callable[..., Path]) -> None:
    """ "Raise `MetricComputationError` if sweep has zero runs." """
    folder = sweep({"x": [1]}, [1], lambda values, seed: {"output": "A"}, runs=[])
    with pytest.raises(MetricComputationError, match="zero runs"):
        MetricsEngine().compute(folder)


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("kitten", "sitting", 3),
        ("", "", 0),
        ("", "abc", 3),
        ("same", "same", 0),
        ("naïve", "naive", 1),
        ("日本", "日曜", 1),
    ],
)
def test_unicode_in_levenshtein(one: str, other: str, distance: int) -> None:
    """ "Treat strings as Python `str` and compute distance by character, not bytes." """
    assert levenshtein(one, other) == levenshtein(other, one) == distance


def test_rounding_rule(sweep: Callable[..., Path]) -> None:
    """ "Round all stored float outputs to 8 decimal places at the moment of storage in `value_scores` and
    `overall_score`." Of three seeds two match at b: 2/3; the axis's score is the mean of 1 and 0.66666667."""
    folder = sweep(
        {"x": ["a", "b"]}, [1, 2, 3], lambda values, seed: {"output": "B" if (values["x"], seed) == ("b", 3) else "A"}
    )
    (esi,) = MetricsEngine().compute(folder).esi
    assert esi.value_scores == {"a": 1.0, "b": 0.66666667}
    assert esi.overall_score == round((1 + 0.66666667) / 2, 8)


def test_ordering_rule(sweep: Callable[..., Path]) -> None:
    """ "Axes alphabetical; values lexicographically by their serialized directory-safe encoding"."""
    folder = sweep({"z": [1.2, 0.8, -1], "a": [2, 10]}, [1], lambda values, seed: {"output": "A"})
    result = MetricsEngine().compute(folder)
    assert [metric.axis for metric in result.esi] == [metric.axis for metric in result.drift] == ["a", "z"]
    assert [list(metric.value_scores) for metric in result.esi] == [["10", "2"], ["0p8", "1p2", "m1"]]
    assert [encode_value(value) for value in (1.2, 0.8, -1)] == ["1p2", "0p8", "m1"]


def test_data_structures() -> None:
    """ "Data Structures … All immutable. Sorted by axis name." """
    names: dict[str, Any] = {"dataclass": dataclass}
    exec(STRUCTURES, names)  # the document's own
    for name in ("ESIMetric", "DriftMetric", "MetricsResult"):
        ours, theirs = getattr(rushes.robustness, name), names[name]
        assert [(f.name, f.type) for f in fields(ours)] == [(f.name, f.type) for f in fields(theirs)]
        assert ours.__dataclass_params__.frozen
    with pytest.raises(FrozenInstanceError):
        rushes.robustness.ESIMetric("x", {}, 1.0).axis = "y"  # type: ignore[misc]


def test_exception() -> None:
    """ "class MetricComputationError(Exception)"."""
    names: dict[str, Any] = {}
    exec(EXCEPTION, names)  # the document's own
    assert issubclass(MetricComputationError, names["MetricComputationError"].__base__)


def test_levenshtein_is_pure_python() -> None:
    """ "Pure Python dynamic programming implementation … No external libraries"."""
    source = Path(sys.modules[levenshtein.__module__].__file__ or "").read_text(encoding="utf-8")
    modules = {n.module or "" for n in ast.walk(ast.parse(source)) if isinstance(n, ast.ImportFrom)}
    assert {module.split(".")[0] for module in modules} <= sys.stdlib_module_names


def test_api(sweep: Callable[..., Path]) -> None:
    """ "class MetricsEngine: def compute(self, sweep_dir: Path) -> MetricsResult"; "No side effects. No writing
    files." """
    names: dict[str, Any] = {"Path": Path, "MetricsResult": rushes.robustness.MetricsResult}
    exec(API, names)  # the document's own
    folder = sweep({"x": ["a", "b"]}, [1], lambda values, seed: {"output": "A"})
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    result = rushes.robustness.MetricsEngine().compute(folder)
    assert type(result).__name__ == names["MetricsEngine"].compute.__annotations__["return"]
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_determinism(sweep: Callable[..., Path]) -> None:
    """ "Run `compute()` twice; compare `MetricsResult` objects; compare serialized dict representations"."""
    folder = sweep({"x": ["a", "b"]}, [1, 2], lambda v, s: {"output": f"{s}", "justification": f"{v} {s}"})
    first, second = (MetricsEngine().compute(folder) for _ in range(2))
    assert first == second and json.dumps(asdict(first)) == json.dumps(asdict(second))


def test_esi(sweep: Callable[..., Path]) -> None:
    """ "ESI(A) = mean_over_values(proportion_of_seeds_where_answer_matches_baseline)": of two seeds both match at a,
    one at b and none at c: the mean of 1, ½ and 0."""
    answers = {"a": ["A", "A"], "b": ["A", "B"], "c": ["B", "C"]}
    folder = sweep({"x": list(answers)}, [0, 1], lambda values, seed: {"output": answers[values["x"]][seed]})
    (esi,) = MetricsEngine().compute(folder).esi
    assert esi.value_scores == {"a": 1.0, "b": 0.5, "c": 0.0} and esi.overall_score == 0.5


def test_justification_drift(sweep: Callable[..., Path]) -> None:
    """ "drift = levenshtein(baseline_justification, run_justification) / max_len"; "If both strings are empty: drift =
    0.0"; "Mean drift across seeds per axis value; mean drift per axis". At b: 2/4 and 0/3 of "abc"; at c: "" is 3/3."""
    texts = {"a": ["abc", "abc"], "b": ["abxy", "abc"], "c": ["", ""]}
    names: dict[str, Any] = {"levenshtein": levenshtein, "max_len": 4}
    exec(DRIFT, names | {"baseline_justification": "abc", "run_justification": "abxy"}, names)  # the document's own
    folder = sweep(
        {"x": list(texts)}, [0, 1], lambda values, seed: {"output": "A", "justification": texts[values["x"]][seed]}
    )
    (drift,) = MetricsEngine().compute(folder).drift
    assert drift.value_scores == {"a": 0.0, "b": names["drift"] / 2, "c": 1.0} and names["drift"] == 0.5
    assert drift.overall_score == round((0 + 0.25 + 1) / 3, 8)
    silent = sweep({"x": ["a", "b"]}, [1], lambda values, seed: {"output": "A"})
    assert MetricsEngine().compute(silent).drift[0].overall_score == 0.0
