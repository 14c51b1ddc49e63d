"""`rushes fvd` in Python: compare two sets of clips, and keep the numbers as a run directory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from rushes.core.errors import InputError
from rushes.core.machine.files import Paths
from rushes.core.machine.progress import Progress, Warn, no_progress, silent
from rushes.core.machine.provenance import short_digest
from rushes.core.words.options import option
from rushes.instruments.distribution.clips.segments import Rows
from rushes.instruments.distribution.compare import IDS, Prepared, SetComparison, prepare, set_entry
from rushes.instruments.distribution.distances.groups import read_groups
from rushes.instruments.distribution.distances.intervals import IntervalMethod
from rushes.instruments.distribution.features.files import refuse_features
from rushes.instruments.distribution.features.rows import keep_features as keep_in_run
from rushes.instruments.distribution.features.set_reader import SetReader
from rushes.instruments.distribution.few_videos import GEN_ID, GT_ID
from rushes.instruments.distribution.protocols import SPECIFICATION, Choices, GivenMetric, Metric, Timing
from rushes.instruments.distribution.recipes import one_default
from rushes.instruments.distribution.settings import Settings, metrics_from, need_torch
from rushes.media.find.clips import one_or_several
from rushes.storage.remote.address import is_remote
from rushes.storage.runs import open_run
from rushes.workers.engine import LOCAL, Engine, connected, gpu_count

if TYPE_CHECKING:
    from rushes.instruments.distribution.features.extraction import Device, Precision
    from rushes.instruments.distribution.network_recipe import KernelName
    from rushes.vision.networks.manifest import Manifest


def compare_sets(
    gen: Path | str,
    gt: Path | str,
    *,
    metrics: Metric | GivenMetric | Iterable[Metric | GivenMetric] = "fvd",
    protocol: str | None = None,
    backbone: str | None = None,
    network: Path | str | None = None,
    kernel: KernelName | None = None,
    extractor: str | None = None,
    sample_duration: int | None = None,
    stride: int | None = None,
    rows: Rows | None = None,
    vfr: Timing | None = None,
    weights: Paths = (),
    interval: IntervalMethod | None = None,
    extrapolate: bool = False,
    sensitivity: bool = False,
    seed: int = 0,
    versus: Path | str | None = None,
    curve: bool = False,
    groups: Path | str | None = None,
    strict: bool = False,
    device: Device | None = None,
    precision: Precision | None = None,
    batch_size: int | None = None,
    jobs: int | None = None,
    engine: Engine = LOCAL,
    cache: Path | str | None = None,
    run: Path | str | None = None,
    overwrite: bool = False,
    keep_features: bool = False,
    save_gt: Path | str | None = None,
    save_gen: Path | str | None = None,
    progress: Progress = no_progress,
    warn: Warn = silent,
) -> SetComparison:
    """How far is the generated set from the real one? `rushes.fvd`, and `rushes fvd` on the command line.

        found = rushes.fvd("generated/", "real/")
        found.summary, found.notes, found["fvd"].value, found["fvd"].signature

    Args:
        gen, gt: the generated and the real set, each a folder, glob, list file or saved statistics.
        metrics: "fvd" (the default), "fid-vid", "kvd", "fid", "kid", "precision", "recall", "density", "coverage",
            "prdc" for these four; one or several.
        protocol: a name of `rushes fvd --help`, or "all". By default `stylegan-v`, and `genhoi` for what that one does
            not define (FID-VID). `rushes fvd --explain` says what a protocol does.
        backbone: puts every metric on that network's features in place of its own.
        network: manifest of a network of your own that gives features (`docs/networks.md`); it says which frames are
            seen.
        kernel: with `network`, that of kvd: "kid" (the default) or "jedi".
        extractor: `gen` and `gt` are features, made by the network of this name: see `compare_features`.
        sample_duration: frames of one segment, where the protocol leaves that open (16 by default).
        stride, rows: windows of `sample_duration` frames, one every `stride` frames; each is a row ("window"), or with
            rows="video-mean" their mean is one row per video.
        vfr: "stored" or "constant": which frames a video of variable rate has, in place of the protocol's choice.
        weights: one file or several, recognised by content. By default from the folder that RUSHES_WEIGHTS names,
            `tools/eval_fvd/` of the checkout and of the working directory, and the cache of pulled models.
        interval: "jackknife" or "subsampling" draws a 95 % interval; none by default.
        extrapolate: also the value at infinitely many clips.
        sensitivity: also exchange each constant for other protocols' (`departures`); reads the sets ten times.
        seed: draws the subsets of `interval`, `extrapolate` and `curve`; 0 by default.
        versus: a second generated set against the same real one; `fvd_difference` is first less second.
        curve: also the value at smaller N (`n` and `subset` in `at`).
        groups: a CSV file with the columns name and class, or "folders": every metric again for each class.
        strict: stop at a clip that cannot be read, which is otherwise left out and named (`excluded`).
        device, precision, batch_size: "cpu" or "cuda" (the GPU if there is one), "tf32", "fp16" or "fp32" there, and
            windows at a time.
        jobs, engine: processes that decode (one per core); with Ray, every core or GPU of the cluster computes.
        cache: a folder that keeps features; without it, those of a run lie beneath the run until it is complete.
        run: the run directory to write; none by default.
        overwrite: replace a run of other sets, which is an error otherwise.
        keep_features: keep both sets' features in the run, for the map of the sets.
        save_gt, save_gen: keep a side's statistics (.npz), to be given as a set next time.
        progress, warn: called while it works; `warn` gets a line for each network, with the file of its weights.

    Returns:
        A `SetComparison`: each distance with its signature, its interval if asked for, and notes on what may bias it.

    Raises:
        InputError: a set, an argument or a protocol is not what was expected.
        WeightsNotFound: the network's weights are nowhere; the message says how to get them.
    """
    if extractor is not None:
        clips: dict[str, object] = {"protocol": protocol, "backbone": backbone, "weights": one_or_several(weights)}
        clips |= {"network": network, "sample_duration": sample_duration, "save_gt": save_gt, "save_gen": save_gen}
        drawn = {"interval": interval, "extrapolate": extrapolate, "seed": seed, "run": run, "overwrite": overwrite}
        asked = {"extractor": extractor, "metrics": metrics, "kernel": kernel or "kid"}
        return _of_features(gen, gt, clips | {"keep_features": keep_features}, **asked, **drawn)
    refuse_features(gen, gt)
    if keep_features and (run is None or is_remote(run)):
        raise InputError(f"features are kept in a local run; name its folder ({option('-o RUN')})")
    own = None if network is None else _own_network(network, engine, precision, sensitivity)
    if own is not None:
        precision = "fp32"
    elif kernel is not None:
        raise InputError(f"a kernel is for a network of your own; give {option('--network FILE')} as well")
    chosen = metrics_from(metrics)
    settings = Settings(
        metrics=chosen,
        protocol=protocol or (SPECIFICATION if own is not None else one_default(chosen, backbone)),
        network=own,
        kernel=kernel or "kid",
        choices=Choices(backbone=backbone, sample_duration=sample_duration, stride=stride, rows=rows, vfr=vfr),
        weights=tuple(Path(path) for path in one_or_several(weights)),
        interval=interval,
        extrapolate=extrapolate,
        sensitivity=sensitivity,
        seed=seed,
        versus=versus,
        curve=curve,
        groups=None if groups is None else read_groups(groups),
        precision=precision,
        device=device,
        batch=batch_size,
        jobs=jobs,
        engine=engine,
        cache=None if cache is None else Path(cache),
        strict=strict,
    )
    if engine.kind != "local":
        need_torch()
    with connected(engine, jobs=jobs or None):
        if engine.kind != "local" and device is None:
            settings = replace(settings, device="cuda" if gpu_count(engine) else "cpu")

        for target in (save_gt, save_gen):
            need_writable(target)
        prepared = prepare(gen, gt, settings, progress=progress, warn=warn)
        with closing(prepared.reader):
            comparison = prepared.compared() if run is None else _into_run(run, prepared, overwrite, keep_features)
    if save_gt is not None:
        comparison.save("gt", save_gt)
    if save_gen is not None:
        comparison.save("gen", save_gen)
    return comparison


fvd = compare_sets
"""Its name as a verb."""


def _of_features(gen: Path | str, gt: Path | str, about_clips: Mapping[str, object], **options: Any) -> SetComparison:
    """Distances on given features; `InputError` for what is about clips."""
    from rushes.instruments.distribution.features.files import compare_features

    for name, value in about_clips.items():
        if value:
            flag = option(_FLAGS.get(name, f"--{name.replace('_', '-')}"), name)
            raise InputError(f"{flag} is about clips; with {option('--extractor NAME')} the features are there already")
    if options["metrics"] == "fvd":
        options["metrics"] = "frechet_distance"
    return compare_features(gen, gt, **options)


_FLAGS = {"save_gt": "--save-stats", "save_gen": "--save-gen-stats", "keep_features": "--save-features"}


def _own_network(path: Path | str, engine: Engine, precision: str | None, sensitivity: bool) -> Manifest:
    """A network of the user's own, read and checked; `InputError` for what only the built-in backbones have."""
    from rushes.instruments.distribution.network_recipe import read_network

    need_torch()
    if engine.kind != "local":
        raise InputError(f"a network of your own runs on this machine; leave out {option('--engine')}")
    if precision not in (None, "fp32"):
        raise InputError(f"a network of your own runs in fp32; got precision {precision}")
    if sensitivity:
        raise InputError("the sensitivity varies a protocol's constants; a network of your own has none")
    return read_network(path)


