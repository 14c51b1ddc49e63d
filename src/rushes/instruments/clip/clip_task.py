"""One clip of a run: what a worker is given, what it measures, and what stands in the run of one that failed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from rushes.core.errors import DefinitionError
from rushes.instruments.clip.measure import ClipResult, digest, measure, unreadable
from rushes.instruments.clip.metrics import metrics_of
from rushes.instruments.clip.networks.prompts import ClipPrompt
from rushes.instruments.clip.settings import ClipSettings
from rushes.media.find.clips import Sound
from rushes.storage.remote.address import Place, RemoteFile
from rushes.storage.remote.errors import RemoteError, Unreachable
from rushes.storage.remote.transfer import local_copy
from rushes.storage.runs import Entry, Packed, RunWriter, Subject, pack
from rushes.storage.shards.build import ShardJob, build_shard
from rushes.storage.shards.index import Shard
from rushes.storage.shards.spool import SpoolPlace, Stored, keep
from rushes.workers.engine import Crash

Outcome: TypeAlias = Packed | Stored | Shard | Crash | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipTask:
    """One clip to measure; travels to a worker process."""

    subject_id: str
    path: str
    sound: Sound
    settings: ClipSettings
    prompt: ClipPrompt = ClipPrompt()
    spool: SpoolPlace | None = None


def prepare() -> None:
    """Load what every clip is measured with, once for all workers that are forked afterwards."""
    metrics_of(0)


def files_of(task: ClipTask | ShardJob) -> tuple[str | None, ...]:
    """What a worker reads for a task."""
    if isinstance(task, ShardJob):
        return ()
    faces = task.settings.faces
    networks = (str(file) for manifest in task.settings.networks for file in manifest.files)
    return (task.path, task.sound.path, *(() if faces is None else (faces.model, faces.weights)), *networks)


def work(task: ClipTask | ShardJob) -> Packed | Stored | Shard | None:
    """A clip measured, or a shard built of clips that were."""
    if isinstance(task, ShardJob):
        return build_shard(task)
    try:
        packed = packed_result(task.subject_id, measured(task.path, task.sound, task.settings, task.prompt))
    except DefinitionError as error:  # a damaged clip gave a number that cannot be: its own row, not the batch's end
        packed = crashed(task, Crash(f"gave an impossible value ({error})"))
    return keep(packed, task.spool)


def measured(path: str, sound: Sound, settings: ClipSettings, prompt: ClipPrompt) -> ClipResult:
    """The clip's result; copies of objects of a store live as long as the measuring does.

    An object that is gone or may not be read gives an unreadable result with the reason, and so does a store that does
    not answer; that one is marked `given_up`, so that the next run tries again.
    """
    try:
        with ExitStack() as stack:
            places = [place for place in (path, sound.path) if place is not None]
            copies = {place: stack.enter_context(local_copy(place)) for place in places}
            files = {place: str(copy.path) for place, copy in copies.items()}
            result = measure(path, settings, audio=sound.path, audio_missing=sound.missing, prompt=prompt, copies=files)
    except RemoteError as error:
        failed = unreadable(path, str(error), settings)
        return failed.with_facts(given_up=True) if isinstance(error, Unreachable) else failed
    objects = {"remote": copies[path].file, "audio_remote": copies[sound.path].file if sound.path else None}
    texts = {"prompt": prompt.text, "script": prompt.script}
    asked = {key: text for key, text in texts.items() if text}
    return result.with_facts(**asked, **{key: file.facts() for key, file in objects.items() if file is not None})


def without_culprits(task: ClipTask | ShardJob, outcome: Outcome, again: Callable[..., Any]) -> Outcome:
    """A clip whose worker ended in another package's metric, measured once more without it: its fault, not the clip's.

    The metric has no value there, and its note says what happened. A second metric may fail likewise.
    """
    while isinstance(outcome, Crash) and isinstance(task, ClipTask) and outcome.at in task.settings.metrics:
        note = f"{outcome.at} failed: {outcome.reason}"
        settings = replace(task.settings, given_up=(*task.settings.given_up, (outcome.at, note)))
        task = replace(task, settings=settings)
        ((_, outcome),) = again([task])
    return outcome


def crashed(task: ClipTask, crash: Crash) -> Packed:
    """The row of a clip that could not be measured; the next run tries it again."""
    result = unreadable(task.path, crash.reason, task.settings)
    return packed_result(task.subject_id, result.with_facts(given_up=True))


def packed_result(subject_id: str, result: ClipResult) -> Packed:
    """A clip's entry as bytes, as the writer takes it."""
    return pack(entry_of(subject_id, result))


def entry_of(subject_id: str, result: ClipResult) -> Entry:
    """A clip's result as a run has it, under this id."""
    subject = Subject(
        id=subject_id,
        kind="clip",
        path=result.path,
        sha256=result.sha256,
        facts=result.facts,
        badge=result.badge,
        why=result.badge_detail.why,
    )
    return Entry(subject=subject, measurements=result.measurements, series=result.series)


def is_finished(writer: RunWriter, subject_id: str, clip: Place, sound: Sound, prompt: ClipPrompt) -> bool:
    """Whether an earlier run measured this very content under this id; of objects, told by their listings alone."""
    row = writer.finished(subject_id)
    if row is None or (isinstance(clip, RemoteFile) and not row.get("sha256")):
        return False
    facts = row.get("facts")
    if not isinstance(facts, dict) or facts.get("given_up"):  # given up: another time, or a wider limit, may end better
        return False
    if isinstance(clip, RemoteFile):
        same_clip = facts.get("remote") == clip.facts()
    else:
        same_clip = row.get("sha256") == digest(str(clip))
    if sound.remote is not None:
        same_sound = facts.get("audio") == sound.path and facts.get("audio_remote") == sound.remote.facts()
    else:
        same_sound = facts.get("audio_sha256") == (digest(sound.path) if sound.path else None)
    same_texts = (facts.get("prompt", ""), facts.get("script", "")) == (prompt.text, prompt.script)
    return bool(same_clip and same_sound and same_texts)
