"""A rater's form: from the posted fields to a `VoteForm`, and back to what the template fills in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import cast

from starlette.datastructures import FormData

from rushes.instruments.preference.rubric import Rubric
from rushes.study import ClipView, Task, VoteForm, WatchState
from rushes.study.raters.viewing import read_viewing
from rushes.study.records import Choice

MOST_SECONDARY_TAGS_READ = 20
TAG_LETTERS = "CDEGHIJKMPQRUWXYZ"
"""Keys of the tags, in the rubric's order. The other letters: A, B, T choose; F, L, N, O, S, V are the player's."""


def read_vote(form: FormData) -> VoteForm:
    """The fields `winner`, `primary_tag`, `secondary_tags`, `ratings_a.KEY`, `ratings_b.KEY`, `note`, as posted.

    What is empty or not a number is left out; the service says what is missing.
    """
    winner = str(form.get("winner", ""))
    return VoteForm(
        winner=cast(Choice, winner) if winner in ("A", "B", "Tie") else None,
        primary_tag=str(form.get("primary_tag", "")) or None,
        secondary_tags=tuple(str(tag) for tag in form.getlist("secondary_tags"))[:MOST_SECONDARY_TAGS_READ],
        ratings_a=_ratings(form, "ratings_a."),
        ratings_b=_ratings(form, "ratings_b."),
        note=str(form.get("note", "")).replace("\r\n", "\n").replace("\0", ""),
        viewing=read_viewing(str(form.get("viewing", ""))),
    )


def _ratings(form: FormData, prefix: str) -> dict[str, int]:
    return {
        key.removeprefix(prefix): int(value)
        for key, value in form.multi_items()
        if key.startswith(prefix) and isinstance(value, str) and value in ("1", "2", "3", "4", "5")
    }


def vote_data(form: VoteForm | None) -> dict[str, object]:
    """The form as plain data, the shape the templates and the JSON view use."""
    kept = asdict(form or VoteForm())
    del kept["viewing"]
    return kept


def tag_keys(task: Task) -> dict[str, str]:
    """The letter beside each tag; tags beyond the last letter have none."""
    return dict(zip(task.tags, TAG_LETTERS, strict=False))


def task_data(task: Task, rubric: Rubric, *, form: VoteForm | None = None) -> dict[str, object]:
    """A task as plain data: what a rater's page may know, and not one thing more.

    The task family is not in it: "identity" above a pair tells a rater what to look for. Nor are a clip's size, length
    and frame rate, which tell systems apart: both clips are shown in one frame, and stepped by one rate.
    """
    shown = [clip for clip in task.clips.values() if not clip.refused]
    return {
        "assignment": task.assignment,
        "training": task.training,
        "number": task.number,
        "total": task.total,
        "prompt": task.prompt,
        "clips": {side: _clip_data(clip) for side, clip in task.clips.items()},
        "method": task.method.name,
        "fault_tags": list(task.fault_tags),
        "frame": _frame(shown),
        "fps": max((clip.fps for clip in shown), default=0.0),
        "source": None
        if task.source is None
        else _clip_data(task.source) | {"address": f"/rate/source/{task.assignment}"},
        "dimensions": [
            {"key": d.key, "label": d.label, "anchors": [[score, text] for score, text in d.anchors]}
            for d in rubric.dimensions
            if d.key in task.dimensions
        ],
        "tag_groups": [
            {"label": group.label, "tags": [tag for tag in group.tags if tag in task.tags]}
            for group in rubric.tag_groups
            if any(tag in task.tags for tag in group.tags)
        ],
        "watch": watch_data(task.watch),
        "form": vote_data(form or task.draft),
        "session_minutes": task.session_minutes,
        "has_voted": task.has_voted,
    }


def _clip_data(clip: ClipView) -> dict[str, object]:
    address = "" if clip.refused else f"/media/{clip.token}"
    return {"address": address, "has_audio": clip.has_audio, "refused": clip.refused}


_WIDE, _TALL = 1.2, 1 / 1.2


def _frame(clips: Sequence[ClipView]) -> str:
    """The one frame that both clips are shown in, after the wider of the two: wide, square or tall."""
    shape = max((clip.width / clip.height for clip in clips if clip.height), default=_WIDE)
    return "wide" if shape >= _WIDE else "square" if shape >= _TALL else "tall"


def watch_data(watch: WatchState) -> dict[str, object]:
    return {
        **{str(side): done for side, done in watch.passes.items()},
        "required": watch.required,
        "share": dict(watch.shares),
        "complete": watch.complete,
        "text": watch.text,
        "not_credited": list(watch.not_credited),
    }
