"""The robustness instrument, as the rest of Rushes sees it."""

from rushes.core.instrument import Instrument, Measure

INSTRUMENT = Instrument(
    name="robustness",
    title="Robustness",
    question="Does the answer survive small changes of the clip?",
    definitions="rushes.instruments.robustness.definitions.pools:DEFINITIONS",
    names="rushes.instruments.robustness.show.tables:names",
    commands={"robust": "rushes.cli.measure.robust:robust", "sweep": "rushes.cli.measure.sweep:sweep"},
    section="rushes.instruments.robustness.show.section:section",
    tables="rushes.instruments.robustness.show.section:tables",
    summary="rushes.instruments.robustness.show.section:summary",
    readings="rushes.instruments.robustness.readings:readings",
    measure=Measure(
        job="rushes.instruments.robustness.job:measure",
        arguments="rushes.instruments.robustness.sweep.evaluate:sweep_clips",
        taken=("out",),
        paths=("profile",),
    ),
    charts="rushes.instruments.robustness.show.charts:charts",
    demo=("rushes.instruments.robustness.demo:run",),
)
