"""What one instrument contributes to `rushes demo`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoPart:
    """One instrument's share of the demo: what was run, what it found, and whether that is what was put in."""

    title: str
    run: Path
    """The run directory, which the demo's report shows."""
    found: str
    """One sentence for a newcomer: what the numbers say."""
    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    """A small table for the terminal."""
    as_expected: bool = True
    """False when a fault that was put in was not found: the demo then exits 1."""
