"""The kinds of judges a sweep can ask (`JUDGES`), and the one that runs any program."""

from __future__ import annotations

import ctypes
import json
import math
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from rushes.core.judge import Judge, JudgeOptions, Verdict
from rushes.core.registry import Registry
from rushes.errors import InputError
from rushes.robustness.metrics import MetricComputationError, extract_answer, extract_justification

_NUMBERS = ("confidence_score", "output_entropy")
_LONGEST_ANSWER = 16 << 20
_PR_SET_PDEATHSIG = 1
"""prctl(2): the signal the kernel sends a process when the one that started it ends."""

JUDGES: Registry[type[Judge]] = Registry(
    "judge",
    group="rushes.judges",
    built_in={
        "bundle": "rushes.clip.judge:BundleJudge",
        "command": "rushes.robustness.sweep.judges:CommandJudge",
        "openai": "rushes.robustness.sweep.endpoint:EndpointJudge",
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
    numbers = {key: number for key in _NUMBERS if (number := _finite(data.get(key))) is not None}
    return Verdict(output=output, justification=extract_justification(data), numbers=numbers)


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


def _finite(value: object) -> float | None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if number else None  # type: ignore[arg-type]


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
        return {"kind": "command", "command": self.command}

    def judge(self, clip: Path, *, seed: int) -> Verdict:
        words = [word.replace("{clip}", str(clip)).replace("{seed}", str(seed)) for word in self._words()]
        try:
            # A session of its own: a program that outlives its time is stopped with everything it started.
            process = subprocess.Popen(  # the user's own program, as words, no shell  # nosec B603
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                preexec_fn=_end_with_us(),
            )
        except OSError as error:
            return Verdict.failure(f"{words[0]}: cannot be started ({error.strerror or error})")
        try:
            out, err = process.communicate(timeout=self.timeout)
        except subprocess.TimeoutExpired:
            _stop(process)
            return Verdict.failure(f"timed out after {self.timeout:g} s")
        if process.returncode:
            errors = err.decode("utf-8", "replace").strip().splitlines()
            return Verdict.failure(f"exit code {process.returncode}" + (f": {errors[-1][:200]}" if errors else ""))
        if len(out) > _LONGEST_ANSWER:
            return Verdict.failure(f"printed over {_LONGEST_ANSWER >> 20} MiB; expected one JSON object")
        return parsed_verdict(out.decode("utf-8", "replace"))

    def _words(self) -> list[str]:
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise InputError(f"the command cannot be split into words ({error}); got {self.command!r}") from None
        if not words:
            raise InputError("the command is empty; for example 'python judge.py {clip}'")
        return words


def _end_with_us() -> Callable[[], None] | None:
    """What a child does before its program runs, so that no kill of ours leaves it behind; None without Linux."""
    if sys.platform != "linux":
        return None
    return partial(end_with_parent, ctypes.CDLL(None).prctl, os.getpid())


def end_with_parent(prctl: Callable[..., int], parent: int) -> None:
    """Ask the kernel to kill this process when its parent ends. The library is loaded before the fork, not after."""
    prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # it died before the kernel was asked
        os._exit(1)


def _stop(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it ended between the time-out and here
    process.communicate()
