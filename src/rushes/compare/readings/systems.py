"""Whose runs are whose: the systems of a suite's folder, or of runs given by hand.

And which prompt a clip belongs to: by its path below its system's folder, without the ending.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from rushes.compare.readings.samples import Cell, prompt_and_sample
from rushes.core.errors import InputError, RunError
from rushes.instruments.catalogue import instrument_of
from rushes.storage.columns import with_subjects
from rushes.storage.remote.address import is_remote
from rushes.storage.runs import Run, Subject, clip_ids, read_run
from rushes.storage.runs.ids import identity
from rushes.storage.runs.relocation import candidates
from rushes.suite.folder import SuiteRun, is_suite_folder, read_suite_folder
from rushes.suite.names import asked_for, generated_set, set_name
from rushes.suite.prompts import Prompt


@dataclass(slots=True, kw_only=True)
class FoundSystem:
    """A system, its runs, and the folders that its clips' names are counted from."""

    name: str
    runs: list[Run] = field(default_factory=list)
    roots: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Everything that there is to collect from."""

    systems: list[FoundSystem]
    studies: list[Run]
    """Runs about all systems."""
    prompts: tuple[Prompt, ...] = ()
    """As a suite declares them."""
    suite: SuiteRun | None = None
    """Whose folder it is, with what people said; None for runs that were given by hand."""
    remarks: list[str] = field(default_factory=list)


def gather(places: Path | str | Run | Iterable[Path | str | Run]) -> Gathered:
    """Systems and their runs; `RunError` where a place is neither a suite's folder nor a run."""
    if isinstance(places, Path | str) and not is_remote(places) and is_suite_folder(places):
        return _of_suite(read_suite_folder(places))
    given = [places] if isinstance(places, (Path, str, Run)) else list(places)
    if not given:
        raise InputError("expected a folder of rushes suite run, or runs; got none")
    return _of_runs(given)


def _of_suite(done: SuiteRun) -> Gathered:
    found = Gathered(
        systems=[FoundSystem(name=system.name, roots=[system.clips]) for system in done.suite.systems],
        studies=[],
        prompts=done.suite.prompts,
        suite=done,
    )
    by_name = {system.name: system for system in found.systems}
    for declared in done.suite.systems:
        for place in declared.runs:
            run = with_subjects(read_run(moved_run(place, done.path)))
            by_name[declared.name].runs.append(run)
            by_name[declared.name].roots += clip_roots(run)
    for step in done.steps:
        runs = done.runs_of(step)
        if step.why:
            found.remarks.append(f"{step.folder}: could not be measured: {step.why}")
        elif not runs:
            found.remarks.append(f"{step.folder}: not measured yet; run the same rushes suite run again")
        target = by_name[step.system].runs if step.system else found.studies
        target += (opened := [with_subjects(read_run(folder)) for folder in runs])
        if step.system:
            by_name[step.system].roots += [root for run in opened for root in clip_roots(run)]
    return found


def moved_run(place: str, folder: Path) -> str:
    """Where a run lies that a suite was given, seen from where the suite was run, or from beside its folder."""
    if is_remote(place):
        return place
    return str(next((each for each in candidates(place, beside=folder) if (each / "run.json").is_file()), place))


def _of_runs(given: list[Path | str | Run]) -> Gathered:
    found = Gathered(systems=[], studies=[])
    seen: set[str] = set()
    groups: dict[str, FoundSystem] = {}
    opened = [_opened(place) for place in given]
    called = {identity(generated_set(run)): name for name, run in opened if name}
    for given_name, run in opened:
        name = given_name or called.get(identity(generated_set(run)), "")
        if identity(run.place) in seen:
            found.remarks.append(f"{run.place}: was given twice; it counts once")
            continue
        seen.add(identity(run.place))
        if _is_about_all(run) and not name:
            found.studies.append(run)
            continue
        generated = generated_set(run)
        key = f"name {name}" if name else f"set {identity(generated)}"
        system = groups.setdefault(key, FoundSystem(name=name or set_name(generated)))
        system.runs.append(run)
        system.roots = list(dict.fromkeys([*system.roots, *clip_roots(run)]))
    found.systems.extend(_named_apart(groups))
    return found


