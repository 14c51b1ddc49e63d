"""Many clips into one run directory: in parallel, resumable, the same bytes for any number of workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rushes.clip.faces import FaceSettings, Tier, settle
from rushes.clip.measure import ClipResult, digest, unreadable
from rushes.clip.profile import Profile, load_profile
from rushes.clip.remote import is_same_content, measure_anywhere
from rushes.core.canonical import canonical_json
from rushes.core.provenance import bytes_digest
from rushes.errors import DefinitionError
from rushes.media.find import Sound, find_clips, match_audio
from rushes.remote.address import Place, is_remote
from rushes.runs import Entry, Packed, Run, RunWriter, Subject, open_run, pack, read_run, subject_ids
from rushes.workers.engine import LOCAL, Crash, Engine, run_tasks

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """One clip to measure; travels to a worker process."""

    subject_id: str
    path: str
    audio: str | None
    audio_missing: str
    faces: FaceSettings | None
    profile: Profile

    def files(self) -> tuple[str | None, ...]:
        """What a worker reads for it."""
        models = (None, None) if self.faces is None else (self.faces.model, self.faces.weights)
        return (self.path, self.audio, *models)


def evaluate_clips(
    paths: Iterable[Path | str],
    *,
    run: Path | str | None = None,
    audio: Path | str | None = None,
    tier: Tier = 0,
    profile: str | Path | Profile = "general",
    face_model: Path | str | None = None,
    syncnet_weights: Path | str | None = None,
    jobs: int | None = None,
    timeout: float | None = None,
    memory_mb: int | None = None,
    engine: Engine = LOCAL,
    progress: Callable[[int, int], Progress] | None = None,
) -> Run:
    """Measure files, folders and globs, here or in a store (`s3://`, `gs://`), into a run directory; return the run.

    `run` defaults to `runs/clip-<digest of the question>`, so that the same call continues the same run. `audio` is one
    sound file for every clip, or a folder with one file per clip, matched by stem. `jobs` defaults to the cores, to
    those of the cluster where `engine` is Ray. A clip finished earlier, with the same content and settings, is not
    measured again; one that cannot be read, that crashes the decoder, that takes longer than `timeout` seconds or whose
    worker holds more than `memory_mb` megabytes is a `reject` row with its reason. Clips given up for a crash or a
    limit are tried again by the next call.
    """
    rules = profile if isinstance(profile, Profile) else load_profile(profile)
    clips = find_clips(paths)
    sounds = match_audio(clips, audio)
    ids = subject_ids([clip.stem for clip in clips])
    faces = settle(tier, face_model=face_model, syncnet_weights=syncnet_weights)
    settings: dict[str, object] = {"tier": tier, "profile": rules.name, "profile_sha256": rules.digest}
    settings |= {} if faces is None else faces.facts()
    target = run if run is not None else _default_run(settings, [str(clip) for clip in clips])
    with open_run(target, instrument="clip", settings=settings, inputs=[str(clip) for clip in clips]) as writer:
        todo = [n for n, clip in enumerate(clips) if not _is_finished(writer, ids[n], clip, sounds[n])]
        advance = progress(len(clips), len(clips) - len(todo)) if progress else None
        tasks = [
            _Task(
                subject_id=ids[n],
                path=str(clips[n]),
                audio=sounds[n].path,
                audio_missing=sounds[n].missing,
                faces=faces,
                profile=rules,
            )
            for n in todo
        ]
        outcomes = run_tasks(
            _work, tasks, engine=engine, jobs=jobs, timeout=timeout, memory_mb=memory_mb, needs=_Task.files
        )
        for position, outcome in outcomes:
            writer.add(_crashed(tasks[position], outcome) if isinstance(outcome, Crash) else outcome)
            if advance is not None:
                advance(1)
        writer.finish(ids)
    return read_run(target)


def _work(task: _Task) -> Packed:
    try:
        result = measure_anywhere(
            task.path, audio=task.audio, audio_missing=task.audio_missing, faces=task.faces, profile=task.profile
        )
        return _packed(task.subject_id, result)
    except DefinitionError as error:  # a damaged clip gave a number that cannot be: its own row, not the batch's end
        return _crashed(task, Crash(f"gave an impossible value ({error})"))


def _crashed(task: _Task, crash: Crash) -> Packed:
    result = unreadable(task.path, crash.reason, profile=task.profile, faces=task.faces)
    return _packed(task.subject_id, replace(result, facts=dict(result.facts) | {"given_up": True}))


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
    """Whether an earlier run measured this very content under this id."""
    row, path = writer.finished(subject_id), str(clip)
    if is_remote(path) or is_remote(sound.path):
        return row is not None and is_same_content(row, clip, sound)
    if row is None or row.get("path") != path or row.get("sha256") != digest(path):
        return False
    facts = row.get("facts")
    if not isinstance(facts, dict) or facts.get("given_up"):  # given up: another time, or a wider limit, may end better
        return False
    return bool(facts.get("audio_sha256") == (digest(sound.path) if sound.path else None))


def _default_run(settings: dict[str, object], clips: Sequence[str]) -> Path:
    return Path("runs") / f"clip-{bytes_digest(canonical_json([settings, list(clips)]).encode())[:8]}"
