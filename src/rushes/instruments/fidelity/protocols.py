"""Locked protocols: which numbers, named after the code they equal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rushes.core.errors import InputError
from rushes.core.words.suggest import did_you_mean
from rushes.instruments.fidelity.metrics import METRICS

DEFAULT = "wang2004"


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """A named set of metrics. Every constant is in the metrics' signatures; a protocol only says which belong together.

    Raises nothing: that each name is a metric is tested.
    """

    name: str
    summary: str
    reference: str
    metrics: tuple[str, ...]
    """Names in `METRICS`, in the order of columns."""


_ALL = (
    Protocol(
        name="wang2004",
        summary="PSNR, SSIM and MS-SSIM as their authors published them, and L1; nothing is downloaded.",
        reference="Wang, Bovik, Sheikh and Simoncelli 2004; Wang, Simoncelli and Bovik 2003",
        metrics=("psnr", "psnr_y", "ssim", "ms_ssim", "l1"),
    ),
    Protocol(
        name="ffmpeg",
        summary="PSNR and SSIM of the coded planes, as ffmpeg's filters psnr and ssim print them.",
        reference="FFmpeg, libavfilter/vf_psnr.c and vf_ssim.c",
        metrics=tuple(f"ffmpeg_{kind}{plane}" for kind in ("psnr", "ssim") for plane in ("", "_y", "_u", "_v")),
    ),
    Protocol(
        name="disco",
        summary="The columns of human-animation papers, as DisCo's scripts compute them since April 2024.",
        reference="Wangt-CN/DisCo, tool/metrics/ssim_l1_lpips_psnr.py, 6190108",
        metrics=("disco_psnr", "disco_ssim", "disco_l1", "disco_lpips"),
    ),
    Protocol(
        name="disco-2023",
        summary="The same with the 8-bit overflow that DisCo's PSNR had until April 2024, for checking old tables.",
        reference="Wangt-CN/DisCo, tool/metrics/ssim_l1_lpips_psnr.py, 4772790",
        metrics=("disco_2023_psnr", "disco_ssim", "disco_l1", "disco_lpips"),
    ),
    Protocol(
        name="common-metrics",
        summary="PSNR and SSIM of RGB as common_metrics_on_video_quality computes them.",
        reference="JunyaoHu/common_metrics_on_video_quality",
        metrics=("common_psnr", "common_ssim", "common_lpips"),
    ),
    Protocol(
        name="libvmaf",
        summary="VMAF with the model v0.6.1, and libvmaf's own PSNR, SSIM and MS-SSIM; needs `rushes models pull "
        "vmaf`.",
        reference="Netflix/vmaf, libvmaf 2.3.0 with psnr, float_ssim and float_ms_ssim",
        metrics=("vmaf", "libvmaf_psnr_y", "libvmaf_psnr_cb", "libvmaf_psnr_cr", "libvmaf_ssim", "libvmaf_ms_ssim"),
    ),
)
PROTOCOLS: dict[str, Protocol] = {protocol.name: protocol for protocol in _ALL}
"""By name; the first is what is measured when nothing is asked."""


def chosen_metrics(protocols: str | Sequence[str] = (), metrics: str | Iterable[str] = ()) -> tuple[str, ...]:
    """The names of all metrics that are asked for, each once: those of the protocols, then those named one by one.

    `DEFAULT` stands where neither is given. Raises `InputError`, with the nearest names, for one that is not known.
    """
    named = [protocols] if isinstance(protocols, str) else list(protocols)
    single = [metrics] if isinstance(metrics, str) else list(metrics)
    if not named and not single:
        named = [DEFAULT]
    for name in single:
        _checked(name)
    return tuple(dict.fromkeys([*(metric for name in named for metric in protocol(name).metrics), *single]))


def _checked(name: str) -> None:
    """Raise where there is no such metric, or another package's is none."""
    from rushes.instruments.fidelity.metric import PairMetric

    found = METRICS[name]
    if not isinstance(found, PairMetric):
        raise InputError(
            f"the fidelity metric {name!r} is not a rushes.fidelity.PairMetric; got {type(found).__name__}"
        )


def protocol(name: str) -> Protocol:
    """The protocol of this name; `InputError` with the nearest ones."""
    if name == "vbench":
        raise InputError(
            "VBench's temporal_flickering needs no reference; run: rushes clip CLIPS --metric temporal_flickering"
        )
    if name not in PROTOCOLS:
        raise InputError(f"no fidelity protocol is called {name!r}{did_you_mean(name, PROTOCOLS)}")
    return PROTOCOLS[name]
