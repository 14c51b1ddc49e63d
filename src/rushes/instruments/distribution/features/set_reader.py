"""Features of the sets of a comparison: found, read once per recipe, and kept; weights loaded once."""

from __future__ import annotations

import glob
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from rushes.core.errors import InputError
from rushes.core.machine.collection import uncollected
from rushes.core.machine.platforms import may_have_gpu
from rushes.core.machine.progress import Progress
from rushes.instruments.distribution.clips.decoding import Decoders, decoders
from rushes.instruments.distribution.clips.device_windows import DeviceWindows
from rushes.instruments.distribution.clips.reading import Task
from rushes.instruments.distribution.clips.resize_tables import axis_tables
from rushes.instruments.distribution.distances.labelled import Sets
from rushes.instruments.distribution.features.cache import FeatureCache, RecipeCache
from rushes.instruments.distribution.features.rows import FeatureSet, How, is_statistics, load_statistics, merge_sets
from rushes.instruments.distribution.protocols import Metric, Recipe, Side
from rushes.instruments.distribution.settings import Role, Settings
from rushes.media.find.clips import natural_key
from rushes.media.find.sets import Clip, ClipSet, Ignored, read_set
from rushes.storage.remote.address import Place, is_remote
from rushes.storage.remote.store import list_objects

if TYPE_CHECKING:
    from rushes.instruments.distribution.features.extraction import (
        ClipFeatures,
        Extractor,
        FeatureReader,
        FeatureSource,
        Precision,
    )
    from rushes.instruments.distribution.features.weights import Weights

Given: TypeAlias = "ClipSet | tuple[Place, ...]"


def find_set(given: str | Path) -> Given:
    """The clips that are meant, or the files of saved statistics."""
    if not is_statistics(given):
        return read_set(given)
    files: Iterable[Place]
    if is_remote(given):
        files = list_objects(str(given)).files
    else:
        files = [Path(given)] if Path(given).exists() else map(Path, glob.glob(str(given)))
    found = tuple(sorted(files, key=lambda place: natural_key(str(place))))
    if not found:
        raise InputError(f"{given}: expected saved statistics; found nothing")
    return found


_SWITCH_S = 0.0005


def _load_torch() -> None:
    """Import torch and what works with it, which takes seconds.

    Searches for cycles would add a tenth. The threads that take frames to the GPU meanwhile get Python's lock ten times
    as soon as they otherwise would.
    """
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_S)
    try:
        with uncollected():
            import_module("rushes.instruments.distribution.features.extraction")
    finally:
        sys.setswitchinterval(usual)


class Networks:
    """The networks that settings ask for: weights loaded once, and the `kept` latest extractors."""

    def __init__(self, settings: Settings, warn: Callable[[str], None], *, kept: int = 1) -> None:
        self.settings, self._warn, self._kept = settings, warn, kept
        self.loaded: dict[str, Weights] = {}
        self._extractors: dict[object, Extractor] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Without the extractors, which are made again from the weights."""
        return self.__dict__ | {"device": self.device, "precision": self.precision, "_extractors": {}}

    @cached_property
    def device(self) -> str:
        """ "cpu" or "cuda". Asking loads torch."""
        if self.settings.engine.kind != "local":
            return self.settings.device or "cpu"
        _load_torch()
        from rushes.instruments.distribution.features.extraction import resolve_device

        return resolve_device(self.settings.device)

    @cached_property
    def precision(self) -> Precision:
        """Of the network's arithmetic there."""
        return self.settings.precision or ("fp32" if self.device == "cpu" else "tf32")

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """(file name, label) of each network's weights."""
        return tuple((weights.path.name, weights.label) for weights in self.loaded.values())

    @property
    def files(self) -> tuple[Path, ...]:
        """Where each network's weights lie, in the order of `labels`."""
        return tuple(weights.path.absolute() for weights in self.loaded.values())

    def name_weights(self) -> None:
        """Tell `warn` which file each network's weights are from."""
        for backbone, weights in self.loaded.items():
            self._warn(f"weights of {backbone}: {weights.path.absolute()} ({weights.label})")

    def weights(self, backbone: str) -> Weights:
        _load_torch()
        from rushes.instruments.distribution.features.weights import find_weights

        if backbone not in self.loaded and self.settings.network is not None:
            from rushes.instruments.distribution.network_recipe import network_weights

            self.loaded[backbone] = network_weights(self.settings.network)
        if backbone not in self.loaded:
            self.loaded[backbone] = find_weights(backbone, self.settings.weights, root=self.settings.root)
        return self.loaded[backbone]

    def how(self, chosen: Recipe, side: Side) -> dict[str, object]:
        """What decides the features of a file."""
        weights = self.weights(chosen.backbone).sha256
        return chosen.feature_params(side) | {"weights": weights, "precision": self.precision}

    def labelled(
        self, metric: Metric, chosen: Recipe, gen: FeatureSet, gt: FeatureSet, remarks: Iterable[str] = ()
    ) -> Sets:
        """Features that came from these networks, with what signatures say of them."""
        weights = self.weights(chosen.backbone)
        said = (weights.remark, *remarks)
        how = {"weights": weights.label, "precision": self.precision}
        return Sets(metric=metric, recipe=chosen, gen=gen, gt=gt, remarks=said, **how)

    def extractor(self, chosen: Recipe) -> Extractor:
        """Made once for both sides: loading and compiling take longer than many clips."""
        from rushes.instruments.distribution.features.extraction import make_extractor

        key = replace(chosen, clips_gen="whole", clips_gt="whole")
        if key not in self._extractors:
            while len(self._extractors) >= self._kept:
                self._extractors.pop(next(iter(self._extractors)))
            weights, precision, batch = self.weights(chosen.backbone), self.settings.precision, self.settings.batch
            self._extractors[key] = make_extractor(
                weights, chosen, device=self.device, precision=precision, batch=batch, warn=self._warn
            )
        return self._extractors[key]


