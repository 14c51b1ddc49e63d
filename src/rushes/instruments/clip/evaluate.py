"""`rushes clip` in Python: one clip, or many into a run; resumable, the same bytes for any number of workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

from rushes.core.alike_form import AlikeForm
from rushes.core.canonical import canonical_json
from rushes.core.errors import InputError
from rushes.core.machine.files import Paths
from rushes.core.machine.progress import Progress, Warn, no_progress, recorded, silent
from rushes.core.machine.provenance import bytes_digest
from rushes.core.words.options import option
from rushes.instruments.clip.clip_task import ClipTask, crashed, files_of, is_finished, measured, without_culprits, work
from rushes.instruments.clip.faces.models import Tier
from rushes.instruments.clip.measure import ClipResult
from rushes.instruments.clip.networks.prompts import ClipPrompt, Prompts, match_prompts
from rushes.instruments.clip.settings import ClipSettings
from rushes.instruments.clip.signals.profile import Profile
from rushes.media.audio import require_sound
from rushes.media.find.clips import FoundClips, Sound, match_audio, one_or_several, search_clips
from rushes.storage.mirrors.pulling import read_info
from rushes.storage.remote.address import is_remote
from rushes.storage.remote.store import stat
from rushes.storage.remote.transfer import remove_orphans
from rushes.storage.runs import Run, clip_ids, open_run
from rushes.storage.runs.as_written import AsWritten
from rushes.storage.shards.schedule import schedule, spool_of, store_outcome
from rushes.storage.shards.writer import shard_size
from rushes.workers.engine import LOCAL, Engine, run_tasks

OWN_SOUND = "own"
"""What `run.json` says of `--audio` where it was not given: each clip's own track."""
_NAMES_SHOWN = 5


