"""Film strips of a suite's clips: rows are systems, beside the reference, at the same moments of each clip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from rushes.compare.board.page.clips import ClipIndex, ClipKey, frame_count, rows_by_disagreement
from rushes.compare.figures.figure import PaperFigure, Value
from rushes.compare.paper.evaluation import Evaluation
from rushes.core.errors import InputError
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.words.suggest import did_you_mean
from rushes.instruments.clip.frames.film_strips import StripTask, take_strips
from rushes.media import MediaFacts
from rushes.present.charts.strip_sheet import FRAMES, StripGroup, StripRow, strips_svg
from rushes.present.pages.film_strips import Strip
from rushes.present.tables.fitting import Width
from rushes.workers.engine import worker_count

SIDE = 320
"""Pixels of a frame's longer side: sharp in print."""
_PROMPTS = 3
"""Prompts that are shown where nobody chose: those on which the systems differ most."""
_HEADER = ("prompt", "prompt_text", "system", "clip", "frame", "time_s")


def strips(
    evaluation: Evaluation,
    width: Width,
    prompts: Sequence[str],
    *,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> PaperFigure:
    """A group of rows per prompt; the reference stands first."""
    data = evaluation.data
    chosen = _chosen(evaluation, prompts)
    reference = [data.reference] if data.reference else []
    keys = [
        (name, prompt)
        for prompt in chosen
        for name in (*reference, *evaluation.systems)
        if (name, prompt) in data.clips
    ]
    taken = clip_strips(evaluation, keys, frames=FRAMES[width], jobs=jobs, progress=progress)
    texts = {prompt.id: prompt.text for prompt in data.prompts}
    groups = [
        StripGroup(
            title=texts[prompt] or prompt,
            rows=[strip_row(evaluation, key, taken[key]) for key in keys if key[1] == prompt],
        )
        for prompt in chosen
    ]
    rows: list[tuple[Value, ...]] = [
        (
            prompt,
            texts[prompt],
            name,
            PurePosixPath(data.clips[name, prompt].path).name,
            f.frame,
            round(f.time_ms / 1000, 4),
        )
        for name, prompt in keys
        for f in taken[name, prompt].frames
    ]
    return PaperFigure(
        kind="strips",
        caption=f"{FRAMES[width]} frames of each clip, evenly over its length; rows are systems"
        + (f", {data.reference} is the reference." if data.reference else "."),
        svg=strips_svg(groups, width),
        header=_HEADER,
        rows=tuple(rows),
        notes=tuple(f"{name}, {prompt}: {strip.missing}" for (name, prompt), strip in taken.items() if strip.missing),
    )


def clip_strips(
    evaluation: Evaluation,
    keys: Sequence[ClipKey],
    *,
    frames: int,
    side: int = SIDE,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> dict[ClipKey, Strip]:
    """Strips of these clips, by system and prompt; one that is gone says so."""
    index = ClipIndex(evaluation.data)
    tasks = {key: _task(index, key, frames, side) for key in dict.fromkeys(keys)}
    return take_strips(tasks, jobs=jobs or worker_count(), progress=progress)


def strip_row(evaluation: Evaluation, key: ClipKey, strip: Strip, *, below: str = "", name: str = "") -> StripRow:
    media = MediaFacts.in_facts(evaluation.data.clips[key].facts)
    video = media.video if media is not None else None
    aspect = video.width / video.height if video is not None and video.width and video.height else 16 / 9
    return StripRow(name=name or key[0], below=below, strip=strip, aspect=aspect)


def even_frames(total: int, many: int) -> tuple[int, ...]:
    """So many frames evenly over a clip, the first and the last among them.

    >>> even_frames(33, 5), even_frames(2, 5), even_frames(0, 5)
    ((0, 8, 16, 24, 32), (0, 1), (0,))
    """
    last = max(total - 1, 0)
    return tuple(sorted({round(n * last / max(many - 1, 1)) for n in range(many)}))


def _task(index: ClipIndex, key: ClipKey, frames: int, side: int) -> StripTask:
    entry = index.entry(key)
    return StripTask(
        candidates=index.candidates(key),
        sha256=entry.subject.sha256 if entry else None,
        canon=entry.subject.canon if entry else None,
        frames=even_frames(frame_count(index.clip(key)), frames),
        side=side,
    )


def _chosen(evaluation: Evaluation, prompts: Sequence[str]) -> list[str]:
    known: Mapping[str, str] = {prompt.id: prompt.text for prompt in evaluation.data.prompts}
    if not known:
        raise InputError(f"{evaluation.source} has no clips to show")
    for name in prompts:
        if name not in known:
            raise InputError(f"no prompt is called {name!r}{did_you_mean(name, known, otherwise='')}")
    if prompts:
        return list(dict.fromkeys(prompts))
    order = rows_by_disagreement(evaluation.data)[:_PROMPTS]
    return [evaluation.data.prompts[place].id for place in order]
