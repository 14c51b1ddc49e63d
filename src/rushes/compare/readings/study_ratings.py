"""What raters of a study said of single clips, by dimension of its rubric, as a table of ratings would have it.

Which of two clips they preferred is the study's own column (Elo). A rater who saw a clip in several pairs counts once:
the mean of their ratings of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from rushes.compare.agreement.human_scores import ClipKey, HumanScores
from rushes.core.errors import RushesError
from rushes.instruments.preference.instrument import INSTRUMENT as PREFERENCE
from rushes.instruments.preference.methods.judgements import Judgement
from rushes.instruments.preference.methods.method import method
from rushes.instruments.preference.votes import Vote
from rushes.storage.runs.relocation import relocate
from rushes.study.exchange.judgements import scores_of
from rushes.suite.folder import SuiteRun

OPEN = "open"
"""The scale of answers that are no ratings: best–worst counts from −1 to 1."""


def study_ratings(suite: SuiteRun, is_known: Callable[[str], bool]) -> Iterator[tuple[HumanScores, str] | str]:
    """The ratings of every study that the suite names, and their scale; a remark for one that cannot be read.

    `is_known` says whether a name leads to a prompt of the board.
    """
    for plan in suite.suite.instruments:
        if plan.instrument != PREFERENCE.name:
            continue
        database, study = str(plan.settings.get("db", "")), str(plan.settings.get("study", ""))
        place = database if "://" in database else relocate(database, beside=suite.path)
        if place is None:
            yield f"{database}: is no longer where the suite found it, so ratings of the study {study} are left out"
            continue
        try:
            answers, scale = _answers(str(place), study)
            yield human_scores_of_ratings(answers, f"{database}, study {study}", is_known), scale
        except RushesError as error:
            yield f"{database}: ratings of the study {study} are left out: {error}"


def _answers(database: str, study: str) -> tuple[Sequence[Vote | Judgement], str]:
    from rushes.study import open_service

    service = open_service(database)
    try:
        asked = method(service.study_status(study).summary.method)
        scale = OPEN if asked.name == "best-worst" else f"{asked.lowest}-{asked.highest}"
        return service.judgements(study, excluded=False) or service.votes(study, excluded=False), scale
    finally:
        service.close()


def human_scores_of_ratings(
    votes: Iterable[Vote | Judgement], source: str, is_known: Callable[[str], bool]
) -> HumanScores:
    """By dimension, clip and rater: the mean of the rater's ratings, 1 to 5; gold pairs and repeats stay out.

    A clip is called by the first of its own name, that without its system's, the prompt and the sample that the board
    knows, else by its own: p1, amber_p1, p1 …
    """
    given: dict[str, dict[ClipKey, dict[str, list[int]]]] = {}
    for vote in votes:
        if not vote.counts_in_results:
            continue
        for dimension, system, clip, rating in _rated(vote):
            own = clip.removeprefix(f"{system}/")
            names = [one for one in (own, own.removeprefix(f"{system}_"), vote.prompt, vote.sample) if one]
            name = next(filter(is_known, names), names[0])
            by = given.setdefault(dimension, {}).setdefault((system, name), {})
            by.setdefault(vote.rater, []).append(rating)
    scores = {
        dimension: {key: {r: math.fsum(v) / len(v) for r, v in by.items()} for key, by in of_clip.items()}
        for dimension, of_clip in given.items()
    }
    return HumanScores(source=source, kind="mean-rating", scores=scores)


def _rated(answer: Vote | Judgement) -> Iterator[tuple[str, str, str, int]]:
    """Question, system, clip and rating of everything that an answer rates."""
    if isinstance(answer, Judgement):
        for system, clip in zip(answer.systems, answer.clips, strict=True):
            yield from ((key, system, clip, score) for key, score in scores_of(answer, system).items())
        return
    sides = ((answer.system_a, answer.clip_a), (answer.system_b, answer.clip_b))
    for dimension, both in answer.ratings.items():
        for (system, clip), rating in zip(sides, both, strict=True):
            if rating is not None:
                yield dimension, system, clip, rating
