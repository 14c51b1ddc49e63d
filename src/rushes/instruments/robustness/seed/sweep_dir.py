"""A sweep directory: its axes, seeds and runs, in execution order, and whether it is the one that was written.

The order does not depend on how the manifest lists its runs: axes alphabetical with the last varying fastest, values
and seeds as declared, seeds innermost. The baseline is the first run in that order; no value is taken for "unchanged".
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from rushes.core.errors import InputError
from rushes.core.words.options import option
from rushes.instruments.robustness.seed import manifests
from rushes.instruments.robustness.seed.encoding import encode_value, run_directory
from rushes.instruments.robustness.seed.metrics import (
    MetricComputationError,
    NullJustification,
    extract_justification,
)
from rushes.instruments.robustness.seed.traces import open_file

FULL_GRID = "full-grid"
ONE_AT_A_TIME = "one-at-a-time"
"""A sweep that moves one axis at a time while the others stay at their first value; its manifest says so."""
_REQUIRED = ("run_id", "timestamp", "seed", "artifacts")


@dataclass(frozen=True, slots=True)
class SweepRun:
    """One run of a sweep."""

    directory: str
    """Name of its folder under `runs/`, rebuilt from the axis values and the seed."""
    values: Mapping[str, str]
    """Encoded value by axis."""
    seed: int
    manifest_hash: str | None


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep directory, read and checked; traces are read later, one at a time."""

    path: Path
    axes: Mapping[str, Mapping[str, object]]
    """Axis name → encoded value → value; axes sorted by name, values as declared."""
    seeds: tuple[int, ...]
    runs: tuple[SweepRun, ...]
    """In execution order: `runs[0]` is the baseline."""
    design: str = FULL_GRID
    remarks: tuple[str, ...] = ()
    """What a reader must know about the manifest."""
    follow_links: bool = False
    """Whether links may lead out of the sweep's folder."""
    null_justification: NullJustification = "empty"

    @property
    def bounds(self) -> Path | None:
        """The folder that a link may not leave; None where links are followed."""
        return None if self.follow_links else self.path

    @property
    def baseline(self) -> SweepRun:
        return self.runs[0]

    @property
    def declared_runs(self) -> int:
        """How many runs the axes and seeds call for; more than `len(runs)` when the sweep is not finished."""
        sizes = [len(values) for values in self.axes.values()]
        points = 1 + sum(size - 1 for size in sizes) if self.design == ONE_AT_A_TIME else math.prod(sizes)
        return points * len(self.seeds)

    @property
    def declared_baseline(self) -> str:
        """The directory of the run that the axes and seeds call for first."""
        first = {axis: next(iter(values.values())) for axis, values in self.axes.items()}
        return run_directory(first, self.seeds[0])

    def justification(self, record: Mapping[str, object]) -> str:
        """The justification in a trace's last record, null as this sweep is to be read."""
        return extract_justification(record, null=self.null_justification)

    def trace(self, run: SweepRun) -> Path:
        return self.path / "runs" / run.directory / "trace_pack.jsonl"

    def manifest(self, run: SweepRun) -> Path:
        return self.path / "runs" / run.directory / "manifest.json"


def read_sweep(
    path: Path | str, *, follow_links: bool = False, null_justification: NullJustification = "empty"
) -> Sweep:
    """Read `sweep_manifest.json` of a sweep with runs. A link out of the folder is refused unless they are followed.

    Raises `MissingSweepFile` where there is no manifest, `MetricComputationError` for zero runs, missing axes, values
    that encode alike, duplicate runs, and runs that the axes and seeds do not declare. `null_justification` is how its
    justifications are read, see `NullJustification`.
    """
    if null_justification not in get_args(NullJustification):
        raise InputError(f"expected null_justification empty or text; got {null_justification!r}")
    folder = Path(path)
    source = folder / manifests.MANIFEST
    manifest = manifests.read_json_object(source, inside=None if follow_links else folder)
    if manifests.manifest_family(manifest, source) != manifests.RUNS_FAMILY:
        raise MetricComputationError(
            f"{source}: has results but no traces, so there are no answers; "
            "`rushes robust` gives its confidence and entropy statistics"
        )
    rows = manifests.object_list(manifest, "runs", source)
    if not rows:
        raise MetricComputationError(f"{source}: Sweep has zero runs; expected at least the baseline")
    axes = manifests.declared_axes(manifest, source)
    seeds = manifests.declared_seeds(manifest, rows, source, what="a run")
    runs = _ordered([_run(row, axes, source) for row in rows], axes, seeds, source)
    design = ONE_AT_A_TIME if manifest.get("design") == ONE_AT_A_TIME else FULL_GRID
    remarks = manifests.family_remarks(manifest)
    return Sweep(folder, axes, tuple(seeds), runs, design, remarks, follow_links, null_justification)


