"""Judges: what looks at a clip and answers. Any of them can fail; a failure is a verdict too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

JUDGE_ERROR = "judge-error"
"""The answer recorded for a judge that gave none; the justification says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a judge said about one clip."""

    output: str
    justification: str
    failed: bool = False
    numbers: Mapping[str, float] = field(default_factory=dict)
    """`confidence_score` and `output_entropy`, where the judge gives them."""

    @classmethod
    def failure(cls, reason: str) -> Verdict:
        """The verdict of a judge that gave no answer."""
        return cls(output=JUDGE_ERROR, justification=" ".join(reason.split()), failed=True)


class Judge(Protocol):
    """Looks at a clip and answers. A frozen dataclass, so that it travels to worker processes."""

    def describe(self) -> dict[str, object]:
        """Plain data that says who judges; another judge is another sweep."""

    def judge(self, clip: Path, *, seed: int) -> Verdict:
        """The verdict; a judge that fails returns `Verdict.failure` and does not raise."""
