"""Two sets of clips, or saved statistics, to labelled distances under one protocol or several.

Reads the sets, runs each network once per protocol (FVD and KVD share I3D's features), and measures.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from rushes.core import Measurement
from rushes.distribution.cache import FeatureCache
from rushes.distribution.definitions import settled
from rushes.distribution.distances import Extras, measure
from rushes.distribution.feature_set import FeatureSet
from rushes.distribution.protocols import DEFAULT, PROTOCOLS, Backbone, Metric, Recipe, Side, backbone_of, recipe
from rushes.distribution.sets import ClipSet, find_clips, is_statistics, natural_key
from rushes.distribution.stats_file import How, load_statistics, merge_sets, save_statistics
from rushes.errors import InputError, MissingDependency
from rushes.remote.address import Place, is_remote
from rushes.remote.store import list_objects
from rushes.remote.transfer import upload_on_exit

if TYPE_CHECKING:
    from rushes.distribution.features import Precision
    from rushes.distribution.sharding import RowSource
    from rushes.distribution.weights import Weights

Progress: TypeAlias = Callable[[str, int, str], AbstractContextManager[Callable[[int], None]]]
ALL = "all"


@contextmanager
def no_progress(label: str, total: int, unit: str) -> Iterator[Callable[[int], None]]:
    """Shows nothing."""
    yield lambda n: None


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked of two sets. Everything but device, workers, batch and cache can move a value."""

    metrics: tuple[Metric, ...] = ("fvd", "fid-vid")
    protocol: str = DEFAULT
    """One of `PROTOCOLS`, or "all"."""
    sample_duration: int | None = None
    weights: tuple[Path, ...] = ()
    extras: Extras = field(default_factory=Extras)
    precision: Precision | None = None
    device: str | None = None
    batch: int | None = None
    workers: int | None = None
    cache: Path | None = None
    strict: bool = False
    root: Path | None = None
    """Below which `tools/eval_fvd/` is looked for, beside the working directory."""

    def recipes(self) -> list[tuple[Metric, Recipe]]:
        """Every metric under every protocol asked for; under "all" a protocol without a metric is passed over."""
        if not self.metrics:
            raise InputError("expected at least one metric: fvd, fid-vid or kvd; got none")
        if self.protocol != ALL:
            return [(m, recipe(self.protocol, m, sample_duration=self.sample_duration)) for m in self.metrics]
        if self.sample_duration not in (None, 16):
            raise InputError(f"--protocol all uses each protocol's own 16 frames; got {self.sample_duration}")
        return [
            (metric, recipe(name, metric))
            for name, kinds in PROTOCOLS.items()
            for metric in self.metrics
            if backbone_of(metric) in kinds
        ]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One metric under one protocol."""

    metric: Metric
    recipe: Recipe
    measurements: tuple[Measurement, ...]
    """The value, then what was asked for beside it."""

    @property
    def value(self) -> Measurement:
        return self.measurements[0]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """All answers, and what was read on each side."""

    answers: tuple[Answer, ...]
    gen: tuple[tuple[How, FeatureSet], ...]
    gt: tuple[tuple[How, FeatureSet], ...]
    weights: tuple[tuple[str, str], ...]
    """(file name, label) of each network's weights."""
    ignored: tuple[str, ...] = ()

    def excluded(self, side: Side) -> dict[str, str]:
        """Why each clip of a side was left out, by name; under several recipes the first reason."""
        found: dict[str, str] = {}
        for _, features in self.gen if side == "gen" else self.gt:
            for name, why in features.excluded:
                found.setdefault(name, why)
        return dict(sorted(found.items(), key=lambda item: natural_key(item[0])))

    def save(self, side: Side, path: Path | str) -> Path:
        """Write a side's rows, to be given in place of its clips next time."""
        with upload_on_exit(path) as target:
            return save_statistics(target, self.gen if side == "gen" else self.gt)


def compare(
    gen: str | Path,
    gt: str | Path,
    question: Question,
    *,
    progress: Progress = no_progress,
    say: Callable[[str], None] = lambda line: None,
    rows: RowSource | None = None,
) -> Comparison:
    """Answer a question about two sets, each a folder, glob, list file, clip or saved statistics.

    `rows` computes features in place of this process (`rushes.distribution.sharding`); the question then names the
    device, which need not be here.
    """
    wanted = question.recipes()
    need_torch()
    from rushes.distribution.features import choose_device

    device = choose_device(question.device) if rows is None else question.device or "cpu"
    reader = _Reader(question, device, progress, say, rows, sets={"gen": _find(gen), "gt": _find(gt)})
    answers = []
    for metric, chosen in wanted:
        features = {side: reader.features(chosen, side) for side in reader.sets}
        weights = reader.weights(chosen.backbone)
        try:
            found = measure(
                metric,
                chosen,
                features["gen"],
                features["gt"],
                weights=weights.label,
                precision=reader.precision,
                remarks=[weights.remark] if weights.remark else [],
                extras=question.extras,
            )
        except InputError as error:
            if question.protocol != ALL:
                raise
            found = (_unanswered(metric, chosen, features, weights, reader.precision, str(error)),)
        answers.append(Answer(metric=metric, recipe=chosen, measurements=found))
    return Comparison(
        answers=tuple(answers),
        gen=tuple(reader.read["gen"]),
        gt=tuple(reader.read["gt"]),
        weights=tuple((w.path.name, w.label) for w in reader.loaded.values()),
        ignored=reader.ignored,
    )


