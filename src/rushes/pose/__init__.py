"""Instrument 3: metric-locked PCK and MPJPE. A PCK without its normalisation cannot be made here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rushes.core.lazy import lazy_names

_HOMES = {
    "AbsolutePixels": "rushes.pose.normalization",
    "BoundingBoxDiagonal": "rushes.pose.normalization",
    "HeadSize": "rushes.pose.normalization",
    "NORMALIZATIONS": "rushes.pose.instrument",
    "PckNormalization": "rushes.pose.normalization",
    "PoseAccuracy": "rushes.pose.accuracy",
    "PoseBatch": "rushes.pose.batch",
    "PoseEvaluation": "rushes.pose.evaluate",
    "PoseFrame": "rushes.pose.accuracy",
    "SKELETONS": "rushes.pose.skeletons",
    "Skeleton": "rushes.pose.skeletons",
    "TorsoDiameter": "rushes.pose.normalization",
    "TorsoOrBoundingBox": "rushes.pose.normalization",
    "accuracy_report": "rushes.pose.accuracy",
    "extract_clips": "rushes.pose.extract",
    "mpjpe": "rushes.pose.joint_errors",
    "named_skeleton": "rushes.pose.skeletons",
    "pck_at": "rushes.pose.pck",
    "score_pose": "rushes.pose.evaluate",
}

__all__ = [
    "NORMALIZATIONS",
    "SKELETONS",
    "AbsolutePixels",
    "BoundingBoxDiagonal",
    "HeadSize",
    "PckNormalization",
    "PoseAccuracy",
    "PoseBatch",
    "PoseEvaluation",
    "PoseFrame",
    "Skeleton",
    "TorsoDiameter",
    "TorsoOrBoundingBox",
    "accuracy_report",
    "extract_clips",
    "mpjpe",
    "named_skeleton",
    "pck_at",
    "score_pose",
]

if TYPE_CHECKING:
    from rushes.pose.accuracy import PoseAccuracy, PoseFrame, accuracy_report
    from rushes.pose.batch import PoseBatch
    from rushes.pose.evaluate import PoseEvaluation, score_pose
    from rushes.pose.extract import extract_clips
    from rushes.pose.instrument import NORMALIZATIONS
    from rushes.pose.joint_errors import mpjpe
    from rushes.pose.normalization import (
        AbsolutePixels,
        BoundingBoxDiagonal,
        HeadSize,
        PckNormalization,
        TorsoDiameter,
        TorsoOrBoundingBox,
    )
    from rushes.pose.pck import pck_at
    from rushes.pose.skeletons import SKELETONS, Skeleton, named_skeleton

__getattr__ = lazy_names(__name__, _HOMES)
