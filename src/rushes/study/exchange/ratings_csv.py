"""The ratings CSV: one row per sample and rater, in and out.

`sample_id,task_id,prompt_id,model_a,model_b,winner,adherence_1to5,…,primary_tag,secondary_tags,notes,rater_id`. A row
is unfilled while its models or its winner are blank or "TBD". The winner is A/B/Tie or model_a/model_b/tie. The file
has one rating per dimension and row and does not say for which clip: it is kept as `Vote.pair_ratings` unless
`ratings_of` says whose it is. On the way out the preferred clip's rating is written; ratings of the other clip and of
ties have no column, and the export counts them.

A row is held to the rubric as a rater's page is (`rules.py`); a file with a row that breaks a rule is refused. Ratings
that were published without tags have a way in: `lenient` takes them and marks each vote with what it does not keep.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from rushes.core.errors import InputError
from rushes.instruments.preference.rubric import RUBRIC, Rubric
from rushes.instruments.preference.rules import LENIENT, OF_OTHER_TASKS, Breach, vote_breaches
from rushes.instruments.preference.votes import HIGHEST_RATING, LOWEST_RATING, Screen, Vote
from rushes.study.exchange.files import csv_text, read_rows, write_file
from rushes.study.exchange.formats import ExportFormat, LeftOut, StudyVotes

RatingsOf: TypeAlias = Literal["pair", "winner", "model_a", "model_b"]
WinnerStyle: TypeAlias = Literal["letters", "models"]

DIMENSIONS = tuple(dimension.key for dimension in RUBRIC.dimensions)
COLUMNS = (
    *("sample_id", "task_id", "prompt_id", "model_a", "model_b", "winner"),
    *(f"{key}_1to5" for key in DIMENSIONS),
    *("primary_tag", "secondary_tags", "notes", "rater_id"),
)
_CHOICES: dict[str, Screen] = {
    "a": "left",
    "model_a": "left",
    "b": "right",
    "model_b": "right",
    "tie": "tie",
}
_STYLES = {"letters": {"a": "A", "b": "B", "tie": "Tie"}, "models": {"a": "model_a", "b": "model_b", "tie": "tie"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingsFile:
    """What a ratings CSV holds."""

    votes: tuple[Vote, ...]
    unfilled: tuple[str, ...]
    """Samples of rows that nobody has filled in yet."""
    unknown_tags: tuple[str, ...]
    """Tags that the rubric does not have, kept as typed; none unless the file was read leniently."""


MOST_PROBLEMS = 20
"""So many problems of a file are named; the others are counted."""


def read_ratings(
    path: Path | str, *, ratings_of: RatingsOf = "pair", rubric: Rubric = RUBRIC, lenient: bool = False
) -> RatingsFile:
    """Read a ratings CSV.

    `rubric` is what rows are held to; a study's own, with its families, is `StudyService.rubric(study)`. With
    `lenient`, a row that breaks its rules is kept and marked (`Vote.bent`); a rating that is not 1 to 5 is left out.

    `InputError` names the file and the lines of all rows that are half filled, wrong or, unless `lenient`, against
    the rubric, up to `MOST_PROBLEMS` of them.
    """
    votes: list[Vote] = []
    unfilled: list[str] = []
    lines: dict[tuple[str, str], int] = {}
    wrong: list[tuple[int, str]] = []
    against: list[tuple[int, Breach]] = []
    for line, row in _rows(path):
        if any(_blank(row[key]) for key in ("model_a", "model_b", "winner")):
            unfilled.append(row["sample_id"])
            continue
        key = (row["sample_id"], row["rater_id"])
        if lines.setdefault(key, line) != line:
            wrong.append((line, f"sample {key[0]} by {key[1]} is on line {lines[key]} already"))
            continue
        try:
            vote, breaches = _held(row, ratings_of, rubric)
        except InputError as error:
            wrong.append((line, str(error)))
            continue
        votes.append(vote)
        against += [(line, breach) for breach in breaches if not lenient]
    if wrong or against:
        raise InputError(_problems(path, wrong, against, rubric.version))
    unknown = {tag for vote in votes for tag in vote.tags if tag and tag not in rubric.tags}
    return RatingsFile(votes=tuple(votes), unfilled=tuple(unfilled), unknown_tags=tuple(sorted(unknown)))


def _rows(path: Path | str) -> list[tuple[int, dict[str, str]]]:
    """The rows of a ratings CSV; other files of votes have a command of their own, which invents no raters."""
    rows = read_rows(path, needed=(), strip=True)
    if not rows:
        return read_rows(path, needed=COLUMNS, strip=True)
    columns = set(rows[0][1])
    votes = {"votes_a", "votes_b"} <= columns or {"model_a", "model_b", "winner"} <= columns
    if missing := [name for name in COLUMNS if name not in columns]:
        other = "; votes without the rubric's columns are ranked by rushes rank" if votes else ""
        raise InputError(
            f"{path}: a ratings CSV has the columns of rushes study export; {missing[0]} and "
            f"{len(missing) - 1} more are missing{other}"
        )
    return rows


def _held(row: dict[str, str], ratings_of: RatingsOf, rubric: Rubric) -> tuple[Vote, list[Breach]]:
    """A row's vote, marked with the rules that it does not keep, and these; ratings that are none are left out."""
    expected = "is a whole number 1 to 5, blank or TBD"
    strange = [
        Breach("rating-range", key, f"{key}_1to5 {expected}; got {cell!r}")
        for key in DIMENSIONS
        if not _is_rating(cell := row[f"{key}_1to5"])
    ]
    vote = _vote(row | {f"{breach.field}_1to5": "" for breach in strange}, ratings_of, rubric)
    breaches = [*strange, *vote_breaches(vote, rubric)]
    return replace(vote, bent=tuple(dict.fromkeys(breach.rule for breach in breaches))), breaches


