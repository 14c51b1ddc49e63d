"""Instrument 1: what can be measured on one take. MetricBundleV1, and any metric that a package adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rushes.clip.metrics import METRICS
from rushes.core.lazy import lazy_names
from rushes.core.metric import ClipMetric, Collector, Lane, Trace, spanning

if TYPE_CHECKING:
    from rushes.clip.measure import ClipResult
    from rushes.clip.observe import Observation
    from rushes.clip.profile import Profile, load_profile

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

_HOMES = {"ClipResult": "measure", "Observation": "observe", "Profile": "profile", "load_profile": "profile"}
__getattr__ = lazy_names(__name__, {name: f"rushes.clip.{home}" for name, home in _HOMES.items()})
