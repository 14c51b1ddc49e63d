"""Can the face network tell people apart, and is a swapped face found at its frame: real clips, swaps planted.

    python benchmarks/identity_rates.py ../shared/clips/face_* [--list LIST.csv] [--same A.mp4 B.mp4]

Clips show one person each; `--same` names clips of one person, and `--list` is a table of clips (`path`, `kind`,
`split`) of which those of kind "face" are taken. Two numbers come out.

People      cosines of `RATE` looks a second: every two looks of one person against every two of different people; the
            area under the ROC curve (AUC), the equal error rate (EER), and both errors at OpenCV's threshold.
Swaps       into each clip the face of the next clip's person, from a third and from two thirds of its frames on: as a
            cut to the other clip, and pasted over the face, so that only the face changes. Found means that the note
            of `identity_drift` names that very frame, or one at most a frame away. A clip with nothing planted must
            name none. Nothing is fitted here: the threshold is OpenCV's.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.core import Measurement
from rushes.core.errors import RushesError
from rushes.instruments.clip.faces.face_looks import RATE
from rushes.instruments.clip.metrics.face.identity import IdentityCollector
from rushes.media import ClipReader
from rushes.vision.landmarks.choice import chosen
from rushes.vision.landmarks.identity import SAME_PERSON, LocatedFace, as_bgr, identity_networks

Pixels = NDArray[np.uint8]
LONGEST_S = 6.0
SIDE = 640
"""Frames are kept in memory, no larger than this."""
PLACES = (1 / 3, 2 / 3)


@dataclass(frozen=True, kw_only=True)
class Clip:
    path: Path
    split: str
    person: int
    frames: list[Pixels] = field(repr=False)
    times_ms: list[float] = field(repr=False)


@dataclass(frozen=True)
class Shown:
    """A frame in memory, as a collector sees one."""

    index: int
    time_ms: float
    pixels: Pixels

    @property
    def luma(self) -> None:
        return None

    def rgb(self) -> Pixels:
        return self.pixels


def read(path: Path) -> tuple[list[Pixels], list[float]]:
    frames, times = [], []
    with ClipReader(path) as reader:
        for frame in reader:
            if frame.time_ms > LONGEST_S * 1000:
                break
            picture = frame.rgb()
            scale = min(1.0, SIDE / max(picture.shape[:2]))
            size = round(picture.shape[1] * scale), round(picture.shape[0] * scale)
            frames.append(picture if scale == 1 else cv2.resize(picture, size, interpolation=cv2.INTER_AREA))
            times.append(frame.time_ms)
    return frames, times


def features(clip: Clip) -> NDArray[np.float64]:
    """The looks of the clip metric, as rows."""
    collector = _watched(clip.frames, clip.times_ms)
    found = [look.feature for look in collector.seen.looks if look.feature is not None]
    return np.array(found)


def drift(frames: Sequence[Pixels], times: Sequence[float]) -> Measurement:
    return _watched(frames, times).finish()


def _watched(frames: Sequence[Pixels], times: Sequence[float]) -> IdentityCollector:
    collector = IdentityCollector(None)  # type: ignore[arg-type]
    for index, (pixels, time_ms) in enumerate(zip(frames, times, strict=True)):
        collector.add(Shown(index, time_ms, pixels))
    return collector


def area(same: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Share of (same, other) pairs of which the first is higher; ties count half."""
    ranked = np.sort(other)
    below, upto = (np.searchsorted(ranked, same, side) for side in ("left", "right"))
    return float((below + upto).mean() / 2 / len(ranked))


def equal_error(same: NDArray[np.float64], other: NDArray[np.float64]) -> tuple[float, float]:
    """The error rate, and the cosine, at which as many of either kind are wrong."""
    cuts = np.linspace(-1, 1, 4001)
    missed = np.searchsorted(np.sort(same), cuts) / len(same)
    false = 1 - np.searchsorted(np.sort(other), cuts) / len(other)
    place = int(np.argmin(np.abs(missed - false)))
    return float((missed + false)[place] / 2), float(cuts[place])


def people(clips: Sequence[Clip]) -> None:
    looks = [features(clip) for clip in clips]
    same, other, own = [], [], []
    for index, rows in enumerate(looks):
        within = (rows @ rows.T)[np.triu_indices(len(rows), 1)]
        strangers = [rows @ looks[j].T for j, clip in enumerate(clips) if clip.person != clips[index].person]
        own.append((area(within, np.concatenate([values.ravel() for values in strangers])), clips[index].path.name))
        same.append(within)
    for (i, one), (j, two) in combinations(enumerate(clips), 2):
        (same if one.person == two.person else other).append((looks[i] @ looks[j].T).ravel())
    alike, unlike = np.concatenate(same), np.concatenate(other)
    error, cut = equal_error(alike, unlike)
    print(f"people   {len(clips)} clips of {len({clip.person for clip in clips})} people, {sum(map(len, looks))} looks")
    print(f"         same {len(alike)} pairs, mean {alike.mean():.3f}; other {len(unlike)}, mean {unlike.mean():.3f}")
    print(f"         AUC {area(alike, unlike):.5f}; EER {100 * error:.2f} % at {cut:.3f}")
    missed, false = 100 * (alike < SAME_PERSON).mean(), 100 * (unlike >= SAME_PERSON).mean()
    print(f"         at {SAME_PERSON}: {missed:.2f} % of one person below, {false:.3f} % of others above")
    print(f"         lowest AUC of a clip: {min(own)[0]:.5f} ({min(own)[1]})")


def cut_to(clip: Clip, other: Clip, start: int) -> list[Pixels]:
    """The other clip's frames from `start` on, fitted into this clip's size with black bars."""
    later = (other.frames[index % len(other.frames)] for index in range(len(clip.frames) - start))
    return clip.frames[:start] + [_fitted(frame, clip.frames[0].shape) for frame in later]


