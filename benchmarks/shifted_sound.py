"""How well lip sync is judged where a sound is late, early or another speaker's: real recordings, shifted and swapped.

    python benchmarks/shifted_sound.py FOLDER … [--record]

Takes the recordings of `real_speakers.csv` that last 5 s and more, found in the folders by digest, and measures each
face once. Then the sound is moved by 240 and 480 ms both ways. A shift is counted as the change from where
`lip_sync_offset_ms` finds the clip's own sound to be, and 0 where it finds no place.

Every recording of 4 s and more also gets the sound of every other one, repeated or cut to its length. `lip_speech_fit`
is to be low then. Its threshold was set on the recordings of use `scale`, as the highest round one that calls at most
one in ten of them swapped; those of use `check`, other speakers in four languages, only try it.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from real_speakers import files_by_digest, observed, read_rows
from recording import record
from rushes.instruments.clip.faces.observation import FaceObservation
from rushes.instruments.clip.frames.observe import Observation
from rushes.instruments.clip.metrics.face.lip_sync import lip_speech_fit, lip_sync_offset_ms
from rushes.media import AudioTrack

SHIFTS_MS = (-480, -240, 240, 480)
LEAST_S, NEAR_MS, FLAGGED_MS = 5.0, 80.0, 150.0
"""Shorter recordings are left out; a place this near is right; the rule of talking-head."""
SWAPPED_LEAST_S, UNFIT = 4.0, 0.5
"""Shorter recordings are left out; below this the lips do not speak the sound."""


def moved(face: FaceObservation, late_ms: float) -> FaceObservation:
    """The same face with the sound this much later; silence comes in at the edge."""
    assert face.audio is not None
    samples, step = face.audio.samples, round(late_ms / 1000 * face.audio.rate)
    shifted = np.zeros_like(samples)
    shifted[max(step, 0) : len(samples) + min(step, 0)] = samples[max(-step, 0) : len(samples) - max(step, 0)]
    return replace(face, audio=AudioTrack.of(shifted, face.audio.rate))


def spoken_over(face: FaceObservation, other: FaceObservation) -> FaceObservation:
    """The same face with another's sound, repeated if it is shorter."""
    assert face.audio is not None and other.audio is not None
    return replace(face, audio=AudioTrack.of(np.resize(other.audio.samples, len(face.audio.samples)), face.audio.rate))


def place(face: FaceObservation) -> float | None:
    return lip_sync_offset_ms(Observation(faces=face)).value  # type: ignore[return-value]


def fit(face: FaceObservation) -> float | None:
    return lip_speech_fit(Observation(faces=face)).value  # type: ignore[return-value]


def swapped_rows(faces: dict[str, FaceObservation], use: dict[str, str]) -> list[tuple[str, str, str]]:
    """False alarms on own sounds and hits on every other's, by use; and how well the two are apart at any threshold."""
    own = {path: value for path, face in faces.items() if (value := fit(face)) is not None}
    others: dict[str, list[float]] = {path: [] for path in own}
    for path in own:
        for other in (faces[name] for name in own if name != path):
            value = fit(spoken_over(faces[path], other))
            others[path] += [] if value is None else [value]
        print(path, f"own {own[path]:.2f}, others", " ".join(f"{value:.2f}" for value in sorted(others[path])))
    rows = []
    for name in ("scale", "check"):
        paths = [path for path in own if use[path] == name]
        wrong = sum(own[path] < UNFIT for path in paths)
        found = [value < UNFIT for path in paths for value in others[path]]
        told = "threshold set here" if name == "scale" else "speakers left out"
        rows += [
            (f"own sound called another's ({told})", "≤ 10 %", f"{wrong} of {len(paths)}"),
            (f"another's sound called so ({told})", "–", f"{sum(found)} of {len(found)}"),
        ]
    true, false = np.array(list(own.values())), np.array([value for each in others.values() for value in each])
    area = (true[:, None] > false[None]).mean()
    return [*rows, ("own above another's (area under the curve)", "> 0.5", f"{area:.3f}")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--record", action="store_true", help="also write the totals into RESULTS.md")
    given = parser.parse_args()
    files = files_by_digest(given.folders)
    every = {row["path"]: observed(files[row["sha256"]]) for row in read_rows()}
    long = {path: face for path, face in every.items() if len(face.track) / (face.fps or 1.0) >= SWAPPED_LEAST_S}
    faces = {path: face for path, face in every.items() if len(face.track) / (face.fps or 1.0) >= LEAST_S}
    own = {path: place(face) for path, face in faces.items()}
    found: list[tuple[int, float, float]] = []
    for path, face in faces.items():
        shifts = {shift: place(moved(face, shift)) for shift in SHIFTS_MS}
        print(path, "own", own[path], shifts)
        found += [
            (shift, value, value - shift - (own[path] or 0.0)) for shift, value in shifts.items() if value is not None
        ]
    paths = list(faces)
    swapped = [
        place(spoken_over(faces[one], faces[two])) for one, two in zip(paths, paths[1:] + paths[:1], strict=True)
    ]
    print("swapped", swapped)
    told = [value for value in own.values() if value is not None]
    flagged = [value for value in told if abs(value) > FLAGGED_MS]
    rows = [
        ("own sound: a place is told", "–", f"{len(told)} of {len(faces)}"),
        (f"own sound: flagged, more than {FLAGGED_MS:.0f} ms off", "≤ 10 %", f"{len(flagged)} of {len(faces)}"),
        ("shifted: a place is told", "–", f"{len(found)} of {len(faces) * len(SHIFTS_MS)}"),
        (f"of these, within {NEAR_MS:.0f} ms", "–", f"{sum(abs(off) <= NEAR_MS for *_, off in found)} of {len(found)}"),
        (
            "of these, the sign is right",
            "≥ 90 %",
            f"{sum(shift * value > 0 for shift, value, _ in found)} of {len(found)}",
        ),
        ("another speaker's sound: a place is told", "–", f"{sum(v is not None for v in swapped)} of {len(swapped)}"),
        *swapped_rows(long, {row["path"]: row["use"] for row in read_rows()}),
    ]
    for row in rows:
        print(" | ".join(row))
    if given.record:
        record("shifted-sound", "Sound that is late, early or another's", rows, how="`benchmarks/shifted_sound.py`.")


if __name__ == "__main__":
    main()
