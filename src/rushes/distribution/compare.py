"""Two sets of clips, or saved statistics, to labelled distances under one protocol or several.

Reads the sets, runs each network once per protocol (FVD and KVD share I3D's features), and measures.
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

from rushes.core import Measurement
from rushes.core.progress import Progress, no_progress
from rushes.core.selection import Numbers
from rushes.core.stopping import mark_stopped
from rushes.distribution.cache import FeatureCache, RecipeCache
from rushes.distribution.clip_reading import Task
from rushes.distribution.curve import Labels
from rushes.distribution.definitions import bound_definition
from rushes.distribution.feature_set import FeatureSet, How, load_statistics, merge_sets, save_statistics
from rushes.distribution.groups import Groups
from rushes.distribution.measuring import Extras, Sets, Versus, measure_sets, versus_names
from rushes.distribution.needs import need_enough
from rushes.distribution.protocols import (
    ALL,
    DEFAULT,
    NO_CHOICES,
    SHORTHANDS,
    Choices,
    Metric,
    Recipe,
    Side,
    recipe,
    recipes,
)
from rushes.distribution.remarks import remarks_on
from rushes.distribution.sensitivity import departures
from rushes.distribution.sets import Clip, ClipSet, Ignored, is_statistics, read_set
from rushes.distribution.statistics import IntervalMethod
from rushes.errors import DefinitionMismatch, InputError, MissingDependency
from rushes.media.find import natural_key
from rushes.remote.address import Place, is_remote
from rushes.remote.store import list_objects
from rushes.remote.transfer import upload_on_exit
from rushes.workers.engine import LOCAL, Engine
from rushes.workers.local import cpu_count

if TYPE_CHECKING:
    from rushes.distribution.features import ClipFeatures, Extractor, FeatureReader, FeatureSource, Precision
    from rushes.distribution.weights import Weights


Role: TypeAlias = Literal["gen", "gt", "versus"]
"""Which of the sets: the generated one, the ground truth, or a second generated one."""


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
    versus: str | Path | None = None
    """A second generated set, to tell which of the two is closer."""
    curve: bool = False
    groups: Groups | None = None
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

    @property
    def extras(self) -> Extras:
        """What is wanted around each value."""
        return Extras(
            interval=self.interval,
            extrapolate=self.extrapolate,
            seed=self.seed,
            curve=self.curve,
            groups=self.groups,
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
    versus: tuple[tuple[How, FeatureSet], ...] = ()
    """The second generated set, where there is one."""
    weights: tuple[tuple[str, str], ...]
    """(file name, label) of each network's weights."""
    passed_over: tuple[tuple[Role, Ignored], ...] = ()
    """What lay among the clips of a side and is none."""
    run: Path | str | None = None
    """The run directory it was written to, or its address."""

    def excluded(self, side: Role) -> dict[str, str]:
        """Why each clip of a side was left out, by name; under several recipes the first reason."""
        found: dict[str, str] = {}
        for _, feature_set in {"gen": self.gen, "gt": self.gt, "versus": self.versus}[side]:
            for name, why in feature_set.excluded:
                found.setdefault(name, why)
        return dict(sorted(found.items(), key=lambda item: natural_key(item[0])))

    def ignored(self, side: Role) -> dict[str, str]:
        """Why each thing that lay among the clips of a side is no part of the set, by name."""
        return dict(item for at, item in self.passed_over if at == side)

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
    return prepare(gen, gt, settings, progress=progress, warn=warn).compared()


def prepare(
    gen: str | Path,
    gt: str | Path,
    settings: Settings,
    *,
    progress: Progress = no_progress,
    warn: Callable[[str], None] = lambda line: None,
) -> Prepared:
    """Everything that can be checked before a frame is decoded: sets, weights, statistics, cache, number of clips."""
    wanted = settings.recipes()
    if settings.sensitivity and settings.protocol == ALL:
        raise InputError("the sensitivity is that of one protocol; got protocol all")
    need_torch()
    from rushes.distribution.features import resolve_device

    device = resolve_device(settings.device) if settings.engine.kind == "local" else settings.device or "cpu"
    sets: dict[Role, _Given] = {"gen": _find(gen), "gt": _find(gt)}
    if settings.versus is not None:
        sets["versus"] = _find(settings.versus)
    _require_classes(settings.groups, sets)
    reader = _Reader(settings, device, progress, warn, sets=sets)
    for _, chosen in wanted:
        reader.weights(chosen.backbone)
    for metric, chosen in wanted:
        n_gen, n_gt = reader.known_rows(chosen, "gen"), reader.known_rows(chosen, "gt")
        if n_gen is not None and n_gt is not None:
            asked = [(metric, chosen)]
            need_enough(asked, n_gen, n_gt, interval=settings.interval, extrapolate=settings.extrapolate)
    return Prepared(settings, wanted, reader, versus_names(gen, settings.versus))


