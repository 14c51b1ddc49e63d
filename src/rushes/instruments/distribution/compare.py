"""Two sets of clips, or saved statistics, to labelled distances under one protocol or several.

Reads the sets, runs each network once per protocol (FVD and KVD share I3D's features), and measures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from rushes.core import Measurement
from rushes.core.answer import Answer, told, words_of
from rushes.core.errors import DefinitionMismatch, InputError
from rushes.core.machine.interrupt import mark_stopped
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.selection import Numbers
from rushes.core.table import Table
from rushes.instruments.distribution.distances.labelled import Extras, Sets, measure, need_enough
from rushes.instruments.distribution.distances.measuring import Versus, measure_sets, versus_names
from rushes.instruments.distribution.distances.sensitivity import departures
from rushes.instruments.distribution.features.cache import FeatureCache
from rushes.instruments.distribution.features.rows import FeatureSet, Held, no_features, save_statistics
from rushes.instruments.distribution.features.set_reader import SetReader
from rushes.instruments.distribution.few_videos import GEN_ID, GT_ID
from rushes.instruments.distribution.protocols import ALL, Metric, Recipe, Side
from rushes.instruments.distribution.settings import Role, Settings, need_torch
from rushes.instruments.distribution.show.remarks import remarks_on
from rushes.media.find.clips import natural_key
from rushes.media.find.sets import Ignored
from rushes.storage.remote.transfer import upload_on_exit
from rushes.storage.runs import Entry, Subject

IDS: dict[Role, str] = {"gen": GEN_ID, "gt": GT_ID, "versus": "versus"}
_WORDS: dict[Role, str] = {"gen": "generated", "gt": "ground truth", "versus": "second generated set"}


@dataclass(frozen=True, kw_only=True)
class SetComparison(Answer, Numbers):
    """Every distance between two sets with its signature, and what was read on each side."""

    __repr__ = told

    measurements: tuple[Measurement, ...]
    """Metric after metric, protocol after protocol; an extrapolated value comes after its distance."""
    departures: tuple[Measurement, ...] = ()
    """The same distances with one constant of another protocol each: see `distances/sensitivity.py`."""
    gen: Held
    gt: Held
    versus: Held = ()
    """The second generated set, where there is one."""
    weights: tuple[tuple[str, str], ...]
    """(file name, label) of each network's weights."""
    weights_files: tuple[Path, ...] = ()
    """Where each of these files lies."""
    passed_over: tuple[tuple[Role, Ignored], ...] = ()
    """What lay among the clips of a side and is none."""
    run: Path | str | None = None
    """The run directory it was written to, or its address."""

    @property
    def summary(self) -> str:
        """The distances of the whole sets, with protocol and paper, and the verdict where there are two models."""
        said: str = words_of(self, "rushes.instruments.distribution.show.words:headline_of")
        return said

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before quoting a value: clips left out, padding, sets too small."""
        said: tuple[str, ...] = words_of(self, "rushes.instruments.distribution.show.words:note_lines")
        return said

    def _items(self) -> tuple[Measurement, ...]:
        return self.measurements

    def _tables(self) -> Sequence[Table]:
        from rushes.instruments.distribution.show.tables import all_tables

        return all_tables(self.measurements)

    def excluded(self, side: Role) -> dict[str, str]:
        """Why each clip of a side was left out, by name; under several recipes the first reason."""
        found: dict[str, str] = {}
        for _, feature_set in getattr(self, side):
            for name, why in feature_set.excluded:
                found.setdefault(name, why)
        return dict(sorted(found.items(), key=lambda item: natural_key(item[0])))

    def ignored(self, side: Role) -> dict[str, str]:
        """Why each thing that lay among the clips of a side is no part of the set, by name."""
        return dict(item for at, item in self.passed_over if at == side)

    def save(self, side: Side, path: Path | str) -> Path:
        """Write a side's features, to be given in place of its clips next time."""
        with upload_on_exit(path) as target:
            return save_statistics(target, getattr(self, side))


def prepare(
    gen: str | Path,
    gt: str | Path,
    settings: Settings,
    *,
    progress: Progress = no_progress,
    warn: Callable[[str], None] = lambda line: None,
) -> Prepared:
    """Everything that can be checked before a frame is decoded: sets, weights, statistics, cache, number of clips.

    Each set is a folder, glob, list file, clip or saved statistics. On another engine than this machine
    `settings.device` must be named: it need not be here.
    """
    wanted = settings.recipes()
    if settings.sensitivity and settings.protocol == ALL:
        raise InputError("the sensitivity is of one protocol at a time; choose one instead of all")
    need_torch()
    given: dict[Role, str | Path] = {"gen": gen, "gt": gt}
    if settings.versus is not None:
        given["versus"] = settings.versus
    with ExitStack() as stack:
        reader = stack.enter_context(closing(SetReader(settings, given, progress, warn)))
        reader.begin(wanted[0][1])
        for _, chosen in wanted:
            reader.weights(chosen.backbone)
        for metric, chosen in wanted:
            n_gen, n_gt = reader.known_rows(chosen, "gen"), reader.known_rows(chosen, "gt")
            if n_gen is not None and n_gt is not None:
                need_enough(metric, chosen, n_gen, n_gt, settings)
        stack.pop_all()  # left open for `compared`
    return Prepared(reader, wanted, given)


