"""Whether a Fréchet distance may be judged by: it needs more videos than features in every set.

The bias of a Fréchet distance grows with a set's own variety, and is a line in 1/N only for N above D. With no more
videos than features a set with too little variety looks closer than it is, so nothing is concluded (`Why.FEW_VIDEOS`).
N counts videos: windows of one video, and frames of it, resemble each other.
"""

from __future__ import annotations

from collections.abc import Iterable

from rushes.core import Definition, Measurement, Why
from rushes.storage.runs import Run

GEN_ID, GT_ID = "generated", "ground_truth"
_SIZES = ("n_gen", "n_gt", "n_versus")


def few_videos(definition: Definition, videos: Iterable[int]) -> Why | None:
    """Why a distance, or a difference of two, of sets with so many videos is no verdict; None where it may be one.

    >>> from rushes.instruments.distribution.definitions import FRECHET_DISTANCE
    >>> frechet = FRECHET_DISTANCE.with_params(d=400)
    >>> few_videos(frechet, [512, 400]), few_videos(frechet, [512, 401])
    (<Why.FEW_VIDEOS: 'few-videos'>, None)
    """
    d = definition.param("d")
    if definition.param("covariance") is None or d is None:
        return None
    return Why.FEW_VIDEOS if min(videos) <= int(d) else None


def why_no_verdict(stored: Measurement, videos: Iterable[int] = ()) -> Why | None:
    """The same of a number that was read back; `videos` are those of its run's sets, as far as the run says.

    Runs written before `why` was stored: from rows and videos, which the signature and the run count; of a difference,
    whose videos after cutting are in its note alone, from that.
    """
    if stored.why is not None:
        return stored.why if stored.why.forbids_verdict else None
    counts = [*_rows(stored.definition), *videos]
    if counts and (why := few_videos(stored.definition, counts)):
        return why
    return Why.FEW_VIDEOS if "versus" in stored.place and stored.note.startswith("no verdict") else None


def few_videos_text(definition: Definition, videos: Iterable[int] = ()) -> str:
    """In words, with the numbers."""
    fewest = min([*_rows(definition), *videos])
    return (
        f"no verdict with {fewest} clips for D = {definition.param('d')}: a set with too little variety looks closer "
        "than it is, so use kvd"
    )


def few_videos_remark(
    definition: Definition, *, videos: tuple[int, int], rows: tuple[int, int], what: str, honest: str
) -> str:
    """What is said beside the value of a distance of too few videos; "" where they are enough.

    `what` a row is ("clips", "frames"), and which metric is unbiased and so the `honest` choice.
    """
    if few_videos(definition, videos) is None:
        return ""
    d = int(definition.param("d") or 0)
    few, counts = (f"fewer {what}", rows) if min(rows) < d else ("no more videos", videos)
    return (
        f"{few} than features ({counts[0]} and {counts[1]} for D = {d}): heavily biased; compare only at "
        f"equal N, or use {honest}"
    )


def clips_of(run: Run) -> list[int]:
    """How many videos the generated set and the ground truth of a run have; [] where it does not say."""
    counts = (subject.facts.get("clips") for subject in run.subjects if subject.id in (GEN_ID, GT_ID))
    return [count for count in counts if isinstance(count, int)]


def _rows(definition: Definition) -> list[int]:
    return [int(size) for key in _SIZES if (size := definition.param(key)) is not None and size.isdigit()]
