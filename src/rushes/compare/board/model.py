"""What a board is made of: systems, prompts, and for every reading one value per system and prompt, or per system.

A reading is a number that was measured alike for every system: one signature, one place; its values are the board's.
What was not is refused and named, never averaged over. A clip belongs to a prompt by its name below its system's
folder, unless a suite says otherwise. A verdict says which systems differ significantly on a reading, and how sure that
is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias, cast

from rushes.compare.agreement.credential import Credential
from rushes.compare.agreement.earned_say import EarnedSay
from rushes.compare.comparison import Comparison, Outcome, Refused, WhyNot
from rushes.core import Measurement
from rushes.core.reading import Reading as Reading
from rushes.core.reading import ReadingKey as ReadingKey
from rushes.core.table import NUMBER, TEXT, Cell, Table, number
from rushes.core.words.notebook_repr import table_html
from rushes.instruments.preference.instrument import INSTRUMENT as PREFERENCE
from rushes.storage.runs import Run, Subject
from rushes.suite.prompts import Prompt

Ratings: TypeAlias = Mapping[str, Mapping[str, float]]
"""Of one system on one question: by prompt and rater."""
PEOPLE = PREFERENCE.name
"""The instrument whose readings are what people said: ratings, votes, a study."""


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One system and every run about it, of any instrument."""

    name: str
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardClip:
    """One clip of the matrix: a system's answer to a prompt."""

    path: str
    """As its run has it."""
    run: int
    """Of the system's runs, the one that has its series."""
    subject: str
    """Its id there."""
    facts: Mapping[str, object] = field(default_factory=dict)


class BoardClips(Mapping[tuple[str, str], BoardClip]):
    """The clips of a board by system and prompt id, each made of its subject when it is asked for."""

    def __init__(self, subjects: Mapping[str, Mapping[str, Subject]], runs: Mapping[str, Mapping[str, int]]) -> None:
        self.subjects, self._runs = subjects, runs

    def __len__(self) -> int:
        return sum(map(len, self.subjects.values()))

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return ((system, prompt) for system, row in self.subjects.items() for prompt in row)

    def __contains__(self, key: object) -> bool:
        system, prompt = cast(tuple[str, str], key)
        return prompt in self.subjects.get(system, {})

    def __getitem__(self, key: tuple[str, str]) -> BoardClip:
        system, prompt = key
        subject = self.subjects[system][prompt]
        run = self._runs[system][prompt]
        return BoardClip(path=subject.path, run=run, subject=subject.id, facts=subject.facts)


def clip_facts(
    clips: Mapping[tuple[str, str], BoardClip], system: str, prompts: Sequence[str]
) -> list[Mapping[str, object] | None]:
    """What the runs tell of a system's clips of these prompts; None where it has no clip of one."""
    if isinstance(clips, BoardClips):
        row = clips.subjects.get(system, {})
        return [None if (found := row.get(prompt)) is None else found.facts for prompt in prompts]
    return [None if (clip := clips.get((system, prompt))) is None else clip.facts for prompt in prompts]


