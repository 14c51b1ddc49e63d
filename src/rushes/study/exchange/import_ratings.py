"""A ratings CSV into a study: held to the study's rubric, or taken as it is under another label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from rushes.instruments.preference.families import FamilyKind
from rushes.instruments.preference.rules import LENIENT, bent_counts, bent_text
from rushes.study.exchange.ratings_csv import read_ratings

if TYPE_CHECKING:
    from rushes.study import StudyService


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRatings:
    """What became of a ratings CSV."""

    votes: int
    rubric: str
    """As the signatures of the votes' numbers name it: "0.1", or "0.1-lenient"."""
    bent: Mapping[str, int]
    """By rule of the rubric: votes that do not keep it."""
    unfilled: int
    unknown_tags: tuple[str, ...]

    @property
    def remarks(self) -> list[str]:
        """What whoever imports it should know."""
        said = [f"{self.unfilled} rows are not filled in yet and were skipped"] if self.unfilled else []
        if self.unknown_tags:
            said.append(f"tags that are not in the rubric, kept as typed: {', '.join(self.unknown_tags)}")
        if self.bent:
            said.append(f"the study's numbers now say rubric:{self.rubric}, for votes {bent_text(self.bent)}")
        return said


def import_ratings(
    service: StudyService,
    study: str,
    path: Path | str,
    *,
    lenient: bool = False,
    families: Mapping[str, FamilyKind] = MappingProxyType({}),
) -> ImportedRatings:
    """Import the file; `InputError` naming its lines where rows do not keep the study's rubric and `lenient` is False.

    `families` declares what task families ask for, as in `StudyPlan`.
    """
    book = service.rubric(study, families=families)
    file = read_ratings(path, rubric=book, lenient=lenient)
    votes, bent = service.import_ratings(study, file.votes, families=families), bent_counts(file.votes)
    return ImportedRatings(
        votes=votes,
        rubric=f"{book.version}{LENIENT}" if bent else book.version,
        bent=bent,
        unfilled=len(file.unfilled),
        unknown_tags=file.unknown_tags,
    )