def _require_classes(groups: Groups | None, sets: Mapping[Role, _Given]) -> None:
    """Names are known before the first frame is decoded, so classes for other clips are refused now."""
    for role, given in sets.items():
        if groups is not None and role != "versus" and isinstance(given, ClipSet):
            groups.require_some([clip.name for clip in given.clips], role)


@dataclass(frozen=True)
class Prepared:
    """A comparison of which all is checked that can be, and no frame is decoded."""

    settings: Settings
    wanted: Sequence[tuple[Metric, Recipe]]
    reader: _Reader
    names: tuple[str, str]
    """What the generated set and the one beside it are called."""

    @property
    def weights(self) -> dict[str, str]:
        """Digest of each network's weights."""
        return {name: weights.sha256 for name, weights in self.reader.loaded.items()}

    def compared(self, *, cache: Path | None = None) -> SetComparison:
        """Read both sets and measure. `cache` keeps features where the settings name no other folder for them."""
        reader = self.reader
        if cache is not None and self.settings.cache is None:
            reader.cache = FeatureCache(cache)
        try:
            with closing(reader):
                measurements = tuple(self._measurements())
                gen, gt, versus = (tuple(reader.read[role]) for role in get_args(Role))
                exchanged = tuple(self._departures()) if self.settings.sensitivity else ()
        except KeyboardInterrupt as error:
            mark_stopped(error, kept=reader.cache is not None)
            raise
        return SetComparison(
            measurements=measurements,
            departures=exchanged,
            gen=gen,
            gt=gt,
            versus=versus,
            weights=tuple((w.path.name, w.label) for w in reader.loaded.values()),
            passed_over=reader.passed_over,
        )

    def _measurements(self) -> list[Measurement]:
        """A metric that these sets cannot give has no value, and says why; the others still have theirs.

        Raises the first such `InputError` where none has one under the protocol that was asked for.
        """
        found: list[Measurement] = []
        errors: list[InputError] = []
        for metric, chosen in self.wanted:
            gen, gt = self.reader.features(chosen, "gen"), self.reader.features(chosen, "gt")
            try:
                found += self._measured(metric, chosen, gen, gt)
            except InputError as error:
                errors.append(error)
                found.append(_missing(self.reader, metric, chosen, gen, gt, str(error)))
        if len(errors) == len(self.wanted) and self.settings.protocol != ALL:
            raise errors[0]
        return found

    def _departures(self) -> Iterator[Measurement]:
        """The distances with one constant exchanged; one that these sets cannot meet has no value, and says why."""
        plain = replace(
            self,
            settings=replace(self.settings, interval=None, extrapolate=False, versus=None, curve=False, groups=None),
        )
        for metric, chosen in self.wanted:
            for other in departures(metric, chosen):
                try:
                    gen, gt = self.reader.features(other, "gen"), self.reader.features(other, "gt")
                except DefinitionMismatch:
                    label, precision = self.reader.weights(other.backbone).label, self.reader.precision
                    definition = bound_definition(metric, other, weights=label, precision=precision, n_gen=0, n_gt=0)
                    yield Measurement.missing(definition, "saved statistics hold the features of one recipe", count=0)
                    continue
                try:
                    yield from plain._measured(metric, other, gen, gt)
                except InputError as error:
                    yield _missing(self.reader, metric, other, gen, gt, str(error))

    def _measured(self, metric: Metric, chosen: Recipe, gen: FeatureSet, gt: FeatureSet) -> tuple[Measurement, ...]:
        reader, settings = self.reader, self.settings
        weights = reader.weights(chosen.backbone)
        labels = Labels(weights=weights.label, precision=reader.precision)
        remarks = tuple(filter(None, (weights.remark, *_set_remarks(gen, gt))))
        sets = Sets(metric=metric, recipe=chosen, gen=gen, gt=gt, labels=labels, remarks=remarks)
        versus = None
        if settings.versus is not None:
            first, second = self.names
            versus = Versus(features=reader.features(chosen, "versus"), first=first, name=second)
        return measure_sets(sets, settings.extras, versus)


def _missing(reader: _Reader, metric: Metric, chosen: Recipe, gen: FeatureSet, gt: FeatureSet, why: str) -> Measurement:
    n_gen, n_gt = len(gen.features), len(gt.features)
    weights = reader.weights(chosen.backbone).label
    definition = bound_definition(metric, chosen, weights=weights, precision=reader.precision, n_gen=n_gen, n_gt=n_gt)
    return Measurement.missing(definition, why, count=n_gen + n_gt)


