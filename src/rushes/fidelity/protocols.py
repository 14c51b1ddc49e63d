"""Locked protocols: which numbers, named after the code they equal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from rushes.errors import InputError
from rushes.fidelity.metrics import METRICS

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


_LIBVMAF = Protocol(
    name="libvmaf",
    summary="VMAF with the model v0.6.1, and libvmaf's own PSNR, SSIM and MS-SSIM; needs `rushes models pull vmaf`.",
    reference="Netflix/vmaf, libvmaf 2.3.0 with psnr, float_ssim and float_ms_ssim",
    metrics=("vmaf", "libvmaf_psnr_y", "libvmaf_psnr_cb", "libvmaf_psnr_cr", "libvmaf_ssim", "libvmaf_ms_ssim"),
)

PROTOCOLS: dict[str, Protocol] = {
    "libvmaf": _LIBVMAF,
}
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
        METRICS[name]
    return tuple(dict.fromkeys([*(metric for name in named for metric in protocol(name).metrics), *single]))


def protocol(name: str) -> Protocol:
    """The protocol of this name; `InputError` with the nearest ones."""
    if name not in PROTOCOLS:
        close = get_close_matches(name, PROTOCOLS, n=2)
        hint = f"did you mean {' or '.join(close)}?" if close else f"expected one of {', '.join(PROTOCOLS)}"
        raise InputError(f"no fidelity protocol is called {name!r}; {hint}")
    return PROTOCOLS[name]