def _unanswered(
    metric: Metric, chosen: Recipe, features: dict[Side, FeatureSet], weights: Weights, precision: str, why: str
) -> Measurement:
    """Under "all" a protocol that these sets cannot meet has no value, and says why; the others still answer."""
    n_gen, n_gt = len(features["gen"].rows), len(features["gt"].rows)
    definition = settled(metric, chosen, weights=weights.label, precision=precision, n_gen=n_gen, n_gt=n_gt)
    return Measurement.missing(definition, why, count=n_gen + n_gt)


_Given: TypeAlias = "ClipSet | tuple[Place, ...]"


def _find(given: str | Path) -> _Given:
    if not is_statistics(given):
        return find_clips(given)
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
        question: Question,
        device: str,
        progress: Progress,
        say: Callable[[str], None],
        rows: RowSource | None,
        *,
        sets: dict[Side, _Given],
    ) -> None:
        self._question, self._device, self._progress, self._say = question, device, progress, say
        self._rows = rows
        self.sets = sets
        self.precision: Precision = question.precision or ("fp32" if device == "cpu" else "tf32")
        self.loaded: dict[Backbone, Weights] = {}
        self.read: dict[Side, list[tuple[How, FeatureSet]]] = {"gen": [], "gt": []}
        self._cache = FeatureCache(question.cache) if question.cache else None

    @property
    def ignored(self) -> tuple[str, ...]:
        return tuple(name for given in self.sets.values() if isinstance(given, ClipSet) for name in given.ignored)

    def weights(self, backbone: Backbone) -> Weights:
        from rushes.distribution.weights import find_weights

        if backbone not in self.loaded:
            self.loaded[backbone] = find_weights(backbone, self._question.weights, root=self._question.root)
        return self.loaded[backbone]

    def features(self, chosen: Recipe, side: Side) -> FeatureSet:
        weights = self.weights(chosen.backbone)
        how = chosen.feature_params(side) | {"weights": weights.sha256, "precision": self.precision}
        for earlier, features in self.read[side]:
            if earlier == how:
                return features
        given = self.sets[side]
        if isinstance(given, ClipSet):
            label = f"{chosen.protocol} {chosen.backbone} {'generated' if side == 'gen' else 'ground truth'}"
            with self._progress(label, len(given.clips), "clips") as advance:
                compute = self._compute if self._rows is None else partial(self._compute_elsewhere, self._rows)
                features = compute(given, chosen, side, weights, advance)
        else:
            features = merge_sets([load_statistics(path, how) for path in given])
        self.read[side].append((how, features))
        return features

    def _compute(
        self, given: ClipSet, chosen: Recipe, side: Side, weights: Weights, advance: Callable[[int], None]
    ) -> FeatureSet:
        from rushes.distribution.features import features_of_clips, make_extractor

        question = self._question
        extractor = make_extractor(
            weights, chosen, device=self._device, precision=question.precision, batch=question.batch, say=self._say
        )
        return features_of_clips(
            given.clips,
            chosen,
            side,
            weights,
            extractor,
            workers=_workers(question.workers, len(given.clips)),
            cache=self._cache,
            strict=question.strict,
            advance=advance,
        )

    def _compute_elsewhere(
        self,
        rows: RowSource,
        given: ClipSet,
        chosen: Recipe,
        side: Side,
        weights: Weights,
        advance: Callable[[int], None],
    ) -> FeatureSet:
        from rushes.distribution.sharding import Network, features_elsewhere

        question = self._question
        network = Network(
            weights=weights.path,
            sha256=weights.sha256,
            recipe=chosen,
            device=self._device,
            precision=question.precision,
            batch=question.batch,
        )
        return features_elsewhere(
            given.clips,
            side,
            network,
            weights,
            rows=rows,
            precision=self.precision,
            workers=question.workers,
            cache=self._cache,
            strict=question.strict,
            advance=advance,
        )


def _workers(asked: int | None, clips: int) -> int:
    if asked is not None and asked < 0:
        raise InputError(f"num_workers is a number from 0; got {asked}")
    there = len(os.sched_getaffinity(0))
    return min(there if asked is None else asked, there, clips)


def need_torch() -> None:
    """`MissingDependency` with the install line where the extra is not there."""
    for package in ("torch", "PIL"):
        if find_spec(package) is None:
            raise MissingDependency(f"distances between sets need {package}: pip install 'rushes[fvd]'")


def metrics_from(names: Sequence[str]) -> tuple[Metric, ...]:
    """Checked metric names, each once, in the given order."""
    found: list[Metric] = []
    for name in names:
        recipe(DEFAULT, name)  # type: ignore[arg-type]  # raises for a name that is no metric
        if name not in found:
            found.append(name)  # type: ignore[arg-type]
    return tuple(found)