def clip_digest(sweep: Sweep) -> str | None:
    """The digest of the swept clip that the baseline's `spec.json` gives; None where there is none to be read."""
    try:
        spec = sweep.manifest(sweep.baseline).with_name("spec.json")
        clip = manifests.read_json_object(spec, inside=sweep.bounds).get("clip")
    except MetricComputationError:
        return None
    digest = clip.get("sha256") if isinstance(clip, dict) else None
    return digest if isinstance(digest, str) else None


def _run(row: Mapping[str, object], axes: Mapping[str, Mapping[str, object]], source: Path) -> SweepRun:
    axis_values = row.get("axis_values")
    if not isinstance(axis_values, dict) or set(axis_values) != set(axes):
        raise MetricComputationError(f"{source}: a run names one value for each of {list(axes)}; got {axis_values!r}")
    seed = manifests.checked_seed(row.get("seed"), str(source))
    values = {axis: encode_value(axis_values[axis]) for axis in axes}
    for axis, encoded in values.items():
        if encoded not in axes[axis]:
            raise MetricComputationError(
                f"{source}: a run has {axis}={axis_values[axis]!r}, which axis {axis} does not declare"
            )
    digest = row.get("manifest_hash")
    return SweepRun(run_directory(axis_values, seed), values, seed, digest if isinstance(digest, str) else None)


def _ordered(
    runs: list[SweepRun], axes: Mapping[str, Mapping[str, object]], seeds: list[int], source: Path
) -> tuple[SweepRun, ...]:
    value_ranks = {axis: {encoded: rank for rank, encoded in enumerate(values)} for axis, values in axes.items()}
    seed_ranks = {seed: rank for rank, seed in enumerate(seeds)}
    by_rank: dict[tuple[int, ...], SweepRun] = {}
    for run in runs:
        rank = (*(value_ranks[axis][run.values[axis]] for axis in axes), seed_ranks[run.seed])
        if rank in by_rank:
            raise MetricComputationError(f"{source}: the run {run.directory} is listed twice; remove one")
        by_rank[rank] = run
    return tuple(by_rank[rank] for rank in sorted(by_rank))


NOTHING_TO_VERIFY = "no run could be verified: the sweep gives no manifest_hash"


def verify_sweep(sweep: Sweep) -> Sweep:
    """Check every run's manifest; `MetricComputationError` says how many fail and how the first does.

    A run passes when the sha256 of its `manifest.json` is the `manifest_hash` of the sweep, the manifest holds run_id,
    timestamp, seed and artifacts, the seed is the run's, and every artifact it gives a digest for has it. A sweep that
    gives no hash for any run has nothing to check a manifest by, and a remark says so; what its manifests give of seeds
    and digests is checked all the same.
    """
    hashed = any(run.manifest_hash is not None for run in sweep.runs)
    problems = [problem for run in sweep.runs if (problem := manifest_problem(sweep, run, hashed=hashed))]
    if problems:
        raise MetricComputationError(
            f"{len(problems)} of {len(sweep.runs)} runs fail verification; first: {problems[0]}; "
            f"run the sweep again, or measure it as it is with {option('--no-verify', 'verify=False')}"
        )
    return sweep if hashed else replace(sweep, remarks=(*sweep.remarks, NOTHING_TO_VERIFY))


def manifest_problem(sweep: Sweep, run: SweepRun, *, hashed: bool = True) -> str | None:
    """What is wrong with a run's manifest, or None; `hashed`: the sweep gives hashes, and with them required fields."""
    path = sweep.manifest(run)
    try:
        content = manifests.sweep_bytes(path, inside=sweep.bounds)
        manifest, digest = manifests.json_object(content, path), hashlib.sha256(content).hexdigest()
    except MetricComputationError as error:
        return str(error)
    if hashed and (problem := _hash_problem(path, run, manifest, digest)):
        return problem
    if manifest.get("seed", run.seed) != run.seed:
        return f"{path}: expected seed {run.seed}; got {manifest['seed']!r}"
    return _artifact_problem(path.parent, manifest, sweep.bounds)


def _hash_problem(path: Path, run: SweepRun, manifest: Mapping[str, object], digest: str) -> str | None:
    if run.manifest_hash is None:
        return f"{path}: the sweep gives no manifest_hash for it"
    if digest != run.manifest_hash.lower():
        return f"{path}: hash mismatch: expected sha256 {run.manifest_hash[:12]}…, got {digest[:12]}…"
    missing = [key for key in _REQUIRED if key not in manifest]
    return f"{path}: missing {', '.join(missing)}" if missing else None


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
