"""Instrument 1: what can be measured on one take. MetricBundleV1, and any metric that a package adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rushes.core.lazy import lazy_names

_HOMES = {
    "ClipMetric": "rushes.core.metric",
    "ClipResult": "rushes.clip.measure",
    "Collector": "rushes.core.metric",
    "Lane": "rushes.core.metric",
    "METRICS": "rushes.clip.metrics",
    "Observation": "rushes.clip.observe",
    "Profile": "rushes.clip.profile",
    "Trace": "rushes.core.metric",
    "load_profile": "rushes.clip.profile",
    "spanning": "rushes.core.metric",
}

__all__ = [
    "METRICS",
    "ClipMetric",
    "ClipResult",
    "Collector",
    "Lane",
    "Observation",
    "Profile",
    "Trace",
    "load_profile",
    "spanning",
]

if TYPE_CHECKING:
    from rushes.clip.measure import ClipResult
    from rushes.clip.metrics import METRICS
    from rushes.clip.observe import Observation
    from rushes.clip.profile import Profile, load_profile
    from rushes.core.metric import ClipMetric, Collector, Lane, Trace, spanning

__getattr__ = lazy_names(__name__, _HOMES)
