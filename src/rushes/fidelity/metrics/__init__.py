"""The fidelity metrics, a family a file, and the registry that everything else reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rushes.core.registry import Registry

if TYPE_CHECKING:
    from rushes.fidelity.metric import PairMetric

_FAMILIES: tuple[tuple[str, str], ...] = ()

METRICS: Registry[PairMetric] = Registry(
    "fidelity metric",
    group="rushes.fidelity_metrics",
    built_in={
        name: f"rushes.fidelity.metrics.{family}:{name.upper()}_METRIC"
        for family, names in _FAMILIES
        for name in names.split()
    },
)
"""Metrics by the names that `--metric` takes, in the order of columns; then those of other packages."""
