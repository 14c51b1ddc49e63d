"""The fidelity metrics, a family a file, and the registry that everything else reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rushes.core.registry import Registry

if TYPE_CHECKING:
    from rushes.core.definition import Definition
    from rushes.instruments.fidelity.metric import PairMetric

_FAMILIES: tuple[tuple[str, str], ...] = (
    ("psnr", "psnr psnr_y"),
    ("ssim", "ssim"),
    ("ms_ssim", "ms_ssim"),
    ("psnr", "l1"),
    ("lpips", "lpips lpips_vgg"),
    ("disco", "disco_psnr disco_2023_psnr disco_ssim disco_l1"),
    ("lpips", "disco_lpips"),
    ("common_metrics", "common_psnr common_ssim"),
    ("lpips", "common_lpips"),
    ("ffmpeg", "ffmpeg_psnr ffmpeg_psnr_y ffmpeg_psnr_u ffmpeg_psnr_v"),
    ("ffmpeg", "ffmpeg_ssim ffmpeg_ssim_y ffmpeg_ssim_u ffmpeg_ssim_v"),
    ("identity", "csim csim_all aed"),
    ("expression", "e_fid expression_distance"),
    ("landmarks", "lmd lmd_interocular akd mouth_lmd mouth_lmd_centred missing_face_ratio"),
    ("sound.pesq", "pesq_wb pesq_nb"),
    ("sound.stoi", "stoi estoi"),
    ("sound.voice", "voice_similarity"),
    ("vmaf", "vmaf vmaf_harmonic"),
    ("libvmaf", "libvmaf_psnr_y libvmaf_psnr_cb libvmaf_psnr_cr libvmaf_ssim libvmaf_ms_ssim"),
    ("vmaf", "vif"),
    ("xpsnr", "xpsnr_y xpsnr_u xpsnr_v"),
)

METRICS: Registry[PairMetric] = Registry(
    "fidelity metric",
    group="rushes.fidelity_metrics",
    built_in={
        name: f"rushes.instruments.fidelity.metrics.{family}:{name.upper()}_METRIC"
        for family, names in _FAMILIES
        for name in names.split()
    },
)
"""Metrics by the names that `--metric` takes, in the order of columns; then those of other packages."""


def names() -> Iterator[tuple[str, Definition]]:
    """What `--metric` and the heads of columns call each metric."""
    from rushes.instruments.fidelity.metric import PairMetric

    for key, metric in METRICS.items():
        if isinstance(metric, PairMetric):  # another package may have put anything there
            yield from ((name, metric.definition) for name in (key, metric.label) if name)
