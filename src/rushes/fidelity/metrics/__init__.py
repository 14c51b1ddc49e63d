"""The fidelity metrics, a family a file, and the registry that everything else reads."""

from __future__ import annotations

from rushes.core.registry import Registry
from rushes.fidelity.metric import PairMetric

_FAMILIES: tuple[tuple[str, str], ...] = (
    ("vmaf", "vmaf vmaf_harmonic"),
    ("libvmaf", "libvmaf_psnr_y libvmaf_psnr_cb libvmaf_psnr_cr libvmaf_ssim libvmaf_ms_ssim"),
    ("vif", "vif"),
    ("xpsnr", "xpsnr_y xpsnr_u xpsnr_v"),
)

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
