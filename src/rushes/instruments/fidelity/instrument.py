"""The fidelity instrument, as the rest of Rushes sees it."""

from __future__ import annotations

from rushes.core.instrument import Instrument, Measure

INSTRUMENT = Instrument(
    name="fidelity",
    title="Fidelity",
    question="How far is this clip from its reference?",
    definitions="rushes.instruments.fidelity.definitions:DEFINITIONS",
    names="rushes.instruments.fidelity.metrics:names",
    commands={"fidelity": "rushes.cli.measure.fidelity:fidelity"},
    section="rushes.instruments.fidelity.show.section:section",
    tables="rushes.instruments.fidelity.show.section:tables",
    summary="rushes.instruments.fidelity.show.section:summary",
    notes="rushes.instruments.fidelity.show.section:notes",
    readings="rushes.instruments.fidelity.readings:readings",
    measure=Measure(
        job="rushes.instruments.fidelity.evaluate:measure",
        arguments="rushes.instruments.fidelity.evaluate:evaluate_fidelity",
        paths=("models",),
        needs_reference=True,
    ),
    timeline="rushes.instruments.fidelity.show.timeline:pair_timeline",
    demo=("rushes.instruments.fidelity.demo:run",),
)
