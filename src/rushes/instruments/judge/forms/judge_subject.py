"""The judge as a subject of its run: its numbers, and what a reader must know of its answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from rushes.core import Measurement
from rushes.instruments.judge.answers import grade, yes_no
from rushes.instruments.judge.asking.requests import Replies, Reply
from rushes.instruments.judge.forms.setup import Setup, Standings
from rushes.instruments.judge.questions import GRADES
from rushes.instruments.judge.templates import suspicious
from rushes.storage.runs import Entry, Subject

_NAMED = 20
"""Clips and prompts that are named; all are counted."""


def judge_entry(
    subject_id: str,
    kind: Literal["set", "study"],
    setup: Setup,
    replies: Replies,
    numbers: Sequence[Measurement],
    standings: Standings,
    texts: Mapping[str, str],
) -> Entry:
    """The last subject of a run."""
    versions = Counter(reply.version for reply in replies.found.values() if reply.version)
    facts: dict[str, object] = {
        "model": str(setup.judge.get("model", "")),
        "clips": len(setup.clips),
        "systems": len({clip.system for clip in setup.clips}),
        "requests": len(replies.found),
        "standing": {name: [source, str(found.standing)] for name, (found, source) in standings.items()},
        "versions": dict(versions),
    }
    if texts:
        facts["questions"] = dict(texts)
    facts |= {key: value for key, value in _remarks(setup, replies).items() if value}
    subject = Subject(id=subject_id, kind=kind, path=str(setup.judge.get("model", "judge")), sha256=None, facts=facts)
    return Entry(subject=subject, measurements=tuple(numbers))


def _remarks(setup: Setup, replies: Replies) -> dict[str, object]:
    """Prompts that read like instructions, and clips with the top mark for another clip's prompt."""
    top: list[str] = []
    obeyed: dict[str, list[float]] = {}
    for clip in setup.controlled():
        answers = replies.under("control", clip.key)
        values = [value for key, reply in answers.items() if len(key) == 3 and (value := _share(reply)) is not None]
        if values and clip.prompt:
            other = setup.wrong[clip.prompt.id]
            obeyed.setdefault(other.id, []).append(min(values))
            top += [clip.key] if min(values) == 1.0 and not suspicious(other.text) else []
    prompts = {clip.prompt.id: clip.prompt for clip in setup.clips if clip.prompt}
    found = []
    for prompt in prompts.values():
        if words := suspicious(prompt.text):
            seen = obeyed.get(prompt.id, [])
            row: dict[str, object] = {"prompt_id": prompt.id, "words": words}
            found.append(row | ({"unrelated_top": sum(value == 1.0 for value in seen), "unrelated": len(seen)}))
    return {"instructions": found[:_NAMED], "top_with_other_prompt": top[:_NAMED], "top_count": len(top)}


def _share(reply: Reply) -> float | None:
    """An answer to the control on a scale from 0 to 1: a grade, or yes and no."""
    if (value := grade(reply).value) is not None:
        return (value - 1) / (GRADES - 1)
    return yes_no(reply).value