def clip_paths(clips: Mapping[tuple[str, str], BoardClip], system: str) -> set[str]:
    """Where a system's clips lie, as its runs have them."""
    if isinstance(clips, BoardClips):
        return {subject.path for subject in clips.subjects.get(system, {}).values()}
    return {clip.path for (name, _), clip in clips.items() if name == system}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BoardData:
    """Everything a board shows, before any verdict."""

    systems: tuple[System, ...]
    prompts: tuple[Prompt, ...]
    readings: tuple[Reading, ...]
    values: Mapping[tuple[str, ReadingKey], Mapping[str, Measurement]]
    """Of readings per prompt: by (system, reading), then by prompt id. A missing value is a Measurement without one."""
    whole: Mapping[tuple[str, ReadingKey], Measurement]
    """One number per system and reading: the mean over its prompts with an interval, or the number itself."""
    clips: Mapping[tuple[str, str], BoardClip] = field(default_factory=dict)
    """By (system, prompt id)."""
    others: tuple[Reading, ...] = ()
    """Of readings in another form (the clips as they are, or their common form): measured and not tested, with values
    in `values` and `whole`."""
    refused: tuple[Refused, ...] = ()
    reference: str = ""
    """The system that the suite declares as its reference (real footage); "" where none is."""
    asked: bool = False
    """Whether there are answers of people, on the board or left out."""
    answers: Mapping[ReadingKey, Mapping[str, Ratings]] = field(default_factory=dict)
    """What single people said: by question and system. Empty for a study, which has strengths alone."""
    credentials: tuple[Credential, ...] = ()
    """Which metrics agree with people, and on what: those of Rushes, and those beside the suite."""
    kind: str = ""
    """The kind of video, as the suite declares it; "" where it does not."""
    remarks: tuple[str, ...] = ()
    """What a reader must know: prompts that a system lacks, media that differ, runs that are not complete."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(system.name for system in self.systems)

    @property
    def people(self) -> tuple[Reading, ...]:
        """What people said."""
        return tuple(reading for reading in self.readings if reading.instrument == PEOPLE)

    def __repr__(self) -> str:
        listed = {"system": self.systems, "prompt": self.prompts, "reading": self.readings}
        sizes = [f"{len(some)} {name}{'' if len(some) == 1 else 's'}" for name, some in listed.items()]
        return f"BoardData({', '.join([*sizes, *([f'{len(self.refused)} refused'] if self.refused else [])])})"

    def _repr_html_(self) -> str:
        """A row per system: its number for each reading."""
        rows = [
            (Cell(name), *(number(self.whole.get((name, reading.key))) for reading in self.readings))
            for name in self.names
        ]
        columns = (*TEXT("system"), *NUMBER(*(reading.label for reading in self.readings)))
        return table_html(Table(title="", columns=columns, rows=rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast(Comparison):
    """Two systems on one reading; the difference, the verdict and who won are of the second against the first."""

    reading: Reading
    wins: int = 0
    ties: int = 0
    losses: int = 0
    """Prompts on which the second is better, equal, worse, by the reading's direction; higher, equal, lower where it
    has none. Equal means equal in 8 decimals."""

    @classmethod
    def draft(
        cls,
        reading: Reading,
        names: tuple[str, str],
        difference: Measurement,
        p: Measurement,
        *,
        why: WhyNot | None = None,
        higher: int = 0,
        equal: int = 0,
        lower: int = 0,
    ) -> Contrast:
        """Before anything else on the board is allowed for; without a p, the two do not compare."""
        wins, losses = (lower, higher) if reading.definition.better == "lower" else (higher, lower)
        return cls(
            reading=reading,
            first=names[0],
            second=names[1],
            difference=difference,
            p=p,
            adjusted_p=p,
            outcome=Outcome.NOT_COMPARABLE if p.value is None else Outcome.CANNOT_TELL,
            why=why,
            wins=wins,
            ties=equal,
            losses=losses,
        )

    @property
    def ranked(self) -> tuple[str, str] | None:
        """The better system and the worse one; None where neither is."""
        ways = {Outcome.BETTER: (self.second, self.first), Outcome.WORSE: (self.first, self.second)}
        return ways.get(self.outcome)


class Family(StrEnum):
    """Columns that are tested together, with one share of the allowed error."""

    PEOPLE = "people"
    CREDENTIALED = "credentialed"
    """Metrics with a credential that counts on this board: they may say better, about its question."""
    OTHERS = "others"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReadingVerdict:
    """One column's verdict."""

    key: ReadingKey
    family: Family | None = None
    """What it was tested with; None where it was not tested."""
    earned: EarnedSay = EarnedSay()
    """The credentials that let the metric say better, one per question, or why none does."""
    too_few: int = 0
    """Prompts that it takes at least for any two systems to differ, where the board has fewer; else 0."""
    contrasts: tuple[Contrast, ...]
    """Every pair of systems, in the board's order."""
    letters: Mapping[str, str]
    """By system: systems that share a letter do not differ significantly; "" where it has no value."""
    ranks: Mapping[str, tuple[int, int]]
    """By system: its best and its worst rank, by which systems it is surely behind and surely ahead of."""
    why: WhyNot | None = None
    """Why the column has no verdict: no direction, nothing shared …; None where it has one."""
    why_not: str = ""
    """The same in words; "" where it has one."""

    @property
    def say(self) -> tuple[Credential, ...]:
        return self.earned.credentials

    @property
    def ranked(self) -> tuple[tuple[str, str], ...]:
        """(better, worse) of every two systems that it ranks."""
        return tuple(pair for contrast in self.contrasts if (pair := contrast.ranked))

    def __repr__(self) -> str:
        letters = ", ".join(f"{name} {letters or '–'}" for name, letters in self.letters.items())
        return f"ReadingVerdict({self.key.partition('|')[0]}: {self.why_not or letters})"
