"""`rushes clip` in Python: one clip, or many into a run; resumable, the same bytes for any number of workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from rushes.clip.faces import Tier
from rushes.clip.measure import ClipResult, digest, measure, unreadable
from rushes.clip.profile import Profile
from rushes.clip.settings import ClipSettings
from rushes.core.canonical import canonical_json
from rushes.core.progress import Progress, no_progress
from rushes.core.provenance import bytes_digest
from rushes.errors import DefinitionError, InputError
from rushes.media.audio import require_sound
from rushes.media.find import Paths, Sound, find_clips, match_audio
from rushes.remote.address import Place, RemoteFile, is_remote
from rushes.remote.errors import RemoteError, Unreachable
from rushes.remote.store import stat
from rushes.remote.transfer import local_copy, remove_orphans
from rushes.runs import Entry, Packed, Run, RunWriter, Subject, clip_paths, open_run, pack, read_run, subject_ids
from rushes.workers.engine import LOCAL, Crash, Engine, run_tasks


def evaluate_clip(
    path: Path | str,
    *,
    audio: Path | str | None = None,
    tier: Tier = 0,
    profile: str | Path | Profile = "general",
    metrics: Iterable[str] = (),
    motion: bool = False,
    face_model: Path | str | None = None,
    syncnet_weights: Path | str | None = None,
    canon: bool = False,
) -> ClipResult:
    """Measure one clip: MetricBundleV1 up to `tier`, and its review signal under `profile`.

    A clip that cannot be read is a result too (decode_ok false, badge reject, the reason in the notes); only a path
    that does not exist raises `InputError`. `audio` is a sound file to hold the picture against, in place of the
    clip's own track. `metrics` names metrics of installed packages to measure as well; those that a rule of the profile
    names are measured anyway. `motion` adds what needs optical flow; a rule about it does so by itself. Tier 1 adds
    faces (`face_model`: a 478-point `.task` bundle in place of the pinned models), tier 2 SyncNet (`syncnet_weights`:
    syncnet_v2.model). `canon` measures the canonical form of the clip, as `canonicalize` makes it (with `audio` as its
    sound), in place of the file as it is.
    """
    settings = ClipSettings.load(
        tier=tier,
        profile=profile,
        metrics=metrics,
        motion=motion,
        face_model=face_model,
        syncnet_weights=syncnet_weights,
        canon=canon,
    )
    _require(path, "no such file", Path(path).exists)
    if audio is not None:
        _require(audio, "no such audio file", Path(audio).is_file)
        _require_sound(audio)
    return _measured(str(path), Sound(None if audio is None else str(audio)), settings)


def _require(given: Path | str, fault: str, is_here: Callable[[], bool]) -> None:
    """Raise where there is no such file or object."""
    if is_remote(given):
        stat(str(given))
    elif not is_here():
        raise InputError(f"{given}: {fault}")


def _require_sound(audio: Path | str) -> None:
    """Raise where one sound for every clip cannot be heard; an object of a store is found out when it is fetched."""
    if not is_remote(audio) and Path(audio).is_file():
        require_sound(audio)


def evaluate_clips(
    paths: Paths | Run,
    *,
    run: Path | str | None = None,
    audio: Path | str | None = None,
    tier: Tier = 0,
    profile: str | Path | Profile = "general",
    metrics: Iterable[str] = (),
    motion: bool = False,
    face_model: Path | str | None = None,
    syncnet_weights: Path | str | None = None,
    canon: bool = False,
    jobs: int | None = None,
    timeout: float | None = None,
    memory_mb: int | None = None,
    engine: Engine = LOCAL,
    progress: Progress = no_progress,
) -> Run:
    """Measure files, folders and globs, one or several, here or in a store (`s3://`, `gs://`), into a run; return it.

    A `Run` in place of paths measures its clips again, under other settings.

    `run` defaults to `runs/clip-<digest of the question>`, so that the same call continues the same run. `audio` is one
    sound file for every clip, or a folder with one file per clip, matched by stem. `metrics`, `motion`, `face_model`,
    `syncnet_weights` and `canon` are as in `evaluate_clip`. `jobs` defaults to the cores, to those of the cluster where
    `engine` is Ray. A clip finished earlier, with the same content and settings, is not measured again; one that cannot
    be read, that crashes the decoder, that takes longer than `timeout` seconds or whose worker holds more than
    `memory_mb` megabytes is a `reject` row with its reason. Clips given up for a crash or a limit are tried again by
    the next call.
    """
    settings = ClipSettings.load(
        tier=tier,
        profile=profile,
        metrics=metrics,
        motion=motion,
        face_model=face_model,
        syncnet_weights=syncnet_weights,
        canon=canon,
    )
    clips = find_clips(clip_paths(paths))
    sounds = match_audio(clips, audio)
    if audio is not None:
        _require_sound(audio)
    ids, names = subject_ids([clip.stem for clip in clips]), [str(clip) for clip in clips]
    target = run if run is not None else _default_run(settings.as_dict(), names)
    with open_run(target, instrument="clip", settings=settings.as_dict(), inputs=names) as writer:
        todo = [n for n, clip in enumerate(clips) if not _is_finished(writer, ids[n], clip, sounds[n])]
        tasks = [_Task(subject_id=ids[n], path=names[n], sound=sounds[n], settings=settings) for n in todo]
        done = len(clips) - len(todo)
        progress(done, len(clips), "clips")
        outcomes = run_tasks(
            _work, tasks, engine=engine, jobs=jobs, timeout=timeout, memory_mb=memory_mb, needs=_Task.files
        )
        for finished, (position, outcome) in enumerate(outcomes, done + 1):
            writer.add(_crashed(tasks[position], outcome) if isinstance(outcome, Crash) else outcome)
            progress(finished, len(clips), "clips")
        writer.finish(ids)
    remove_orphans()  # what a worker that was stopped in the middle of a copy or a canonical form left behind
    return read_run(target)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """One clip to measure; travels to a worker process."""

    subject_id: str
    path: str
    sound: Sound
    settings: ClipSettings

    def files(self) -> tuple[str | None, ...]:
        """What a worker reads for it."""
        faces = self.settings.faces
        models = (None, None) if faces is None else (faces.model, faces.weights)
        return (self.path, self.sound.path, *models)


def _work(task: _Task) -> Packed:
    try:
        return _packed(task.subject_id, _measured(task.path, task.sound, task.settings))
    except DefinitionError as error:  # a damaged clip gave a number that cannot be: its own row, not the batch's end
        return _crashed(task, Crash(f"gave an impossible value ({error})"))


def _measured(path: str, sound: Sound, settings: ClipSettings) -> ClipResult:
    if is_remote(path) or is_remote(sound.path):
        return _measured_copy(path, sound, settings)
    return measure(path, settings, audio=sound.path, audio_missing=sound.missing)


def _measured_copy(path: str, sound: Sound, settings: ClipSettings) -> ClipResult:
    """The same for objects of a store; their copies live as long as the measuring does.

    An object that is gone or may not be read gives an unreadable result with the reason, and so does a store that does
    not answer; that one is marked `given_up`, so that the next run tries again.
    """
    try:
        with ExitStack() as stack:
            places = [place for place in (path, sound.path) if place is not None]
            copies = {place: stack.enter_context(local_copy(place)) for place in places}
            files = {place: str(copy.path) for place, copy in copies.items()}
            result = measure(path, settings, audio=sound.path, audio_missing=sound.missing, copies=files)
    except RemoteError as error:
        failed = unreadable(path, str(error), settings)
        return _with_facts(failed, {"given_up": True}) if isinstance(error, Unreachable) else failed
    objects = {"remote": copies[path].file, "audio_remote": copies[sound.path].file if sound.path else None}
    return _with_facts(result, {key: file.facts() for key, file in objects.items() if file is not None})


def _with_facts(result: ClipResult, more: Mapping[str, object]) -> ClipResult:
    return replace(result, facts=dict(result.facts) | dict(more))


def _crashed(task: _Task, crash: Crash) -> Packed:
    result = unreadable(task.path, crash.reason, task.settings)
    return _packed(task.subject_id, _with_facts(result, {"given_up": True}))


def _packed(subject_id: str, result: ClipResult) -> Packed:
    subject = Subject(
        id=subject_id,
        kind="clip",
        path=result.path,
        sha256=result.sha256,
        facts=result.facts,
        badge=result.badge,
        reasons=result.reasons,
    )
    return pack(Entry(subject=subject, measurements=result.measurements, series=result.series))


def _is_finished(writer: RunWriter, subject_id: str, clip: Place, sound: Sound) -> bool:
    """Whether an earlier run measured this very content under this id; of objects, told by their listings alone."""
    row = writer.finished(subject_id)
    if row is None or row.get("path") != str(clip) or (isinstance(clip, RemoteFile) and not row.get("sha256")):
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
    return bool(same_clip and same_sound)


def _default_run(settings: dict[str, object], clips: Sequence[str]) -> Path:
    return Path("runs") / f"clip-{bytes_digest(canonical_json([settings, list(clips)]).encode())[:8]}"
