"""The preference instrument, as the rest of Rushes sees it."""

from rushes.core.instrument import Instrument

INSTRUMENT = Instrument(
    name="preference",
    title="Preference",
    question="Which clip do people prefer, and why?",
    definitions="rushes.preference.definitions:DEFINITIONS",
    commands={"study": "rushes.preference.command_running:app"},
    section="rushes.preference.section:section",
    charts="rushes.preference.charts:charts",
    demo=("rushes.preference.demo:run",),
)
