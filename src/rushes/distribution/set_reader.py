"""Features of the sets of a comparison: found, read once per recipe, and kept; weights loaded once."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from rushes.core.progress import Progress
from rushes.distribution.cache import FeatureCache, RecipeCache
from rushes.distribution.clip_reading import Task
from rushes.distribution.feature_set import FeatureSet, How, is_statistics, load_statistics, merge_sets
from rushes.distribution.protocols import Recipe, Side
from rushes.distribution.settings import Role, Settings
from rushes.errors import InputError
from rushes.media.find import natural_key
from rushes.media.sets import Clip, ClipSet, Ignored, read_set
from rushes.remote.address import Place, is_remote
from rushes.remote.store import list_objects
from rushes.workers.local import cpu_count

if TYPE_CHECKING:
    from rushes.distribution.features import ClipFeatures, Extractor, FeatureReader, FeatureSource, Precision
    from rushes.distribution.weights import Weights

Given: TypeAlias = "ClipSet | tuple[Place, ...]"


def find_set(given: str | Path) -> Given:
    """The clips that are meant, or the files of saved statistics."""
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


class SetReader:
    """Reads features once per recipe, side and network."""

    def __init__(
        self,
        settings: Settings,
        device: str,
        progress: Progress,
        warn: Callable[[str], None],
        *,
        sets: dict[Role, Given],
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
