"""Every file of a run damaged in turn: a command that reads it says the same as ever, or names the file in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.damaged_runs import COMMANDS, Answer, findings, judge, make_suite

pytest.importorskip("pyarrow")
_SAID = Answer(0, "said", {}, "", "")
_QUICK = {
    ("measurements.jsonl", "cut"): ("compare", "board suite"),
    ("run.json", "removed"): ("board suite", "believe", "failures"),
    ("series/p0.npz", "removed"): ("verify",),
    ("series/p0.npz", "cut"): ("verify",),
}


@pytest.mark.parametrize(
    ("got", "wrong"),
    [
        (_SAID, ""),
        (Answer(1, "", {}, "rushes: a/run.json: is missing", ""), ""),
        (Answer(0, "something else", {}, "", ""), "another answer without a word"),
        (Answer(1, "", {}, "", "Traceback\nzlib.error: bad"), "a traceback: zlib.error: bad"),
        (Answer(1, "", {}, "it broke", ""), "another answer without a word"),
        (Answer(2, "", {}, "usage", ""), "a usage error"),
    ],
)
def test_only_the_same_answer_or_a_line_that_says_why_is_no_finding(got: Answer, wrong: str) -> None:
    found = judge("compare", "a/run.json", _SAID, got)
    assert found.startswith(wrong) and bool(found) == bool(wrong)


def test_some_files_damaged_under_some_commands(tmp_path: Path) -> None:
    def chosen(file: str, damage: str, command: str) -> bool:
        return command in _QUICK.get((file.removeprefix("amber/clip/"), damage), ())

    suite = make_suite(tmp_path / "material", shards=0)
    (tmp_path / "scratch").mkdir()
    answers = list(findings(suite, tmp_path / "scratch", flips=0, only=chosen))
    assert [str(one) for one in answers if one] == []
    assert len(answers) == sum(map(len, _QUICK.values()))


@pytest.mark.soak
@pytest.mark.parametrize("shards", [0, 3])
def test_every_file_damaged_under_every_command(tmp_path: Path, shards: int) -> None:
    suite = make_suite(tmp_path / "material", shards=shards)
    (tmp_path / "scratch").mkdir()
    answers = list(findings(suite, tmp_path / "scratch", flips=4))
    assert [str(one) for one in answers if one] == []
    assert len(answers) > 30 * len(COMMANDS)
