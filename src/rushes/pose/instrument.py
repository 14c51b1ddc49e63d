"""The pose instrument, as the rest of Rushes sees it, and the registry of its normalisations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rushes.core.instrument import Instrument
from rushes.core.registry import Registry

if TYPE_CHECKING:
    from rushes.pose.normalization import PckNormalization

INSTRUMENT = Instrument(
    name="pose",
    title="Pose",
    question="Does the body move where it should?",
    definitions="rushes.pose.measurements:DEFINITIONS",
    commands={"pose": "rushes.pose.command:app"},
    section="rushes.pose.section:section",
    charts="rushes.pose.charts:charts",
    demo=("rushes.pose.demo:run",),
)

NORMALIZATIONS: Registry[type[PckNormalization]] = Registry(
    "normalisation",
    group="rushes.normalizations",
    built_in={
        "torso-diameter": "rushes.pose.normalization:TorsoDiameter",
        "bbox-diagonal": "rushes.pose.normalization:BoundingBoxDiagonal",
        "absolute-px": "rushes.pose.normalization:AbsolutePixels",
        "torso-or-bbox": "rushes.pose.normalization:TorsoOrBoundingBox",
        "head-size": "rushes.pose.normalization:HeadSize",
    },
)
"""What a PCK can be measured against, by name: subclasses of `PckNormalization`, those of other packages too."""