def _named_apart(groups: dict[str, FoundSystem]) -> Iterator[FoundSystem]:
    """Systems whose folders have one name are called by where these lie; one that was given by name keeps it."""
    names = [system.name for system in groups.values()]
    for key, system in groups.items():
        if names.count(system.name) > 1 and key.startswith("set "):
            system.name = generated_set(system.runs[0])
        yield system


def _opened(place: Path | str | Run) -> tuple[str, Run]:
    """A system's name ("" where none was given) and the run of NAME=RUN, RUN or an opened run."""
    if isinstance(place, Run):
        return "", with_subjects(place)
    name, sign, rest = str(place).partition("=")
    if sign and not is_remote(place) and not Path(place).exists():
        if not name.strip() or not rest:
            raise InputError(f"{place}: expected NAME=RUN, such as amber=runs/amber")
        return name.strip(), _read(rest)
    return "", _read(place)


def _read(place: Path | str) -> Run:
    if not is_remote(place) and not Path(place, "run.json").exists():
        what = "a file" if Path(place).is_file() else "neither" if Path(place).is_dir() else "no such folder"
        raise RunError(f"{place}: expected a folder of rushes suite run, a run, or NAME=RUN; found {what}")
    return with_subjects(read_run(place))


def _is_about_all(run: Run) -> bool:
    """Whether a run is about all systems, and names them: a study, or a judge's pairs."""
    instrument = instrument_of(run)
    whole = instrument is not None and instrument.measure is not None and instrument.measure.whole_suite
    return whole or any(subject.kind == "study" for subject in run.subjects[-1:])


def clip_roots(run: Run) -> list[str]:
    """Folders that the names of its clips are counted from."""
    return [_fixed(place) for place in asked_for(run)]


def _fixed(place: str) -> str:
    """A pattern's folder; anything else as it is."""
    parts = Path(place).parts
    plain = [part for n, part in enumerate(parts) if not any(set(each) & set("*?[") for each in parts[: n + 1])]
    return place if is_remote(place) or len(plain) == len(parts) else str(Path(*plain))


PROMPTED = ("clip", "pair", "pose", "sweep")
"""Kinds of subjects that may answer a prompt."""
_CLIPS = ("clip", "pair")


