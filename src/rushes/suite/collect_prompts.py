"""Which prompt a clip belongs to: by its path below its system's folder, without the ending."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from rushes.runs import Run, Subject, clip_ids
from rushes.suite.board_data import Prompt
from rushes.suite.collect_samples import Cell, prompt_and_sample
from rushes.suite.collect_systems import FoundSystem

PROMPTED = ("clip", "pair", "pose", "sweep")
"""Kinds of subjects that may answer a prompt."""
_CLIPS = ("clip", "pair")


class ClipRoots:
    """The folders that a system's clips are named from: one look per ancestor of a clip, however many there are."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._order: dict[PurePosixPath, int] = {}
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
        self._has_clips = any(kind in _CLIPS for kind in every)
        self._roots = {id(system): ClipRoots(system.roots) for system in systems}
        names = dict.fromkeys(
            self.roots(system).name(subject) for system in systems for _, subject in self.naming(system)
        )
        found = declared or [Prompt(id=name) for name in names]
        self._by_key: dict[str, Prompt] = {}
        for prompt in found:
            for key in (prompt.id, _safe(prompt.id)):
                self._by_key.setdefault(key, prompt)
        for prompt in (prompt for prompt in found if prompt.text):  # after every id: an id beats a text
            for key in (prompt.text, _safe(prompt.text)):
                self._by_key.setdefault(key, prompt)
        used = {cell.prompt for name in names if (cell := self.cell(name)) is not None}
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

    def prompted(self, system: FoundSystem) -> Iterator[tuple[Run, Subject]]:
        """Its subjects that answer a prompt."""
        return ((run, subject) for run in system.runs for subject in run.subjects if subject.kind in self.kinds)

    def naming(self, system: FoundSystem) -> Iterator[tuple[Run, Subject]]:
        """Those that prompts are called by: clips; files of poses, or sweeps, where no system has clips."""
        named = _CLIPS if self._has_clips else PROMPTED
        return ((run, subject) for run, subject in self.prompted(system) if subject.kind in named)


def _prompted_kinds(systems: Iterable[FoundSystem]) -> tuple[str, ...]:
    """Kinds of subjects of which there is one per prompt, and not one for all prompts of a system together."""
    most: Counter[str] = Counter()
    for system in systems:
        most |= Counter(subject.kind for run in system.runs for subject in run.subjects)
    clips = max(most["clip"], most["pair"])
    return tuple(kind for kind in PROMPTED if kind in _CLIPS or most[kind] > 1 or clips == 1)


def _safe(name: str) -> str:
    """The id that a run gives to a clip of this name."""
    return clip_ids([name], [name])[0]
