"""The clip instrument, as the rest of Rushes sees it."""

from rushes.core.instrument import Instrument

INSTRUMENT = Instrument(
    name="clip",
    title="Clips",
    question="Is this clip free of freezes, glitches and sound faults?",
    definitions="rushes.clip.definitions:DEFINITIONS",
    commands={"clip": "rushes.clip.command:clip", "calibrate": "rushes.clip.calibration_command:calibrate"},
    section="rushes.clip.section:section",
    timeline="rushes.clip.timeline:clip_timeline",
    demo=("rushes.clip.demo:run", "rushes.clip.demo_face:run"),
)