class ClipRoots:
    """The folders that a system's clips are named from: one look per ancestor of a clip, however many there are."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._order: dict[PurePosixPath, int] = {}
        self._folders: dict[str, str | None] = {}
        for place, root in enumerate(roots):
            if root:
                self._order.setdefault(PurePosixPath(root), place)

    def above(self, path: PurePosixPath) -> PurePosixPath | None:
        """Of the roots that the path lies below, the one given first; None where it lies below none."""
        found = [parent for parent in path.parents if parent in self._order]
        return min(found, key=self._order.__getitem__, default=None)

    def name(self, subject: Subject) -> str:
        """What a clip is called: its path below the folder it was asked for in, else its id in the run.

        >>> roots = ClipRoots(["takes/amber"])
        >>> roots.name(Subject(id="x", kind="clip", path="takes/amber/p1/out.mp4", sha256=None))
        'p1/out'
        """
        folder, _, file = subject.path.rpartition("/")
        stem, dot, ending = file.rpartition(".")
        if not (stem and dot and ending) or subject.kind == "sweep" or not folder:
            return self._name(subject)
        if folder not in self._folders:  # clips of one folder differ in their own names alone
            below = self.above(PurePosixPath(subject.path)) is not None
            self._folders[folder] = self._name(subject).removesuffix(stem) if below else None
        start = self._folders[folder]
        return subject.id if start is None else start + stem

    def _name(self, subject: Subject) -> str:
        path = PurePosixPath(subject.path)
        root = self.above(path)
        if root is None:
            return subject.id
        below = path.relative_to(root)
        return (below if subject.kind == "sweep" else below.with_suffix("")).as_posix()

    def has(self, subject: Subject) -> bool:
        """Whether it is a clip of the system itself: a pair that lacks its generated side is its reference alone."""
        if subject.kind != "pair" or "reference" in subject.facts:
            return True
        path = PurePosixPath(subject.path)
        return path in self._order or self.above(path) is not None


class PromptIndex:
    """The prompts of a board, and how a clip's name leads to one."""

    def __init__(self, declared: Sequence[Prompt], systems: Sequence[FoundSystem]) -> None:
        self.declared = bool(declared)
        self.kinds = _prompted_kinds(systems)
        every = (subject.kind for system in systems for run in system.runs for subject in run.subjects)
        self._roots = {id(system): ClipRoots(system.roots) for system in systems}
        # Prompts are called by clips; by files of poses, or sweeps, where no system has clips.
        named = _CLIPS if any(kind in _CLIPS for kind in every) else PROMPTED
        names: dict[str, str] = {}
        self._names: dict[int, list[str]] = {}
        for system in systems:
            roots, found_names = self.roots(system), []
            for _, subject in self.prompted(system):
                name = roots.name(subject)
                found_names.append(names.setdefault(name, name) if subject.kind in named else name)
            self._names[id(system)] = found_names
        found = declared or [Prompt(id=name) for name in names]
        self._by_key: dict[str, Prompt] = {}
        for prompt in found:
            for key in (prompt.id, _safe(prompt.id)):
                self._by_key.setdefault(key, prompt)
        for prompt in (prompt for prompt in found if prompt.text):  # after every id: an id beats a text
            for key in (prompt.text, _safe(prompt.text)):
                self._by_key.setdefault(key, prompt)
        cells = (self.find(name) or self.cell(name) for name in names)
        used = {found.id if isinstance(found, Prompt) else found.prompt for found in cells if found is not None}
        self.prompts = tuple(prompt for prompt in found if prompt.id in used)
        self.unused = tuple(prompt.id for prompt in found if prompt.id not in used)

    def find(self, name: str) -> Prompt | None:
        """The prompt of a clip of this name; None where it is of none."""
        return self._by_key.get(name) or self._by_key.get(_safe(name))

    def cell(self, name: str) -> Cell | None:
        """Where the numbers of a clip of this name go: by its name, else as a numbered sample of a declared prompt.

        Without declared prompts nobody can know whether scene-1 and scene-2 are two scenes or two samples of one.
        """
        if (prompt := self.find(name)) is not None:
            return Cell(prompt.id)
        parts = prompt_and_sample(name) if self.declared else None
        prompt = self.find(parts[0]) if parts else None
        return Cell(prompt.id, parts[1]) if parts and prompt is not None else None

    def roots(self, system: FoundSystem) -> ClipRoots:
        """The folders that this system's clips are named from."""
        return self._roots[id(system)]

    def names(self, system: FoundSystem) -> list[str]:
        """What the subjects that answer a prompt are called, in the order of `prompted`; equal texts are one."""
        return self._names[id(system)]

    def prompted(self, system: FoundSystem) -> Iterator[tuple[Run, Subject]]:
        """Its subjects that answer a prompt."""
        return ((run, subject) for run in system.runs for subject in run.subjects if subject.kind in self.kinds)


def _prompted_kinds(systems: Iterable[FoundSystem]) -> tuple[str, ...]:
    """Kinds of subjects of which there is one per prompt, and not one for all prompts of a system together."""
    most: Counter[str] = Counter()
    for system in systems:
        most |= Counter(subject.kind for run in system.runs for subject in run.subjects)
    clips = max(most["clip"], most["pair"])
    return tuple(kind for kind in PROMPTED if kind in _CLIPS or most[kind] > 1 or clips == 1)


def _safe(name: str) -> str:
    """The id that a run gives to a clip of this name."""
    if len(name) <= _SHORT and _PLAIN.fullmatch(name):
        return name.replace("/", "__")  # as below, and ten times as quick
    return clip_ids([name], [name])[0]


_SHORT = 40
_PART = r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?"
_PLAIN = re.compile(f"{_PART}(/{_PART})*")
"""Names of which only the slashes change in an id."""
