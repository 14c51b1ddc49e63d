"""The second manifest family: `results` with a text preview, confidence and entropy, and no traces.

Each result moves one axis only, so it counts for that axis and no other. Its answer is `text_preview`, which the
writer may have cut short: ESI over it is a number of its own (`answer:text-preview`), and there is no justification to
drift. The baseline is the first result: axes alphabetical, values and seeds as declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rushes.instruments.robustness.seed import manifests
from rushes.instruments.robustness.seed.encoding import check_axis_name, check_collisions, encode_value
from rushes.instruments.robustness.seed.metrics import MetricComputationError
from rushes.instruments.robustness.seed.scores import RunScore, rich_number, unusable_numbers
from rushes.instruments.robustness.show.diff import answer_label


@dataclass(frozen=True, slots=True)
class Results:
    """The results of an aggregate manifest, each scored against the first."""

    path: Path
    axes: Mapping[str, Mapping[str, object]]
    seeds: tuple[int, ...]
    scores: tuple[RunScore, ...]
    """In execution order; the first is the baseline."""


def read_results(path: Path | str, *, follow_links: bool = False) -> Results:
    """Read a `clarity_rich_aggregate_v1` manifest; `MetricComputationError` for one that cannot be measured."""
    folder = Path(path)
    source = folder / manifests.MANIFEST
    manifest = manifests.read_json_object(source, inside=None if follow_links else folder)
    rows = manifests.object_list(manifest, "results", source)
    if not rows:
        raise MetricComputationError(f"{source}: Sweep has zero runs; expected at least the baseline")
    axes = manifests.declared_axes(manifest, source) if "axes" in manifest else _axes_of(rows, source)
    seeds = manifests.declared_seeds(manifest, rows, source, what="a result")
    ordered = _ordered(rows, axes, seeds, source)
    answer = _preview(ordered[0], source)
    scores = tuple(_score(row, answer, source) for row in ordered)
    return Results(folder, axes, tuple(seeds), scores)


def _axes_of(rows: list[dict[str, object]], source: Path) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for row in rows:
        axis = check_axis_name(row.get("axis"), str(source))
        found.setdefault(axis, {})[repr(row.get("value"))] = row.get("value")
    return {axis: check_collisions(axis, found[axis].values(), str(source)) for axis in sorted(found)}


def _ordered(
    rows: list[dict[str, object]], axes: Mapping[str, Mapping[str, object]], seeds: list[int], source: Path
) -> list[dict[str, object]]:
    ranked: dict[tuple[int, int, int], dict[str, object]] = {}
    for number, row in enumerate(rows):
        axis, encoded = row.get("axis"), encode_value(row.get("value"))
        seed = manifests.checked_seed(row.get("seed"), str(source))
        if not isinstance(axis, str) or axis not in axes or encoded not in axes[axis]:
            raise MetricComputationError(
                f"{source}: results[{number}]: {axis}={row.get('value')!r} is not declared in axes"
            )
        rank = (list(axes).index(axis), list(axes[axis]).index(encoded), seeds.index(seed))
        if rank in ranked:
            raise MetricComputationError(f"{source}: results[{number}]: {axis}={encoded} seed={seed} is listed twice")
        ranked[rank] = row
    return [ranked[rank] for rank in sorted(ranked)]


def _preview(row: Mapping[str, object], source: Path) -> str:
    text = row.get("text_preview")
    if not isinstance(text, str) or not text:
        raise MetricComputationError(f"{source}: a result needs a non-empty text_preview; got {text!r}")
    return text


def _score(row: Mapping[str, object], answer: str, source: Path) -> RunScore:
    return RunScore(
        values={str(row["axis"]): encode_value(row.get("value"))},
        matches=_preview(row, source) == answer,
        drift=None,
        confidence=rich_number(row, "confidence_score"),
        entropy=rich_number(row, "output_entropy"),
        unusable=unusable_numbers(row, f"{row['axis']}={row.get('value')!r} seed={row.get('seed')}"),
        answer=answer_label(_preview(row, source)),
    )