def _fitted(frame: Pixels, shape: tuple[int, ...]) -> Pixels:
    scale = min(shape[0] / frame.shape[0], shape[1] / frame.shape[1])
    small = cv2.resize(frame, (round(frame.shape[1] * scale), round(frame.shape[0] * scale)))
    top, left = (shape[0] - small.shape[0]) // 2, (shape[1] - small.shape[1]) // 2
    fitted = np.zeros(shape, np.uint8)
    fitted[top : top + small.shape[0], left : left + small.shape[1]] = small
    return fitted


def pasted(clip: Clip, other: Clip, start: int) -> list[Pixels]:
    """The other clip's face over this one's from `start` on: turned and scaled by the five points, edges feathered."""
    frames = list(clip.frames[:start])
    for index in range(start, len(clip.frames)):
        frame, donor = clip.frames[index], other.frames[(index - start) % len(other.frames)]
        to, source = _face(frame), _face(donor)
        frames.append(frame if to is None or source is None else _paste(frame, to, donor, source))
    return frames


def _face(rgb: Pixels) -> LocatedFace | None:
    faces = identity_networks().faces(as_bgr(rgb))
    index = chosen([face.box for face in faces])
    return None if index is None else faces[index]


def _paste(frame: Pixels, to: LocatedFace, donor: Pixels, source: LocatedFace) -> Pixels:
    ours, theirs = (face.row[4:14].reshape(5, 2) for face in (to, source))
    matrix, _ = cv2.estimateAffinePartial2D(theirs, ours, method=cv2.LMEDS)
    if matrix is None:
        return frame
    height, width = frame.shape[:2]
    left, top, right, bottom = source.box
    mask = np.zeros(donor.shape[:2], np.float32)
    centre, axes = ((left + right) / 2, (top + bottom) / 2), ((right - left) * 0.55, (bottom - top) * 0.55)
    cv2.ellipse(mask, tuple(map(round, centre)), tuple(map(round, axes)), 0, 0, 360, 1.0, -1)
    mask = cv2.GaussianBlur(mask, (0, 0), max((right - left) * 0.04, 0.5))
    warped, weight = (cv2.warpAffine(picture, matrix, (width, height)) for picture in (donor, mask))
    return np.rint(frame + weight[..., None] * (warped.astype(np.float32) - frame)).astype(np.uint8)


def named_frames(note: str) -> list[int]:
    """The frames that a note names."""
    found = re.search(r"another person from frames? ((?:\d+ \([\d.]+ s\)(?:, )?)+)", note)
    return [int(number) for number in re.findall(r"(\d+) \(", found[1])] if found else []


def swaps(clips: Sequence[Clip]) -> None:
    clean = [drift(clip.frames, clip.times_ms) for clip in clips]
    alarms = [clip.path.name for clip, found in zip(clips, clean, strict=True) if named_frames(found.note)]
    print(f"clean    {len(alarms)} of {len(clips)} clips name a change {' '.join(alarms)}")
    calm = np.array([found.value for found in clean if found.value is not None], np.float64)
    for kind, plant in (("cut", cut_to), ("pasted", pasted)):
        exact = near = other = planted = 0
        values, missed = [], []
        for index, clip in enumerate(clips):
            donor = next(c for c in (*clips[index + 1 :], *clips) if c.person != clip.person)
            for place in PLACES:
                start = round(len(clip.frames) * place)
                found = drift(plant(clip, donor, start), clip.times_ms)
                named = named_frames(found.note)
                planted += 1
                exact += start in named
                near += any(abs(frame - start) <= 1 for frame in named)
                other += sum(abs(frame - start) > 1 for frame in named)
                if not any(abs(frame - start) <= 1 for frame in named):
                    missed.append(f"{clip.path.name}@{start}<{donor.path.name}:{named or found.value}")
                values += [] if found.value is None else [float(found.value)]
        told = f"{exact} of {planted} at the frame, {near} within one; {other} frames named elsewhere"
        print(f"{kind:8s} {told}; drift AUC {area(np.array(values), calm):.4f}")
        print(f"         drift clean {calm.mean():.2f}, planted {np.mean(values):.2f} {' '.join(missed)}")


def _listed(table: Path | None) -> list[tuple[Path, str]]:
    if table is None:
        return []
    with table.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row.get("kind") == "face"]
    return [(table.parent / row["path"], row.get("split", "check")) for row in rows]


def _clips(files: Iterable[tuple[Path, str]], same: Sequence[Sequence[str]]) -> list[Clip]:
    clips = []
    for number, (path, split) in enumerate(files):
        group = next((-1 - g for g, names in enumerate(same) if path.name in names), number)
        frames, times = read(path)
        clips.append(Clip(path=path, split=split, person=group, frames=frames, times_ms=times))
    return clips


def main(arguments: Sequence[str] | None = None) -> int:
    """0, or 1 with one line on stderr."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="*", type=Path)
    parser.add_argument("--list", type=Path)
    parser.add_argument("--same", nargs="+", action="append", default=[], help="names of clips of one person")
    parser.add_argument("--split", help="only clips of this split")
    parser.add_argument("--no-swaps", action="store_true")
    asked = parser.parse_args(arguments)
    try:
        listed = [*((path, "check") for path in asked.clips), *_listed(asked.list)]
        clips = _clips((clip for clip in listed if asked.split in (None, clip[1])), asked.same)
        print(f"{len(clips)} clips, {RATE} looks a second, first {LONGEST_S:g} s")
        people(clips)
        if not asked.no_swaps:
            swaps(clips)
    except RushesError as error:
        print(f"identity_rates: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
