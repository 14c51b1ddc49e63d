"""What people said, as a board's first columns: a value per clip, and a mean per system with its interval.

Names in a table of ratings lead to clips as the clips' own names do: by system and prompt. What was rated and is not on
the board, or the other way round, is a remark and never a zero.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TypeAlias

import numpy as np

from rushes.compare.agreement.credential import Credential, read_credential, shipped_credentials
from rushes.compare.agreement.human_scores import MEANS, ClipKey, HumanScores, clip_text, read_human_scores
from rushes.compare.board.model import Ratings
from rushes.compare.definitions.ratings import CLIP_RATING, CLIP_WIN_SHARE, RATING_MEAN, WIN_SHARE_MEAN
from rushes.compare.readings.remarks import some
from rushes.compare.readings.study_ratings import study_ratings
from rushes.compare.readings.systems import PromptIndex
from rushes.core import Definition, Estimate, Measurement, Why
from rushes.core.errors import InputError
from rushes.core.reading import Reading, ReadingKey
from rushes.instruments.preference.instrument import INSTRUMENT as PREFERENCE
from rushes.stats.clustered import Clusters, clustered_mean, interval_kind, numbered
from rushes.stats.means import student_mean
from rushes.stats.votes.shares import clustered_share
from rushes.storage.runs.relocation import relocate
from rushes.suite.file import scale_ends
from rushes.suite.folder import SuiteRun

Cast: TypeAlias = tuple[float, int, str]
"""A share of votes, of how many, and who cast them; "" where nobody knows."""
Places: TypeAlias = Mapping[ClipKey, ClipKey]
"""The system and the prompt that a rated name means; those that are not on the board are not in it."""
SCALES = ("0-1", "1-5", "1-7", "0-10", "0-100")
"""What a table's ratings are taken to be on, unless the suite says: the first that holds them all."""
CREDENTIALS = "credentials"
"""The folder of what metrics have earned, in the suite's folder or beside it."""
OPEN = "open"
"""The scale of ratings that none of these holds."""
_STEP = 1.0
"""From one rating to the next, on every scale of more than a point."""


