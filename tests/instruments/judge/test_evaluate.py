"""Runs of a judge: the same bytes however they were made, nothing asked twice, nothing sent unasked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.instruments.judge.judged_world import Judge, make_clip, make_prompts, serving

import rushes
from rushes.core.errors import InputError, RunError
from rushes.instruments.judge.asking.answer_log import read_answers
from rushes.instruments.judge.evaluate import judge_clips

SMALL = {"frames": 3, "side": 64}


def perfect(request):
    """A judge that is a plain function, with a name that every process agrees on."""
    return Judge().answer(
        "\n".join(part["text"] for part in request["parts"] if "text" in part),
        [part["frames"] for part in request["parts"] if "clip" in part],
        request["seed"],
    )


def files(run: Path) -> dict[str, bytes]:
    return {name: (run / name).read_bytes() for name in ("subjects.jsonl", "measurements.jsonl")}


def judged(world, out, judge=perfect, **options):
    return judge_clips(world / "amber", judge=judge, prompts=world / "prompts.csv", run=out, **(SMALL | options))


def test_the_bytes_of_a_run_depend_on_the_answers_alone(world, tmp_path):
    """One request at a time, many, and recorded answers without a judge."""
    judged(world, tmp_path / "one", parallel=1, plant=2, record=tmp_path / "recorded.jsonl")
    judged(world, tmp_path / "many", parallel=16, plant=2, record=tmp_path / "again.jsonl")
    replayed = judged(world, tmp_path / "replayed", f"replay:{tmp_path / 'recorded.jsonl'}", plant=2)
    assert files(tmp_path / "one") == files(tmp_path / "many") == files(tmp_path / "replayed")
    assert (tmp_path / "recorded.jsonl").read_bytes() == (tmp_path / "again.jsonl").read_bytes()
    assert replayed.words[0].startswith("This judge follows the prompt")
    whole = judged(world, tmp_path / "log", f"replay:{tmp_path / 'one/answers.jsonl'}", plant=2)
    assert files(whole.run.path) == files(tmp_path / "one"), "the answers of a run are a recording too"


def test_a_replay_of_something_else_is_refused(world, tmp_path):
    judged(world, tmp_path / "run", record=tmp_path / "recorded.jsonl", repeats=1)
    with pytest.raises(
        InputError, match="no recorded answer to answer p0 follows_prompt 2; clips, prompts or settings"
    ):
        judged(world, tmp_path / "other", f"replay:{tmp_path / 'recorded.jsonl'}", repeats=2)
    (tmp_path / "empty").write_text("")
    (tmp_path / "other.json").write_text("{}\n")
    for name, words in (("empty", "it is empty"), ("other.json", "got something else"), ("gone", "cannot be read")):
        with pytest.raises(InputError, match=words):
            judged(world, tmp_path / "x", f"replay:{tmp_path / name}")


def test_the_same_call_asks_nothing_again_and_what_failed_once_more(world, tmp_path):
    judge = Judge()
    fails = {"left": 3}

    def sometimes(request):
        if judge.asked and fails["left"]:
            fails["left"] -= 1
            raise RuntimeError("out of memory")
        return judge(request)

    first = judged(world, tmp_path / "run", sometimes, parallel=1, repeats=1)
    assert any(line == "3 requests failed." for line in first.words)
    asked = len(judge.asked)
    second = judged(world, tmp_path / "run", sometimes, repeats=1)
    assert len(judge.asked) == asked + 3 == second.estimate.calls + asked and second.estimate.calls == 3
    assert not any("failed" in line for line in second.words)
    third = judged(world, tmp_path / "run", sometimes, repeats=1)
    assert third.estimate.calls == 0 and len(judge.asked) == asked + 3
    fresh = judged(world, tmp_path / "fresh", sometimes, repeats=1)
    assert files(second.run.path) == files(fresh.run.path)


def test_another_question_in_the_same_folder_is_refused_and_overwrite_asks_anew(world, tmp_path):
    judge = Judge()
    judged(world, tmp_path / "run", judge, repeats=1)
    with pytest.raises(RunError, match="repeats 1, not 3"):
        judged(world, tmp_path / "run", judge, repeats=3)
    before = len(judge.asked)
    judged(world, tmp_path / "run", judge, repeats=1, overwrite=True)
    assert len(judge.asked) == 2 * before


KILLED = """
    import sys
    from rushes.instruments.judge.evaluate import judge_clips
    home, out, spec = sys.argv[1:]
    judge_clips(f"{home}/amber", judge=spec, prompts=f"{home}/prompts.csv", run=out, frames=3, side=64, parallel=4)
