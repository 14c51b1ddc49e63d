"""What a gate checked, one by one, before it is written in any format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Outcome: TypeAlias = Literal["passed", "failed", "unclear", "allowed"]
"""
passed   checked, and it holds
failed   checked, and it does not hold
unclear  it could not be checked, which is no pass
allowed  it could not be checked, and the user let that through
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of a gate: one clip, or one metric."""

    name: str
    outcome: Outcome
    kind: str = ""
    """What it is called in JUnit's `type`: "worse", "reject", "cannot tell"."""
    why: str = ""
    """One line."""
    details: tuple[str, ...] = ()
    """More lines: clips, signatures."""
    file: str = ""
    """The file that an annotation points at; "" where the check is about no single file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckList:
    """A gate's whole answer."""

    gate: str
    """Which gate this is: "rushes gate", "rushes clip"."""
    headline: str
    """The answer in one sentence."""
    checks: tuple[Check, ...]
    facts: Mapping[str, str]
    """What the gate was asked: baseline, candidate, profile."""
    signatures: tuple[str, ...] = ()
    """The definitions behind every number that is shown."""
    notes: tuple[str, ...] = ()

    def count(self, outcome: Outcome) -> int:
        """How many checks ended like this."""
        return sum(check.outcome == outcome for check in self.checks)

    @property
    def answer(self) -> Outcome:
        """The worst outcome: failed, then unclear, then allowed, then passed."""
        order: tuple[Outcome, ...] = ("failed", "unclear", "allowed")
        return next((outcome for outcome in order if self.count(outcome)), "passed")