class SetReader(Networks):
    """Reads features once per recipe, side and network."""

    def __init__(
        self, settings: Settings, given: Mapping[Role, str | Path], progress: Progress, warn: Callable[[str], None]
    ) -> None:
        super().__init__(settings, warn)
        self._progress = progress
        self.sets: dict[Role, Given] = {role: find_set(path) for role, path in given.items()}
        self.read: dict[Role, list[tuple[How, FeatureSet]]] = {"gen": [], "gt": [], "versus": []}
        for role, found in self.sets.items():  # classes for other clips are refused before the first frame is decoded
            if settings.groups is not None and role != "versus" and isinstance(found, ClipSet):
                settings.groups.require_some([clip.name for clip in found.clips], role)
        self.cache = FeatureCache(settings.cache) if settings.cache else None
        self._decoders: Decoders | None = None
        self._ahead: DeviceWindows | None = None
        """Fetches frames to the GPU before torch is loaded."""
        self._reader: FeatureReader | None = None

    def begin(self, chosen: Recipe) -> None:
        """Decode onto the GPU while torch is loaded, which takes seconds, where one is likely to take the frames so.

        Whatever turns out otherwise is read again, in the form that is needed.
        """
        settings, sides = self.settings, get_args(Side)
        clips = [(side, given.clips) for side in sides if isinstance(given := self.sets[side], ClipSet)]
        is_usual = settings.engine.kind == "local" and settings.device != "cpu" and self.cache is None
        if not (is_usual and clips and may_have_gpu() and axis_tables(chosen.resize, 8, 8, chosen.size)):
            return
        workers = decoders(settings.jobs, max(len(some) for _, some in clips))
        if workers:
            self._decoders = Decoders(workers)
            self._ahead = DeviceWindows(self._decoders, "cuda")
            begun = [_tasks(some, chosen, side) for side, some in clips]
            for tasks in begun:
                self._decoders.begin(self._decoders.as_raw(tasks))
            for tasks in begun:
                self._ahead.begin(tasks)

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

    def features(self, chosen: Recipe, role: Role) -> FeatureSet:
        how = self.how(chosen, _side(role))
        for earlier, features in self.read[role]:
            if earlier == how:
                return features
        given = self.sets[role]
        if isinstance(given, ClipSet):
            features = self._computed(given, chosen, role, how)
        else:
            features = merge_sets([load_statistics(path, how) for path in given])
        self.read[role].append((how, features))
        return features

    def _computed(self, given: ClipSet, chosen: Recipe, role: Role, how: How) -> FeatureSet:
        from rushes.instruments.distribution.features.extraction import features_of_clips

        words = {"gen": "generated", "gt": "ground truth", "versus": "second generated"}
        step = f"{chosen.protocol} {chosen.backbone} {words[role]}"
        done, total = 0, len(given.clips)

        def advance(clips: int) -> None:
            nonlocal done
            done += clips
            self._progress(done, total, step)

        advance(0)
        cache = None if self.cache is None else RecipeCache(self.cache, how)
        source, strict = self._source(chosen, _side(role), total), self.settings.strict
        found = features_of_clips(given.clips, source, dimensions=chosen.d, cache=cache, strict=strict, advance=advance)
        return replace(found, remarks=given.remarks)

    def _source(self, chosen: Recipe, side: Side, clips: int) -> FeatureSource:
        """Who computes the features: this process, or the engine's workers."""
        settings = self.settings
        if settings.engine.kind != "local":
            from rushes.instruments.distribution.clips.sharding import Network, features_on_workers

            weights = self.weights(chosen.backbone)
            network = Network(
                weights=weights.path,
                sha256=weights.sha256,
                recipe=chosen,
                device=self.device,
                precision=settings.precision,
                batch=settings.batch,
            )
            return features_on_workers(settings.engine, side, network, jobs=settings.jobs)

        def source(left: Sequence[Clip]) -> Iterator[tuple[int, ClipFeatures]]:
            tasks = _tasks(left, chosen, side)
            extractor = self.extractor(chosen)
            return self._reading(tasks, clips, extractor).features(tasks, extractor)

        return source

    def _reading(self, tasks: Sequence[Task], clips: int, extractor: Extractor) -> FeatureReader:
        """The reader for these tasks: the one there is, unless it has too few processes or was begun otherwise."""
        workers, known = decoders(self.settings.jobs, clips), self._decoders
        if known is not None:
            if known.workers < workers or not self._opened(workers).can_read(tasks, extractor):
                self.close()
        return self._opened(workers)

    def _opened(self, workers: int) -> FeatureReader:
        """The reader there is, or one with so many processes."""
        from rushes.instruments.distribution.features.extraction import FeatureReader

        if self._decoders is None:
            self._decoders = Decoders(workers)
        if self._reader is None:
            self._reader = FeatureReader(self._decoders, self._ahead)
        return self._reader

    def close(self) -> None:
        """End the decoding processes."""
        for holder in (self._reader, self._ahead, self._decoders):
            if holder is not None:
                holder.close()
                break
        self._reader = self._ahead = self._decoders = None


def _tasks(clips: Sequence[Clip], chosen: Recipe, side: Side) -> list[Task]:
    return [Task(clip, chosen, side) for clip in clips]


def _side(role: Role) -> Side:
    return "gt" if role == "gt" else "gen"
