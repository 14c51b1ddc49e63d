"""What people said about clips, whatever file it came in.

ratings  a CSV with a row per rater and clip: prompt_id, system, rater, then one column per dimension
means    a CSV with a row per clip: clip (or prompt_id and system), then one column per dimension (mos …); std and n are
         known words and no dimensions. Single raters are not known.
votes    two clips and which is better: `model_a, model_b, winner` with a prompt, or a study's own export. A vote gives
         the winner 1, the loser 0 and both ½ for a tie, and a clip's rating is the mean: its share of wins.
         Equal shares tie exactly (`scale`). Where votes name no rater, all votes on a clip are one share
counts   the same counted before: `question, prompt_id, system_a, system_b, votes_a, votes_b`; see `counted`
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from pathlib import Path
from sys import intern
from typing import Literal, TypeAlias

from rushes.compare.readings.systems import PromptIndex
from rushes.core.errors import InputError
from rushes.instruments.preference.votes import Vote
from rushes.study.exchange.arena import read_arena
from rushes.study.exchange.counted import Counted, is_counted, of_rows, of_votes
from rushes.study.exchange.files import each_row, read_rows
from rushes.study.exchange.ratings_csv import COLUMNS as RATINGS_COLUMNS
from rushes.study.exchange.ratings_csv import read_ratings
from rushes.study.exchange.table import COLUMNS as TABLE_COLUMNS
from rushes.study.exchange.table import read_table
from rushes.suite.prompts import Prompt

Kind: TypeAlias = Literal["mean-rating", "mean-score", "win-share"]
ClipKey: TypeAlias = tuple[str, str]
"""System and prompt; ("", clip) where a table names clips alone."""

PREFERENCE = "preference"
MEANS = ""
"""The one "rater" of a table of means."""
_WORDS: Mapping[str, tuple[str, ...]] = {
    "prompt": ("prompt_id", "prompt", "sample_id", "question_id"),
    "system": ("system", "model", "models"),
    "rater": ("rater", "rater_id", "annotator", "judge", "worker_id"),
    "clip": ("clip", "video", "video_path", "path", "file", "filename"),
}
_MOST_VOTES, _MOST_SCALE = 20_000, 10**9
"""Two votes a unit: a share is the nearest fraction with so many of them, and no float is another one."""
_NO_DIMENSION = ("std", "sd", "n", "count", "task_id", "prompt_text")


@dataclass(frozen=True, kw_only=True)
class HumanScores:
    """People's numbers, by dimension, clip and rater; higher is better."""

    source: str
    kind: Kind
    scores: Mapping[str, Mapping[ClipKey, Mapping[str, float]]]
    """By dimension, by clip, by rater."""
    remarks: tuple[str, ...] = ()
    votes: Mapping[str, Mapping[ClipKey, Mapping[str, int]]] = field(default_factory=dict)
    """Of shares of wins: how many votes each score is the share of; {} of ratings."""
    averaged: bool = False
    """Whether ratings of a prompt's samples were averaged, rater by rater."""

    def of_prompts(self, prompts: Sequence[Prompt]) -> HumanScores:
        """With the ratings of numbered samples of these prompts averaged within the prompt, rater by rater."""
        index = PromptIndex(prompts, ())
        cells = {key: index.cell(key[1]) for key in self.clips}
        if not any(cell is not None and cell.sample for cell in cells.values()):
            return self
        scores: dict[str, dict[ClipKey, dict[str, float]]] = {}
        for dimension, of_clip in self.scores.items():
            given: dict[ClipKey, dict[str, list[float]]] = {}
            for key, by in of_clip.items():
                cell = cells[key]
                for rater, score in by.items():
                    given.setdefault((key[0], cell.prompt if cell else key[1]), {}).setdefault(rater, []).append(score)
            scores[dimension] = {k: {r: math.fsum(v) / len(v) for r, v in by.items()} for k, by in given.items()}
        return replace(self, scores=scores, averaged=True)

    def scale(self, dimension: str) -> int:
        """What makes every score a whole number, where scores are fractions of votes or samples; else 1.

        Sums of whole numbers are exact, so clips whose means are equal tie.
        """
        every = {score for by in self.scores[dimension].values() for score in by.values()}
        near = {score: Fraction(score).limit_denominator(_MOST_VOTES) for score in every}
        found = math.lcm(*(fraction.denominator for fraction in near.values()))
        exact = all(float(fraction) == score for score, fraction in near.items())
        return found if exact and found <= _MOST_SCALE else 1

    @property
    def dimensions(self) -> tuple[str, ...]:
        return tuple(self.scores)

    @cached_property
    def clips(self) -> tuple[ClipKey, ...]:
        return tuple(dict.fromkeys(chain.from_iterable(self.scores.values())))

    @cached_property
    def systems(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(system for system, _ in self.clips if system))

    @cached_property
    def raters(self) -> tuple[str, ...]:
        """Sorted; () where only means are known."""
        everyone = {rater for of_clip in self.scores.values() for one in of_clip.values() for rater in one}
        return tuple(sorted(everyone - {MEANS}))


