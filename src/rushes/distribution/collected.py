"""Features of videos that came batch by batch: one side under one recipe, and its plain form for other ranks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from rushes.core import canonical_json
from rushes.distribution.feature_set import Features, FeatureSet, merge_sets
from rushes.errors import InputError
from rushes.media.find import natural_key

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


class Collected:
    """One side under one recipe."""

    def __init__(self, videos: Iterable[CollectedVideo] = (), excluded: Mapping[str, str] | None = None) -> None:
        self.videos = list(videos)
        self.excluded = dict(excluded or {})
        """Clips that saved statistics had left out, and why."""

    def origin(self, key: str, usual: str) -> str:
        """One value of where the videos are from, or each of several."""
        return "+".join(sorted({video.origin.get(key, usual) for video in self.videos})) or usual

    def with_videos(self, videos: Iterable[CollectedVideo]) -> Collected:
        """These added; a named one that is there counts once. `InputError` where one name means two videos."""
        known = {video.name: video.digest for video in self.videos if video.name is not None}
        kept = []
        for video in videos:
            if video.name is not None:
                if known.get(video.name, video.digest) != video.digest:
                    raise InputError(f"{video.name}: two videos have this name; a name stands for one")
                if video.name in known:
                    continue
                known[video.name] = video.digest
            kept.append(video)
        return Collected([*self.videos, *kept], self.excluded)

    def take(self, statistics: FeatureSet, origin: Origin) -> None:
        """Count the videos of saved statistics."""
        rows = statistics.features
        starts = [number for number in range(1, len(rows)) if statistics.names[number] != statistics.names[number - 1]]
        videos = [
            CollectedVideo(name, digest, origin, part)
            for (name, digest), part in zip(
                statistics.videos.items(), np.split(rows, starts) if len(rows) else [], strict=True
            )
        ]
        self.videos = self.with_videos(videos).videos
        self.excluded |= dict(statistics.excluded)

    def feature_set(self, dimensions: int) -> FeatureSet:
        """The rows, in natural order of names; a video without one is named by its content."""
        parts = []
        seen: dict[str, int] = {}
        for video in self.videos:
            name = video.name
            if name is None:
                seen[video.digest] = seen.get(video.digest, 0) + 1
                name = f"{video.digest[:16]}#{seen[video.digest]}"
            count = len(video.rows)
            parts.append(FeatureSet((name,) * count, (video.digest,) * count, video.rows))
        excluded = tuple(sorted(self.excluded.items(), key=lambda item: natural_key(item[0])))
        if not parts:
            return FeatureSet((), (), np.empty((0, dimensions), np.float32), excluded)
        return replace(merge_sets(parts), excluded=excluded)

    def arrays(self, dimensions: int) -> State:
        videos = self.videos
        return {
            "names": np.array([video.name or "" for video in videos], np.str_),
            "named": np.array([video.name is not None for video in videos], np.bool_),
            "digests": np.array([video.digest for video in videos], np.str_),
            "origins": np.array([canonical_json(video.origin) for video in videos], np.str_),
            "counts": np.array([len(video.rows) for video in videos], np.int64),
            "rows": np.concatenate([np.empty((0, dimensions), np.float32), *(video.rows for video in videos)]),
            "excluded": np.array(canonical_json(self.excluded)),
        }

    @classmethod
    def of_arrays(cls, state: Mapping[str, np.ndarray], prefix: str) -> Collected:
        def column(key: str) -> np.ndarray:
            return np.asarray(state[prefix + key])

        ends = np.cumsum(column("counts"))
        if len(column("rows")) != (ends[-1] if len(ends) else 0):
            raise ValueError("rows and counts do not fit together")
        rows = np.split(np.asarray(column("rows"), np.float32), ends[:-1]) if len(ends) else []
        named = (
            str(name) if is_named else None for name, is_named in zip(column("names"), column("named"), strict=True)
        )
        columns = zip(named, column("digests"), column("origins"), rows, strict=True)
        videos = [
            CollectedVideo(name, str(digest), json.loads(str(origin)), part) for name, digest, origin, part in columns
        ]
        return cls(videos, json.loads(str(column("excluded"))))
