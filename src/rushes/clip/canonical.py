"""The canonical form of a clip for as long as it is measured, or why it has none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

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