def read_human_scores(path: Path | str, *, dimensions: Sequence[str] = ()) -> HumanScores:
    """Ratings, means or votes, told apart by the columns.

    Raises `InputError`, with the line, for a file that is none of them, a rating that is no number, a rater who rated a
    clip twice, and a dimension that is not there.
    """
    if Path(path).suffix.lower() in (".json", ".jsonl", ".parquet"):
        found = human_scores_of_votes(_votes(path, ()), str(path))
    else:
        columns = list(next((row for _, row in each_row(path, strip=True)), {}))
        if not columns:
            raise InputError(f"{path}: expected a row of ratings per clip and rater; the file has none")
        votes = "winner" in columns
        if votes and (set(TABLE_COLUMNS) <= set(columns) or set(RATINGS_COLUMNS) <= set(columns)):
            found = human_scores_of_votes(_votes(path, columns), str(path))
        elif votes or is_counted(columns):
            found = _of_counted(of_rows(path, read_rows(path, needed=(), strip=True)), str(path))
        else:
            found = _of_rows(path, columns)
    return _chosen(found, dimensions)


def _chosen(found: HumanScores, dimensions: Sequence[str]) -> HumanScores:
    for name in dimensions:
        if name not in found.scores:
            raise InputError(f"{found.source}: no dimension {name!r}; it has {', '.join(found.dimensions)}")
    return replace(found, scores={name: found.scores[name] for name in dimensions}) if dimensions else found


def _votes(path: Path | str, columns: Sequence[str]) -> tuple[Vote, ...]:
    if set(TABLE_COLUMNS) <= set(columns) or Path(path).suffix.lower() == ".parquet":
        return read_table(path)
    if set(RATINGS_COLUMNS) <= set(columns):
        return read_ratings(path, lenient=True).votes  # who won is all that is used
    return read_arena(path).votes


def human_scores_of_votes(votes: Iterable[Vote], source: str) -> HumanScores:
    """Each clip's share of wins, rater by rater; gold pairs, repeats and adjudications stay out.

    A clip is a system's answer to a sample, or to a prompt where samples are single pairs of clips and prompts are not,
    and in battles without samples.
    """
    raw = [vote for vote in votes if vote.counts_in_results]
    by_prompt = _samples_are_pairs(raw)
    rows = [
        replace(row, prompt="" if not row.prompt else vote.prompt if by_prompt else vote.sample)
        for vote, row in zip(raw, of_votes(raw), strict=True)
    ]
    return _of_counted(rows, source)