def _problems(path: Path | str, wrong: list[tuple[int, str]], against: list[tuple[int, Breach]], version: str) -> str:
    """All that is wrong with a file, in one line."""
    every = sorted([*wrong, *((line, breach.message) for line, breach in against)])
    more = len(every) - MOST_PROBLEMS
    said = [f"line {line}: {text.rstrip('.')}." for line, text in every[:MOST_PROBLEMS]]
    said += [f"And {more} more."] * (more > 0)
    if against:
        rows = len({line for line, _ in against})
        said.append(f"{rows} row{'s do' if rows > 1 else ' does'} not keep rubric {version}: correct the file, or")
        said.append(f"--lenient (in Python lenient=True) takes it under rubric:{version}{LENIENT}.")
    if any(breach.rule in OF_OTHER_TASKS for _, breach in against):
        said.append("--family NAME=edit or NAME=safety declares what a task family asks for.")
    return f"{path}, {' '.join(said)}"


def _blank(cell: str) -> bool:
    return not cell or cell.casefold() == "tbd"


def _vote(row: dict[str, str], ratings_of: RatingsOf, rubric: Rubric) -> Vote:
    choice = _CHOICES.get(row["winner"].casefold())
    if choice is None:
        raise InputError(f"winner is A, B or Tie (or model_a, model_b, tie); got {row['winner']!r}")
    given = {key: int(float(cell)) for key in DIMENSIONS if not _blank(cell := row[f"{key}_1to5"])}
    side = {"model_a": "left", "model_b": "right", "winner": choice}.get(ratings_of, "tie")
    by_side = {
        key: (value if side == "left" else None, value if side == "right" else None) for key, value in given.items()
    }
    owned = side != "tie"
    return Vote.seen(
        sample=row["sample_id"],
        left=row["model_a"],
        right=row["model_b"],
        choice=choice,
        rater=row["rater_id"],
        side_known=False,
        ratings=by_side if owned else {},
        pair_ratings={} if owned else given,
        family=row["task_id"],
        prompt=row["prompt_id"],
        primary_tag=_tag(row["primary_tag"], rubric),
        secondary_tags=tuple(_tag(tag, rubric) for tag in re.split(r"[;|,]", row["secondary_tags"]) if tag.strip()),
        note=row["notes"],
    )


