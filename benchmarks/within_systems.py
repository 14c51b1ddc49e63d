"""Which clip of one system to look at: temporal quality within systems, on FETV's ratings.

    for s in FETV/*/; do rushes clip $s --motion --metric feature_drift … -o RUNS/$(basename $s); done
    python benchmarks/within_systems.py RUNS FETV/ratings.csv [--record]

RUNS has a run per system with the metrics below; a system without one is left out. A sum of ranks is the mean over
metrics of a clip's rank among all clips, each turned so that more is better; nothing is fitted. `SUMS` were written
down before any of them was computed; what single metrics reach was known. Then the best sum of up to three metrics is
chosen on sixteen prompts and tried on the one left out, in turn. ρ is Spearman's among the clips of one system,
averaged over systems; intervals are jackknives over prompts.
"""

from __future__ import annotations

import argparse
import csv
import statistics
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recording import record
from rushes.stats.correlation import correlate
from rushes.storage.runs import read_run

Key = tuple[str, str]
"""System and prompt."""
BETTER = {
    "feature_drift": -1,
    "subject_drift": -1,
    "background_drift": -1,
    "subject_straightness": 1,
    "midframe_likeness": 1,
    "temporal_inconsistency": -1,
    "temporal_disorder": -1,
    "flow_backward_error": -1,
    "flow_acceleration": -1,
    "luma_alternation": -1,
    "subject_flicker": -1,
}
"""By metric, whether more (1) or less (−1) is to be better."""
SUMS = {
    "subject": ("subject_drift", "subject_straightness"),
    "motion": ("midframe_likeness", "temporal_inconsistency", "flow_backward_error"),
    "features and motion": ("feature_drift", "subject_straightness", "midframe_likeness", "temporal_inconsistency"),
    "all six": (
        *("feature_drift", "subject_drift", "subject_straightness", "midframe_likeness"),
        *("temporal_inconsistency", "flow_backward_error"),
    ),
}
T_16 = 2.120
"""Student's t for 95 % with 16 degrees of freedom: 17 prompts."""


def rated(file: Path) -> dict[Key, float]:
    """Mean temporal quality of each clip."""
    found: dict[Key, list[float]] = defaultdict(list)
    with file.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            found[row["system"], row["prompt_id"]].append(float(row["temporal_quality"]))
    return {key: statistics.fmean(ratings) for key, ratings in found.items()}


def one_person(file: Path, systems: Collection[str]) -> float:
    """ρ within systems of one rater against the mean of the others."""
    by_rater: dict[str, dict[Key, float]] = defaultdict(dict)
    with file.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            if row["system"] in systems:
                by_rater[row["rater"]][row["system"], row["prompt_id"]] = float(row["temporal_quality"])
    shares = []
    for rater, own in by_rater.items():
        rest = [ratings for name, ratings in by_rater.items() if name != rater]
        others = {key: statistics.fmean(ratings[key] for ratings in rest) for key in own}
        shares.append(within(own, others))
    return statistics.fmean(shares)


def measured(runs: Path, keys: Iterable[Key]) -> dict[str, NDArray[np.float64]]:
    """By metric, its values turned so that more is better, in the order of the keys; NaN where there is none."""
    opened = {system: read_run(runs / system) for system in {system for system, _ in keys}}
    found: dict[str, list[float]] = {name: [] for name in BETTER}
    for system, prompt in keys:
        for name, sign in BETTER.items():
            value = opened[system][prompt][name].value
            found[name].append(np.nan if value is None else sign * float(value))
    return {name: np.array(values) for name, values in found.items()}


def shares(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many of the clips a clip is above, ties counting half; a missing value is in the middle."""
    known = values[np.isfinite(values)]
    above = (values[:, None] > known[None]).mean(1) + 0.5 * (values[:, None] == known[None]).mean(1)
    return np.where(np.isfinite(values), above, 0.5)


def within(score: Mapping[Key, float], people: Mapping[Key, float], *, without: str = "") -> float:
    """Mean over systems of ρ among one system's clips; a system whose clips are all alike says nothing."""
    found = []
    for system in sorted({system for system, _ in people}):
        keys = [key for key in people if key[0] == system and key[1] != without]
        rho = correlate(np.array([score[key] for key in keys]), np.array([people[key] for key in keys]), "spearman")
        found += [] if rho is None else [rho]
    return statistics.fmean(found)


def with_interval(score: Mapping[Key, float], people: Mapping[Key, float]) -> str:
    prompts = sorted({prompt for _, prompt in people})
    value, parts = within(score, people), [within(score, people, without=prompt) for prompt in prompts]
    half = T_16 * float(np.sqrt((len(parts) - 1) * np.var(parts)))
    return f"{value:.2f} ({value - half:.2f} to {min(value + half, 1.0):.2f})"


def left_out(scores: Mapping[tuple[str, ...], Mapping[Key, float]], people: Mapping[Key, float]) -> dict[Key, float]:
    """Each prompt's clips by the sum that is best on the other prompts."""
    found: dict[Key, float] = {}
    for prompt in sorted({prompt for _, prompt in people}):
        best = max(scores, key=lambda names: within(scores[names], people, without=prompt))
        print(prompt, "chosen on the others:", ", ".join(best))
        found |= {key: scores[best][key] for key in people if key[1] == prompt}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path)
    parser.add_argument("ratings", type=Path)
    parser.add_argument("--record", action="store_true", help="also write the figures into RESULTS.md")
    given = parser.parse_args()
    there = {path.parent.name for path in given.runs.glob("*/measurements.jsonl")}
    people = {key: value for key, value in rated(given.ratings).items() if key[0] in there}
    keys = list(people)
    by_rank = {name: shares(values) for name, values in measured(given.runs, keys).items()}

    def total(names: tuple[str, ...]) -> dict[Key, float]:
        return dict(zip(keys, np.mean([by_rank[name] for name in names], axis=0).tolist(), strict=True))

    rows = [(f"`{name}` alone", "–", with_interval(total((name,)), people)) for name in BETTER]
    rows += [
        (f"sum of ranks, {name}: {', '.join(SUMS[name])}", "≥ .30", with_interval(total(SUMS[name]), people))
        for name in SUMS
    ]
    every = {names: total(names) for many in (1, 2, 3) for names in combinations(BETTER, many)}
    rows += [
        ("the best of 231 sums, on all prompts", "–", with_interval(max_of(every, people), people)),
        ("the same, chosen with each prompt left out", "≥ .30", with_interval(left_out(every, people), people)),
        ("one person against the mean of the others", "–", f"{one_person(given.ratings, there):.2f}"),
    ]
    for row in rows:
        print(" | ".join(row))
    if given.record:
        how = (
            f"`benchmarks/within_systems.py`: ρ within systems ({', '.join(sorted(there))}), 17 prompts, three raters."
        )
        record("within-systems", "Temporal quality within systems, on FETV", rows, how=how)


def max_of(scores: Mapping[tuple[str, ...], Mapping[Key, float]], people: Mapping[Key, float]) -> Mapping[Key, float]:
    return scores[max(scores, key=lambda names: within(scores[names], people))]


if __name__ == "__main__":
    main()