@dataclass(frozen=True)
class Prepared:
    """A comparison of which all is checked that can be, and no frame is decoded."""

    reader: SetReader
    wanted: Sequence[tuple[Metric, Recipe]]
    given: Mapping[Role, str | Path]

    def compared(self, *, cache: Path | None = None) -> SetComparison:
        """Read both sets and measure. `cache` keeps features where the settings name no other folder for them.

        The reader's `warn` gets a line for each network first, which names the file of its weights.
        """
        reader = self.reader
        reader.name_weights()
        if cache is not None and reader.settings.cache is None:
            reader.cache = FeatureCache(cache)
        try:
            with closing(reader):
                measurements = tuple(self._measurements())
                gen, gt, versus = (tuple(reader.read[role]) for role in get_args(Role))
                exchanged = tuple(self._departures()) if reader.settings.sensitivity else ()
        except KeyboardInterrupt as error:
            mark_stopped(error, kept=reader.cache is not None)
            raise
        return SetComparison(
            measurements=measurements,
            departures=exchanged,
            gen=gen,
            gt=gt,
            versus=versus,
            weights=reader.labels,
            weights_files=reader.files,
            passed_over=reader.passed_over,
        )

    def _measurements(self) -> list[Measurement]:
        """A metric that these sets cannot give has no value, and says why; the others still have theirs.

        Raises the first such `InputError` where none has one under the protocol that was asked for.
        """
        settings = self.reader.settings
        found: list[Measurement] = []
        errors: list[InputError] = []
        for metric, chosen in self.wanted:
            sets = self._sets(metric, chosen)
            try:
                found += measure_sets(sets, settings, self._versus(chosen))
            except InputError as error:
                errors.append(error)
                found.append(sets.missing(str(error)))
        if len(errors) == len(self.wanted) and settings.protocol != ALL:
            raise errors[0]
        return found

    def _departures(self) -> Iterator[Measurement]:
        """The distances with one constant exchanged; one that these sets cannot meet has no value, and says why."""
        for metric, chosen in self.wanted:
            for other in departures(metric, chosen):
                try:
                    sets = self._sets(metric, other)
                except DefinitionMismatch:
                    none = self.reader.labelled(metric, other, no_features(other.d), no_features(other.d))
                    yield none.missing("saved statistics hold the features of one recipe")
                    continue
                try:
                    yield from measure(sets, Extras())
                except InputError as error:
                    yield sets.missing(str(error))

    def _sets(self, metric: Metric, chosen: Recipe) -> Sets:
        gen, gt = self.reader.features(chosen, "gen"), self.reader.features(chosen, "gt")
        return self.reader.labelled(metric, chosen, gen, gt, _set_remarks(gen, gt))

    def _versus(self, chosen: Recipe) -> Versus | None:
        if "versus" not in self.given:
            return None
        first, second = versus_names(self.given["gen"], self.given["versus"])
        return Versus(features=self.reader.features(chosen, "versus"), first=first, name=second)


def set_entry(comparison: SetComparison, role: Role, path: str, facts: Mapping[str, object]) -> Entry:
    """One set as a subject of a run; the generated set carries the numbers."""
    side = getattr(comparison, role)[0][1]
    known = {"clips": len(side.videos), "names": list(side.videos), "side": _WORDS[role], **facts}
    subject = Subject(id=IDS[role], kind="set", path=path, sha256=side.sha256, facts=known)
    numbers = (*comparison.measurements, *comparison.departures)
    return Entry(subject=subject, measurements=numbers if role == "gen" else ())


def _set_remarks(gen: FeatureSet, gt: FeatureSet) -> Iterator[str]:
    n_gen, n_gt = len(gen.videos), len(gt.videos)
    if n_gen != n_gt:
        yield f"sets of different size: {n_gen} generated and {n_gt} real clips"
    yield from remarks_on(list(gen.facts.values()), list(gt.facts.values()))
    yield from (f"generated set: {remark}" for remark in gen.remarks)
    yield from (f"real set: {remark}" for remark in gt.remarks)
