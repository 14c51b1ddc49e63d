"""Same voice or another: `voice_similarity` on real speakers, and the threshold at which both errors are equal.

    python benchmarks/voices.py FOLDER … [--record]

Takes the recordings of `real_speakers.csv`, found in the folders by digest; those with less than 3 s of speech are left
out. The speech of each is cut into pieces of 3 s. Pairs of pieces of one recording are one voice, pairs of two
recordings are two. Pieces of one recording share microphone and room: across recordings the error is higher.
"""

from __future__ import annotations

import argparse
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from real_speakers import files_by_digest, read_rows
from recording import record
from rushes.media.audio import read_audio
from rushes.vision.speech.silero import speech_parts, speech_probabilities, spoken
from rushes.vision.speech.spectra import RATE
from rushes.vision.speech.voice import voice_of

PIECE_S = 3


def voices(file: Path) -> list[NDArray[np.float64]]:
    """The voice in each piece of a recording's speech."""
    samples = read_audio(file, RATE).samples
    speech = spoken(samples, speech_parts(speech_probabilities(samples).tolist(), len(samples)))
    return [
        voice_of(speech[at : at + PIECE_S * RATE]) for at in range(0, len(speech) - PIECE_S * RATE + 1, PIECE_S * RATE)
    ]


def equal_error(same: NDArray[np.float64], other: NDArray[np.float64]) -> tuple[float, float]:
    """The mean of both errors where they are nearest to each other, and the cosine there."""
    levels = np.sort(np.concatenate([same, other]))
    missed, taken = (same[None] < levels[:, None]).mean(1), (other[None] >= levels[:, None]).mean(1)
    best = int(np.argmin(np.abs(missed - taken)))
    return float(missed[best] + taken[best]) / 2, float(levels[best])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--record", action="store_true", help="also write the figures into RESULTS.md")
    given = parser.parse_args()
    files = files_by_digest(given.folders)
    found = {row["path"]: voices(files[row["sha256"]]) for row in read_rows()}
    found = {path: pieces for path, pieces in found.items() if pieces}
    same = np.array([a @ b for pieces in found.values() for a, b in combinations(pieces, 2)])
    other = np.array([a @ b for one, two in combinations(found.values(), 2) for a in one for b in two])
    error, cosine = equal_error(same, other)
    rows = [
        ("speakers with 3 s of speech", "–", str(len(found))),
        (
            "cosine, pairs of one recording",
            "–",
            f"{same.mean():.2f}; {same.min():.2f} to {same.max():.2f} ({len(same)})",
        ),
        (
            "cosine, pairs of two speakers",
            "–",
            f"{other.mean():.2f}; {other.min():.2f} to {other.max():.2f} ({len(other)})",
        ),
        ("equal error rate", "–", f"{100 * error:.1f} % at {cosine:.2f}"),
    ]
    for row in rows:
        print(" | ".join(row))
    if given.record:
        record("voices", "Same voice or another", rows, how="`benchmarks/voices.py`.")


if __name__ == "__main__":
    main()
