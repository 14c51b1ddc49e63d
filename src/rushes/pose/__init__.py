"""Instrument 3: metric-locked PCK and MPJPE. A PCK without its normalisation cannot be made here."""

from rushes.pose.accuracy import PoseAccuracy, PoseFrame, accuracy_report
from rushes.pose.batch import PoseBatch
from rushes.pose.mpjpe import mpjpe
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

__all__ = [
    "SKELETONS",
    "AbsolutePixels",
    "BoundingBoxDiagonal",
    "HeadSize",
    "PckNormalization",
    "PoseAccuracy",
    "PoseBatch",
    "PoseFrame",
    "Skeleton",
    "TorsoDiameter",
    "TorsoOrBoundingBox",
    "accuracy_report",
    "mpjpe",
    "named_skeleton",
    "pck_at",
]
