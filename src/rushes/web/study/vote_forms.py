"""A rater's form: from the posted fields to a `VoteForm`, and back to what the template fills in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import cast

from starlette.datastructures import FormData

from rushes.instruments.preference.methods.method import COMPARISON
from rushes.instruments.preference.rubric import Rubric
from rushes.instruments.preference.votes import Fault
from rushes.study import ClipView, Task, VoteForm, WatchState
from rushes.study.raters.viewing import read_viewing
from rushes.study.records import SCREEN, Choice, ScreenSide

MOST_SECONDARY_TAGS_READ = 20
TAG_LETTERS = "CDEGHIJKMPQRUWXYZ"
"""Keys of the tags, in the rubric's order. The other letters: A, B, T choose; F, L, N, O, S, V are the player's."""


def read_vote(form: FormData) -> VoteForm:
    """The fields `winner`, `primary_tag`, `secondary_tags`, `ratings_a.KEY`, `ratings_b.KEY`, `note`, as posted.

    What is empty or not a number is left out; the service says what is missing.
    """
    winner, degree = str(form.get("winner", "")), None
    if len(winner) == 2 and winner[0] in "AB" and winner[1] in "123":  # "A2": A is better by two steps
        winner, degree = winner[0], int(winner[1])
    return VoteForm(
        winner=cast(Choice, winner) if winner in ("A", "B", "Tie") else None,
        degree=degree,
        best=_side(form, "best"),
        worst=_side(form, "worst"),
        faults=_faults(str(form.get("faults", ""))),
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
        if key.startswith(prefix) and isinstance(value, str) and value in _SCORES
    }


_SCORES = tuple(map(str, range(11)))
_LONGEST_FAULTS = 4000


def _side(form: FormData, name: str) -> ScreenSide | None:
    return next((side for side in SCREEN if side == form.get(name)), None)


def _faults(text: str) -> tuple[Fault, ...]:
    """Marks as the page sends them, [[side, ms, tag], …]; what cannot be read is none."""
    try:
        rows = json.loads(text) if text and len(text) <= _LONGEST_FAULTS else []
        return tuple(Fault(str(side), int(ms), str(tag)[:200]) for side, ms, tag in rows[:100])
    except (ValueError, TypeError, RecursionError, OverflowError, KeyError):
        return ()


def faults_text(form: VoteForm | None) -> str:
    """The marks of a form, as its page keeps them."""
    return json.dumps([[one.clip, one.ms, one.tag] for one in form.faults]) if form and form.faults else ""


COMPARED = tuple(zip(("A3", "A2", "A1", "Tie", "B1", "B2", "B3"), COMPARISON, strict=True))
"""The seven points: how B compares with A."""


def choices(task: Task) -> list[tuple[str, str, str]]:
    """What may be chosen of a pair: value, word or key of the word, and key on the keyboard."""
    asked = task.method
    if asked.degree:
        return [(value, word, str(k)) for k, (value, word) in enumerate(COMPARED, 1) if asked.tie or value != "Tie"]
    tie = ("Tie", "pair.tie" if task.tags or task.dimensions else "pair.same", "T")
    return [("A", "A", "A"), *([tie] if asked.tie else []), ("B", "B", "B")]


def trial_words(task: Task, form: VoteForm | None) -> dict[str, object]:
    """What the page of a trial is rendered with beside its data."""
    kept = form or task.draft
    chosen = "" if kept is None or kept.winner is None else f"{kept.winner}{kept.degree or ''}"
    return {
        "choices": choices(task),
        "chosen": chosen,
        "faults_text": faults_text(kept),
        "watched": {str(side): done for side, done in task.watch.passes.items()},
        "play_word": PLAY[task.method.name],
    }


PLAY = {
    "pairs": "play_both",
    "acr": "play_clip",
    "acr-hr": "play_clip",
    "dcr": "play_sequence",
    "best-worst": "play_all",
}
UNITS = {"pairs": "pair", "best-worst": "set"}
"""What a trial is called on a rater's pages; a clip where it is not here."""


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
