"""The rows of a paper's table: what was measured of each system, out of paper folders and single runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from rushes.compare.paper.columns import BY_NAME, COLUMNS, Column
from rushes.compare.paper.folder import is_paper, read_paper
from rushes.compare.readings.media_facts import differing_facts
from rushes.core import Definition, Measurement
from rushes.core.errors import InputError, RunError
from rushes.core.words.options import option
from rushes.instruments.distribution.few_videos import GEN_ID, GT_ID
from rushes.instruments.fidelity.show.tables import metric_of, reference_of
from rushes.stats.means import mean_of_clips
from rushes.storage.remote.address import is_remote
from rushes.storage.runs import Entry, Run, Subject, read_run
from rushes.storage.runs.ids import identity
from rushes.storage.runs.readings import every_reading
from rushes.suite.names import generated_set, set_name

AGGREGATE = "mean"
"""What `mean` puts into a signature."""
_Reader: TypeAlias = Callable[[Run], Iterable["SystemNumber"]]
_WITHOUT_COLUMNS = ("judge", "preference", "robustness")
"""Instruments whose numbers are in no paper's table; of a suite, a table has the judge's and people's answers."""
_PER_CLIP = tuple(column.metric for column in (*COLUMNS.values(), *BY_NAME.values()) if column.source == "clip")


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemNumber:
    """One number of one system, and what it rests on."""

    measurement: Measurement
    rests_on: str
    """ "12 clips", "256 generated and 250 real clips"."""
    subjects: Mapping[str, Subject] = field(default_factory=dict)
    """The clips behind a mean, told by their references where they have any."""
    references: Mapping[str, str | None] = field(default_factory=dict)
    """What the system was held against, by path: digests; None for one that gave no value."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Why a clip is not in the number, by name."""
    origin: str = ""
    """The metric's name among the pair metrics: "akd"; "" where it is none, or its package is not here any more."""
    label: str = ""
    """What that metric's own column is called."""

    def under(self, column: Column) -> bool:
        """Whether it belongs under this head."""
        if not self.origin:
            return column.holds(self.measurement)
        return column.takes(self.origin, self.label) and column.fits(self.measurement.definition)

    @property
    def has_value(self) -> bool:
        return self.measurement.value is not None

    @property
    def clips(self) -> frozenset[str]:
        return frozenset(self.subjects)

    def difference(self, other: SystemNumber) -> str:
        """Why two numbers of one signature do not compare, the first being A; "" where they do.

        A clip that is missing on one side is no difference here: the table says that the means are over different ones.
        """
        if not self._same_references(other):
            return "they have different references"
        shared = [clip for clip in self.subjects if clip in other.subjects]
        pairs = ((self.subjects[clip], other.subjects[clip]) for clip in shared)
        return next(filter(None, (_other_medium(self.measurement.definition, a, b) for a, b in pairs)), "")

    def _same_references(self, other: SystemNumber) -> bool:
        """Whether both were held against the same clips; of copies, their content tells."""
        ours, theirs = self.references, other.references
        if shared := ours.keys() & theirs.keys():
            return all(None in (ours[path], theirs[path]) or ours[path] == theirs[path] for path in shared)
        return ours == theirs or self.clips <= other.clips or other.clips <= self.clips


def _other_medium(definition: Definition, a: Subject, b: Subject) -> str:
    """Which facts of two clips move the value by themselves; of pairs, the size at which they were compared does."""
    if a.kind != "pair":
        return differing_facts(definition, a, b)
    one, other = ("×".join(map(str, size)) if isinstance(size := s.facts.get("size"), list) else "" for s in (a, b))
    return "" if one == other else f"compared at {one} in A, {other} in B"


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One row."""

    name: str
    place: str
    """The generated set, or the paper folder."""
    readings: tuple[SystemNumber, ...]
    columns: tuple[str, ...] | None = None
    """What was asked for, by column; None for single runs."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why a column has no number, by the column's name."""
    runs: tuple[Path | str, ...] = ()
    """Run directories behind the row."""
    is_reference: bool = False
    """Whether it is what the systems are compared with: nobody asks why it lacks a number."""


def read_systems(places: Iterable[Path | str | Run], *, metrics: Sequence[str] = ()) -> tuple[System, ...]:
    """A system per paper folder, and per generated set of single runs, in the order given.

    Of clips, means are made of what has a column of its own, and of these metrics.

    Raises `RunError` for a folder that is neither, a run of another instrument and one that is not complete, and
    `InputError` where two rows would have one name.
    """
    systems: dict[str, System] = {}
    for place in places:
        of_paper = not isinstance(place, Run) and is_paper(place)
        found = (_of_paper if of_paper else _of_run)(place, metrics)  # type: ignore[arg-type]
        key = identity(found.place)
        systems[key] = _joined(systems[key], found) if key in systems else found
    if not systems:
        raise InputError("expected a folder of rushes paper, or runs; got none")
    return _named_apart(list(systems.values()))


def _joined(one: System, other: System) -> System:
    """Two runs of one generated set are one row; a number that both have counts once."""
    numbers = {reading.measurement: reading for reading in (*one.readings, *other.readings)}
    return replace(
        one, readings=tuple(numbers.values()), reasons={**other.reasons, **one.reasons}, runs=(*one.runs, *other.runs)
    )


def _named_apart(systems: Sequence[System]) -> tuple[System, ...]:
    """Rows of one name are called by their places; of a paper's folder the name was chosen, so it must be another."""
    often = Counter(system.name for system in systems)
    if chosen := [system for system in systems if often[system.name] > 1 and system.columns is not None]:
        raise InputError(
            f"{chosen[0].place}: another row is also called {chosen[0].name!r}; run rushes paper with another "
            f"{option('--name')}"
        )
    return tuple(replace(system, name=system.place) if often[system.name] > 1 else system for system in systems)


