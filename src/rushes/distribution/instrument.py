"""The distribution instrument, as the rest of Rushes sees it."""

from rushes.core.instrument import Instrument

INSTRUMENT = Instrument(
    name="distribution",
    title="Distribution",
    question="Does this set look like the real one?",
    definitions="rushes.distribution.definitions:DEFINITIONS",
    commands={"fvd": "rushes.distribution.command:fvd"},
    section="rushes.distribution.section:section",
    charts="rushes.distribution.charts:charts",
    demo=("rushes.distribution.demo:run",),
)
