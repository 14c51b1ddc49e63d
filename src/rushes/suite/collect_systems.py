"""Whose runs are whose: the systems of a suite's folder, or of runs given by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rushes.errors import InputError, RunError
from rushes.media.find import candidates
from rushes.preference.instrument import INSTRUMENT as PREFERENCE
from rushes.remote.address import is_remote
from rushes.runs import Run, read_run
from rushes.runs.ids import identity
from rushes.suite.board_data import Prompt
from rushes.suite.paper_systems import set_name
from rushes.suite.suite_folder import SuiteRun, is_suite_folder, read_suite_folder


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
    )
    by_name = {system.name: system for system in found.systems}
    for declared in done.suite.systems:
        for place in declared.runs:
            run = read_run(moved_run(place, done.path))
            by_name[declared.name].runs.append(run)
            by_name[declared.name].roots += _roots(run)
    for step in done.steps:
        runs = done.runs_of(step)
        if step.why:
            found.remarks.append(f"{step.folder}: could not be measured: {step.why}")
        elif not runs:
            found.remarks.append(f"{step.folder}: not measured yet; run the same rushes suite run again")
        target = by_name[step.system].runs if step.system else found.studies
        target += (opened := [read_run(folder) for folder in runs])
        if step.system:
            by_name[step.system].roots += [root for run in opened for root in _roots(run)]
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
            found.remarks.append(f"{run.place}: was given twice, and counts once")
            continue
        seen.add(identity(run.place))
        if run.instrument == PREFERENCE.name and not name:
            found.studies.append(run)
            continue
        generated = generated_set(run)
        key = f"name {name}" if name else f"set {identity(generated)}"
        system = groups.setdefault(key, FoundSystem(name=name or set_name(generated)))
        system.runs.append(run)
        system.roots = list(dict.fromkeys([*system.roots, *_roots(run)]))
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
        return "", place
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
    return read_run(place)


def generated_set(run: Run) -> str:
    """What a run looked at, as it was named: the generated folder."""
    if run.instrument in ("fidelity", "distribution"):
        return next((subject.path for subject in run.subjects if subject.kind == "set"), run.place)
    if run.instrument == "pose" and run.subjects:
        return str(Path(run.subjects[0].path).parent)
    asked = _asked(run)
    return asked[0] if len(asked) == 1 else run.place


def _asked(run: Run) -> list[str]:
    asked = run.info.get("asked") or run.info.get("inputs") or ()
    return [str(place) for place in asked] if isinstance(asked, list) else []


def _roots(run: Run) -> list[str]:
    """Folders that the names of its clips are counted from."""
    if run.instrument == "pose":
        return [generated_set(run)]
    return [_fixed(place) for place in _asked(run)]


def _fixed(place: str) -> str:
    """A pattern's folder; anything else as it is."""
    parts = Path(place).parts
    plain = [part for n, part in enumerate(parts) if not any(set(each) & set("*?[") for each in parts[: n + 1])]
    return place if is_remote(place) or len(plain) == len(parts) else str(Path(*plain))
