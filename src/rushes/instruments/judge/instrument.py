"""The judge instrument, as the rest of Rushes sees it."""

from __future__ import annotations

from rushes.core.instrument import Instrument, Measure

INSTRUMENT = Instrument(
    name="judge",
    title="Judge",
    question="Does the clip show what was asked for, and how far can this judge be believed?",
    definitions="rushes.instruments.judge.definitions:DEFINITIONS",
    commands={"judge": "rushes.cli.measure.judge:judge"},
    section="rushes.instruments.judge.show.section:section",
    tables="rushes.instruments.judge.show.section:tables",
    summary="rushes.instruments.judge.show.section:summary",
    asked="rushes.instruments.judge.show.panel:asked",
    readings="rushes.instruments.judge.readings:readings",
    measure=Measure(
        job="rushes.instruments.judge.evaluate:measure",
        arguments="rushes.instruments.judge.evaluate:judge_clips",
        taken=("confirm", "plan"),
        paths=("prompts", "questions", "record"),
    ),
)
