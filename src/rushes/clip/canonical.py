"""The canonical form of a clip for as long as it is measured, or why it has none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rushes.clip.observe import Observation
from rushes.errors import RushesError
from rushes.media.canon import CanonSource, canonical_form
from rushes.remote.transfer import temporary_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class CanonFile:
    """The canonical form of a clip, for as long as it is measured."""

    path: str
    source: CanonSource


@dataclass(frozen=True, slots=True)
class NotCanonical:
    """Why a clip has no canonical form."""

    why: str
    machine: bool
    """The disk's fault and not the clip's: another time may end better."""


@contextmanager
def canonical_copy(clip: str, *, audio: str | None) -> Iterator[CanonFile | NotCanonical]:
    """The canonical form of a clip in a temporary folder that goes away afterwards; as `rushes canon` writes it."""
    with temporary_folder() as folder:
        target = folder / "output_canon.mp4"
        yield _made(clip, audio, target)


def _made(clip: str, audio: str | None, target: Path) -> CanonFile | NotCanonical:
    try:
        return CanonFile(path=str(target), source=canonical_form(clip, target, audio=audio))
    except RushesError as error:
        text = str(error)
        return NotCanonical(text.replace(str(target), "its canonical form"), machine=str(target) in text)


def source_observation(source: CanonSource) -> Observation:
    """What was seen of the file itself. In the canonical form a lost frame is held and a torn end is an end."""
    return Observation(
        facts=source.facts,
        frames=len(source.times_ms),
        time_ms=np.array(source.times_ms, dtype=np.float64),
        decode_failures=source.decode_failures,
        corrupt_frames=source.corrupt_frames,
        corrupt_packets=source.corrupt_packets,
        repeated_frames=source.repeated_frames,
        promised_frames=source.promised_frames,
        promised_duration_ms=source.promised_duration_ms,
        measured_duration_ms=source.measured_duration_ms,
    )


def of_the_file(source: CanonSource) -> tuple[str, ...]:
    """The metrics that are about the file and not its canonical form; fewer where it was not read to its end."""
    counted = ("decode_failures", "corrupt_frames")
    return counted if source.measured_duration_ms is None else (*counted, "missing_frames", "duration_shortfall_ms")
