"""How far the talking-head metrics agree with people: pairs right on ADTH-QA's votes, by speaker.

    python benchmarks/talking_heads.py ADTH [-o RUNS]

ADTH has a folder of clips for each system (ad-nerf, dfa-nerf, makeittalk, wav2lip), one clip per speaker, and votes.csv
(question, speaker, system_a, system_b, votes_a, votes_b). Prints Markdown: for each metric and question the share of
pairs whose preferred clip the metric prefers too, with a 95 % interval over speakers (Student's t). Votes are used for
counting alone: nothing is fitted on them. What is nearer to people's is compared with `real_speakers.csv`. Gaze needs
the 478-point model (`rushes models pull face-landmarker`) and is left out without it.
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
from real_speakers import MOUTH, read_rows, scale
from rushes.vision.models.cache import is_pulled, model_path
from rushes.vision.models.catalogue import group_named

LANDMARKER = "face-landmarker"
METRICS = (
    ("lip", "articulation_distance", -1),
    ("lip", "mouth_speech_motion", 0),
    ("lip", "mouth_speech_motion", 1),
    ("lip", "mouth_audio_corr", 1),
    ("lip", "mouth_audio_margin", 1),
    ("head", "head_distance", -1),
    ("head", "head_motion", 1),
    ("head", "gaze_spread", 0),
    ("head", "brow_motion", 1),
    ("head", "landmark_jitter", -1),
)
"""Question, metric, and whether more (1), less (−1) or what is nearer to real speakers (0) is to be preferred."""
TYPICAL = {"mouth_speech_motion": MOUTH["open"].typical, "gaze_spread": scale(read_rows(), ("gaze",))["gaze"].typical}
PREFERRED = {1: "more", -1: "less", 0: "nearer"}


def values(folder: Path, runs: Path, systems: set[str]) -> dict[tuple[str, str, str], float]:
    """The value of each metric, by metric, system and speaker; without those that are missing."""
    found = {}
    for system in sorted(systems):
        run = rushes.clips(folder / system, tier=1, run=runs / system)
        for speaker in (clip.id for clip in run.subjects):
            for name in dict.fromkeys(name for _, name, _ in METRICS):
                value = run[speaker][name].value
                if value is not None:
                    found[name, system, speaker] = float(value)
        if is_pulled(group_named(LANDMARKER)):
            model = model_path("face_landmarker.task")
            run = rushes.clips(folder / system, tier=1, face_model=model, run=runs / f"{system}-478")
            for speaker in (clip.id for clip in run.subjects):
                found["gaze_spread", system, speaker] = float(run[speaker]["gaze_spread"].value or 0.0)
    return found


def liking(name: str, sign: int, value: float) -> float:
    """More of it is preferred."""
    return sign * value if sign else -abs(math.log(max(value, 1e-6) / TYPICAL[name]))


def rates(votes: list[dict[str, str]], found: dict[tuple[str, str, str], float], name: str, sign: int) -> list[float]:
    """Share of right pairs of each speaker; a missing value and a tie are half right."""
    right: dict[str, list[float]] = defaultdict(list)
    for vote in votes:
        one, other = (found.get((name, vote[side], vote["speaker"])) for side in ("system_a", "system_b"))
        first = int(vote["votes_a"]) > int(vote["votes_b"])
        if one is None or other is None or one == other:
            right[vote["speaker"]].append(0.5)
        else:
            right[vote["speaker"]].append(float((liking(name, sign, one) > liking(name, sign, other)) == first))
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
            f"| {question} | `{name}` | {PREFERRED[sign]} | {100 * mean:.0f} % "
            f"| {100 * low:.0f} to {100 * high:.0f} % | {each} |"
        )


if __name__ == "__main__":
    main()