def evaluate_clip(
    path: Path | str,
    *,
    audio: Path | str | None = None,
    tier: Tier | None = None,
    profile: str | Path | Profile = "general",
    metrics: Iterable[str] = (),
    motion: bool = False,
    face_model: Path | str | None = None,
    syncnet_weights: Path | str | None = None,
    canon: bool = False,
    fps: Fraction | float | str | None = None,
    alike: AlikeForm | str | None = None,
    networks: Paths = (),
    prompt: str | None = None,
    script: str = "",
) -> ClipResult:
    """Measure one clip: MetricBundleV1 up to `tier`, and its review signal under `profile`.

    A clip that cannot be read is a result too (decode_ok false, badge reject, the reason in the notes); only a path
    that does not exist raises `InputError`. `audio` is a sound file to hold the picture against, in place of the
    clip's own track. `metrics` names metrics of installed packages to measure as well; those that a rule of the profile
    names are measured anyway. `motion` adds what needs optical flow; a rule about it does so by itself. Tier 1 adds
    faces (`face_model`: a 478-point `.task` bundle in place of the pinned models), tier 2 SyncNet (`syncnet_weights`:
    syncnet_v2.model); left out, it is the lowest at which every rule of the profile, and every metric and file named,
    can be used. `canon` measures the canonical form of the clip, as `canonicalize` makes it (with `audio` as its
    sound, at `fps`, by default the clip's own rate), in place of the file as it is; a file that `canonicalize` made is
    known by its mark, is canonical either way, and is not made again. `alike` is a common form, "160x120@8,2s": the
    picture is measured in it as well, in the same pass, under signatures of its own (`rushes.core.alike_form` has the
    rules); the review signal is that of the clip as it is. `networks` are manifests of networks of your own
    (`docs/networks.md`), `prompt` what the clip was asked to show, `script` the words that are to be spoken. Raises
    `MissingDependency`, with the command that gets them, where the tier's models are not there.
    """
    settings = ClipSettings.load(
        tier=tier,
        profile=profile,
        metrics=metrics,
        motion=motion,
        canon=canon,
        fps=fps,
        alike=alike,
        face_model=face_model,
        syncnet_weights=syncnet_weights,
        networks=networks,
    )
    _require(path, "no such file", Path(path).exists)
    if audio is not None:
        _require(audio, "no such audio file", Path(audio).is_file)
        _require_sound(audio)
    asked = ClipPrompt() if prompt is None else match_prompts(["clip"], ["clip"], {"clip": prompt})[0]
    sound = Sound(None if audio is None else str(audio))
    return measured(str(path), sound, settings, replace(asked, script=script))


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
    tier: Tier | None = None,
    profile: str | Path | Profile = "general",
    metrics: Iterable[str] = (),
    motion: bool = False,
    face_model: Path | str | None = None,
    syncnet_weights: Path | str | None = None,
    canon: bool = False,
    fps: Fraction | float | str | None = None,
    alike: AlikeForm | str | None = None,
    networks: Paths = (),
    prompts: Prompts | None = None,
    jobs: int | None = None,
    timeout: float | None = None,
    memory_mb: int | None = None,
    engine: Engine = LOCAL,
    add: bool = False,
    overwrite: bool = False,
    shards: int | None = None,
    progress: Progress = no_progress,
    warn: Warn = silent,
) -> Run:
    """Measure clips into a run, each with a review signal; return the run.

        run = rushes.clips("takes/", profile="talking-head")
        run.summary, run.flagged, run["p005"]["sharpness"].value, run.to_pandas()

    Args:
        paths: files, folders and globs, one or several, here or in a store (`s3://`, `gs://`). A `Run` measures its
            clips again, under other settings and the same ids.
        run: the run directory; by default `runs/clip-<digest of the question>`, which the same call continues.
        audio: one sound file for every clip, or a folder with one file per clip, matched by path or stem; by default
            each clip's own sound.
        tier: 0 picture and timing, 1 faces, 2 SyncNet; by default what the profile and the metrics need.
        profile: thresholds of the review signals: "general" (the default), "talking-head", "generated", "thorough",
            "metricbundle-v1", a file, or a `Profile`.
        metrics: names of metrics to measure as well, on request or of another package.
        motion: also follow the motion (optical flow); on by itself where the profile has a rule about it.
        face_model, syncnet_weights: files in place of the pulled ones, for tiers 1 and 2.
        canon, fps: measure the canonical form of each clip, at this rate (its own by default).
        alike: also measure each clip in a common form, "160x120@8,2s".
        networks: manifests of networks of your own (`docs/networks.md`).
        prompts: what each clip was asked to show and say: a CSV file with prompt_id, prompt_text and script, or texts
            or `Prompt`s by id; an id is a clip's path below what was named, without its ending.
        jobs: worker processes; by default one per core, or the cores of the cluster where `engine` is Ray.
        timeout, memory_mb: seconds a clip may take and memory a worker may hold; no limit by default.
        engine: `Engine()` for this machine (the default), or Ray.
        add: put these clips into the run beside those that are in it.
        overwrite: replace a run of something else.
        shards: clips in a shard, 0 for a run in one piece; by default shards of 10,000 from 10,000 clips on.
        progress, warn: called while it works; the lines that `warn` gets are in `run.notes` too.

    Returns:
        The `Run`. A clip that cannot be read, that crashes the decoder, takes longer than `timeout` or needs more than
        `memory_mb` is a `reject` row with its reason. A clip finished earlier, with the same content, prompt and
        settings, is not measured again; those given up for a crash or a limit are. Clips that are gone from a folder
        keep their results.

    Raises:
        InputError: no clip was found, or an argument is not what was expected.
        RunError: the run holds other paths or settings, and neither `add` nor `overwrite` is set.
        MissingDependency: the models of the tier are not here; the message has the command that gets them.
    """
    settings = ClipSettings.load(
        tier=tier,
        profile=profile,
        metrics=metrics,
        motion=motion,
        canon=canon,
        fps=fps,
        alike=alike,
        face_model=face_model,
        syncnet_weights=syncnet_weights,
        networks=networks,
        begun=None if run is None or overwrite else read_info(run).get("settings"),
    )
    if prompts is not None and not settings.needs_prompt:
        raise InputError(
            "prompts need a text-image network, text_error or word_error_rate; give "
            f"{option('--metric text_error', 'metrics=…')} or {option('--network FILE', 'networks=…')} as well"
        )
    if add and run is None:
        raise InputError(f"expected the run to add to; give {option('-o RUN')} as well")
    lines: list[str] = []
    tell = recorded(lines, warn)
    found, asked = _found(paths)
    sounds = match_audio(found.clips, audio, names=found.names)
    if audio is not None:
        _require_sound(audio)
    names = [str(clip) for clip in found.clips]
    stored = settings.as_dict() | {
        "audio": OWN_SOUND if audio is None else _plain(audio),
        "definitions": _definitions(settings),
    }
    target = run if run is not None else _default_run(stored, asked)
    with open_run(
        target,
        instrument="clip",
        settings=stored,
        inputs=names,
        asked=asked,
        add=add,
        overwrite=overwrite,
        shards=shard_size(len(names), shards),
    ) as writer:
        before = writer.paths
        ids = clip_ids(names, found.names, known=before)
        asked_for = match_prompts(found.names, ids, prompts)
        todo = [
            n for n, clip in enumerate(found.clips) if not is_finished(writer, ids[n], clip, sounds[n], asked_for[n])
        ]
        spool = spool_of(writer)

        def task(number: int) -> ClipTask:
            n = todo[number]
            return ClipTask(
                subject_id=ids[n], path=names[n], sound=sounds[n], prompt=asked_for[n], settings=settings, spool=spool
            )

        tasks = schedule(writer, ids, todo, task)
        written, done = AsWritten(), len(ids) - len(todo)
        progress(done, len(ids), "clips")
        outcomes = run_tasks(
            work,
            tasks,
            engine=engine,
            jobs=jobs,
            timeout=timeout,
            memory_mb=memory_mb,
            needs=files_of,
        )
        again = partial(run_tasks, work, engine=engine, jobs=1, timeout=timeout, memory_mb=memory_mb, needs=files_of)
        for position, outcome in outcomes:
            outcome = without_culprits(tasks[position], outcome, again)
            if store_outcome(writer, tasks[position], outcome, crashed=crashed):
                written.take(outcome)
                done += 1
                progress(done, len(ids), "clips")
        writer.finish(ids)
    if settings.left_out_line:
        tell(settings.left_out_line)
    remove_orphans()  # what a worker that was stopped in the middle of a copy or a canonical form left behind
    if settings.tier == 2 and settings.faces is not None and settings.faces.weights_missing:
        tell(f"lse_d and lse_c are null: {settings.faces.weights_missing}")
    if str(found.passed_over):
        tell(f"Skipped {found.passed_over}")
    if not add and (gone := [name for name in before if name not in set(ids)]):
        tell(_gone(gone))
    return replace(written.run(target, ids), remarks=tuple(lines))


