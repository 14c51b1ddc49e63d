"""The preference instrument, as the rest of Rushes sees it."""

from rushes.core.instrument import Instrument, Measure

INSTRUMENT = Instrument(
    name="preference",
    title="Preference",
    question="Which clip do people prefer, and why?",
    definitions="rushes.instruments.preference.definitions.study:DEFINITIONS",
    commands={"study": "rushes.cli.study.running:app"},
    section="rushes.instruments.preference.show.section:section",
    tables="rushes.instruments.preference.show.section:tables",
    summary="rushes.instruments.preference.show.section:summary",
    readings="rushes.instruments.preference.readings:readings",
    measure=Measure(
        job="rushes.study.job:measure",
        arguments="rushes.study.evaluate:evaluate_study",
        own=("db", "study"),
        paths=("db",),
        whole_suite=True,
    ),
    charts="rushes.instruments.preference.show.charts:charts",
    demo=("rushes.study.demo:run",),
)
