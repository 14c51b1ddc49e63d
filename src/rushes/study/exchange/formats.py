"""The formats in which a study's votes can be taken along: one registry for the command line and the web pages.

A package adds one by an entry point of the group `rushes.study_exports` that names an `ExportFormat`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from rushes.core.errors import InputError
from rushes.core.machine.packages import package_code
from rushes.core.registry import Registry
from rushes.instruments.preference.methods.judgements import Judgement
from rushes.instruments.preference.methods.method import Method, method
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
    """The clips' files by clip id, relative to a folder that holds all of them."""
    refused: Callable[[], Collection[str]] = tuple
    """Ids of clips that were never made, because the system refused: there is no file."""
    adjudicated: bool = False
    """Whether adjudicators' decisions stand for their samples."""
    judgements: Sequence[Judgement] = ()
    """Of a study that shows single clips or sets; it has no votes but those that best–worst answers imply."""


LeftOut: TypeAlias = Mapping[str, int]
"""How many votes, samples or ratings have no place in a file, by the reason in words."""
Write: TypeAlias = Callable[[Path, StudyVotes], "int | LeftOut"]
"""Writes the file; returns what the format has no place for: counts by reason, or one count whose reason is
`ExportFormat.left_out`."""


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
    """Why some votes, samples or ratings may have no place in it; "" where all have."""
    decisions: bool = False
    """True where adjudicators' decisions can stand for their samples: `StudyVotes.adjudicated` makes a difference."""
    of: Literal["votes", "judgements"] = "votes"
    """What it has places for: votes on pairs, or answers of other methods."""


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
        "jsonl": "rushes.study.exchange.judgements:LINES",
        "answers": "rushes.study.exchange.judgements:ANSWERS",
        "opinions": "rushes.study.exchange.judgements:OPINIONS",
        "label-studio": "rushes.study.exchange.other_tools:LABEL_STUDIO",
        "potato": "rushes.study.exchange.other_tools:POTATO",
        "fiftyone": "rushes.study.exchange.other_tools:FIFTYONE",
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What became of the votes; unpacks as (votes, left_out)."""

    votes: int
    """Votes of raters that the study holds."""
    reasons: LeftOut
    """What the format has no place for, by reason; only counts above 0."""
    decided: int = 0
    """Samples with an adjudicator's decision."""
    root: str = ""
    """The folder that paths in the file are relative to; "" where it holds none."""

    @property
    def left_out(self) -> int:
        return sum(self.reasons.values())

    def __iter__(self) -> Iterator[int]:
        return iter((self.votes, self.left_out))

    @property
    def text(self) -> str:
        """One sentence on what was left out; "" where nothing was.

        >>> Exported(votes=9, reasons={"ties": 2, "no majority": 1}).text
        '3 left out: 2 (ties), 1 (no majority)'
        >>> Exported(votes=9, reasons={"ties": 2}).text
        '2 left out: ties'
        """
        if len(self.reasons) == 1:
            return f"{self.left_out} left out: {next(iter(self.reasons))}"
        each = ", ".join(f"{count} ({reason})" for reason, count in self.reasons.items())
        return f"{self.left_out} left out: {each}" if each else ""


def formats_for(asked: Method) -> list[str]:
    """The formats that have a place for the answers of a method; of best–worst, also those of the votes it implies."""
    others = ("csv", "jsonl", *(("arena", "pwcmp") if asked.name == "best-worst" else ()))
    if asked.is_pairs:
        return [key for key, form in FORMATS.items() if form.of == "votes"]
    return [key for key, form in FORMATS.items() if form.of == "judgements" or key in others]


def export_study(service: StudyService, study: str, out: Path, *, form: str, adjudicated: bool = False) -> Exported:
    """Write a study's votes in one of `FORMATS`.

    `adjudicated` lets decisions stand for their samples; `InputError` for a format where they cannot.
    """
    chosen, votes = FORMATS[form], service.votes(study, adjudicated=True)
    answers = service.judgements(study)
    if answers and form == "csv":
        chosen = FORMATS["answers"]
    if adjudicated and not chosen.decisions:
        able = ", ".join(key for key, one in FORMATS.items() if one.decisions)
        raise InputError(
            f"{form} lists single votes, so a decision cannot replace a sample's votes; {able} can. "
            "csv and parquet have every decision, in rows marked adjudicated"
        )
    implied = [vote for one in answers for vote in one.implied_votes()]
    if form not in formats_for(method(service.study_status(study).summary.method)):
        has = "single clips or sets" if answers else "pairs"
        raise InputError(f"{form} cannot hold answers on {has}; use csv or jsonl")
    root, clips = portable_paths({clip.id: clip.source for clip in service.clips(study)})
    asked: list[str] = []

    def relative() -> Mapping[str, str]:
        asked.append(root)
        return clips

    given = StudyVotes(
        votes=votes or implied,
        judgements=answers,
        prompts=lambda: service.prompts(study),
        clips=relative,
        refused=lambda: service.refusals(study),
        adjudicated=adjudicated,
    )
    with package_code(chosen.write, f"the export format {form}"):
        left = chosen.write(out, given)
    reasons = {chosen.left_out: left} if isinstance(left, int) else left
    decided = sum(vote.adjudicated for vote in votes)
    told = {reason: count for reason, count in reasons.items() if count}
    return Exported(votes=len(answers) or len(votes) - decided, reasons=told, decided=decided, root="".join(asked[:1]))


def portable_paths(files: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The folder that holds all of these files, and each file's path below it, with "/" on every system.

    >>> portable_paths({"x/p1": "/data/fetv/x/p1.mp4", "y/p1": "/data/fetv/y/p1.mp4"})
    ('/data/fetv', {'x/p1': 'x/p1.mp4', 'y/p1': 'y/p1.mp4'})
    """
    if not files:
        return "", {}
    root = os.path.commonpath([os.path.dirname(path) for path in files.values()])
    return root, {name: Path(os.path.relpath(path, root)).as_posix() for name, path in files.items()}