@dataclass(slots=True, kw_only=True)
class PeopleColumns:
    """Readings with their values and means, as `BoardData` has them."""

    readings: list[Reading] = field(default_factory=list)
    values: dict[tuple[str, ReadingKey], dict[str, Measurement]] = field(default_factory=dict)
    whole: dict[tuple[str, ReadingKey], Measurement] = field(default_factory=dict)
    answers: dict[ReadingKey, Mapping[str, Ratings]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def credentials_beside(suite: SuiteRun | None) -> tuple[Credential, ...]:
    """Those that come with Rushes, and the user's: `credentials/*.toml` in the suite's folder, and beside it.

    Raises `InputError` for a file that is no credential.
    """
    return shipped_credentials() + (() if suite is None else tuple(map(read_credential, credential_files(suite))))


def credential_files(suite: SuiteRun) -> list[Path]:
    """Those in the suite's folder, then those beside it, each in the order of their names."""
    folders = suite.path / CREDENTIALS, suite.path.resolve().parent / CREDENTIALS
    return [file for folder in folders for file in sorted(folder.glob("*.toml"))]


def people_columns(suite: SuiteRun, names: Sequence[str], index: PromptIndex) -> PeopleColumns:
    """A column per question of the suite's ratings and votes, in the files' order, then of its studies' ratings.

    A file that is gone gives a remark and no column; one that changed since the suite ran is read as it is now, and
    a remark says so. Raises `InputError` for a table that cannot be read and a rating outside its declared scale.
    """
    made = PeopleColumns()
    for file in suite.suite.asked:
        place = relocate(file, beside=suite.path)
        if place is None:
            made.remarks.append(f"{file}: is no longer where the suite found it, so people's ratings are left out")
            continue
        if suite.digests.get(file, digest := hashlib.sha256(place.read_bytes()).hexdigest()) != digest:
            made.remarks.append(f"{file}: changed since rushes suite run; the board shows it as it is now")
        people = read_human_scores(place)
        # A scale is of ratings: the votes beside them are shares, whatever it says.
        declared = {} if people.kind == "win-share" else suite.suite.scale
        _add_people(made, people, names, index, question_scales(people, declared))
    for found in study_ratings(suite, lambda name: index.cell(name) is not None):
        if isinstance(found, str):
            made.remarks.append(found)
        else:
            people, scale = found
            _add_people(made, people, names, index, dict.fromkeys(people.dimensions, scale))
    return made


def _add_people(
    made: PeopleColumns, people: HumanScores, names: Sequence[str], index: PromptIndex, scales: Mapping[str, str]
) -> None:
    places = _places(people, names, index)
    made.remarks += [*people.remarks, *_not_shared(people, names, places)]
    for question in people.dimensions:
        rated = _rated(people.scores[question], places)
        if rated:
            cast = _cast(people, question, places)
            _add(made, _definitions(people, question, scales[question]), names, index, rated, cast)


def question_scales(people: HumanScores, declared: Mapping[str, str]) -> dict[str, str]:
    """The scale of every question: as declared, else the first of `SCALES` that holds all of its ratings.

    Questions that look like 1-5 beside others on 1-7 are taken to be on 1-7: nobody gave a 6 there. Raises
    `InputError` for a rating outside a declared scale, and a scale of a question that is not asked.
    """
    if unknown := [question for question in declared if question and question not in people.scores]:
        raise InputError(
            f"{people.source}: a scale is given for {unknown[0]!r}, which is not a question; there "
            f"are {some(people.dimensions)}"
        )
    found: dict[str, str] = {}
    for question, of_clip in people.scores.items():
        told = declared.get(question) or declared.get("", "")
        values = [value for by in of_clip.values() for value in by.values()]
        found[question] = told or next((scale for scale in SCALES if _holds(scale, values)), OPEN)
        if told and (ends := scale_ends(told)) is not None:
            for key, by in of_clip.items():
                if wrong := [value for value in by.values() if not ends[0] <= value <= ends[1]]:
                    raise InputError(
                        f"{people.source}: a rating of {question} for {clip_text(key)} is {wrong[0]:g}, outside its "
                        f"scale {told}; correct the rating, or scale in the suite file"
                    )
    if not declared and "1-7" in found.values():
        found = {question: "1-7" if scale == "1-5" else scale for question, scale in found.items()}
    return found


def _holds(scale: str, values: Sequence[float]) -> bool:
    """Whether all values lie on it; ratings that are all 1 are the worst of 1-5, and not the best of 0-1."""
    ends = scale_ends(scale)
    assert ends is not None
    return ends[0] <= min(values) and max(values) <= ends[1] and (scale != "0-1" or min(values) < 1)


def _definitions(people: HumanScores, question: str, scale: str) -> tuple[Definition, Definition]:
    """Of a clip's value and of a system's mean."""
    asked = " ".join(question.replace("|", "/").split())
    if people.kind == "win-share":
        return CLIP_WIN_SHARE.with_params(question=asked), WIN_SHARE_MEAN.with_params(question=asked)
    low, high = scale_ends(scale) or (None, None)
    one, mean = (d.with_params(question=asked, scale=scale) for d in (CLIP_RATING, RATING_MEAN))
    return replace(one, lowest=low, highest=high), replace(mean, lowest=low, highest=high)


def _rated(scores: Mapping[ClipKey, Mapping[str, float]], places: Places) -> dict[str, Ratings]:
    """By system, prompt and rater; several samples of a prompt are averaged rater by rater."""
    every: dict[str, dict[str, dict[str, list[float]]]] = {}
    for key, by in scores.items():
        if (place := places.get(key)) is not None:
            for rater, value in by.items():
                every.setdefault(place[0], {}).setdefault(place[1], {}).setdefault(rater, []).append(value)
    return {
        name: {prompt: {r: math.fsum(v) / len(v) for r, v in by.items()} for prompt, by in row.items()}
        for name, row in every.items()
    }


def _cast(people: HumanScores, question: str, places: Places) -> dict[str, dict[str, list[Cast]]]:
    """By system and prompt: shares of votes with how many votes each is of; {} where people rated."""
    found: dict[str, dict[str, list[Cast]]] = {}
    for key, by in people.votes.get(question, {}).items():
        if (place := places.get(key)) is not None:
            shares = people.scores[question][key]
            row = found.setdefault(place[0], {}).setdefault(place[1], [])
            row += [(shares[rater], votes, rater) for rater, votes in by.items()]
    return found


def _places(people: HumanScores, names: Sequence[str], index: PromptIndex) -> Places:
    """What rated names mean; a clip's name alone is read as SYSTEM/PROMPT.mp4, wherever that lies."""
    prompts, found = {prompt.id for prompt in index.prompts}, {}
    for key in people.clips:
        system, name = key
        if not system:
            parts = PurePosixPath(name).with_suffix("").parts
            at = next((n for n, part in enumerate(parts[:-1]) if part in names), len(parts) - 1)
            system, name = parts[at], "/".join(parts[at + 1 :])
        cell = index.cell(name) if system in names else None
        if cell is not None and cell.prompt in prompts:
            found[key] = system, cell.prompt
    return found


def _not_shared(people: HumanScores, names: Sequence[str], places: Places) -> Iterator[str]:
    """What was rated and is not on the board."""
    strangers = [name for name in people.systems if name not in names]
    if strangers:
        yield f"{people.source}: systems that are not on this board: {some(strangers)}"
    lost = [key for key in people.clips if key[0] not in strangers and key not in places]
    if lost:
        clips = "1 rated clip is" if len(lost) == 1 else f"{len(lost)} rated clips are"
        yield f"{people.source}: {clips} not on this board, such as {clip_text(lost[0])}"


def _add(
    made: PeopleColumns,
    definitions: tuple[Definition, Definition],
    names: Sequence[str],
    index: PromptIndex,
    rated: Mapping[str, Ratings],
    cast: Mapping[str, Mapping[str, Sequence[Cast]]],
) -> None:
    one, mean = definitions
    label = str(one.param("question")).replace("_", " ")
    reading = Reading(definition=one, label=label, instrument=PREFERENCE.name, per_prompt=True)
    if any(reading.key == other.key for other in made.readings):
        raise InputError(f"the ratings ask {one.param('question')!r} twice; give each question its own name")
    shared = [prompt.id for prompt in index.prompts if all(prompt.id in row for row in rated.values())]
    made.readings.append(reading)
    made.answers[reading.key] = rated
    for name in names:
        row = rated.get(name, {})
        made.values[name, reading.key] = {
            prompt.id: _clip(one, row.get(prompt.id, {}), name) for prompt in index.prompts if row
        }
        made.whole[name, reading.key] = _system(mean, row, cast.get(name, {}), shared, name, len(index.prompts))


def _clip(definition: Definition, by: Mapping[str, float], name: str) -> Measurement:
    if not by:
        return Measurement.missing(definition, f"nobody rated the clip of {name}")
    return Measurement(definition=definition, value=math.fsum(by.values()) / len(by), count=len(by))


def _system(
    definition: Definition,
    row: Ratings,
    cast: Mapping[str, Sequence[Cast]],
    shared: Sequence[str],
    name: str,
    prompts: int,
) -> Measurement:
    if not row:
        return Measurement.missing(definition, f"nobody rated {name}")
    if not shared:
        return Measurement.missing(definition, "no prompt was rated for every system")
    if cast:
        found = share_of_votes([cast[prompt] for prompt in shared])
    else:
        low, high = definition.lowest, definition.highest
        step = None if (low, high) == (0, 1) else _STEP  # from 0 to 1 a mean is a share
        found = mean_over_people([row[prompt] for prompt in shared], lowest=low, highest=high, step=step)
    left = prompts - len(shared)
    note = f"{left} of {prompts} prompts left out: not every system was rated" if left else ""
    return Measurement.of(definition, found, note="; ".join(filter(None, (note, found.lacking))))


def share_of_votes(cast: Sequence[Sequence[Cast]]) -> Estimate:
    """What a system won of its votes, one sequence per prompt, with the interval of `rushes rank`.

    Formula     Σ share · votes / Σ votes; interval as in `stats.votes.shares`. `count` is the number of prompts

    >>> share_of_votes([[(0.75, 4, "")], [(0.25, 4, "")]]).value
    0.5
    """
    rows = [(*one, str(prompt)) for prompt, some in enumerate(cast) for one in some]
    shares, votes, raters, prompts = zip(*rows, strict=True)
    clusters = Clusters(*numbered(raters), *numbered(prompts))
    kind = interval_kind(clusters.raters, clusters.prompts)
    found = clustered_share(np.array(shares), np.array(votes, np.int64), clusters, kind=kind)
    return replace(found, count=len(cast))


def mean_over_people(
    ratings: Sequence[Mapping[str, float]],
    *,
    lowest: float | None = None,
    highest: float | None = None,
    step: float | None = None,
) -> Estimate:
    """The mean over prompts of the mean over raters, with its interval; `ratings` has a mapping by rater per prompt.

    Formula     m = Σ_p (Σ_r v_pr / n_p) / P; interval two-way clustered by rater and prompt (`stats.clustered`), each
                rating weighted by 1 / (n_p P); cut to `lowest` and `highest`, and with both no narrower than its floor
                there (`step` from one rating to the next; None: a share)
    Unit        the ratings' own; `count` is the number of prompts
    Edge cases  one rater, or raters not known: Student's t over prompts. One prompt: no interval. All ratings equal, or
                differences that cancel out for every rater and prompt: the floor; no interval where there is none

    >>> mean_over_people([{"r1": 4, "r2": 5}, {"r1": 2}], lowest=1, highest=5).value
    3.25
    """
    means = [math.fsum(by.values()) / len(by) for by in ratings]
    mean, many = math.fsum(means) / len(means), len(means)
    everyone = {rater for by in ratings for rater in by} - {MEANS}
    if many < 2:
        return Estimate(value=mean, count=many, why=Why.ONE_PROMPT)
    if len(everyone) < 2:
        found = student_mean(means)
        return found if found.interval is None else replace(found, interval=found.interval.within(lowest, highest))
    rows = [(value, rater, place, len(by)) for place, by in enumerate(ratings) for rater, value in by.items()]
    # Each prompt counts once however many rated it: the plain mean of these is m, its residuals are the weighted ones.
    weighted = [mean + len(rows) / (each * many) * (value - mean) for value, _, _, each in rows]
    raters, prompts = [rater for _, rater, _, _ in rows], [str(place) for _, _, place, _ in rows]
    found = clustered_mean(weighted, raters, prompts, lowest=lowest, highest=highest, step=step)
    ends = found.interval
    if ends is not None and ends.high - ends.low <= 1e-12 * max(1.0, abs(mean)):
        return Estimate(value=mean, count=many, why=Why.EQUAL_VALUES)
    return replace(found, value=mean, count=many)
