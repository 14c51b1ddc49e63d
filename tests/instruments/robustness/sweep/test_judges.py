"""A user's own program as judge: answers, failures, time-outs."""

from __future__ import annotations

import hashlib
import os
import pickle
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.processes import is_alive, until

from rushes.core.errors import InputError
from rushes.core.judge import JUDGE_ERROR, JudgeOptions, Verdict
from rushes.instruments.robustness.sweep.endpoint import EndpointJudge
from rushes.instruments.robustness.sweep.judges import JUDGES, CommandJudge, named_judge, parsed_verdict
from rushes.media import write_clip


def command(code: str, *arguments: str, timeout: float = 120.0) -> CommandJudge:
    words = [sys.executable, "-ISc", code, *arguments]
    return CommandJudge(command=shlex.join(words).replace("'{clip}'", "{clip}"), timeout=timeout)


def test_the_program_gets_clip_and_seed_and_answers(tmp_path):
    judge = command(
        "import sys, json; print('loading'); print(json.dumps({'output': sys.argv[2], 'justification': sys.argv[1]}))",
        "{clip}",
        "{seed}",
    )
    judge.check()
    clip = tmp_path / "a name; with $(things).mp4"
    assert judge.judge(clip, seed=7) == Verdict(output="7", justification=str(clip))


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('{"output": "A", "justification": "b"}', Verdict(output="A", justification="b")),
        ('{"answer": "A"}', Verdict(output="A", justification="")),
        ('log line\n{"output": "A", "justification": ["x"]}\n\n', Verdict(output="A", justification="['x']")),
        (
            '{"output": "A", "confidence_score": 0.9, "output_entropy": 1}',
            Verdict(output="A", justification="", numbers={"confidence_score": 0.9, "output_entropy": 1.0}),
        ),
        ('{\n "output":\n "A"\n}', Verdict(output="A", justification="")),
    ],
)
def test_verdicts_read(text, verdict):
    assert parsed_verdict(text) == verdict


@pytest.mark.parametrize("number", ["NaN", "1" + 400 * "0", "1e400", "-1e200"])
def test_a_number_that_is_none_costs_the_number_alone(number):
    """A one with four hundred zeros ended the whole sweep with a traceback."""
    verdict = parsed_verdict(f'{{"output": "A", "confidence_score": {number}, "output_entropy": 0.5}}')
    assert (verdict.output, verdict.numbers) == ("A", {"output_entropy": 0.5})
    assert verdict.remarks[0].startswith("the judge's reply: confidence_score is ")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "got nothing"),
        ("hello", "expected JSON with output and justification; got 'hello'"),
        ("[1]", "expected JSON"),
        ('{"output": ""}', "expected a non-empty output"),
        ("[" * 100_000, "expected JSON"),
    ],
)
def test_verdicts_that_cannot_be_read_are_failures(text, reason):
    verdict = parsed_verdict(text)
    assert (verdict.output, verdict.failed) == (JUDGE_ERROR, True)
    assert reason in verdict.justification


def test_a_failing_program_is_a_failure_with_its_last_words(tmp_path):
    judge = command("import sys; print('traceback', file=sys.stderr); sys.exit('no model found')", "{clip}")
    assert judge.judge(tmp_path, seed=1) == Verdict.failure("exit code 1: no model found")


def stopped_at_its_limit(make: Callable[[float], CommandJudge], noted: Path) -> None:
    """A program that never ends is stopped; the limit grows until the program has noted its child before it."""
    for seconds in (1.0, 8.0, 64.0):
        assert make(seconds).judge(noted, seed=1) == Verdict.failure(f"timed out after {seconds:g} s")
        if noted.exists() and noted.read_text().strip():
            return
    raise AssertionError("it noted no child")


def test_a_program_that_takes_too_long_is_stopped_with_its_children(tmp_path):
    script = """sh -c 'sleep 600 & echo $! > "$0"; sleep 600' {clip}"""
    noted = tmp_path / "pid"
    stopped_at_its_limit(lambda timeout: CommandJudge(command=script, timeout=timeout), noted)
    child = int(noted.read_text())
    until(lambda: not is_alive(child), "the program's child has ended")