def _of_paper(place: Path | str, metrics: Sequence[str]) -> System:
    paper = read_paper(place)
    if not paper.complete:
        why = (
            f": {next(iter(paper.reasons.values()))}"
            if paper.reasons
            else "; run the same rushes paper again to finish it"
        )
        raise RunError(f"{place}: not finished yet{why}")
    readings = tuple(reading for path in paper.run_paths for reading in _readings(_complete(path), metrics))
    return System(
        name=paper.name,
        place=str(place),
        readings=readings,
        columns=paper.columns,
        reasons=dict(paper.reasons),
        runs=tuple(paper.run_paths),
    )


def _of_run(place: Path | str | Run, metrics: Sequence[str]) -> System:
    run = place if isinstance(place, Run) else _complete(place)
    gen = generated_set(run)
    return System(name=set_name(gen), place=gen, readings=_readings(run, metrics), runs=(run.place,))


def _complete(place: Path | str) -> Run:
    try:
        run = read_run(place)
    except RunError:
        if is_remote(place) or Path(place, "run.json").exists():
            raise
        found = "found neither" if Path(place).is_dir() else "no such folder"
        raise RunError(f"{place}: expected a folder of rushes paper or a run directory; {found}") from None
    if run.status != "complete":
        raise RunError(f"{place}: the run is {run.status}; a table is made of complete runs: run the command again")
    return run


def _readings(run: Run, metrics: Sequence[str]) -> tuple[SystemNumber, ...]:
    per_clip: _Reader = partial(_clip_readings, names={*_PER_CLIP, *metrics})
    readers: dict[str, _Reader] = {
        "fidelity": _pair_readings,
        "distribution": _set_readings,
        "clip": per_clip,
        "pose": per_clip,
    }
    if run.instrument in _WITHOUT_COLUMNS:
        raise RunError(
            f"{run.place}: contains a run of instrument {run.instrument}; a paper's table is made of runs of "
            "fidelity, distribution, clip, pose and instruments of other packages"
        )
    return tuple(readers.get(run.instrument, per_clip)(run))


def _set_readings(run: Run) -> list[SystemNumber]:
    """Distances: those of the whole set alone, not of classes, smaller sets or a second one."""
    entries = {entry.subject.id: entry for entry in run.entries}
    if GEN_ID not in entries or GT_ID not in entries:
        raise RunError(f"{run.place}: expected a generated and a ground-truth set; the run lacks one")
    gen, gt = entries[GEN_ID].subject, entries[GT_ID].subject
    truth = {"": gt.sha256}
    left_out = {**_reasons(gen.facts.get("excluded")), **_reasons(gt.facts.get("excluded"))}
    rests_on = f"{gen.facts.get('clips')} generated and {gt.facts.get('clips')} real clips"
    return [
        SystemNumber(measurement=m, rests_on=rests_on, references=truth, left_out=left_out)
        for m in entries[GEN_ID].measurements
        if not m.at
    ]


def _reasons(stored: object) -> dict[str, str]:
    return {str(name): str(why) for name, why in stored.items()} if isinstance(stored, Mapping) else {}


def _pair_readings(run: Run) -> list[SystemNumber]:
    """Means over pairs of clips, which the run has already; the pairs say which clips are in them."""
    means = next((entry for entry in run.entries if entry.subject.kind == "set"), None)
    if means is None:
        raise RunError(f"{run.place}: expected the means over its pairs of clips; the run has none")
    pairs = [entry for entry in run.entries if entry.subject.kind == "pair"]
    asked = dict(reference for entry in pairs if (reference := reference_of(entry))[0])
    return [_pair_reading(m, pairs, asked) for m in means.measurements]


def _pair_reading(m: Measurement, pairs: Sequence[Entry], asked: Mapping[str, str | None]) -> SystemNumber:
    subjects: dict[str, Subject] = {}
    left_out: dict[str, str] = {}
    for entry in pairs:
        namesakes = [n for n in entry.measurements if n.name == m.name]
        own = [n for n in namesakes if n.definition.add_params(aggregate=AGGREGATE) == m.definition]
        if any(n.value is not None for n in own):
            subjects[reference_of(entry)[1] or entry.subject.id] = entry.subject
        else:
            notes = [str(entry.subject.facts.get("error") or ""), *(n.note for n in (*own, *namesakes))]
            left_out[entry.subject.id] = next(filter(None, notes), "has no value")
    found = metric_of(m)
    return SystemNumber(
        measurement=m,
        rests_on=_clips(len(subjects)),
        subjects=subjects,
        references=asked,
        left_out=left_out,
        origin=found[0] if found else "",
        label=found[1].label if found else "",
    )


def _clip_readings(run: Run, *, names: Collection[str]) -> Iterator[SystemNumber]:
    """Means over clips of these metrics; the set beside the clips of a run repeats what they say."""
    clips = {subject.id: subject for subject in run.subjects if subject.kind != "set"}
    for reading in (one for one in every_reading(run, list(clips)) if one.name in names and not one.at):
        subjects = {name: clips[name] for name, m in reading.values.items() if m.value is not None}
        yield SystemNumber(
            measurement=_mean(list(reading.values.values())),
            rests_on=_clips(len(subjects)),
            subjects=subjects,
            left_out={name: m.note for name, m in reading.values.items() if m.value is None},
        )


def _mean(measurements: Sequence[Measurement]) -> Measurement:
    """The mean over clips; of no value at all, the note adds the first one's reason."""
    found = mean_of_clips(measurements)
    if found.value is not None:
        return found
    return replace(found, note=f"{found.note}: {next(m.note for m in measurements if m.note)}")


def _clips(number: int) -> str:
    return "1 clip" if number == 1 else f"{number} clips"