def _into_run(run: Path | str, prepared: Prepared, overwrite: bool, keep: bool) -> SetComparison:
    given = {role: str(path) for role, path in prepared.given.items()}
    settings, inputs = _stored(prepared.reader), list(given.values())
    with open_run(run, instrument="distribution", settings=settings, inputs=inputs, overwrite=overwrite) as writer:
        cache = writer.path / ".features"
        comparison = prepared.compared(cache=cache)
        for role, path in given.items():
            known = {"excluded": comparison.excluded(role), "ignored": comparison.ignored(role)}
            writer.add(set_entry(comparison, role, path, known | {"weights": dict(comparison.weights)}))
        if keep:
            keep_in_run(writer.path, {GEN_ID: comparison.gen, GT_ID: comparison.gt})
        writer.finish([IDS[role] for role in given])
        rmtree(cache, ignore_errors=True)  # only there to continue from
    return replace(comparison, run=run if is_remote(run) else Path(run))


def _stored(reader: SetReader) -> dict[str, object]:
    """The settings that can move a value, as `run.json` keeps them; weights by what is in them."""
    settings = reader.settings
    stored: dict[str, object] = {
        "metrics": list(settings.metrics),
        "protocol": settings.protocol,
        "sample_duration": settings.choices.sample_duration,
        "weights": [f"{name} {short_digest(reader.loaded[name].sha256)}" for name in sorted(reader.loaded)],
        "precision": settings.precision,
        "interval": settings.interval,
        "extrapolate": settings.extrapolate,
        "seed": settings.seed,
        "strict": settings.strict,
    }
    chosen = {
        **asdict(settings.choices),
        "network": None if settings.network is None else settings.network.network.sha256,
        "kernel": None if settings.kernel == "kid" else settings.kernel,
        "sensitivity": settings.sensitivity or None,
        "versus": None if settings.versus is None else str(settings.versus),
        "curve": settings.curve or None,
        "groups": None if settings.groups is None else settings.groups.source,
    }
    return stored | {key: value for key, value in chosen.items() if value is not None}


def need_writable(target: Path | str | None) -> None:
    """`InputError` where a file cannot be written at this place; an address is not tried."""
    if target is None or is_remote(target):
        return
    path = Path(target)
    if path.is_dir():
        raise InputError(f"{path}: expected a file to write; this is a folder")
    folder = path.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from None
