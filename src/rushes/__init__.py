"""Rushes: the evaluation workbench for generated video. No number without its definition."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

# Public name -> module it lives in. Loaded on first use, so that `import rushes` stays quick.
_HOMES = {
    "Definition": "rushes.core",
    "DefinitionMismatch": "rushes.errors",
    "Engine": "rushes.workers.engine",
    "Measurement": "rushes.core",
    "RushesError": "rushes.errors",
    "calculate_video_metrics": "rushes.distribution.video_metrics",
    "canonicalize": "rushes.media",
    "compare_runs": "rushes.suite.compare",
    "compare_sets": "rushes.distribution.evaluate",
    "evaluate_clip": "rushes.clip.evaluate",
    "evaluate_clips": "rushes.clip.evaluate",
    "evaluate_study": "rushes.preference.evaluate",
    "evaluate_validity": "rushes.preference.evaluate",
    "measure_robustness": "rushes.robustness.evaluate",
    "open_service": "rushes.preference.study",
    "probe": "rushes.media",
    "read_run": "rushes.runs",
    "score_pose": "rushes.pose.evaluate",
    "sweep_clips": "rushes.robustness.sweep.evaluate",
    "write_report": "rushes.suite.report",
}

__all__ = sorted(_HOMES)

if TYPE_CHECKING:
    from rushes.clip.evaluate import evaluate_clip, evaluate_clips
    from rushes.core import Definition, Measurement
    from rushes.distribution.evaluate import compare_sets
    from rushes.distribution.video_metrics import calculate_video_metrics
    from rushes.errors import DefinitionMismatch, RushesError
    from rushes.media import canonicalize, probe
    from rushes.pose.evaluate import score_pose
    from rushes.preference.evaluate import evaluate_study, evaluate_validity
    from rushes.preference.study import open_service
    from rushes.robustness.evaluate import measure_robustness
    from rushes.robustness.sweep.evaluate import sweep_clips
    from rushes.runs import read_run
    from rushes.suite.compare import compare_runs
    from rushes.suite.report import write_report
    from rushes.workers.engine import Engine


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'rushes' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
