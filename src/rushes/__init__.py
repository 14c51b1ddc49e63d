"""Rushes: the evaluation workbench for generated video. No number without its definition."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

# Public name -> module it lives in. Loaded on first use, so that `import rushes` stays quick.
_HOMES = {
    "Definition": "rushes.core",
    "DefinitionMismatch": "rushes.errors",
    "Engine": "rushes.scale.engine",
    "Measurement": "rushes.core",
    "RushesError": "rushes.errors",
    "calculate_video_metrics": "rushes.distribution.video_metrics",
    "canonicalize": "rushes.decode",
    "compare_runs": "rushes.evaluate.compare",
    "compare_sets": "rushes.evaluate.distribution",
    "evaluate_clip": "rushes.evaluate.clip",
    "evaluate_clips": "rushes.evaluate.clips",
    "evaluate_study": "rushes.evaluate.study",
    "evaluate_validity": "rushes.evaluate.study",
    "measure_robustness": "rushes.evaluate.robust",
    "open_service": "rushes.study",
    "probe": "rushes.decode",
    "read_run": "rushes.store",
    "score_pose": "rushes.evaluate.pose",
    "sweep_clips": "rushes.evaluate.sweep",
    "write_report": "rushes.evaluate.report",
}

__all__ = sorted(_HOMES)

if TYPE_CHECKING:
    from rushes.core import Definition, Measurement
    from rushes.decode import canonicalize, probe
    from rushes.distribution.video_metrics import calculate_video_metrics
    from rushes.errors import DefinitionMismatch, RushesError
    from rushes.evaluate.clip import evaluate_clip
    from rushes.evaluate.clips import evaluate_clips
    from rushes.evaluate.compare import compare_runs
    from rushes.evaluate.distribution import compare_sets
    from rushes.evaluate.pose import score_pose
    from rushes.evaluate.report import write_report
    from rushes.evaluate.robust import measure_robustness
    from rushes.evaluate.study import evaluate_study, evaluate_validity
    from rushes.evaluate.sweep import sweep_clips
    from rushes.scale.engine import Engine
    from rushes.store import read_run
    from rushes.study import open_service


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'rushes' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