clips = evaluate_clips
"""Its name as a verb."""


def _found(paths: Paths | Run) -> tuple[FoundClips, list[str]]:
    """The clips, and the arguments that named them; a run's clips are called by their ids."""
    if not isinstance(paths, Run):
        given = one_or_several(paths)
        return search_clips(given), [str(path) for path in given]
    places = dict(zip(map(_plain, paths.paths), (subject.id for subject in paths.subjects), strict=True))
    found = search_clips(list(places))
    return replace(found, names=tuple(places[str(clip)] for clip in found.clips)), list(places)


def _plain(path: Path | str) -> str:
    """A path as it is written down: without the dots and slashes that say nothing."""
    return str(path) if is_remote(path) else str(Path(path))


def _definitions(settings: ClipSettings) -> str:
    """Digest of everything that is measured: rows of another set of definitions are another run's."""
    signatures = sorted(metric.definition.signature for metric in settings.metrics.values())
    return bytes_digest(canonical_json(signatures).encode())[:16]


def _gone(ids: Sequence[str]) -> str:
    names = ", ".join(ids[:_NAMES_SHOWN]) + (", …" if len(ids) > _NAMES_SHOWN else "")
    clips, are = ("1 clip", "is") if len(ids) == 1 else (f"{len(ids)} clips", "are")
    return f"{clips} of this run {are} no longer among these paths; results are kept: {names}"


def _default_run(settings: Mapping[str, object], asked: Sequence[str]) -> Path:
    question = [dict(settings), [_plain(path) for path in asked]]
    return Path("runs") / f"clip-{bytes_digest(canonical_json(question).encode())[:8]}"
