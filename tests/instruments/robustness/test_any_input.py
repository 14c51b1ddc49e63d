"""Whatever the files hold, reading them ends in a result or in one clear error."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from rushes import measure_robustness
from rushes.instruments.robustness.seed.metrics import MetricComputationError
from rushes.instruments.robustness.seed.traces import last_record

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.sampled_from(["a", "../b", "", "é", "output"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "../c", "seed"]), inner),
    max_leaves=6,
)
runs = st.fixed_dictionaries(
    {},
    optional={
        "axis_values": plain | st.just({"a": 1}),
        "seed": plain | st.just(1),
        "manifest_hash": plain,
        "axis": plain | st.just("a"),
        "value": plain | st.just(1),
        "text_preview": plain | st.just("A"),
        "rich_summary": plain,
    },
)
manifests = st.fixed_dictionaries(
    {},
    optional={
        "axes": plain | st.just({"a": [1]}),
        "seeds": plain | st.just([1]),
        "runs": plain | st.lists(runs, max_size=3),
        "results": plain | st.lists(runs, max_size=3),
        "manifest_schema_family": plain,
    },
)


@settings(max_examples=100)
@given(manifests)
@example({"axes": {"a": [1]}, "seeds": [1], "runs": [{"axis_values": {"a": 1}, "seed": 1}]})
def test_any_manifest(manifest):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sweep_manifest.json").write_text(json.dumps(manifest))
        trace = Path(folder) / "runs/a=1_seed=1/trace_pack.jsonl"
        trace.parent.mkdir(parents=True)
        trace.write_text('{"output": "A"}')
        try:
            (report,) = measure_robustness(folder, verify=False)
        except MetricComputationError as error:
            assert folder in str(error)
        else:
            assert report.runs > 0


@settings(max_examples=120)
@given(st.binary(max_size=60) | plain.map(lambda data: json.dumps(data).encode()))
def test_any_trace(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace_pack.jsonl"
        path.write_bytes(content)
        try:
            assert isinstance(last_record(path), dict)
        except MetricComputationError as error:
            assert str(path) in str(error)
