"""`rushes verify`: every file of a run read again and compared with what was written."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rushes.core.errors import InputError, RunError
from rushes.storage.integrity.seal import SEAL, SERIES, definitions_digest, is_sealed
from rushes.storage.numpy_files import FAULTS
from rushes.storage.remote.errors import Vanished
from rushes.storage.runs.packing import line_digest, pack, run_digest
from rushes.storage.runs.reader import opened_run, read_run
from rushes.storage.runs.run import Run

_UNREADABLE: tuple[type[Exception], ...] = (*FAULTS, Vanished)
SHORTEST = 12
"""Characters of a digest that name a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What reading a whole run again has shown."""

    place: str
    status: str
    digest: str
    """See `content_digest`; "" where some rows cannot be read."""
    subjects: int
    measurements: int
    series: int
    """Subjects whose per-frame series were read."""
    sealed: bool
    """Whether there was a seal to compare with; without one, only what cannot be read is damage."""
    damage: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing is damaged."""
        return not self.damage


def verify_run(path: Path | str) -> Verified:
    """Read every row and every series of a run; `RunError` where it cannot be opened at all."""
    run = read_run(path, damaged=True)
    damage = list(run.damage)
    subjects = measurements = series = unread = 0
    digest = ""
    try:
        for entry in run.entries:
            subjects, measurements = subjects + 1, measurements + len(entry.measurements)
            there, wrong = _series(run, entry.subject.id)
            series, unread = series + there, unread + (bool(wrong) and not there)
            damage += [wrong] if wrong else []
        digest = content_digest(run)
    except RunError as error:  # rows that cannot be read at all
        damage.append(str(error))
    seal = run.info[SEAL] if is_sealed(run.info) else {}
    for word, got in (("subjects", subjects), ("measurements", measurements)):
        if seal and seal[word] != got:
            damage.append(f"{run.place}: expected {seal[word]:,} {word}; got {got:,}")
    kept = seal.get(SERIES, 0) if run.shards is None else 0  # of shards, a file of its own has them
    if isinstance(kept, int) and (lost := kept - series - unread) > 0:
        damage.append(f"{run.place}/{SERIES}: {lost:,} of {kept:,} files are missing")
    return Verified(
        place=run.place,
        status=run.status,
        digest=digest,
        subjects=subjects,
        measurements=measurements,
        series=series,
        sealed=bool(seal),
        damage=tuple(dict.fromkeys(damage)),
    )


def _series(run: Run, subject: str) -> tuple[bool, str]:
    """Whether a subject has series, and what is wrong with them: each part of the archive has a checksum of its own."""
    try:
        file = run.series_file(subject)
        if file is None:
            return False, ""
        with zipfile.ZipFile(file) as archive:
            bad = archive.testzip()
    except _UNREADABLE as error:
        return False, f"{run.place}: series of {subject} cannot be read ({error})"
    return True, f"{run.place}: series of {subject} are damaged ({bad})" if bad else ""


def content_digest(run: Run | Path | str) -> str:
    """sha256 over a run's rows and definitions, the same however the run is stored.

    Formula     sha256("R\\nD\\n"), where R is the run's digest over its rows in order (`Run.digest`, computed from the
                rows and not read from `run.json`) and D the sha256 over its definitions by signature, both in hex
    """
    opened = opened_run(run)
    rows = run_digest(line_digest(line) for line in _lines(opened))
    return hashlib.sha256(f"{rows}\n{definitions_digest(opened.info['definitions'])}\n".encode()).hexdigest()


def _lines(run: Run) -> Iterator[bytes]:
    return run.shards.lines() if run.shards is not None else (pack(entry).line for entry in run.entries)


def require_digest(run: Run, wanted: str) -> None:
    """Raise `InputError` where a run is not the one with this digest, of which the first 12 characters are enough."""
    if len(wanted) < SHORTEST or not wanted.isalnum():
        raise InputError(f"expected a digest as rushes verify prints it, {SHORTEST} characters or more; got {wanted!r}")
    digest = content_digest(run)
    if not digest.startswith(wanted.lower()):
        raise InputError(
            f"{run.place}: expected the run with digest {wanted}; got {digest}: it is another run, or it was changed"
        )
