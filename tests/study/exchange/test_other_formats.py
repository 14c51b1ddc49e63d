"""Arena, pwcmp and DPO."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from rushes.core.errors import InputError
from rushes.instruments.preference.votes import Side, Vote, Winner
from rushes.study.exchange import FORMATS, StudyVotes, write_arena, write_pwcmp


def vote(sample: str, winner: Winner, rater: str, left: Side | None = "a", **more: object) -> Vote:
    first, second = ("y", "x") if left == "b" else ("x", "y")
    wanted = {"a": "x", "b": "y"}.get(winner)
    return Vote.seen(
        sample=sample,
        left=first,
        right=second,
        choice="tie" if wanted is None else "left" if wanted == first else "right",
        rater=rater,
        side_known=left is not None,
        left_clip=f"clip-{first}-{sample}",
        right_clip=f"clip-{second}-{sample}",
        prompt=f"p{sample}",
        **more,
    )


VOTES = [
    vote("1", "a", "r1", "a"),
    vote("1", "a", "r2", "b"),
    vote("2", "b", "r1", "b"),
    vote("2", "tie", "r2", None),
    vote("2", "b", "admin", "a", adjudicated=True),
    vote("3", "b", "r1", "b"),
    vote("4", "a", "r1", "b", is_gold=True),
]
PROMPTS = {"p1": "a cat", "p2": "a dog", "p3": "a hat"}


def write_dpo(path: Path, votes: list[Vote], *, prompts, clips=None, refused=(), adjudicated: bool = False) -> int:
    """Write DPO pairs of these votes; returns how many samples were left out."""
    files = clips or {}
    known = {one: files.get(one, one) for vote in votes for one in (vote.clip_a, vote.clip_b)}
    given = StudyVotes(
        votes=votes, prompts=lambda: prompts, clips=lambda: known, refused=lambda: refused, adjudicated=adjudicated
    )
    left = FORMATS["dpo"].write(path, given)
    return left if isinstance(left, int) else sum(left.values())


def rows(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_arena_has_the_left_side_as_model_a(tmp_path: Path) -> None:
    found = rows(write_arena(tmp_path / "arena.csv", VOTES))
    assert [(r["model_a"], r["model_b"], r["winner"]) for r in found] == [
        ("x", "y", "model_a"),
        ("y", "x", "model_b"),
        ("y", "x", "model_a"),
        ("x", "y", "tie"),
        ("y", "x", "model_a"),
    ]
    assert (found[0]["judge"], found[0]["question_id"]) == ("r1", "p1")


def test_pwcmp_has_no_ties_and_says_how_many_it_lost(tmp_path: Path) -> None:
    assert write_pwcmp(tmp_path / "pw.csv", VOTES) == 1
    assert rows(tmp_path / "pw.csv")[0] == {
        "observer": "r1",
        "scene": "p1",
        "condition_A": "x",
        "condition_B": "y",
        "selected_A": "1",
    }
    assert [r["selected_A"] for r in rows(tmp_path / "pw.csv")] == ["1", "1", "0", "0"]


def test_dpo_takes_majorities(tmp_path: Path) -> None:
    assert write_dpo(tmp_path / "dpo.jsonl", VOTES, prompts=PROMPTS) == 1  # sample 2 has no majority
    found = [json.loads(line) for line in (tmp_path / "dpo.jsonl").read_text().splitlines()]
    assert [(r["prompt"], r["chosen"], r["rejected"], r["label"]) for r in found] == [
        ("a cat", "clip-x-1", "clip-y-1", "majority"),
        ("a hat", "clip-y-3", "clip-x-3", "majority"),
    ]
    assert (found[0]["votes"], found[0]["votes_for_chosen"]) == (2, 2)


def test_dpo_takes_adjudications_only_when_asked_and_says_so(tmp_path: Path) -> None:
    clips = {"clip-y-2": "y/dog.mp4"}
    assert write_dpo(tmp_path / "dpo.jsonl", VOTES, prompts=PROMPTS, clips=clips, adjudicated=True) == 0
    second = json.loads((tmp_path / "dpo.jsonl").read_text().splitlines()[1])
    assert (second["chosen"], second["rejected"], second["label"]) == ("y/dog.mp4", "clip-x-2", "adjudicated")
    assert (second["votes"], second["votes_for_chosen"]) == (2, 1)


def test_dpo_needs_prompt_texts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no text for prompt 'p1'"):
        write_dpo(tmp_path / "dpo.jsonl", VOTES, prompts={})


def test_a_dpo_line_always_names_two_clips_that_exist(tmp_path: Path) -> None:
    """Left out and counted: samples whose votes came without clips, and samples with a refusal on either side."""
    bare = Vote(sample="s", system_a="x", system_b="y", winner="a", rater="r", prompt="p1")
    assert write_dpo(tmp_path / "dpo.jsonl", [*VOTES, bare], prompts=PROMPTS) == 2  # and sample 2, as above
    refused = {"clip-y-1", "clip-y-3"}  # the rejected one of sample 1, the chosen one of sample 3
    assert write_dpo(tmp_path / "dpo.jsonl", VOTES, prompts=PROMPTS, refused=refused) == 3
    assert (tmp_path / "dpo.jsonl").read_text() == ""


def test_two_tasks_that_count_their_prompts_from_one_stay_two(tmp_path: Path) -> None:
    # T1_p01 and T2_p01, the documented naming, are two prompts with two texts.
    both = [
        Vote(
            sample=f"{task}_p01",
            system_a="x",
            system_b="y",
            winner="a",
            rater="r",
            family=task,
            prompt="p01",
            clip_a=f"x/{task}",
            clip_b=f"y/{task}",
        )
        for task in ("T1", "T2")
    ]
    assert [r["question_id"] for r in rows(write_arena(tmp_path / "arena.csv", both))] == ["T1/p01", "T2/p01"]
    write_pwcmp(tmp_path / "pw.csv", both)
    assert [r["scene"] for r in rows(tmp_path / "pw.csv")] == ["T1/p01", "T2/p01"]
    write_dpo(tmp_path / "dpo.jsonl", both, prompts={"T1/p01": "a cat", "T2/p01": "a dog"})
    found = [json.loads(line) for line in (tmp_path / "dpo.jsonl").read_text().splitlines()]
    assert [r["prompt"] for r in found] == ["a cat", "a dog"]


def test_formulas_in_names_are_made_harmless(tmp_path: Path) -> None:
    evil = Vote(sample="s", system_a="=cmd()", system_b="@y", winner="a", rater="+r")
    for write, name in ((write_arena, "a.csv"), (write_pwcmp, "p.csv")):
        write(tmp_path / name, [evil])
        cells = [cell for row in rows(tmp_path / name) for cell in row.values()]
        assert not any(cell.startswith(("=", "+", "@", "-")) for cell in cells)
