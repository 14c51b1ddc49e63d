"""Preference pairs for training (DPO): one JSON line per sample with `prompt`, `chosen`, `rejected`.

A sample counts when more than half of its raw votes chose one system. An adjudicator's label takes part only when it
is asked for, and its line says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from rushes.core import canonical_line
from rushes.core.errors import InputError
from rushes.instruments.preference.tallies import votes_by_sample
from rushes.instruments.preference.votes import Vote
from rushes.study.exchange.files import write_file
from rushes.study.exchange.formats import ExportFormat, StudyVotes


def write_dpo(
    path: Path | str,
    votes: Iterable[Vote],
    *,
    prompts: Mapping[str, str],
    clips: Mapping[str, str] | None = None,
    use_adjudicated: bool = False,
) -> int:
    """Write the pairs; returns how many samples were left out for want of a majority.

    `prompts` gives the text by `Vote.prompt_key` (task family and prompt id, "T1/p01") or, where the ids alone tell
    prompts apart, by prompt id; `clips` a path by clip id (else the id itself is written).
    """
    given = tuple(votes)
    labels = {vote.sample: vote for vote in given if vote.adjudicated and not vote.is_gold} if use_adjudicated else {}
    samples = votes_by_sample(given)
    lines, left_out = [], 0
    for sample in sorted(samples.keys() | labels.keys()):
        decision = labels.get(sample) or _majority(samples[sample])
        if decision is None or decision.winner == "tie":
            left_out += 1
            continue
        lines.append(canonical_line(_pair(decision, samples.get(sample, []), prompts, clips or {})))
    write_file(path, "".join(lines))
    return left_out


def _majority(votes: list[Vote]) -> Vote | None:
    winner, most = Counter(vote.winner for vote in votes).most_common(1)[0]
    if 2 * most <= len(votes):
        return None
    return next(vote for vote in votes if vote.winner == winner)


def _pair(decision: Vote, votes: list[Vote], prompts: Mapping[str, str], clips: Mapping[str, str]) -> dict[str, object]:
    text = prompts.get(decision.prompt_key, prompts.get(decision.prompt))
    if text is None:
        raise InputError(f"sample {decision.sample}: no text for prompt {decision.prompt_key!r}; add it to the prompts")
    if not decision.clip_a or not decision.clip_b:
        raise InputError(f"sample {decision.sample}: its clips are not known, so there is nothing to choose from")
    a, b = (clips.get(clip, clip) for clip in (decision.clip_a, decision.clip_b))
    return {
        "prompt": text,
        "chosen": a if decision.winner == "a" else b,
        "rejected": b if decision.winner == "a" else a,
        "sample": decision.sample,
        "votes": len(votes),
        "votes_for_chosen": sum(vote.winner == decision.winner for vote in votes),
        "label": "adjudicated" if decision.adjudicated else "majority",
    }


def _write(out: Path, study: StudyVotes) -> int:
    return write_dpo(out, study.votes, prompts=study.prompts(), clips=study.clips(), use_adjudicated=study.adjudicated)


FORMAT = ExportFormat(
    title="DPO pairs",
    text="prompt, chosen, rejected: one line per sample with a majority.",
    ending="jsonl",
    media_type="application/jsonl",
    write=_write,
    left_out="no majority, or a tie",
    decisions=True,
)
