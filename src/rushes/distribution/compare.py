"""Two sets of clips, or saved statistics, to labelled distances under one protocol or several.

Reads the sets, runs each network once per protocol (FVD and KVD share I3D's features), and measures.
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from rushes.core import Measurement
from rushes.core.progress import Progress, no_progress
from rushes.core.selection import Numbers
from rushes.distribution.cache import FeatureCache, RecipeCache
from rushes.distribution.clip_reading import Task
from rushes.distribution.definitions import bound_definition
from rushes.distribution.distances import measure
from rushes.distribution.feature_set import FeatureSet, How, load_statistics, merge_sets, save_statistics
from rushes.distribution.protocols import ALL, DEFAULT, NO_CHOICES, Choices, Metric, Recipe, Side, recipe, recipes
from rushes.distribution.sensitivity import departures
from rushes.distribution.sets import Clip, ClipSet, is_statistics, read_set
from rushes.distribution.statistics import IntervalMethod
from rushes.errors import DefinitionMismatch, InputError, MissingDependency
from rushes.media.find import natural_key
from rushes.remote.address import Place, is_remote
from rushes.remote.store import list_objects
from rushes.remote.transfer import upload_on_exit
from rushes.workers.engine import LOCAL, Engine
from rushes.workers.local import cpu_count

if TYPE_CHECKING:
    from rushes.distribution.features import ClipFeatures, FeatureSource, Precision
    from rushes.distribution.weights import Weights


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How two sets are compared. Everything but device, batch, jobs, engine and cache can move a value."""

    metrics: tuple[Metric, ...] = ("fid-vid", "fvd")
    protocol: str = DEFAULT
    """One of `PROTOCOLS`, or "all"."""
    backbone: str | None = None
    """The network of every metric; None: each metric's own."""
    sample_duration: int | None = None
    choices: Choices = NO_CHOICES
    weights: tuple[Path, ...] = ()
    interval: IntervalMethod | None = None
    extrapolate: bool = False
    sensitivity: bool = False
    """Whether each constant is also exchanged for those of other protocols."""
    seed: int = 0
    precision: Precision | None = None
    device: str | None = None
    batch: int | None = None
    jobs: int | None = None
    engine: Engine = LOCAL
    cache: Path | None = None
    strict: bool = False
    root: Path | None = None
    """Below which `tools/eval_fvd/` is looked for, beside the working directory."""

    def recipes(self) -> list[tuple[Metric, Recipe]]:
        return recipes(
            self.protocol,
            self.metrics,
            backbone=self.backbone,
            sample_duration=self.sample_duration,
            choices=self.choices,
        )


@dataclass(frozen=True, kw_only=True)
class SetComparison(Numbers):
    """Every distance between two sets with its signature, and what was read on each side."""

    measurements: tuple[Measurement, ...]
    """Metric after metric, protocol after protocol; an extrapolated value comes after its distance."""
    departures: tuple[Measurement, ...] = ()
    """The same distances with one constant of another protocol each: see `rushes.distribution.sensitivity`."""
    gen: tuple[tuple[How, FeatureSet], ...]
    gt: tuple[tuple[How, FeatureSet], ...]
    weights: tuple[tuple[str, str], ...]
    """(file name, label) of each network's weights."""
    ignored: tuple[str, ...] = ()
    """Files among the clips that are none."""
    run: Path | str | None = None
    """The run directory it was written to, or its address."""

    def excluded(self, side: Side) -> dict[str, str]:
        """Why each clip of a side was left out, by name; under several recipes the first reason."""
        found: dict[str, str] = {}
        for _, feature_set in self.gen if side == "gen" else self.gt:
            for name, why in feature_set.excluded:
                found.setdefault(name, why)
        return dict(sorted(found.items(), key=lambda item: natural_key(item[0])))

    def save(self, side: Side, path: Path | str) -> Path:
        """Write a side's features, to be given in place of its clips next time."""
        with upload_on_exit(path) as target:
            return save_statistics(target, self.gen if side == "gen" else self.gt)


