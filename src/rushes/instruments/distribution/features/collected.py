"""Features of videos that came batch by batch: one side under one recipe, and its plain form for other ranks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from rushes.core.errors import InputError
from rushes.instruments.distribution.features.rows import Features, FeatureSet, merge_sets, no_features

State = dict[str, np.ndarray]
Origin = dict[str, str]
"""In what a video's features are not as from a file: "decoder", "rounding", "random_by"."""


@dataclass(frozen=True, slots=True)
class CollectedVideo:
    name: str | None
    digest: str
    origin: Origin
    rows: Features
    """(R, D)"""


@dataclass(frozen=True, slots=True, eq=False)
class Collected:
    """One side under one recipe: videos that came, and saved statistics that stand for others."""

    videos: tuple[CollectedVideo, ...] = ()
    statistics: tuple[tuple[FeatureSet, Origin], ...] = ()

    def __len__(self) -> int:
        return len(self.videos) + sum(len(saved.videos) for saved, _ in self.statistics)

    def origin(self, key: str, usual: str) -> str:
        """One value of where the videos are from, or each of several."""
        origins = [video.origin for video in self.videos] + [origin for _, origin in self.statistics]
        return "+".join(sorted({origin.get(key, usual) for origin in origins})) or usual

    def with_videos(self, videos: Iterable[CollectedVideo]) -> Collected:
        """These added; a named one that is there counts once. `InputError` where one name means two videos."""
        known = {video.name: video.digest for video in self.videos if video.name is not None}
        for saved, _ in self.statistics:
            known |= saved.videos
        kept = []
        for video in videos:
            if video.name is not None:
                if known.get(video.name, video.digest) != video.digest:
                    raise InputError(f"{video.name}: two videos have this name; rename one")
                if video.name in known:
                    continue
                known[video.name] = video.digest
            kept.append(video)
        return Collected((*self.videos, *kept), self.statistics)

    def feature_set(self, dimensions: int) -> FeatureSet:
        """The rows, in natural order of names; a video without one is named by its content."""
        parts = [saved for saved, _ in self.statistics]
        seen: dict[str, int] = {}
        for video in self.videos:
            name = video.name
            if name is None:
                seen[video.digest] = seen.get(video.digest, 0) + 1
                name = f"{video.digest[:16]}#{seen[video.digest]}"
            count = len(video.rows)
            parts.append(FeatureSet((name,) * count, (video.digest,) * count, video.rows))
        return merge_sets(parts) if parts else no_features(dimensions)

    def arrays(self, dimensions: int) -> State:
        """The videos that came as plain arrays."""
        videos = self.videos
        return {
            "names": np.array([video.name or "" for video in videos], np.str_),
            "named": np.array([video.name is not None for video in videos], np.bool_),
            "digests": np.array([video.digest for video in videos], np.str_),
            "counts": np.array([len(video.rows) for video in videos], np.int64),
            "rows": np.concatenate([np.empty((0, dimensions), np.float32), *(video.rows for video in videos)]),
        }


def videos_of(state: Mapping[str, np.ndarray], prefix: str, origin: Origin) -> list[CollectedVideo]:
    """What `Collected.arrays` gave; `ValueError` or `KeyError` for anything else."""

    def column(key: str) -> np.ndarray:
        return np.asarray(state[prefix + key])

    counts, rows = column("counts"), np.asarray(column("rows"), np.float32)
    if counts.sum() != len(rows):
        raise ValueError("rows and counts do not fit together")
    parts = np.split(rows, np.cumsum(counts)[:-1]) if len(counts) else []
    columns = zip(column("names"), column("named"), column("digests"), parts, strict=True)
    return [
        CollectedVideo(str(name) if named else None, str(digest), origin, part) for name, named, digest, part in columns
    ]
