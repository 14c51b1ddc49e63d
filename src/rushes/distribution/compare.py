"""Two sets of clips, or saved statistics, to labelled distances under one protocol or several.

Reads the sets, runs each network once per protocol (FVD and KVD share I3D's features), and measures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from rushes.core import Measurement
from rushes.core.progress import Progress, no_progress
from rushes.core.selection import Numbers
from rushes.core.showing import brief
from rushes.core.stopping import mark_stopped
from rushes.distribution.cache import FeatureCache
from rushes.distribution.curve import Labels
from rushes.distribution.definitions import bound_definition
from rushes.distribution.feature_set import FeatureSet, How, save_statistics
from rushes.distribution.groups import Groups
from rushes.distribution.measuring import Sets, Versus, measure_sets, versus_names
from rushes.distribution.needs import need_enough
from rushes.distribution.protocols import ALL, Metric, Recipe, Side
from rushes.distribution.remarks import remarks_on
from rushes.distribution.sensitivity import departures
from rushes.distribution.set_reader import Given, SetReader, find_set
from rushes.distribution.settings import Role, Settings, need_torch
from rushes.errors import DefinitionMismatch, InputError
from rushes.media.find import natural_key
from rushes.media.sets import ClipSet, Ignored
from rushes.remote.transfer import upload_on_exit


@dataclass(frozen=True, kw_only=True)
class SetComparison(Numbers):
    """Every distance between two sets with its signature, and what was read on each side."""

    __repr__ = brief

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
    sets: dict[Role, Given] = {"gen": find_set(gen), "gt": find_set(gt)}
    if settings.versus is not None:
        sets["versus"] = find_set(settings.versus)
    _require_classes(settings.groups, sets)
    reader = SetReader(settings, device, progress, warn, sets=sets)
    for _, chosen in wanted:
        reader.weights(chosen.backbone)
    for metric, chosen in wanted:
        n_gen, n_gt = reader.known_rows(chosen, "gen"), reader.known_rows(chosen, "gt")
        if n_gen is not None and n_gt is not None:
            asked = [(metric, chosen)]
            need_enough(asked, n_gen, n_gt, interval=settings.interval, extrapolate=settings.extrapolate)
    return Prepared(settings, wanted, reader, versus_names(gen, settings.versus))


def _require_classes(groups: Groups | None, sets: Mapping[Role, Given]) -> None:
    """Names are known before the first frame is decoded, so classes for other clips are refused now."""
    for role, given in sets.items():
        if groups is not None and role != "versus" and isinstance(given, ClipSet):
            groups.require_some([clip.name for clip in given.clips], role)


@dataclass(frozen=True)
class Prepared:
    """A comparison of which all is checked that can be, and no frame is decoded."""

    settings: Settings
    wanted: Sequence[tuple[Metric, Recipe]]
    reader: SetReader
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


def _missing(
    reader: SetReader, metric: Metric, chosen: Recipe, gen: FeatureSet, gt: FeatureSet, why: str
) -> Measurement:
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
