"""What raters of a study said of single clips, by dimension of its rubric, as a table of ratings would have it.

Which of two clips they preferred is the study's own column (Elo). A rater who saw a clip in several pairs counts once:
the mean of their ratings of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

from rushes.compare.agreement.human_scores import ClipKey, HumanScores
from rushes.core.errors import RushesError
from rushes.instruments.preference.instrument import INSTRUMENT as PREFERENCE
from rushes.instruments.preference.votes import HIGHEST_RATING, LOWEST_RATING, Vote
from rushes.storage.runs.relocation import relocate
from rushes.suite.folder import SuiteRun

SCALE = f"{LOWEST_RATING}-{HIGHEST_RATING}"


def study_ratings(suite: SuiteRun, is_known: Callable[[str], bool]) -> Iterator[HumanScores | str]:
    """The ratings of every study that the suite names; a remark for one that cannot be read.

    `is_known` says whether a name leads to a prompt of the board.
    """
    for plan in suite.suite.instruments:
        if plan.instrument != PREFERENCE.name:
            continue
        database, study = str(plan.settings.get("db", "")), str(plan.settings.get("study", ""))
        place = database if "://" in database else relocate(database, beside=suite.path)
        if place is None:
            yield f"{database}: is not where the suite found it, so ratings of the study {study} are left out"
            continue
        try:
            yield human_scores_of_ratings(_votes(str(place), study), f"{database}, study {study}", is_known)
        except RushesError as error:
            yield f"{database}: ratings of the study {study} are left out: {error}"


def _votes(database: str, study: str) -> list[Vote]:
    from rushes.study import open_service

    service = open_service(database)
    try:
        return service.votes(study, excluded=False)
    finally:
        service.close()


def human_scores_of_ratings(votes: Iterable[Vote], source: str, is_known: Callable[[str], bool]) -> HumanScores:
    """By dimension, clip and rater: the mean of the rater's ratings, 1 to 5; gold pairs and repeats stay out.

    A clip is called by the first of its own name, that without its system's, the prompt and the sample that the board
    knows, else by its own: p1, amber_p1, p1 …
    """
    given: dict[str, dict[ClipKey, dict[str, list[int]]]] = {}
    for vote in votes:
        if not vote.counts_in_results:
            continue
        sides = ((vote.system_a, vote.clip_a), (vote.system_b, vote.clip_b))
        for dimension, both in vote.ratings.items():
            for (system, clip), rating in zip(sides, both, strict=True):
                if rating is not None:
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
