"""The distribution instrument, as the rest of Rushes sees it."""

from rushes.core.instrument import Instrument, Measure

INSTRUMENT = Instrument(
    name="distribution",
    title="Distribution",
    question="Does this set look like the real one?",
    definitions="rushes.instruments.distribution.definitions:DEFINITIONS",
    names="rushes.instruments.distribution.definitions:names",
    commands={"fvd": "rushes.cli.measure.fvd:fvd"},
    section="rushes.instruments.distribution.show.section:section",
    tables="rushes.instruments.distribution.show.section:tables",
    summary="rushes.instruments.distribution.show.section:summary",
    readings="rushes.instruments.distribution.readings:readings",
    measure=Measure(
        job="rushes.instruments.distribution.job:measure",
        arguments="rushes.instruments.distribution.evaluate:compare_sets",
        taken=("cache", "save_gt", "save_gen", "versus"),
        paths=("weights", "groups", "network"),
        needs_reference=True,
    ),
    charts="rushes.instruments.distribution.show.charts:charts",
    demo=("rushes.instruments.distribution.demo:run",),
)