def _set_remarks(gen: FeatureSet, gt: FeatureSet) -> Iterator[str]:
    n_gen, n_gt = len(gen.videos), len(gt.videos)
    if n_gen != n_gt:
        yield f"sets of different size: {n_gen} generated and {n_gt} real clips"
    yield from remarks_on(list(gen.facts.values()), list(gt.facts.values()))
    yield from (f"generated set: {remark}" for remark in gen.remarks)
    yield from (f"real set: {remark}" for remark in gt.remarks)


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
        sets: dict[Role, _Given],
    ) -> None:
        self._settings, self._device, self._progress, self._warn = settings, device, progress, warn
        self.sets = sets
        self.precision: Precision = settings.precision or ("fp32" if device == "cpu" else "tf32")
        self.loaded: dict[str, Weights] = {}
        self.read: dict[Role, list[tuple[How, FeatureSet]]] = {"gen": [], "gt": [], "versus": []}
        self.cache = FeatureCache(settings.cache) if settings.cache else None
        self._made: tuple[object, Extractor] | None = None
        self._open: tuple[int, FeatureReader] | None = None

    @property
    def passed_over(self) -> tuple[tuple[Role, Ignored], ...]:
        sets = [(side, given) for side, given in self.sets.items() if isinstance(given, ClipSet)]
        return tuple((side, item) for side, given in sets for item in given.ignored)

    def known_rows(self, chosen: Recipe, side: Side) -> int | None:
        """How many rows a side will have if every clip can be read; None where only reading them tells."""
        given = self.sets[side]
        if not isinstance(given, ClipSet):
            return len(self.features(chosen, side).features)
        kinds = {clip.is_sequence for clip in given.clips}
        windowed = any(chosen.windows(side, pictures=pictures).rows == "window" for pictures in kinds)
        return None if windowed else len(given.clips)

    def weights(self, backbone: str) -> Weights:
        from rushes.distribution.weights import find_weights

        if backbone not in self.loaded:
            self.loaded[backbone] = find_weights(backbone, self._settings.weights, root=self._settings.root)
        return self.loaded[backbone]

    def features(self, chosen: Recipe, role: Role) -> FeatureSet:
        side: Side = "gt" if role == "gt" else "gen"
        weights = self.weights(chosen.backbone)
        how = chosen.feature_params(side) | {"weights": weights.sha256, "precision": self.precision}
        for earlier, features in self.read[role]:
            if earlier == how:
                return features
        given = self.sets[role]
        if isinstance(given, ClipSet):
            features = self._computed(given, chosen, role, weights, how)
        else:
            features = merge_sets([load_statistics(path, how) for path in given])
        self.read[role].append((how, features))
        return features

    def _computed(self, given: ClipSet, chosen: Recipe, role: Role, weights: Weights, how: How) -> FeatureSet:
        from rushes.distribution.features import features_of_clips

        side: Side = "gt" if role == "gt" else "gen"
        words = {"gen": "generated", "gt": "ground truth", "versus": "second generated"}
        step = f"{chosen.protocol} {chosen.backbone} {words[role]}"
        done, total = 0, len(given.clips)

        def advance(clips: int) -> None:
            nonlocal done
            done += clips
            self._progress(done, total, step)

        advance(0)
        cache = None if self.cache is None else RecipeCache(self.cache, how)
        source = self._source(chosen, side, weights, total)
        strict = self._settings.strict
        found = features_of_clips(given.clips, source, dimensions=chosen.d, cache=cache, strict=strict, advance=advance)
        return replace(found, remarks=given.remarks)

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

        def source(left: Sequence[Clip]) -> Iterator[tuple[int, ClipFeatures]]:
            tasks = [Task(clip, chosen, side) for clip in left]
            return self._reading(clips).features(tasks, self._extractor(chosen, weights))

        return source

    def _extractor(self, chosen: Recipe, weights: Weights) -> Extractor:
        """Made once for both sides: loading and compiling take longer than many clips."""
        from rushes.distribution.features import make_extractor

        key = (weights.sha256, replace(chosen, clips_gen="whole", clips_gt="whole"))
        if self._made is None or self._made[0] != key:
            precision, batch, warn = self._settings.precision, self._settings.batch, self._warn
            made = make_extractor(weights, chosen, device=self._device, precision=precision, batch=batch, warn=warn)
            self._made = key, made
        return self._made[1]

    def _reading(self, clips: int) -> FeatureReader:
        from rushes.distribution.features import FeatureReader

        workers = decoders(self._settings.jobs, clips)
        if self._open is None or self._open[0] < workers:
            self.close()
            self._open = workers, FeatureReader(workers)
        return self._open[1]

    def close(self) -> None:
        """End the decoding processes."""
        if self._open is not None:
            self._open[1].__exit__(None, None, None)
            self._open = None


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
    >>> metrics_from("prdc")
    ('precision', 'recall', 'density', 'coverage')
    """
    given = [names] if isinstance(names, str) else names
    found = dict.fromkeys(name for word in given for name in SHORTHANDS.get(word, (word,)))
    for name in found:
        recipe(DEFAULT, name)  # type: ignore[arg-type]  # raises for a name that is no metric
    return cast("tuple[Metric, ...]", tuple(found))
