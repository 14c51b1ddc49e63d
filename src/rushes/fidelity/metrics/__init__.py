"""The fidelity metrics, a family a file, and the registry that everything else reads."""

from __future__ import annotations

from rushes.core.registry import Registry
from rushes.fidelity.metric import PairMetric

_FAMILIES: tuple[tuple[str, str], ...] = (("lpips", "lpips lpips_vgg common_lpips disco_lpips"),)

METRICS: Registry[PairMetric] = Registry(
    "fidelity metric",
    group="rushes.fidelity_metrics",
    type_=PairMetric,
    built_in={
        name: f"rushes.fidelity.metrics.{family}:{name.upper()}_METRIC"
        for family, names in _FAMILIES
        for name in names.split()
    },
)
"""Metrics by the names that `--metric` takes, in the order of columns; then those of other packages."""