"""


def test_a_killed_run_asks_nothing_twice_that_was_answered(world, tmp_path):
    with serving(wait=0.02) as stub:
        command = [sys.executable, "-c", textwrap.dedent(KILLED), str(world), str(tmp_path / "run"), stub.spec]
        process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
        log = tmp_path / "run/answers.jsonl"
        while not log.exists() or len(log.read_bytes().splitlines()) < 15:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with log.open("ab") as file:
            file.write(b'{"digest":"torn')
        _, answered, _ = read_answers(log)
        before = len(stub.bodies)
        done = judge_clips(
            world / "amber", judge=stub.spec, prompts=world / "prompts.csv", run=tmp_path / "run", parallel=4, **SMALL
        )
    assert 14 <= len(answered) <= before <= len(answered) + 4  # of each of four requests in flight the answer was lost
    assert len(stub.bodies) - before == 84 - len(answered) == done.estimate.calls
    twice = [count for count in Counter(json.dumps(body, sort_keys=True) for body in stub.bodies).values() if count > 1]
    assert len(twice) <= 4
    fresh = judge_clips(
        world / "amber", judge=f"replay:{log}", prompts=world / "prompts.csv", run=tmp_path / "fresh", **SMALL
    )
    assert files(done.run.path) == files(fresh.run.path)


def test_frames_leave_the_machine_only_after_the_host_was_confirmed(world, tmp_path):
    spec = "openai:https://judge.invalid/v1#eye"
    with pytest.raises(
        InputError, match=r"would be sent to judge\.invalid; nothing was sent\. To agree, give yes=True"
    ):
        judged(world, tmp_path / "run", spec)
    asked = []
    with pytest.raises(InputError, match="nothing was sent"):
        judged(world, tmp_path / "run", spec, confirm=lambda plan: asked.append(plan) or False)
    assert asked[0].destination == "judge.invalid" and asked[0].calls == 84 and not (tmp_path / "run").exists()
    with pytest.raises(InputError, match="the judge does not answer: the endpoint cannot be reached"):
        judged(world, tmp_path / "run", spec, yes=True, attempts=1)


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ("83", "needs 84 calls and the budget is 83"),
        ("1000tokens", "tokens and the budget is 1,000"),
        ("0.0001cost", "cost and the budget is 0.0001"),
        ("much", "budget is 1000"),
    ],
)
def test_a_plan_over_the_budget_is_refused_before_anything_is_asked(world, tmp_path, budget, words):
    judge = Judge()
    with pytest.raises(InputError, match=words):
        judged(world, tmp_path / "run", judge, budget=budget, price_in=1.0, price_out=4.0)
    assert not judge.asked and not (tmp_path / "run").exists()
    assert judged(world, tmp_path / "run", judge, budget="84calls").estimate.cost is None


def test_several_systems_are_a_run_each_and_share_one_control(world, tmp_path):
    systems = {name: world / name for name in ("amber", "birch")}
    done = judge_clips(systems, judge=perfect, prompts=world / "prompts.csv", run=tmp_path / "out", repeats=1, **SMALL)
    assert [run.path.name for run in done.runs] == ["amber", "birch"]
    first, second = (run.entries[-1].measurements for run in done.runs)
    assert first == second and first[0].count == 12, "the clips of a prompt are one"
    board = rushes.collect_board(done.runs)
    labels = {reading.label for reading in board.readings}
    assert {"Judge (follows_prompt)", "Judge (visual_quality)"} <= labels, labels
    found = rushes.compare_runs(*(run.path for run in done.runs))
    outcomes = {one.reading.definition.param("question"): one.verdict for one in found.find("judge_grade")}
    # birch has weaker stripes, and no control shows that the judge sees that: a change, and no verdict
    assert outcomes["visual_quality"] == "moved" and outcomes["follows_prompt"] == "same"


def test_a_clip_that_cannot_be_read_is_a_row_with_its_reason(world, tmp_path):
    for name in ("p0", "p1"):
        make_clip(tmp_path / f"clips/{name}.mkv", int(name[1:]))
    (tmp_path / "clips/p2.mkv").write_bytes(b"no clip")
    done = judge_clips(
        tmp_path / "clips", judge=perfect, prompts=world / "prompts.csv", run=tmp_path / "run", repeats=1, **SMALL
    )
    broken = done.run.entries[2]
    assert "the clip cannot be read" in broken.subject.facts["error"]
    assert {m.value for m in broken.measurements} == {None}
    assert all(m.value in (0.0, None) for m in done.measurements if m.name == "judge_unanswered")


def test_clips_and_prompts_that_do_not_fit(world, tmp_path):
    told = []
    make_clip(tmp_path / "clips/p1-0.mkv", 1)
    make_clip(tmp_path / "clips/other.mkv", 1)
    judge_clips(
        tmp_path / "clips", judge=perfect, prompts=world / "prompts.csv", run=tmp_path / "r", warn=told.append, **SMALL
    )
    assert (
        told == [f"Skipped 1 clips without a prompt: {tmp_path / 'clips/other.mkv'}."] or "without a prompt" in told[0]
    )
    with pytest.raises(InputError, match="no clip belongs to a prompt"):
        judge_clips(tmp_path / "clips/other.mkv", judge=perfect, prompts=world / "prompts.csv", run=tmp_path / "x")
    with pytest.raises(InputError, match="pairs need two systems"):
        judged(world, tmp_path / "x", form="pairs")
    with pytest.raises(InputError, match="no two systems have a clip of the same name"):
        judge_clips({"a": tmp_path / "clips/p1-0.mkv", "b": tmp_path / "clips/other.mkv"}, judge=perfect, form="pairs")
    (tmp_path / "bare.csv").write_text("prompt_id\np1\n")
    with pytest.raises(InputError, match="prompt p1 has no text; expected a column prompt_text"):
        judge_clips(tmp_path / "clips/p1-0.mkv", judge=perfect, prompts=tmp_path / "bare.csv")
    with pytest.raises(InputError, match="questions are made from prompts"):
        judge_clips(world / "amber", judge=perfect, form="questions", run=tmp_path / "x")


def test_without_prompts_only_picture_and_motion_are_judged(world, tmp_path):
    done = judge_clips(world / "amber", judge=perfect, run=tmp_path / "run", repeats=1, **SMALL)
    names = {m.definition.param("question") for m in done.run.entries[0].measurements}
    assert names == {"temporal_quality", "visual_quality"}
    assert "nothing shows whether it sees degradations: none was planted" in done.words[0]


def test_a_program_is_a_judge(world, tmp_path):
    script = tmp_path / "judge.py"
    script.write_text(
        "import json, sys\n"
        "request = json.load(open(sys.argv[1]))\n"
        "assert len(request['parts'][1]['frames']) == 3 and open(request['parts'][1]['frames'][0], 'rb').read(2)\n"
        "print(json.dumps({'answer': 3, 'reason': 'always three'}))\n"
    )
    make_clip(tmp_path / "clips/p0.mkv", 0)
    spec = f"command:{sys.executable} {script} {{request}}"
    given = {"prompts": make_prompts(tmp_path / "prompts.csv", 1), "repeats": 1, "run": tmp_path / "run"}
    done = judge_clips(tmp_path / "clips", judge=spec, **given, **SMALL)
    assert [m.value for m in done.run.entries[0].measurements] == [3.0, 3.0, 3.0]
    assert done.words[0].startswith("Nothing shows whether this judge follows the prompt: no control was answered")
    before = done.run.entries[0].measurements[0].signature
    script.write_text(script.read_text() + "# another judge\n")
    again = judge_clips(tmp_path / "clips", judge=spec, **given | {"run": tmp_path / "again"}, **SMALL)
    assert again.run.entries[0].measurements[0].signature != before, "a changed script is another number"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("openai", "judge is openai:URL#MODEL"),
        ("openai:localhost#m", "reads http"),
        ("openai:http://u:p@host/v1#m", "not contain a user name or password"),
        ("openai:http://host/v1", "names the model after #"),
        ("command:nothing-like-it {request}", "no such program"),
        ("command:echo", "needs {request}"),
        ("python:no_such_module:f", "cannot be loaded"),
        ("python:json:__name__", "expected a function"),
        ("oracle:delphi", "no judge is called 'oracle'"),
    ],
)
def test_judges_that_cannot_work_are_refused(world, tmp_path, spec, words):
    with pytest.raises(InputError, match=words):
        judged(world, tmp_path / "run", spec)
