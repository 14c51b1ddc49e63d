"""The pose instrument, as the rest of Rushes sees it, and the registry of its normalisations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rushes.core.instrument import Instrument, Measure
from rushes.core.registry import Registry

if TYPE_CHECKING:
    from rushes.instruments.pose.scores.normalization import PckNormalization

INSTRUMENT = Instrument(
    name="pose",
    title="Pose",
    question="Does the body move where it should?",
    definitions="rushes.instruments.pose.measurements:DEFINITIONS",
    commands={"pose": "rushes.cli.measure.pose:app"},
    section="rushes.instruments.pose.show.section:section",
    tables="rushes.instruments.pose.show.section:tables",
    summary="rushes.instruments.pose.show.section:summary",
    measure=Measure(
        job="rushes.instruments.pose.job:measure",
        arguments="rushes.instruments.pose.evaluate:score_pose",
        needs_reference=True,
    ),
    charts="rushes.instruments.pose.show.charts:charts",
    demo=("rushes.instruments.pose.demo:run",),
)

NORMALIZATIONS: Registry[type[PckNormalization]] = Registry(
    "normalisation",
    group="rushes.normalizations",
    built_in={
        "torso-diameter": "rushes.instruments.pose.scores.normalization:TorsoDiameter",
        "bbox-diagonal": "rushes.instruments.pose.scores.normalization:BoundingBoxDiagonal",
        "absolute-px": "rushes.instruments.pose.scores.normalization:AbsolutePixels",
        "torso-or-bbox": "rushes.instruments.pose.scores.normalization:TorsoOrBoundingBox",
        "head-size": "rushes.instruments.pose.scores.normalization:HeadSize",
    },
)
"""What a PCK can be measured against, by name: subclasses of `PckNormalization`, those of other packages too."""
