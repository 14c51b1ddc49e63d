"""Manifest hashes: a sweep that was touched after it was written is noticed."""

from __future__ import annotations

import hashlib
import json

import pytest

from rushes.instruments.robustness.seed.metrics import MetricComputationError
from rushes.instruments.robustness.seed.sweep_dir import read_sweep, verify_sweep


@pytest.fixture
def sweep_dir(make_sweep):
    return make_sweep({"x": [1, 2]}, [5], lambda v, s: {"output": "A"})


def rewrite(sweep_dir, edit_manifest, **changes):
    """Change the first run's manifest and give the sweep its new hash."""
    path = sweep_dir / "runs/x=1_seed=5/manifest.json"
    data = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: value for key, value in data.items() if value is not None}))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    edit_manifest(sweep_dir, lambda manifest: manifest["runs"][0].update(manifest_hash=digest))


def test_an_untouched_sweep_passes(sweep_dir):
    verify_sweep(read_sweep(sweep_dir))


def test_the_reference_sweep_passes(shared):
    verify_sweep(read_sweep(shared / "golden/sweep_2axis"))


def test_one_changed_byte_is_noticed(sweep_dir):
    path = sweep_dir / "runs/x=2_seed=5/manifest.json"
    path.write_text(path.read_text() + " ")
    with pytest.raises(MetricComputationError, match=r"1 of 2 runs fail.*x=2_seed=5/manifest\.json: hash mismatch"):
        verify_sweep(read_sweep(sweep_dir))


def test_a_missing_manifest_is_noticed(sweep_dir):
    (sweep_dir / "runs/x=2_seed=5/manifest.json").unlink()
    with pytest.raises(MetricComputationError, match="found none"):
        verify_sweep(read_sweep(sweep_dir))


def test_a_run_without_a_hash_is_noticed(sweep_dir, edit_manifest):
    edit_manifest(sweep_dir, lambda manifest: manifest["runs"][0].pop("manifest_hash"))
    with pytest.raises(MetricComputationError, match="gives no manifest_hash"):
        verify_sweep(read_sweep(sweep_dir))


def test_a_sweep_without_any_hash_is_measured_and_says_so(sweep_dir, edit_manifest):
    edit_manifest(sweep_dir, lambda manifest: [run.pop("manifest_hash") for run in manifest["runs"]])
    remark = "no run could be verified: the sweep gives no manifest_hash"
    assert verify_sweep(read_sweep(sweep_dir)).remarks == (remark,)
    (sweep_dir / "runs/x=2_seed=5/manifest.json").unlink()
    with pytest.raises(MetricComputationError, match="found none"):
        verify_sweep(read_sweep(sweep_dir))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"run_id": None}, "missing run_id"),
        ({"seed": 6}, "expected seed 5; got 6"),
        ({"artifact_sha256": {"trace_pack.jsonl": "0" * 64}}, r"trace_pack\.jsonl: hash mismatch"),
        ({"artifact_sha256": {"gone.mp4": "0" * 64}}, r"gone\.mp4: cannot be read"),
        ({"artifact_sha256": {"../../x": "0" * 64}}, "an artifact is a file of the run"),
    ],
)
def test_a_manifest_that_does_not_fit_its_run(sweep_dir, edit_manifest, changes, message):
    rewrite(sweep_dir, edit_manifest, **changes)
    with pytest.raises(MetricComputationError, match=message):
        verify_sweep(read_sweep(sweep_dir))


def test_digests_of_artifacts_are_checked_where_given(sweep_dir, edit_manifest):
    trace = sweep_dir / "runs/x=1_seed=5/trace_pack.jsonl"
    digest = hashlib.sha256(trace.read_bytes()).hexdigest()
    rewrite(sweep_dir, edit_manifest, artifact_sha256={"trace_pack.jsonl": digest})
    verify_sweep(read_sweep(sweep_dir))
