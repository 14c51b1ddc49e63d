"""Judges: what looks at a clip and answers. Any of them can fail; a failure is a verdict too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol

JUDGE_ERROR = "judge-error"
"""The output of a verdict that has none; the justification says why. It is written to no trace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a judge said about one clip."""

    output: str
    justification: str
    failed: bool = False
    numbers: Mapping[str, float] = field(default_factory=dict)
    """`confidence_score` and `output_entropy`, where the judge gives them."""
    remarks: tuple[str, ...] = ()
    """What a reader of the trace must know: a number that was given and is none, a clip that is gone."""

    @classmethod
    def failure(cls, reason: str) -> Verdict:
        """The verdict of a judge that gave no answer."""
        return cls(output=JUDGE_ERROR, justification=" ".join(reason.split()), failed=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """The options of `rushes sweep` that a judge may take; each kind takes those it has a use for."""

    profile: object = "general"
    """Thresholds of the clip bundle: a name, a file or a profile."""
    base_url: str = "https://api.openai.com/v1"
    question: str = ""
    frames: int = 4
    api_key_env: str = "OPENAI_API_KEY"
    timeout: float | None = None
    """Seconds a verdict may take; None leaves it to the judge."""
    tier: int = 0
    """How far the clip bundle measures: 0, with faces 1, with SyncNet 2."""
    attempts: int = 3
    """How often an endpoint is asked where it is busy, late or breaks off."""
    logprobs: bool = False
    """Whether an endpoint is asked for log-probabilities, for confidence and entropy."""


class Judge(Protocol):
    """Looks at a clip and answers. A frozen dataclass, so that it travels to worker processes.

    Subclass it to get what a judge need not have. A kind of judge that other packages add is such a class, named by an
    entry point of the group `rushes.judges`; `rushes sweep --judge NAME:ARGUMENT` makes it by `from_options`.
    """

    keeps_time: ClassVar[bool] = False
    """Whether it ends by itself after its time limit. Where not, the worker process that runs it is stopped."""

    @classmethod
    def from_options(cls, argument: str, options: JudgeOptions) -> Judge:
        """The judge that `--judge NAME:ARGUMENT` and the command's options ask for."""
        return cls()

    def check(self) -> None:
        """Raise `InputError`, before the first run, for settings that cannot work."""

    def describe(self) -> dict[str, object]:
        """Plain data that says who judges; another judge is another sweep."""

    def uses_seed(self) -> bool:
        """Whether its verdict may differ from seed to seed on the same clip; True where nobody knows."""
        return True

    def cannot_see(self, axis: str, *, sound: bool) -> str:
        """Why nothing along this axis (of the sound, or of the picture) can move the verdict; "" where it may."""
        return ""

    def judge(self, clip: Path, *, seed: int) -> Verdict:
        """The verdict. A judge that fails returns `Verdict.failure`; what it raises is recorded as a failure too."""
