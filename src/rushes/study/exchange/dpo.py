"""Preference pairs for training (DPO): one JSON line per sample with `prompt`, `chosen`, `rejected`.

A sample counts when more than half of its raw votes chose one system. An adjudicator's decision stands for its sample
only when it is asked for, and its line says so. A line always names two clips that exist: a sample without them (a
system refused, or its votes came in a file without clips) is left out and counted. Paths are relative to the folder
that holds all clips, so that file and clips can be moved together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from rushes.core import canonical_line
from rushes.core.errors import InputError
from rushes.instruments.preference.tallies import votes_by_sample
from rushes.instruments.preference.votes import Vote
from rushes.study.exchange.files import write_file
from rushes.study.exchange.formats import ExportFormat, StudyVotes

NO_MAJORITY = "no majority, or a tie"
REFUSED = "a system refused, so there is no clip to choose or to reject"
NO_CLIPS = "votes from a ratings file, without clips"


def _write(out: Path, study: StudyVotes) -> Counter[str]:
    """Write the pairs; returns how many samples were left out, by reason."""
    decided = [vote for vote in study.votes if vote.adjudicated and not vote.is_gold]
    labels = {vote.sample: vote for vote in decided} if study.adjudicated else {}
    samples = votes_by_sample(study.votes)
    prompts, clips, refused = study.prompts(), study.clips(), study.refused()
    lines: list[str] = []
    left_out: Counter[str] = Counter()
    for sample in sorted(samples.keys() | labels.keys()):
        decision = labels.get(sample) or _majority(samples[sample])
        if decision is None or decision.winner == "tie":
            left_out[NO_MAJORITY] += 1
        elif not decision.clip_a or not decision.clip_b:
            left_out[NO_CLIPS] += 1
        elif decision.clip_a in refused or decision.clip_b in refused:
            left_out[REFUSED] += 1
        else:
            lines.append(canonical_line(_pair(decision, samples.get(sample, []), prompts, clips)))
    write_file(out, "".join(lines))
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


FORMAT = ExportFormat(
    title="DPO pairs",
    text="prompt, chosen, rejected: one line per sample with a majority and two clips.",
    ending="jsonl",
    media_type="application/jsonl",
    write=_write,
    left_out="no majority, a tie, or no clip",
    decisions=True,
)
