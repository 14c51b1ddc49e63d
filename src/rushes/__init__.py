"""Rushes: the evaluation workbench for generated video. No number without its definition."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "ClipResult",
    "Definition",
    "DefinitionError",
    "DefinitionMismatch",
    "Engine",
    "InputError",
    "Instrument",
    "Interval",
    "Measurement",
    "MediaError",
    "MediaFacts",
    "MetricComputationError",
    "MissingDependency",
    "NotAllowed",
    "PoseEvaluation",
    "Profile",
    "Progress",
    "RankingError",
    "RemoteError",
    "Report",
    "Run",
    "RunComparison",
    "RunError",
    "RushesError",
    "SetComparison",
    "StudyError",
    "StudyService",
    "Subject",
    "SweepOutcome",
    "SweepReport",
    "Table",
    "Unreachable",
    "Vanished",
    "WeightsError",
    "calculate_video_metrics",
    "canonicalize",
    "clip",
    "compare_runs",
    "compare_sets",
    "distribution",
    "evaluate_clip",
    "evaluate_clips",
    "evaluate_study",
    "evaluate_validity",
    "measure_robustness",
    "open_service",
    "pose",
    "preference",
    "probe",
    "read_run",
    "robustness",
    "score_pose",
    "sweep_clips",
    "write_report",
]

if TYPE_CHECKING:
    from rushes import clip, distribution, pose, preference, robustness
    from rushes.clip.evaluate import evaluate_clips
    from rushes.clip.measure import ClipResult, evaluate_clip
    from rushes.clip.profile import Profile
    from rushes.core import Definition, Interval, Measurement
    from rushes.core.instrument import Instrument
    from rushes.core.progress import Progress
    from rushes.core.table import Table
    from rushes.distribution.compare import Comparison as SetComparison
    from rushes.distribution.evaluate import compare_sets
    from rushes.distribution.video_metrics import calculate_video_metrics
    from rushes.errors import (
        DefinitionError,
        DefinitionMismatch,
        InputError,
        MediaError,
        MissingDependency,
        RunError,
        RushesError,
        WeightsError,
    )
    from rushes.media import MediaFacts, canonicalize, probe
    from rushes.pose.evaluate import PoseEvaluation, score_pose
    from rushes.preference.evaluate import evaluate_study, evaluate_validity
    from rushes.preference.statistics.connection import RankingError
    from rushes.preference.study import StudyService, open_service
    from rushes.preference.study.errors import NotAllowed, StudyError
    from rushes.remote.errors import RemoteError, Unreachable, Vanished
    from rushes.robustness.evaluate import SweepReport, measure_robustness
    from rushes.robustness.metrics import MetricComputationError
    from rushes.robustness.sweep.evaluate import SweepOutcome, sweep_clips
    from rushes.runs import Run, Subject, read_run
    from rushes.suite.compare import Comparison as RunComparison
    from rushes.suite.compare import compare_runs
    from rushes.suite.report import Report, write_report
    from rushes.workers.engine import Engine

_HOMES = {
    "ClipResult": "rushes.clip.measure",
    "Definition": "rushes.core",
    "DefinitionError": "rushes.errors",
    "DefinitionMismatch": "rushes.errors",
    "Engine": "rushes.workers.engine",
    "InputError": "rushes.errors",
    "Instrument": "rushes.core.instrument",
    "Interval": "rushes.core",
    "Measurement": "rushes.core",
    "MediaError": "rushes.errors",
    "MediaFacts": "rushes.media",
    "MetricComputationError": "rushes.robustness.metrics",
    "MissingDependency": "rushes.errors",
    "NotAllowed": "rushes.preference.study.errors",
    "PoseEvaluation": "rushes.pose.evaluate",
    "Profile": "rushes.clip.profile",
    "Progress": "rushes.core.progress",
    "RankingError": "rushes.preference.statistics.connection",
    "RemoteError": "rushes.remote.errors",
    "Report": "rushes.suite.report",
    "Run": "rushes.runs",
    "RunComparison": "rushes.suite.compare:Comparison",
    "RunError": "rushes.errors",
    "RushesError": "rushes.errors",
    "SetComparison": "rushes.distribution.compare:Comparison",
    "StudyError": "rushes.preference.study.errors",
    "StudyService": "rushes.preference.study",
    "Subject": "rushes.runs",
    "SweepOutcome": "rushes.robustness.sweep.evaluate",
    "SweepReport": "rushes.robustness.evaluate",
    "Table": "rushes.core.table",
    "Unreachable": "rushes.remote.errors",
    "Vanished": "rushes.remote.errors",
    "WeightsError": "rushes.errors",
    "calculate_video_metrics": "rushes.distribution.video_metrics",
    "canonicalize": "rushes.media",
    "clip": "",
    "compare_runs": "rushes.suite.compare",
    "compare_sets": "rushes.distribution.evaluate",
    "distribution": "",
    "evaluate_clip": "rushes.clip.measure",
    "evaluate_clips": "rushes.clip.evaluate",
    "evaluate_study": "rushes.preference.evaluate",
    "evaluate_validity": "rushes.preference.evaluate",
    "measure_robustness": "rushes.robustness.evaluate",
    "open_service": "rushes.preference.study",
    "pose": "",
    "preference": "",
    "probe": "rushes.media",
    "read_run": "rushes.runs",
    "robustness": "",
    "score_pose": "rushes.pose.evaluate",
    "sweep_clips": "rushes.robustness.sweep.evaluate",
    "write_report": "rushes.suite.report",
}
"""Public name -> the module it lives in, `module:name` where that calls it otherwise, "" for a package of its own.
Loaded on first use, so that `import rushes` stays quick; the imports above say the same to type checkers."""


if not TYPE_CHECKING:  # to a type checker, a name that is not above is a mistake

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'rushes' has no attribute {name!r}")
        home, _, inner = _HOMES[name].partition(":")
        if home != "rushes.errors":
            from rushes.core.platforms import require_unix

            require_unix()
        return getattr(import_module(home), inner or name) if home else import_module(f"rushes.{name}")


def __dir__() -> list[str]:
    return __all__