def test_a_program_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="no-such-program: no such program"):
        CommandJudge(command="no-such-program {clip}").check()
    assert CommandJudge(command="no-such-program {clip}").judge(tmp_path, seed=1).failed


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "the command is empty"), ("python judge.py", "needs {clip}"), ("python 'x {clip}", "cannot be split")],
)
def test_commands_refused(text, message):
    with pytest.raises(InputError, match=message):
        CommandJudge(command=text).check()


def test_a_program_that_never_stops_printing_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("rushes.vision.judges.program.LONGEST_OUTPUT", 1 << 20)
    verdict = CommandJudge(command="sh -c 'yes' {clip}", timeout=60).judge(tmp_path, seed=1)
    assert verdict == Verdict.failure("printed over 1 MiB; expected one JSON object")


def test_a_child_in_a_session_of_its_own_holds_nobody_up(tmp_path):
    """It keeps the pipe open after the program was stopped; waiting for the pipe's end would be waiting for it."""
    noted = tmp_path / "pid"
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen(['sleep', '30'], start_new_session=True)\n"
        "open(sys.argv[1], 'w').write(str(child.pid))\n"
        "time.sleep(60)"
    )
    stopped_at_its_limit(lambda timeout: command(code, "{clip}", timeout=timeout), noted)
    os.kill(int(noted.read_text()), signal.SIGKILL)


def test_the_digest_of_a_script_is_part_of_who_judges(tmp_path):
    script = tmp_path / "judge.py"
    script.write_text("print(1)")
    judge = CommandJudge(command=f"{sys.executable} {script} {{clip}}")
    digest = hashlib.sha256(b"print(1)").hexdigest()
    assert judge.describe() == {"kind": "command", "command": judge.command, "files": {str(script): digest}}
    script.write_text("print(22)")
    assert judge.describe()["files"] != {str(script): digest}
    script.write_text("#!/bin/sh\necho")
    script.chmod(0o755)
    assert list(CommandJudge(command=f"{script} {{clip}}").describe()["files"]) == [str(script)]


def test_a_judge_travels_and_says_who_it_is():
    judge = CommandJudge(command="judge {clip}", timeout=5)
    assert pickle.loads(pickle.dumps(judge)) == judge
    assert judge.describe() == {"kind": "command", "command": "judge {clip}"}


def test_judges_by_name():
    options = JudgeOptions(timeout=5, base_url="http://localhost/v1", question="sharp?")
    assert named_judge("command:true {clip}", options) == CommandJudge(command="true {clip}", timeout=5)
    asked = EndpointJudge(model="eye-1", base_url="http://localhost/v1", question="sharp?", timeout=5)
    assert named_judge("openai:eye-1", options) == asked
    assert named_judge("command:true {clip}", JudgeOptions()).timeout == 120
    assert list(JUDGES) == ["bundle", "command", "openai"]
    # The worker is stopped for those that would go on for ever.
    assert {name: kind.keeps_time for name, kind in JUDGES.items()} == {
        "bundle": False,
        "command": True,
        "openai": True,
    }
    with pytest.raises(InputError, match="no judge is called 'bundel'. Did you mean `bundle`"):
        named_judge("bundel", options)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's help is Linux's")
def test_the_program_ends_with_the_sweep_that_was_killed(tmp_path: Path) -> None:
    """kill -9 of the sweep alone: its worker goes, and so does the program the worker was waiting for."""
    clip = write_clip(tmp_path / "a.mp4", [np.full((32, 32, 3), n, np.uint8) for n in range(4)])
    told = tmp_path / "pid"
    program = tmp_path / "judge.py"
    program.write_text(f"import os, time\nopen({str(told)!r}, 'w').write(f'{{os.getpid()}}\\n')\ntime.sleep(300)\n")
    command = [sys.executable, "-m", "rushes", "sweep", str(clip), "--axis", "brightness=0.9", "--seeds", "1"]
    command += ["--command", f"{sys.executable} {program} {{clip}}", "-o", str(tmp_path / "sweep")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as sweep:
        until(lambda: sweep.poll() is not None or (told.exists() and told.read_text()[-1:] == "\n"), "the judge began")
        judge = int(told.read_text())
        assert is_alive(judge)
        sweep.kill()
    until(lambda: not is_alive(judge), "the program has ended with the sweep")