def _is_rating(cell: str) -> bool:
    """Whether a cell is a whole number 1 to 5, or not filled in."""
    whole = re.fullmatch(r"[0-9]+(\.0+)?", cell) is not None
    return _blank(cell) or (whole and LOWEST_RATING <= float(cell) <= HIGHEST_RATING)


def _tag(cell: str, rubric: Rubric) -> str:
    return "" if _blank(cell.strip()) else rubric.tag(cell) or cell.strip()


def write_ratings(path: Path | str, votes: Iterable[Vote], *, winner_style: WinnerStyle = "letters") -> Path:
    """Write raw votes as a ratings CSV; gold, repeats and adjudicator's labels stay out (`write_csv` has them).

    The rows of a sample stand in the order their votes came, which agreement rests on and the sheet has no column for.
    `ratings_left_out` counts the ratings that have no column.
    """
    raw = [vote for vote in votes if vote.counts_in_results]
    place = {sample: number for number, sample in enumerate(dict.fromkeys(vote.sample for vote in raw))}
    came = sorted(raw, key=lambda vote: (place[vote.sample], vote.turn))
    rows = (_row(vote, _STYLES[winner_style]) for vote in came)
    return write_file(path, csv_text(COLUMNS, rows))


NOT_PREFERRED = "ratings of the clip that was not preferred"
TIED = "ratings of ties"
OTHER_DIMENSIONS = "ratings on dimensions that the sheet has no column for"


def ratings_left_out(votes: Iterable[Vote]) -> LeftOut:
    """How many ratings (one number 1 to 5 for one clip) `write_ratings` has no column for, by reason.

    >>> vote = Vote(sample="s", system_a="x", system_b="y", winner="b", rater="r", ratings={"temporal": (2, 5)})
    >>> ratings_left_out([vote]) == {NOT_PREFERRED: 1}
    True
    """
    found: Counter[str] = Counter()
    for vote in votes:
        if not vote.counts_in_results:
            continue
        for key, both in vote.ratings.items():
            given = sum(value is not None for value in both)
            if key not in DIMENSIONS:
                found[OTHER_DIMENSIONS] += given
            else:
                written = key not in vote.pair_ratings and _written_rating(vote, key) is not None
                found[NOT_PREFERRED if vote.decided else TIED] += given - written
        found[OTHER_DIMENSIONS] += sum(key not in DIMENSIONS for key in vote.pair_ratings)
    return +found


def _row(vote: Vote, style: dict[str, str]) -> dict[str, object]:
    ratings = {f"{key}_1to5": _written_rating(vote, key) for key in DIMENSIONS}
    return ratings | {
        "sample_id": vote.sample,
        "task_id": vote.family,
        "prompt_id": vote.prompt,
        "model_a": vote.system_a,
        "model_b": vote.system_b,
        "winner": style[vote.winner],
        "primary_tag": vote.primary_tag,
        "secondary_tags": ";".join(vote.secondary_tags),
        "notes": vote.note,
        "rater_id": vote.rater,
    }


def _written_rating(vote: Vote, key: str) -> int | None:
    if key in vote.pair_ratings:
        return vote.pair_ratings[key]
    if vote.winner == "tie" or key not in vote.ratings:
        return None
    return vote.ratings[key][0 if vote.winner == "a" else 1]


def _write(out: Path, study: StudyVotes) -> LeftOut:
    write_ratings(out, study.votes)
    return ratings_left_out(study.votes)


FORMAT = ExportFormat(
    title="Ratings CSV",
    text="The rubric's own sheet: one row per sample and rater.",
    ending="csv",
    write=_write,
    left_out="ratings of ties, and of the clip that was not preferred",
)
