"""How far the talking-head metrics agree with people: pairs right on ADTH-QA's votes, by speaker.

    python benchmarks/talking_heads.py ADTH [-o RUNS]

ADTH has a folder of clips for each system (ad-nerf, dfa-nerf, makeittalk, wav2lip), one clip per speaker, and votes.csv
(question, speaker, system_a, system_b, votes_a, votes_b). Prints Markdown: for each metric and question the share of
pairs whose preferred clip the metric prefers too, with a 95 % interval over speakers (Student's t). Votes are used for
counting alone: nothing is fitted on them.
"""

from __future__ import annotations

import argparse
import csv
import math
import tempfile
from collections import defaultdict
from pathlib import Path

from scipy.stats import t as student

import rushes

METRICS = (
    ("lip", "articulation_distance", -1),
    ("lip", "mouth_speech_motion", 1),
    ("lip", "mouth_audio_corr", 1),
    ("lip", "mouth_audio_margin", 1),
    ("head", "head_distance", -1),
    ("head", "head_motion", 1),
    ("head", "brow_motion", 1),
    ("head", "landmark_jitter", -1),
)
"""Question, metric, and whether more (1) or less (−1) is to be preferred."""


def values(folder: Path, runs: Path, systems: set[str]) -> dict[tuple[str, str, str], float]:
    """The value of each metric, by metric, system and speaker; without those that are missing."""
    found = {}
    for system in sorted(systems):
        run = rushes.clips(folder / system, tier=1, run=runs / system)
        for speaker in (clip.id for clip in run.subjects):
            for _, name, _ in METRICS:
                value = run[speaker][name].value
                if value is not None:
                    found[name, system, speaker] = float(value)
    return found


def rates(votes: list[dict[str, str]], found: dict[tuple[str, str, str], float], name: str, sign: int) -> list[float]:
    """Share of right pairs of each speaker; a missing value and a tie are half right."""
    right: dict[str, list[float]] = defaultdict(list)
    for vote in votes:
        one, other = (found.get((name, vote[side], vote["speaker"])) for side in ("system_a", "system_b"))
        first = int(vote["votes_a"]) > int(vote["votes_b"])
        tie = one is None or other is None or one == other
        right[vote["speaker"]].append(0.5 if tie else float((sign * (one - other) > 0) == first))  # type: ignore[operator]
    return [sum(row) / len(row) for row in right.values()]


def interval(shares: list[float]) -> tuple[float, float, float]:
    """Mean and 95 % interval over speakers, held within 0 and 1."""
    mean, count = math.fsum(shares) / len(shares), len(shares)
    spread = math.sqrt(math.fsum((share - mean) ** 2 for share in shares) / (count - 1) / count)
    half = float(student.ppf(0.975, count - 1)) * spread
    return mean, max(0.0, mean - half), min(1.0, mean + half)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adth", type=Path)
    parser.add_argument("-o", "--out", type=Path, help="folder of the runs; kept, and continued")
    given = parser.parse_args()
    with (given.adth / "votes.csv").open(encoding="utf-8", newline="") as stream:
        votes = list(csv.DictReader(stream))
    systems = {vote[side] for vote in votes for side in ("system_a", "system_b")}
    with tempfile.TemporaryDirectory() as folder:
        found = values(given.adth, given.out or Path(folder), systems)
    print(
        "| question | metric | preferred | pairs right | 95 % over speakers | by speaker |\n|---|---|---|---|---|---|"
    )
    for question, name, sign in METRICS:
        shares = rates([vote for vote in votes if vote["question"] == question], found, name, sign)
        mean, low, high = interval(shares)
        each = ", ".join(f"{100 * share:.0f}" for share in sorted(shares))
        print(
            f"| {question} | `{name}` | {'more' if sign > 0 else 'less'} | {100 * mean:.0f} % "
            f"| {100 * low:.0f} to {100 * high:.0f} % | {each} |"
        )


if __name__ == "__main__":
    main()
