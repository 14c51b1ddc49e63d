"""The fidelity instrument, as the rest of Rushes sees it."""

from __future__ import annotations

from rushes.core.instrument import Instrument

INSTRUMENT = Instrument(
    name="fidelity",
    title="Fidelity",
    question="How far is this clip from its reference?",
    definitions="rushes.fidelity.definitions:DEFINITIONS",
    commands={"fidelity": "rushes.fidelity.command:fidelity"},
    section="rushes.fidelity.section:section",
    timeline="rushes.fidelity.timeline:pair_timeline",
    demo=("rushes.fidelity.demo:run",),
)
