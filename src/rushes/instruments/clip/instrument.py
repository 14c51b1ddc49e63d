"""The clip instrument, as the rest of Rushes sees it."""

from rushes.core.instrument import Instrument, Measure

INSTRUMENT = Instrument(
    name="clip",
    title="Clips",
    question="Is this clip free of freezes, glitches and sound faults?",
    definitions="rushes.instruments.clip.definitions:DEFINITIONS",
    names="rushes.instruments.clip.metrics:names",
    commands={"clip": "rushes.cli.measure.clip:clip", "calibrate": "rushes.cli.measure.calibrate:calibrate"},
    section="rushes.instruments.clip.show.section:section",
    tables="rushes.instruments.clip.show.section:tables",
    summary="rushes.instruments.clip.show.words:summary",
    notes="rushes.instruments.clip.show.words:notes",
    readings="rushes.instruments.clip.readings:readings",
    measure=Measure(
        job="rushes.instruments.clip.job:measure",
        arguments="rushes.instruments.clip.evaluate:evaluate_clips",
        paths=("audio", "profile", "face_model", "syncnet_weights", "networks", "prompts"),
    ),
    timeline="rushes.instruments.clip.show.timeline:clip_timeline",
    demo=("rushes.instruments.clip.demo.samples:run", "rushes.instruments.clip.demo.faces:run"),
)
