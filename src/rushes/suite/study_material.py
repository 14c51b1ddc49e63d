"""A study's clips from whatever holds them: a suite's folder or file, runs, folders of clips, or a CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from rushes.core.alike_form import AlikeForm
from rushes.core.errors import InputError
from rushes.storage.remote.address import local_only
from rushes.study.errors import StudyError
from rushes.study.material.places import PROMPTS, clips_of, gaps, is_run, named_places, systems_below
from rushes.study.material.prompts import PromptBook, PromptRow, read_manifest
from rushes.study.material.sources import SourceClip, from_csv, with_sources
from rushes.suite.draft import REFERENCES
from rushes.suite.file import Suite, SuiteSystem, read_suite
from rushes.suite.folder import SuiteRun, is_suite_folder, read_suite_folder

OF_SUITE = "suite"
"""`--alike suite`: as the suite's own `[alike]` table has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyMaterial:
    """Clips for a study, and what its owner is told about them."""

    clips: list[SourceClip]
    remarks: tuple[str, ...] = ()
    reference: str = ""
    """The system that is the reference, where one of those shown is; "" else."""
    alike: str = ""
    """The suite's own common form, `[alike]`; "" where there is none."""

    def shown_form(self, asked: str) -> str:
        """How clips are to be shown, "suite" replaced by the suite's own form; sides are cut to even numbers of pixels.

        >>> StudyMaterial(clips=[], alike="161x120@8,2s,crop").shown_form("suite")
        '160x120@8,2s,crop'
        """
        if asked != OF_SUITE:
            return asked
        if not self.alike:
            raise StudyError(
                "--alike suite needs a suite's folder or file with an [alike] table; add one, or use --alike auto"
            )
        form = AlikeForm.parse(self.alike)
        return replace(form, width=form.width // 2 * 2, height=form.height // 2 * 2).spelling


class _Found(NamedTuple):
    systems: dict[str, Path]
    book: PromptBook
    reference: str = ""
    """The name of the reference among the systems; "" where there is none."""
    alike: str = ""


def study_material(
    places: Sequence[Path | str],
    *,
    clips: Path | None = None,
    prompts: Path | None = None,
    source_clips: Path | None = None,
    with_reference: bool = False,
) -> StudyMaterial:
    """Clips of a suite's folder or file, of a folder of systems, of two or more runs or folders, or of a CSV file.

    Systems are named by the suite, by `NAME=PLACE`, or by their folders; prompts come from `prompts`, the suite, or
    `prompts.csv` beside the systems. The reference of a suite, and a folder called as one (ground-truth, gt, real,
    reference), is left out unless `with_reference`: then it is one of the systems, and raters cannot tell.
    """
    if clips is not None or (len(places) == 1 and _is_csv(places[0])):
        found = from_csv(Path(places[0]), clips=clips, prompts=prompts)
        return StudyMaterial(clips=with_sources(found, source_clips), remarks=tuple(gaps(found)))
    systems, book, reference, alike = _systems(places)
    said = []
    if reference in systems and not with_reference:
        systems = {name: place for name, place in systems.items() if name != reference}
        said.append(f"The reference {reference} is left out; --with-reference adds it as a system that raters see too.")
    found = clips_of(systems, read_manifest(prompts) if prompts else book)
    kept = reference if reference in systems else ""
    shown = with_sources(found, source_clips)
    return StudyMaterial(clips=shown, remarks=(*said, *gaps(found)), reference=kept, alike=alike)


def _is_csv(place: Path | str) -> bool:
    return not Path(place).is_dir() and Path(place).suffix != ".toml" and "=" not in str(place)


def _systems(places: Sequence[Path | str]) -> _Found:
    local_only(*places)
    only = Path(places[0])
    if len(places) > 1 or (not only.exists() and "=" in str(only)):
        return _Found(named_places(places), PromptBook())
    if is_suite_folder(only):
        done = read_suite_folder(only)
        return _of_suite(done.suite, str(only), done)
    if only.suffix == ".toml":
        return _of_suite(read_suite(only), str(only))
    if is_run(only) or not (below := systems_below(only)):
        return _Found(named_places(places), PromptBook())
    reference = next((name for name in below if name.casefold() in REFERENCES), "")
    beside = only / PROMPTS
    return _Found(below, read_manifest(beside if beside.is_file() else None), reference)


def _of_suite(suite: Suite, source: str, done: SuiteRun | None = None) -> _Found:
    made = _runs_made(done) if done is not None else {}
    found = {system.name: _place(system, made.get(system.name, ())) for system in suite.systems}
    rows = [PromptRow(prompt.group, prompt.id, prompt.text) for prompt in suite.prompts]
    reference = next((system.name for system in suite.systems if system.is_reference), "")
    return _Found(found, PromptBook.of(rows, f"the prompts of {source}"), reference, suite.alike)


def _runs_made(done: SuiteRun) -> Mapping[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for step in done.steps:
        if step.instrument == "clip" and step.system:
            found.setdefault(step.system, []).extend(done.runs_of(step))
    return found


def _place(system: SuiteSystem, made: Sequence[Path]) -> Path:
    """Where a system's clips are: its folder where it is there, else a run of `rushes clip`, which knows them."""
    try:
        local_only(system.clips)
    except InputError as error:
        raise StudyError(f"system {system.name}: {error}; copy its clips to a folder here") from None
    runs = [*made, *(Path(run) for run in system.runs if is_run(run))]
    folder = Path(system.clips)
    if system.clips and (folder.is_dir() or not runs):
        return folder
    if not runs:
        raise StudyError(f"system {system.name}: expected a folder of clips or a run of `rushes clip`; it has none")
    return runs[0]