def _of_counted(rows: Sequence[Counted], source: str) -> HumanScores:
    """Shares by question, clip and rater; of all votes together where some name no rater."""
    told = [row for row in rows if row.prompt and sum(row.votes)]
    if not told:
        raise InputError(
            f"{source}: no vote names its prompt, so the votes cannot be matched to clips of a run; "
            "rank the systems with rushes rank instead"
        )
    remarks = [f"{len(rows) - len(told)} votes without a prompt are left out"] if len(told) < len(rows) else []
    nameless = [row for row in told if not row.rater]
    if 0 < len(nameless) < len(told):
        remarks.append(
            f"{len(nameless)} of {len(told)} votes name no rater: each clip's share is that of all its votes"
        )
    won: dict[str, dict[ClipKey, dict[str, list[int]]]] = {}
    met: dict[tuple[str, str], Counter[frozenset[str]]] = {}
    for row in told:
        question, (for_a, for_b, ties) = row.question or PREFERENCE, row.votes
        rater = MEANS if nameless else row.rater
        for system, points in ((row.system_a, 2 * for_a + ties), (row.system_b, 2 * for_b + ties)):
            tally = won.setdefault(question, {}).setdefault((system, row.prompt), {}).setdefault(rater, [0, 0])
            tally[0] += points
            tally[1] += 2 * sum(row.votes)
        met.setdefault((question, row.prompt), Counter())[frozenset((row.system_a, row.system_b))] += sum(row.votes)
    if uneven := sum(not _balanced(pairs) for pairs in met.values()):
        remarks.append(
            f"on {uneven} of {len(met)} prompts not every pair of systems was judged equally often: a share of wins "
            "there depends on whom a clip met; rushes study validity compares vote by vote"
        )
    exact = {
        question: {key: {rater: won / votes for rater, (won, votes) in by.items()} for key, by in of_clip.items()}
        for question, of_clip in won.items()
    }
    cast = {
        question: {key: {rater: votes // 2 for rater, (_, votes) in by.items()} for key, by in of_clip.items()}
        for question, of_clip in won.items()
    }
    return HumanScores(source=source, kind="win-share", scores=exact, votes=cast, remarks=tuple(remarks))


def _samples_are_pairs(votes: Sequence[Vote]) -> bool:
    pairs: dict[str, set[tuple[str, str]]] = {}
    of_prompt: dict[str, set[tuple[str, str]]] = {}
    for vote in votes:
        pairs.setdefault(vote.sample, set()).add((vote.system_a, vote.system_b))
        of_prompt.setdefault(vote.prompt, set()).add((vote.system_a, vote.system_b))
    named = all(vote.prompt for vote in votes)
    return named and max(map(len, pairs.values()), default=0) == 1 < max(map(len, of_prompt.values()), default=0)


def _balanced(pairs: Mapping[frozenset[str], int]) -> bool:
    systems = {name for pair in pairs for name in pair}
    return len(set(pairs.values())) == 1 and len(pairs) == len(systems) * (len(systems) - 1) // 2


def _of_rows(path: Path | str, columns: Sequence[str]) -> HumanScores:
    named = {what: next((c for c in columns if c.lower() in words), "") for what, words in _WORDS.items()}
    whole = bool(named["prompt"] and named["system"])
    if not whole and (named["rater"] or not named["clip"]):
        raise InputError(
            f"{path}: expected prompt_id, system and rater with a column per dimension, or clip with mos, or model_a, "
            f"model_b and winner; got {', '.join(columns)}"
        )
    used = {named["prompt"], named["system"], named["rater"], named["clip"]}
    others = [c for c in columns if c not in used and c.lower() not in _NO_DIMENSION]
    dimensions = _with_numbers(path, others)
    if not dimensions:
        raise InputError(f"{path}: expected a column of numbers per dimension; got {', '.join(columns)}")
    scores: dict[str, dict[ClipKey, dict[str, float]]] = {c: {} for c in dimensions}
    raters: dict[str, int] = {}
    values: dict[str, float] = {}
    seen: dict[ClipKey, int] = {}  # who rated a clip: a bit for each rater
    for line, key, rater, row in _each_rated(path, named):
        _check_row(path, line, key, rater, bool(named["rater"]), whole)
        key, rater = (intern(key[0]), key[1]), intern(rater)
        bit = 1 << raters.setdefault(rater, len(raters))
        if seen.get(key, 0) & bit:
            raise _rated_twice(path, named, key, rater, line)
        seen[key] = seen.get(key, 0) | bit
        for dimension in dimensions:
            if text := row[dimension]:
                value = values.get(text)
                if value is None:
                    value = values[text] = _rating(path, line, dimension, text)
                scores[dimension].setdefault(key, {})[rater] = value
    words = [c for c in others if c not in dimensions]
    remarks = (f"{path}: no numbers in {', '.join(words)}, not read",) if words else ()
    kind: Kind = "mean-rating" if named["rater"] else "mean-score"
    return HumanScores(source=str(path), kind=kind, scores=scores, remarks=remarks)


def _each_rated(path: Path | str, named: Mapping[str, str]) -> Iterator[tuple[int, ClipKey, str, dict[str, str]]]:
    """Of every row its line, which clip it rates, by whom, and its cells."""
    whole = bool(named["prompt"] and named["system"])
    for line, row in each_row(path, strip=True):
        key = (row[named["system"]], row[named["prompt"]]) if whole else ("", row[named["clip"]])
        yield line, key, row[named["rater"]] if named["rater"] else MEANS, row


def _rated_twice(path: Path | str, named: Mapping[str, str], key: ClipKey, rater: str, line: int) -> InputError:
    before = next(n for n, other, whom, _ in _each_rated(path, named) if (other, whom) == (key, rater))
    whose = f"rater {rater} rated {clip_text(key)}" if rater else f"{clip_text(key)} has a rating"
    return InputError(f"{path}, line {line}: {whose} on line {before} already; keep one of the two")


def _with_numbers(path: Path | str, columns: Sequence[str]) -> list[str]:
    """The columns in which some row has a number."""
    left = dict.fromkeys(columns)
    for _, row in each_row(path, strip=True):
        for name in [name for name in left if _number(row[name]) is not None]:
            del left[name]
        if not left:
            break
    return [name for name in columns if name not in left]


def _check_row(path: Path | str, line: int, key: ClipKey, rater: str, rated: bool, whole: bool) -> None:
    if not key[1] or (whole and not key[0]):
        raise InputError(f"{path}, line {line}: expected which clip was rated; the cell is empty")
    if rated and not rater:
        raise InputError(f"{path}, line {line}: expected who rated {clip_text(key)}; the cell is empty")


def clip_text(key: ClipKey) -> str:
    """ "p001 of amber"; the name alone where a table has no systems."""
    return f"{key[1]} of {key[0]}" if key[0] else key[1]


def _rating(path: Path | str, line: int, dimension: str, text: str) -> float:
    value = _number(text)
    if value is None:
        raise InputError(f"{path}, line {line}: a rating of {dimension} is a number or empty; got {text!r}")
    return value


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
