"""A run of clips in words: what the terminal opens with, and the notes under it."""

from __future__ import annotations

from collections import Counter

from rushes.present.verdict.verdict import FIRST, clip_verdict
from rushes.storage.runs import Run


def summary(run: Run) -> str:
    """How many clips need a look, and which are the first."""
    verdict = clip_verdict(run.subjects, most=FIRST)
    first = "; ".join(f"{take.id} ({take.why})" for take in verdict.takes)
    return f"{verdict.headline} Look first at {first}." if first else verdict.headline


def notes(run: Run) -> tuple[str, ...]:
    """Rules that lacked a value, with how many clips."""
    from rushes.instruments.clip.signals.gate import skipped_rules

    rules = skipped_rules(run)
    readable = [entry for entry in run.entries if "error" not in entry.subject.facts]
    skipped = Counter(name for entry in readable for name in rules(entry))
    named = ", ".join(f"{name} ({count} of {len(readable)} clips)" for name, count in sorted(skipped.items()))
    return (f"Rules skipped for lack of a value: {named}",) if skipped else ()
