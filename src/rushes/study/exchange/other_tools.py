"""Votes for other annotation tools: Label Studio, Potato and FiftyOne. Paths are relative, as in every export.

label-studio    a list of tasks, one per sample, with `data` (prompt, video_a, video_b …) and one annotation per vote: a
                `choices` result called winner, a `choices` result called reasons, a `textarea` called rater. For a
                labelling configuration with <Video name="video_a" value="$video_a"/>, the same for b, and
                <Choices name="winner" toName="video_a">.
potato          one JSON line per vote, as Potato's annotated_instances.jsonl: user_id, instance_id, displayed_text,
                label_annotations by scheme and label.
fiftyone        one CSV row per clip, for `fiftyone.types.CSVDataset`: filepath, system, prompt, and how its votes went.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from rushes.core import canonical_line
from rushes.instruments.preference.tallies import votes_by_sample
from rushes.instruments.preference.votes import Vote
from rushes.study.exchange.files import csv_text, write_file
from rushes.study.exchange.formats import ExportFormat, StudyVotes

NO_CLIPS = "votes without two clips"
_CHOICES = {"a": "A", "b": "B", "tie": "Tie"}
_CLIP_COLUMNS = ("filepath", "clip", "system", "prompt_id", "prompt", "votes", "wins", "losses", "ties", "win_share")


def _with_clips(study: StudyVotes) -> tuple[list[Vote], int]:
    """Raw votes whose two clips are files, and how many are not."""
    clips, raw = study.clips(), [vote for vote in study.votes if vote.counts_in_results]
    kept = [vote for vote in raw if vote.clip_a in clips and vote.clip_b in clips]
    return kept, len(raw) - len(kept)


def _prompt(vote: Vote, prompts: Mapping[str, str]) -> str:
    return prompts.get(vote.prompt_key, prompts.get(vote.prompt, ""))


def _write_label_studio(out: Path, study: StudyVotes) -> int:
    votes, left_out = _with_clips(study)
    clips, prompts, tasks = study.clips(), study.prompts(), []
    for number, (sample, given) in enumerate(sorted(votes_by_sample(votes).items()), 1):
        first = given[0]
        data = {"sample": sample, "prompt": _prompt(first, prompts)}
        data |= {"video_a": clips[first.clip_a], "video_b": clips[first.clip_b]}
        data |= {"system_a": first.system_a, "system_b": first.system_b}
        tasks.append({"id": number, "data": data, "annotations": [_annotation(vote) for vote in given]})
    write_file(out, json.dumps(tasks, indent=1, ensure_ascii=False) + "\n")
    return left_out


def _annotation(vote: Vote) -> dict[str, object]:
    def result(name: str, kind: str, values: Sequence[str]) -> dict[str, object]:
        value = {"choices" if kind == "choices" else "text": list(values)}
        return {"id": name, "from_name": name, "to_name": "video_a", "type": kind, "value": value}

    found = [result("winner", "choices", [_CHOICES[vote.winner]]), result("rater", "textarea", [vote.rater])]
    tags = [tag for tag in (vote.primary_tag, *vote.secondary_tags) if tag]
    found += [result("reasons", "choices", tags)] if tags else []
    found += [result("note", "textarea", [vote.note])] if vote.note else []
    return {"result": found, "was_cancelled": False, "ground_truth": False}


def _write_potato(out: Path, study: StudyVotes) -> int:
    votes, left_out = _with_clips(study)
    prompts = study.prompts()
    write_file(out, "".join(canonical_line(_potato_line(vote, prompts, study.clips())) for vote in votes))
    return left_out


def _potato_line(vote: Vote, prompts: Mapping[str, str], clips: Mapping[str, str]) -> dict[str, object]:
    labels: dict[str, dict[str, object]] = {"winner": {_CHOICES[vote.winner]: True}}
    tags = [tag for tag in (vote.primary_tag, *vote.secondary_tags) if tag]
    labels |= {"reasons": dict.fromkeys(tags, True)} if tags else {}
    for name, both in vote.ratings.items():
        rated: dict[str, object] = {
            side: value for side, value in zip(("A", "B"), both, strict=True) if value is not None
        }
        labels |= {name: rated} if rated else {}
    return {
        "user_id": vote.rater,
        "instance_id": vote.sample,
        "displayed_text": _prompt(vote, prompts),
        "video_a": clips[vote.clip_a],
        "video_b": clips[vote.clip_b],
        "label_annotations": labels,
        "span_annotations": {},
    }


def _write_fiftyone(out: Path, study: StudyVotes) -> int:
    votes, left_out = _with_clips(study)
    clips, prompts = study.clips(), study.prompts()
    about: dict[str, dict[str, object]] = {}
    counts: dict[str, Counter[str]] = {}
    for vote in votes:
        for clip, system, side in ((vote.clip_a, vote.system_a, "a"), (vote.clip_b, vote.system_b, "b")):
            facts = {"clip": clip, "system": system, "prompt_id": vote.prompt, "prompt": _prompt(vote, prompts)}
            about.setdefault(clip, {"filepath": clips[clip], **facts})
            outcome = "ties" if vote.winner == "tie" else "wins" if vote.winner == side else "losses"
            counts.setdefault(clip, Counter())[outcome] += 1
    write_file(out, csv_text(_CLIP_COLUMNS, (about[clip] | _counted(counts[clip]) for clip in sorted(about))))
    return left_out


def _counted(count: Counter[str]) -> dict[str, object]:
    """
    >>> _counted(Counter(wins=2, ties=1, losses=1))["win_share"]
    0.625
    """
    share = (count["wins"] + count["ties"] / 2) / count.total()
    return {**{name: count[name] for name in ("wins", "losses", "ties")}, "votes": count.total(), "win_share": share}


LABEL_STUDIO = ExportFormat(
    title="Label Studio",
    text="Tasks with both clips and one annotation for each vote.",
    ending="json",
    media_type="application/json",
    write=_write_label_studio,
    left_out=NO_CLIPS,
)
POTATO = ExportFormat(
    title="Potato",
    text="One line per vote, as in Potato's annotated_instances.jsonl.",
    ending="jsonl",
    media_type="application/jsonl",
    write=_write_potato,
    left_out=NO_CLIPS,
)
FIFTYONE = ExportFormat(
    title="FiftyOne",
    text="One row per clip with its wins, losses and ties, for FiftyOne's CSVDataset.",
    ending="csv",
    write=_write_fiftyone,
    left_out=NO_CLIPS,
)
