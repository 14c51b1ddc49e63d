"""Instrument 2: FVD, FID-VID and KVD, does this set look like the real one?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rushes.core.lazy import lazy_names

_HOMES = {
    "BACKBONES": "rushes.distribution.backbones",
    "Backbone": "rushes.distribution.backbones",
    "PROTOCOLS": "rushes.distribution.protocols",
    "SetComparison": "rushes.distribution.compare",
    "calculate_video_metrics": "rushes.distribution.video_metrics",
    "compare_sets": "rushes.distribution.evaluate",
    "video_metrics_measurements": "rushes.distribution.video_metrics",
}

__all__ = [
    "BACKBONES",
    "PROTOCOLS",
    "Backbone",
    "SetComparison",
    "calculate_video_metrics",
    "compare_sets",
    "video_metrics_measurements",
]

if TYPE_CHECKING:
    from rushes.distribution.backbones import BACKBONES, Backbone
    from rushes.distribution.compare import SetComparison
    from rushes.distribution.evaluate import compare_sets
    from rushes.distribution.protocols import PROTOCOLS
    from rushes.distribution.video_metrics import calculate_video_metrics, video_metrics_measurements

__getattr__ = lazy_names(__name__, _HOMES)
