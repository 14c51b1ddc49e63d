"""`rushes fvd` in Python: compare two sets of clips, and keep the numbers as a run directory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

from rushes.core.errors import InputError
from rushes.core.machine.files import Paths
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.machine.provenance import short_digest
from rushes.instruments.distribution.clips.segments import Rows
from rushes.instruments.distribution.compare import IDS, Prepared, SetComparison, prepare, set_entry
from rushes.instruments.distribution.distances.groups import read_groups
from rushes.instruments.distribution.distances.intervals import IntervalMethod
from rushes.instruments.distribution.features.files import refuse_features
from rushes.instruments.distribution.features.rows import keep_features as keep_in_run
from rushes.instruments.distribution.features.set_reader import SetReader
from rushes.instruments.distribution.few_videos import GEN_ID, GT_ID
from rushes.instruments.distribution.protocols import DEFAULT, Choices, Metric, Timing
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
    metrics: Metric | Iterable[Metric] = ("fid-vid", "fvd"),
    protocol: str = DEFAULT,
    backbone: str | None = None,
    network: Path | str | None = None,
    kernel: KernelName | None = None,
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
    warn: Callable[[str], None] = lambda line: None,
) -> SetComparison:
    """Distances between a generated and a ground-truth set, each a folder, glob, list file or saved statistics.

    `protocol` is a name of `rushes fvd --help`, or "all". `backbone` puts every metric on that network's features in
    place of its own. `network` is the manifest of a network of your own that gives features (`docs/networks.md`); it
    says which frames are seen, and `kernel` is then that of kvd: "kid", or "jedi". `weights` is one file or several,
    recognised by content; by default they are looked for in the folder that RUSHES_WEIGHTS names, in `tools/eval_fvd/`
    of the checkout and of the working directory, and in the cache of pulled models. `weights_files` of the result has
    the files that were taken. `interval` draws a 95 % interval around each distance, `extrapolate` adds its value at
    infinitely many clips; `seed` draws their subsets.

    `versus` is a second generated set, measured against the same ground truth: its own values have `set` in their
    `at`, and `fvd_difference` (first less second) has an interval and a verdict in its note. `curve` adds the value at
    smaller N (`n` and `subset` in `at`) and the one at infinitely many clips. `groups` is a CSV file with the columns
    name and class, or "folders": every metric again for each class (`class` in `at`).

    `stride` slides windows of `sample_duration` frames over each video, one every `stride` frames; each window is then
    a row of its own, or with `rows="video-mean"` their mean is one row per video. `vfr` says whether a video of
    variable rate has its "stored" frames or those of a "constant" rate, where a protocol should not decide it.

    `sensitivity` exchanges each constant of the protocol for those of the others, one at a time (`departures`); it
    reads the sets about ten times.

    A clip that cannot be read is left out and named (`excluded`); `strict` stops instead. `jobs` is how many processes
    decode. On the engine Ray every core of the cluster computes, or every GPU where it has any and `device` is not
    "cpu". `warn` gets a line for each network, which names the file of its weights, and one when a GPU batch had to
    shrink.

    `run` is the run directory to write. While one is written, features are cached beneath it, so that a run that was
    interrupted continues where it stopped; `cache` is another folder for them, which stays. A run of other sets is
    refused with `RunError`, unless `overwrite` starts it anew. With `keep_features` both sets' features stay in the
    run's folder `features/`: the map of the sets is made of them. `save_gt` and `save_gen` keep a side's statistics
    for the next comparison.

        fvd = rushes.compare_sets("generated/", "real/", metrics="fvd", weights="i3d.pt", interval="jackknife")["fvd"]
        fvd.value, fvd.interval, fvd.signature
    """
    refuse_features(gen, gt)
    if keep_features and (run is None or is_remote(run)):
        raise InputError("features are kept in a run's folder on this machine: name one (--out, in Python run=)")
    own = None if network is None else _own_network(network, engine, precision, sensitivity)
    if own is not None:
        precision, metrics = "fp32", "fvd" if tuple(metrics) == ("fid-vid", "fvd") else metrics
    elif kernel is not None:
        raise InputError("a kernel is for a network of your own; give --network FILE (in Python: network=) as well")
    settings = Settings(
        metrics=metrics_from(metrics),
        protocol=protocol,
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
        comparison = prepared.compared() if run is None else _into_run(run, prepared, overwrite, keep_features)
    if save_gt is not None:
        comparison.save("gt", save_gt)
    if save_gen is not None:
        comparison.save("gen", save_gen)
    return comparison


def _own_network(path: Path | str, engine: Engine, precision: str | None, sensitivity: bool) -> Manifest:
    """A network of the user's own, read and checked; `InputError` for what only the built-in backbones have."""
    from rushes.instruments.distribution.network_recipe import read_network

    need_torch()
    if engine.kind != "local":
        raise InputError("a network of your own runs on this machine; leave out --engine")
    if precision not in (None, "fp32"):
        raise InputError(f"a network of your own runs in fp32; got precision {precision}")
    if sensitivity:
        raise InputError("the sensitivity exchanges constants of protocols; a network of your own has its manifest's")
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
        raise InputError(f"{path}: expected the name of a file to write; this is a folder")
    folder = path.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from None
