"""The kinds of judges a sweep can ask (`JUDGES`), and the one that runs any program."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rushes.core.errors import InputError
from rushes.core.judge import Judge, JudgeOptions, Verdict
from rushes.core.registry import Registry
from rushes.instruments.robustness.seed.metrics import MetricComputationError, extract_answer, extract_justification
from rushes.instruments.robustness.seed.scores import RICH_NUMBERS, rich_number, unusable_numbers
from rushes.vision.judges.program import command_words, run_program, script_digests

JUDGES: Registry[type[Judge]] = Registry(
    "judge",
    group="rushes.judges",
    built_in={
        "bundle": "rushes.instruments.clip.signals.bundle_judge:BundleJudge",
        "command": "rushes.instruments.robustness.sweep.judges:CommandJudge",
        "openai": "rushes.instruments.robustness.sweep.endpoint:EndpointJudge",
    },
)
"""Kinds of judges by name."""
USUAL_TIMEOUT = 120.0
"""Seconds that a program or a model has unless told otherwise."""


def named_judge(text: str, options: JudgeOptions) -> Judge:
    """The judge that `NAME` or `NAME:ARGUMENT` names, checked; `InputError` for an unknown name."""
    name, _, argument = text.partition(":")
    judge = JUDGES[name].from_options(argument, options)
    judge.check()
    return judge


def parsed_verdict(text: str) -> Verdict:
    """The verdict in a judge's JSON: `output` (or `answer`), `justification`, and the numbers it may carry.

    The JSON is the whole text or its last line that is not blank.
    """
    data = _json_object(text)
    if data is None:
        return Verdict.failure("expected JSON with output and justification; got " + _glimpse(text))
    try:
        output = extract_answer(data)
    except MetricComputationError:
        return Verdict.failure("expected a non-empty output in the JSON; got " + _glimpse(text))
    numbers = {key: number for key in RICH_NUMBERS if (number := rich_number(data, key)) is not None}
    remarks = unusable_numbers(data, "the judge's reply")
    return Verdict(output=output, justification=extract_justification(data), numbers=numbers, remarks=remarks)


def _json_object(text: str) -> dict[str, object] | None:
    lines = [line for line in text.splitlines() if line.strip()]
    for candidate in (text, lines[-1] if lines else ""):
        try:
            data = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict):
            return data
    return None


def _glimpse(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 80 else line[:79] + "…") if line else "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandJudge(Judge):
    """Any program: it gets the clip's path and prints JSON with `output` and `justification`.

    The command is split as a shell would, but no shell runs it; `{clip}` and `{seed}` are filled in per run. On Linux
    it ends with the sweep, also when the sweep is killed; what the program itself started is its own to end.
    """

    keeps_time: ClassVar[bool] = True
    command: str
    timeout: float = USUAL_TIMEOUT

    @classmethod
    def from_options(cls, argument: str, options: JudgeOptions) -> CommandJudge:
        """`command:CMD {clip}`."""
        return cls(command=argument, timeout=options.timeout or USUAL_TIMEOUT)

    def check(self) -> None:
        """Refuse, before the first run, a command that cannot work."""
        words = self._words()
        if not any("{clip}" in word for word in words):
            raise InputError(f"the command needs {{clip}} where the clip's path goes; got {self.command!r}")
        if shutil.which(words[0]) is None:
            raise InputError(f"{words[0]}: no such program; check the command")

    def describe(self) -> dict[str, object]:
        # Not the time limit: a failed sweep may be asked again with a longer one.
        files = script_digests(self._words())
        return {"kind": "command", "command": self.command, **({"files": files} if files else {})}

    def judge(self, clip: Path, *, seed: int) -> Verdict:
        words = [word.replace("{clip}", str(clip)).replace("{seed}", str(seed)) for word in self._words()]
        ended = run_program(words, timeout=self.timeout)
        if ended.problem:
            return Verdict.failure(ended.problem)
        if ended.code:
            errors = ended.err.decode("utf-8", "replace").replace(str(clip), clip.name).strip().splitlines()
            return Verdict.failure(f"exit code {ended.code}" + (f": {errors[-1][:200]}" if errors else ""))
        return parsed_verdict(ended.out.decode("utf-8", "replace"))

    def uses_seed(self) -> bool:
        return "{seed}" in self.command

    def _words(self) -> list[str]:
        return command_words(self.command)