def compare(
    gen: str | Path,
    gt: str | Path,
    settings: Settings,
    *,
    progress: Progress = no_progress,
    warn: Callable[[str], None] = lambda line: None,
) -> SetComparison:
    """Distances between two sets, each a folder, glob, list file, clip or saved statistics.

    On another engine than this machine `settings.device` must be named: it need not be here.
    """
    wanted = settings.recipes()
    if settings.sensitivity and settings.protocol == ALL:
        raise InputError("the sensitivity is that of one protocol; got protocol all")
    need_torch()
    from rushes.distribution.features import resolve_device

    device = resolve_device(settings.device) if settings.engine.kind == "local" else settings.device or "cpu"
    reader = _Reader(settings, device, progress, warn, sets={"gen": _find(gen), "gt": _find(gt)})
    measurements = [m for metric, chosen in wanted for m in _measured(reader, settings, metric, chosen)]
    read = {side: tuple(features) for side, features in reader.read.items()}
    return SetComparison(
        measurements=tuple(measurements),
        departures=tuple(_departures(reader, settings, wanted)) if settings.sensitivity else (),
        gen=read["gen"],
        gt=read["gt"],
        weights=tuple((w.path.name, w.label) for w in reader.loaded.values()),
        ignored=reader.ignored,
    )


def _measured(reader: _Reader, settings: Settings, metric: Metric, chosen: Recipe) -> tuple[Measurement, ...]:
    """Under "all" a protocol that these sets cannot meet has no value, and says why; the others still have theirs."""
    gen, gt = reader.features(chosen, "gen"), reader.features(chosen, "gt")
    weights = reader.weights(chosen.backbone)
    try:
        return measure(
            metric,
            chosen,
            gen,
            gt,
            weights=weights.label,
            precision=reader.precision,
            remarks=[weights.remark] if weights.remark else [],
            interval=settings.interval,
            extrapolate=settings.extrapolate,
            seed=settings.seed,
        )
    except InputError as error:
        if settings.protocol != ALL:
            raise
        n_gen, n_gt = len(gen.features), len(gt.features)
        definition = bound_definition(
            metric, chosen, weights=weights.label, precision=reader.precision, n_gen=n_gen, n_gt=n_gt
        )
        return (Measurement.missing(definition, str(error), count=n_gen + n_gt),)


def _departures(reader: _Reader, settings: Settings, wanted: Sequence[tuple[Metric, Recipe]]) -> Iterator[Measurement]:
    """The distances with one constant exchanged; one that these sets cannot meet has no value, and says why."""
    plain = replace(settings, protocol=ALL, interval=None, extrapolate=False)
    for metric, chosen in wanted:
        for other in departures(metric, chosen):
            try:
                yield from _measured(reader, plain, metric, other)
            except DefinitionMismatch:
                label = reader.weights(other.backbone).label
                definition = bound_definition(metric, other, weights=label, precision=reader.precision, n_gen=0, n_gt=0)
                yield Measurement.missing(definition, "saved statistics hold the features of one recipe", count=0)


_Given: TypeAlias = "ClipSet | tuple[Place, ...]"


def _find(given: str | Path) -> _Given:
    if not is_statistics(given):
        return read_set(given)
    if is_remote(given):
        return _statistics_at(str(given))
    files = [Path(given)] if Path(given).exists() else [Path(p) for p in glob.glob(str(given))]
    if not files:
        raise InputError(f"{given}: expected saved statistics; nothing is there")
    return tuple(sorted(files, key=lambda path: natural_key(str(path))))


def _statistics_at(url: str) -> tuple[Place, ...]:
    listing = list_objects(url)
    if not listing.files:
        raise InputError(f"{url}: expected saved statistics; nothing is there")
    return tuple(sorted(listing.files, key=lambda file: natural_key(file.url)))


