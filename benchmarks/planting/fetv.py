"""Generated video and the people who rated it: do badges and readings agree with them?

The folder holds one sub-folder of clips per system, named by prompt, and `ratings.csv` (prompt_id, system, rater,
temporal_quality …). Ratings are averaged over raters, a clip at a time.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from scipy.stats import spearmanr

from rushes.instruments.clip.signals.verdict_rates import Count
from rushes.storage.runs import Run

FEWEST = 10
"""Below this many clips a correlation is not printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One system: people's mean, and how many of its clips are not passed."""

    name: str
    temporal_quality: float
    noticed: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """One metric against people's temporal quality."""

    signature: str
    rho: float
    """Over all clips: mostly between systems."""
    within: float | None
    """Mean over systems of rho inside each; None where it varies in none."""
    count: int


def read_ratings(folder: Path) -> dict[tuple[str, str], float]:
    """Mean temporal quality by (system, prompt)."""
    given: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    with (folder / "ratings.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            given[row["system"], row["prompt_id"]].append(float(row["temporal_quality"]))
    return {key: mean(values) for key, values in given.items()}


def systems(run: Run, ratings: Mapping[tuple[str, str], float]) -> list[System]:
    """The systems, the best rated first."""
    clips: defaultdict[str, list[tuple[float, bool]]] = defaultdict(list)
    for subject in run.subjects:
        key = _key(subject.path)
        if key in ratings:
            clips[key[0]].append((ratings[key], subject.badge != "pass"))
    made = [
        System(
            name=name,
            temporal_quality=mean(rating for rating, _ in rows),
            noticed=Count(hits=sum(noticed for _, noticed in rows), total=len(rows)),
        )
        for name, rows in clips.items()
    ]
    return sorted(made, key=lambda system: -system.temporal_quality)


def agreements(run: Run, ratings: Mapping[tuple[str, str], float]) -> list[Agreement]:
    """Spearman's rho of every reading that varies, the strongest first."""
    pairs: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    inside: defaultdict[str, defaultdict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for subject in run.subjects:
        system, _ = key = _key(subject.path)
        rating = ratings.get(key)
        for measurement in run.measurements[subject.id]:
            if rating is not None and measurement.value is not None and not isinstance(measurement.value, bool):
                pair = (float(measurement.value), rating)
                pairs[measurement.definition.signature].append(pair)
                inside[measurement.definition.signature][system].append(pair)
    made = [_agreement(sign, rows, inside[sign].values()) for sign, rows in pairs.items() if _varies(rows)]
    return sorted(made, key=lambda one: (-abs(one.rho), one.signature))


def _agreement(
    signature: str, rows: Iterable[tuple[float, float]], systems: Iterable[list[tuple[float, float]]]
) -> Agreement:
    values, ratings = zip(*rows, strict=True)
    each = [float(spearmanr(*zip(*some, strict=True)).statistic) for some in systems if _varies(some)]
    return Agreement(
        signature=signature,
        rho=float(spearmanr(values, ratings).statistic),
        within=mean(each) if each else None,
        count=len(values),
    )


def _varies(rows: list[tuple[float, float]]) -> bool:
    return len(rows) >= FEWEST and all(len(set(column)) > 1 for column in zip(*rows, strict=True))


def _key(path: str) -> tuple[str, str]:
    return Path(path).parent.name, Path(path).stem
