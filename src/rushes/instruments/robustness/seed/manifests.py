"""`sweep_manifest.json` as plain data: read, told apart by family, checked for shape.

Two families are known. `clarity_sweep_orchestrator_v1` lists `runs`, each with a directory of its own;
`clarity_rich_aggregate_v1` lists `results`, which hold confidence and entropy and have no traces. A manifest that does
not name its family is told by what it holds: `runs` and `axes` without `results` is the first, `results` the second.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from rushes.instruments.robustness.seed.encoding import check_axis_name, check_collisions
from rushes.instruments.robustness.seed.metrics import MetricComputationError, MissingSweepFile
from rushes.instruments.robustness.seed.traces import read_bytes
from rushes.instruments.robustness.show.diff import shown

MANIFEST = "sweep_manifest.json"
RUNS_FAMILY: Literal["clarity_sweep_orchestrator_v1"] = "clarity_sweep_orchestrator_v1"
RESULTS_FAMILY: Literal["clarity_rich_aggregate_v1"] = "clarity_rich_aggregate_v1"
Family: TypeAlias = Literal["clarity_sweep_orchestrator_v1", "clarity_rich_aggregate_v1"]


def read_json_object(path: Path, *, inside: Path | None = None) -> dict[str, object]:
    """A file's JSON object; an error names the file and, where there is one, the line.

    A link that leads out of the folder `inside` is refused, and so is what is no regular file.
    """
    return json_object(sweep_bytes(path, inside=inside), path)


def sweep_bytes(path: Path, *, inside: Path | None = None) -> bytes:
    """A file of the sweep; `MetricComputationError` names it where it cannot be read."""
    try:
        return read_bytes(path, inside=inside)
    except FileNotFoundError:
        raise MissingSweepFile(f"{path}: expected this file of the sweep; found none") from None
    except OSError as error:
        raise MetricComputationError(f"{path}: cannot be read ({error.strerror or error})") from None


def json_object(content: bytes, path: Path) -> dict[str, object]:
    """The JSON object of a file that was read."""
    try:
        data = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise MetricComputationError(f"{path}: expected JSON; {error}") from None
    if not isinstance(data, dict):
        raise MetricComputationError(f"{path}: expected a JSON object; got {type(data).__name__}")
    return data


def manifest_family(manifest: Mapping[str, object], path: Path) -> Family:
    """The family the manifest names, or the one its content shows."""
    named = manifest.get("manifest_schema_family")
    for family in (RUNS_FAMILY, RESULTS_FAMILY):
        if named == family:
            return family
    if isinstance(manifest.get("results"), list):
        return RESULTS_FAMILY
    if named is None or "runs" in manifest:
        return RUNS_FAMILY
    raise MetricComputationError(f"{path}: expected {RUNS_FAMILY} or {RESULTS_FAMILY}; got family {named!r}")


def family_remarks(manifest: Mapping[str, object]) -> tuple[str, ...]:
    """A line where the manifest names a family that is not known: it was read by what it holds."""
    named = manifest.get("manifest_schema_family")
    if named is None or named in (RUNS_FAMILY, RESULTS_FAMILY):
        return ()
    return (f"the manifest names the family {shown(str(named), 80)!r}, which is not known; read as {RUNS_FAMILY}",)


def declared_axes(manifest: Mapping[str, object], path: Path) -> dict[str, dict[str, object]]:
    """Axis name → encoded value → value: axes sorted by name, values as declared."""
    axes = manifest.get("axes")
    if not isinstance(axes, dict) or not axes:
        raise MetricComputationError(f"{path}: missing axes: expected an object of axis names and their values")
    for name, values in axes.items():
        check_axis_name(name, str(path))
        if not isinstance(values, list) or not values:
            raise MetricComputationError(f"{path}: axis {name}: expected a list of values; got {values!r}")
    return {name: check_collisions(name, axes[name], str(path)) for name in sorted(axes)}


def declared_seeds(
    manifest: Mapping[str, object], rows: Iterable[Mapping[str, object]], path: Path, *, what: str
) -> list[int]:
    """The seeds as declared, each a whole number and no two alike; else in the order the rows first name them.

    A row, which is `what` in words ("a run"), has one of those declared.
    """
    named = list(dict.fromkeys(checked_seed(row.get("seed"), str(path)) for row in rows))
    if "seeds" not in manifest:
        return named
    seeds = manifest["seeds"]
    if not isinstance(seeds, list):
        raise MetricComputationError(f"{path}: missing seeds: expected a list of whole numbers")
    checked = [checked_seed(seed, str(path)) for seed in seeds]
    if len(set(checked)) != len(checked):
        raise MetricComputationError(f"{path}: a seed is declared twice in {checked}")
    if strange := [seed for seed in named if seed not in checked]:
        raise MetricComputationError(f"{path}: {what} has seed {strange[0]}, which seeds does not declare")
    return checked


def checked_seed(seed: object, where: str) -> int:
    """The seed, when it is a whole number; text could leave the sweep's directory."""
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise MetricComputationError(f"{where}: a seed is a whole number; got {seed!r}")
    return seed


def object_list(manifest: Mapping[str, object], key: str, path: Path) -> list[dict[str, object]]:
    """The list of objects under this key; [] where the key is absent."""
    rows = manifest.get(key, [])
    if not isinstance(rows, list):
        raise MetricComputationError(f"{path}: expected {key} to be a list; got {type(rows).__name__}")
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise MetricComputationError(f"{path}: {key}[{number}]: expected an object; got {type(row).__name__}")
    return rows
