"""Whether a sweep is the one that was written: each run's `manifest.json` against its `manifest_hash`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from rushes.instruments.robustness.seed.manifests import json_object, sweep_bytes
from rushes.instruments.robustness.seed.metrics import MetricComputationError
from rushes.instruments.robustness.seed.opening import open_file
from rushes.instruments.robustness.seed.sweep_dir import Sweep, SweepRun

_REQUIRED = ("run_id", "timestamp", "seed", "artifacts")


def verify_sweep(sweep: Sweep) -> None:
    """Check every run's manifest; `MetricComputationError` says how many fail and how the first does.

    A run passes when the sha256 of its `manifest.json` is the `manifest_hash` of the sweep, the manifest holds run_id,
    timestamp, seed and artifacts, the seed is the run's, and every artifact it gives a digest for has it.
    """
    problems = [problem for run in sweep.runs if (problem := manifest_problem(sweep, run))]
    if problems:
        raise MetricComputationError(
            f"{len(problems)} of {len(sweep.runs)} runs fail verification; first: {problems[0]}; "
            "run the sweep again, or measure it as it is with --no-verify"
        )


def manifest_problem(sweep: Sweep, run: SweepRun) -> str | None:
    """What is wrong with a run's manifest, or None."""
    path = sweep.manifest(run)
    try:
        content = sweep_bytes(path, inside=sweep.bounds)
        manifest, digest = json_object(content, path), hashlib.sha256(content).hexdigest()
    except MetricComputationError as error:
        return str(error)
    if run.manifest_hash is None:
        return f"{path}: the sweep gives no manifest_hash for it"
    if digest != run.manifest_hash.lower():
        return f"{path}: hash mismatch: expected sha256 {run.manifest_hash[:12]}…, got {digest[:12]}…"
    missing = [key for key in _REQUIRED if key not in manifest]
    if missing:
        return f"{path}: missing {', '.join(missing)}"
    if manifest["seed"] != run.seed:
        return f"{path}: expected seed {run.seed}; got {manifest['seed']!r}"
    return _artifact_problem(path.parent, manifest, sweep.bounds)


def _artifact_problem(folder: Path, manifest: Mapping[str, object], bounds: Path | None) -> str | None:
    """Sweeps written by Rushes give a digest for each artifact; others need not."""
    digests = manifest.get("artifact_sha256")
    for name, expected in digests.items() if isinstance(digests, dict) else ():
        if Path(name).name != name:
            return f"{folder / 'manifest.json'}: an artifact is a file of the run; got {name!r}"
        try:
            with open_file(folder / name, inside=bounds) as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except MetricComputationError as error:
            return str(error)
        except OSError as error:
            return f"{folder / name}: cannot be read ({error.strerror or error})"
        if digest != expected:
            return f"{folder / name}: hash mismatch: expected sha256 {str(expected)[:12]}…, got {digest[:12]}…"
    return None
