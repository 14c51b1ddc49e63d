"""The formats in which a study's votes can be taken along: one registry for the command line and the web pages.

A package adds one by an entry point of the group `rushes.study_exports` that names an `ExportFormat`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from rushes.core.registry import Registry
from rushes.instruments.preference.votes import Vote

if TYPE_CHECKING:
    from rushes.study import StudyService

CSV = "text/csv; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyVotes:
    """What is written: all standing votes of a study, adjudicators' labels among them, and where to look things up."""

    votes: Sequence[Vote]
    prompts: Callable[[], Mapping[str, str]] = dict
    """The prompts' words by `Vote.prompt_key`: task family and prompt id."""
    clips: Callable[[], Mapping[str, str]] = dict
    """The clips' files by clip id."""
    adjudicated: bool = False
    """Whether adjudicators' decisions stand for their samples."""


Write: TypeAlias = Callable[[Path, StudyVotes], int]
"""Writes the file; returns how many votes or samples the format has no place for."""


def keeps_all(write: Callable[[Path, Sequence[Vote]], object]) -> Write:
    """A `Write` of a function that has a place for every vote."""

    def write_all(out: Path, study: StudyVotes) -> int:
        write(out, study.votes)
        return 0

    return write_all


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFormat:
    """One way to take the votes along."""

    title: str
    text: str
    """What is in it and for whom, in one sentence."""
    ending: str
    write: Write
    media_type: str = CSV
    left_out: str = ""
    """Why some votes or samples have no place in it; "" where all have."""
    decisions: bool = False
    """True where adjudicators' decisions can stand for their samples: `StudyVotes.adjudicated` makes a difference."""


FORMATS: Registry[ExportFormat] = Registry(
    "export format",
    group="rushes.study_exports",
    built_in={
        "csv": "rushes.study.exchange.table:CSV_FORMAT",
        "parquet": "rushes.study.exchange.table:PARQUET_FORMAT",
        "ratings": "rushes.study.exchange.ratings_csv:FORMAT",
        "arena": "rushes.study.exchange.arena:FORMAT",
        "pwcmp": "rushes.study.exchange.pwcmp:FORMAT",
        "dpo": "rushes.study.exchange.dpo:FORMAT",
    },
)


class Exported(NamedTuple):
    """What became of the votes: those of raters, and how many votes or samples the format has no place for."""

    votes: int
    left_out: int


def export_study(service: StudyService, study: str, out: Path, *, form: str, adjudicated: bool = False) -> Exported:
    """Write a study's votes in one of `FORMATS`."""
    write, votes = FORMATS[form].write, service.votes(study, adjudicated=True)
    given = StudyVotes(
        votes=votes,
        prompts=lambda: service.prompts(study),
        clips=lambda: {clip.id: clip.source for clip in service.clips(study)},
        adjudicated=adjudicated,
    )
    return Exported(votes=sum(not vote.adjudicated for vote in votes), left_out=write(out, given))
