"""The pose instrument, as the rest of Rushes sees it."""

from rushes.core.instrument import Instrument

INSTRUMENT = Instrument(
    name="pose",
    title="Pose",
    question="Does the body move where it should?",
    definitions="rushes.pose.definitions:DEFINITIONS",
    commands={"pose": "rushes.pose.command:app"},
    section="rushes.pose.section:section",
    charts="rushes.pose.charts:charts",
    demo=("rushes.pose.demo:run",),
)