class _Reader:
    """Reads features once per recipe, side and network."""

    def __init__(
        self,
        settings: Settings,
        device: str,
        progress: Progress,
        warn: Callable[[str], None],
        *,
        sets: dict[Side, _Given],
    ) -> None:
        self._settings, self._device, self._progress, self._warn = settings, device, progress, warn
        self.sets = sets
        self.precision: Precision = settings.precision or ("fp32" if device == "cpu" else "tf32")
        self.loaded: dict[str, Weights] = {}
        self.read: dict[Side, list[tuple[How, FeatureSet]]] = {"gen": [], "gt": []}
        self._cache = FeatureCache(settings.cache) if settings.cache else None

    @property
    def ignored(self) -> tuple[str, ...]:
        return tuple(name for given in self.sets.values() if isinstance(given, ClipSet) for name in given.ignored)

    def weights(self, backbone: str) -> Weights:
        from rushes.distribution.weights import find_weights

        if backbone not in self.loaded:
            self.loaded[backbone] = find_weights(backbone, self._settings.weights, root=self._settings.root)
        return self.loaded[backbone]

    def features(self, chosen: Recipe, side: Side) -> FeatureSet:
        weights = self.weights(chosen.backbone)
        how = chosen.feature_params(side) | {"weights": weights.sha256, "precision": self.precision}
        for earlier, features in self.read[side]:
            if earlier == how:
                return features
        given = self.sets[side]
        if isinstance(given, ClipSet):
            features = self._computed(given, chosen, side, weights, how)
        else:
            features = merge_sets([load_statistics(path, how) for path in given])
        self.read[side].append((how, features))
        return features

    def _computed(self, given: ClipSet, chosen: Recipe, side: Side, weights: Weights, how: How) -> FeatureSet:
        from rushes.distribution.features import features_of_clips

        step = f"{chosen.protocol} {chosen.backbone} {'generated' if side == 'gen' else 'ground truth'}"
        done, total = 0, len(given.clips)

        def advance(clips: int) -> None:
            nonlocal done
            done += clips
            self._progress(done, total, step)

        advance(0)
        cache = None if self._cache is None else RecipeCache(self._cache, how)
        source = self._source(chosen, side, weights, total)
        strict = self._settings.strict
        return features_of_clips(given.clips, source, dimensions=chosen.d, cache=cache, strict=strict, advance=advance)

    def _source(self, chosen: Recipe, side: Side, weights: Weights, clips: int) -> FeatureSource:
        """Who computes the features: this process, or the engine's workers."""
        settings = self._settings
        if settings.engine.kind != "local":
            from rushes.distribution.sharding import Network, features_on_workers

            network = Network(
                weights=weights.path,
                sha256=weights.sha256,
                recipe=chosen,
                device=self._device,
                precision=settings.precision,
                batch=settings.batch,
            )
            return features_on_workers(settings.engine, side, network, jobs=settings.jobs)
        from rushes.distribution.features import clip_features, make_extractor

        workers = decoders(settings.jobs, clips)

        def source(left: Sequence[Clip]) -> Iterator[tuple[int, ClipFeatures]]:
            device, precision, batch = self._device, settings.precision, settings.batch
            extractor = make_extractor(
                weights, chosen, device=device, precision=precision, batch=batch, warn=self._warn
            )
            return clip_features([Task(clip, chosen, side) for clip in left], extractor, workers=workers)

        return source


def decoders(jobs: int | None, clips: int) -> int:
    """Decoding processes beside the network: as many as asked for, but not more than cores or clips."""
    if jobs is not None and jobs < 0:
        raise InputError(f"decoding processes are a number from 0; got {jobs}")
    cores = cpu_count()
    return min(cores if jobs is None else jobs, cores, clips)


def need_torch() -> None:
    """`MissingDependency` with the install line where the extra is not there."""
    for package in ("torch", "PIL"):
        if find_spec(package) is None:
            raise MissingDependency(f"distances between sets need {package}: pip install 'rushes[fvd]'")


def metrics_from(names: str | Iterable[str]) -> tuple[Metric, ...]:
    """Checked metric names, each once, in the given order; one name alone is one metric.

    >>> metrics_from("fvd"), metrics_from(["kvd", "fvd", "kvd"])
    (('fvd',), ('kvd', 'fvd'))
    """
    found = dict.fromkeys([names] if isinstance(names, str) else names)
    for name in found:
        recipe(DEFAULT, name)  # type: ignore[arg-type]  # raises for a name that is no metric
    return cast("tuple[Metric, ...]", tuple(found))
