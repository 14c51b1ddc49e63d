"""The robustness instrument, as the rest of Rushes sees it."""

from rushes.core.instrument import Instrument

INSTRUMENT = Instrument(
    name="robustness",
    title="Robustness",
    question="Does the answer survive small changes of the clip?",
    definitions="rushes.robustness.catalogue:DEFINITIONS",
    commands={"robust": "rushes.robustness.command:robust", "sweep": "rushes.robustness.sweep.command:sweep"},
    section="rushes.robustness.section:section",
    charts="rushes.robustness.charts:charts",
    demo=("rushes.robustness.demo:run",),
)
