"""A small picture of a clip, made when a page asks for it: a frame at its fault where it has one, else the middle.

Pictures are kept in the user's cache folder, never inside a run, and the oldest go when there are too many. A file that
is not the one the run measured has no picture: it would stand beside numbers that are not its own.

A cell of a grid, a dot of a map and a row of a comparison show an early frame, by the opaque token of the clip: it is
decoded when a browser asks, and kept in memory.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
import threading
from contextlib import suppress
from html import escape
from pathlib import Path

from rushes.core.errors import MediaError, RunError
from rushes.core.machine.cache import cache_folder
from rushes.core.machine.files import replacing_bytes
from rushes.core.machine.provenance import file_digest
from rushes.instruments.clip.frames.film_strips import StripTask, take_strip
from rushes.present.pages.film_strips import jpeg
from rushes.storage.remote.address import is_remote
from rushes.storage.runs import Run, Subject
from rushes.storage.runs.relocation import candidates
from rushes.web.clips.files import file_of
from rushes.web.kept import Kept
from rushes.web.runs.cache import OpenRun, Row

LONGEST = 320
"""Pixels of a picture's longer side: sharp at 160 px on a display of double density."""
_QUALITY = 74
_MOST_BYTES = 256 * 1024 * 1024
"""Of all pictures kept, some 25,000."""
_LOOK_EVERY = 200
"""Pictures written between two looks at how much is kept."""
_key = secrets.token_bytes(32)
_tokens: dict[str, tuple[str, str]] = {}
_working = threading.BoundedSemaphore(max(1, (os.cpu_count() or 2) - 1))
"""Pictures made at once: pages and players go on meanwhile."""
_written = 0
_MOST = 4000
"""Pictures that are kept, some 5 kB each."""
_FRAME = 24
"""A frame of the first second: late enough for a fade from black, early enough to be decoded quickly."""
_kept = Kept[bytes](_MOST)
_work = threading.BoundedSemaphore(2)


def thumbnail_address(run_name: str, subject_id: str, *, version: str = "") -> str:
    """Where a page finds the picture of a run's clip; `run_name` is the name the run is served under.

    The token lasts as long as the server runs and tells neither name. With a `version` (the run's stamp), a browser
    keeps the picture for an hour without asking again.
    """
    token = hmac.new(_key, f"{run_name}\0{subject_id}".encode("utf-8", "surrogateescape"), "sha256").hexdigest()[:32]
    _tokens[token] = (run_name, subject_id)
    return f"/thumbnails/{token}" + (f"?v={version}" if version else "")


def behind_token(token: str) -> tuple[str, str] | None:
    """The run's name and the clip's id behind a token that some page has shown."""
    return _tokens.get(token)


def thumbnail(opened: OpenRun, row: Row) -> bytes:
    """The picture as a JPEG; `MediaError` says why there is none, in one line."""
    subject = row.entry.subject
    file = file_of(opened.run, subject)
    if file is None:
        raise MediaError(f"{subject.path}: the clip is no longer where the run found it")
    return kept_picture(file, at_ms=fault_ms(opened.run, row), sha256=subject.sha256)


def no_picture(why: str) -> str:
    """What stands in a picture's place, as SVG."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 180" width="320" height="180">'
        f'<title>{escape(why)}</title><rect width="320" height="180" fill="#101114"/>'
        '<text x="160" y="95" fill="#c9ccd3" font-family="sans-serif" font-size="17" text-anchor="middle">'
        "No picture</text></svg>"
    )


def fault_ms(run: Run, row: Row) -> float:
    """When to look, in milliseconds: the middle of the first fault the review signal names, else the clip's middle."""
    subject = row.entry.subject
    found = next((reason.span.middle_ms for reason in subject.why if reason.span is not None), None)
    return found if found is not None else _marked_ms(run, row) or _middle_ms(subject)


def _marked_ms(run: Run, row: Row) -> float | None:
    """The middle one of the moments the timeline marks, for a clip with a review signal that names no place."""
    if run.instrument != "clip" or row.entry.subject.badge in (None, "pass"):
        return None
    from rushes.instruments.clip.show.timeline import find_faults, kept_series

    with suppress(RunError, ValueError):
        series = kept_series(run, row.entry)
        times, frames = series.get("time_ms"), find_faults(row.entry.measurements, series).frames()
        inside = [frame for frame in frames if times is not None and frame < len(times)]
        if inside and times is not None:
            return float(times[inside[len(inside) // 2]])
    return None


def _middle_ms(subject: Subject) -> float:
    media = subject.media
    return 500.0 if media is None or media.duration_ms is None else media.duration_ms / 2


def kept_picture(file: Path, *, at_ms: float, sha256: str | None = None) -> bytes:
    """The clip's frame at this moment as a JPEG, from the cache where it is there; `MediaError`."""
    place = _place(file, at_ms)
    with suppress(OSError):
        found = place.read_bytes()
        os.utime(place)  # the oldest go first
        return found
    with _working:
        picture = _picture(file, at_ms, sha256)
    with suppress(OSError):  # a cache that cannot be written costs time, not the picture
        place.parent.mkdir(parents=True, exist_ok=True)
        with replacing_bytes(place, shared=True) as out:
            out.write(picture)
        _tidy(place.parent.parent)
    return picture


def thumbnail_folder() -> Path:
    return cache_folder() / "thumbnails"


def _place(file: Path, at_ms: float) -> Path:
    stat = file.stat()
    facts = f"1 {file.resolve()} {stat.st_size} {stat.st_mtime_ns} {at_ms:.0f} {LONGEST} {_QUALITY}"
    name = hashlib.sha256(facts.encode("utf-8", "surrogateescape")).hexdigest()[:40]
    return thumbnail_folder() / name[:2] / f"{name}.jpg"


def _picture(file: Path, at_ms: float, sha256: str | None) -> bytes:
    from rushes.media.still import still_at

    if sha256 is not None and file_digest(file) != sha256:
        raise MediaError(f"{file}: the file has changed since it was measured, so its picture is not shown")
    return jpeg(still_at(file, at_ms), longest=LONGEST, quality=_QUALITY)


def _tidy(folder: Path, *, most: int = _MOST_BYTES, every: int = _LOOK_EVERY) -> None:
    """Now and then, take the oldest pictures away until three quarters of the room are used."""
    global _written
    _written += 1
    if _written % every:
        return
    kept = []
    for file in folder.glob("*/*.jpg"):
        with suppress(OSError):
            stat = file.stat()
            kept.append((stat.st_mtime_ns, stat.st_size, file))
    total = sum(size for _, size, _ in kept)
    if total <= most:
        return
    for _, size, file in sorted(kept):
        if total <= 0.75 * most:
            return
        with suppress(OSError):
            file.unlink()
            total -= size


def picture_address(token: str, stamp: str) -> str:
    """Where a page finds the picture of the clip behind this token of the run cache."""
    return f"/grid/pictures/{token}.jpg?v={stamp}"


def picture(opened: OpenRun, row: Row) -> bytes:
    """A JPEG of one frame of a run's clip; b"" where it is gone, has changed or cannot be decoded."""
    subject = row.entry.subject
    path = subject.path
    found = (path,) if is_remote(path) else tuple(map(str, candidates(path, beside=opened.run.path)))
    return _taken((str(opened.run.path), opened.stamp, subject.id), found, subject.sha256)


def file_picture(file: Path) -> bytes:
    """The same of a file, whatever is in it now."""
    stat = file.stat()
    return _taken((str(file), str(stat.st_mtime_ns), str(stat.st_size)), (str(file),), None)


def _taken(place: tuple[str, str, str], found: tuple[str, ...], sha256: str | None) -> bytes:
    def take() -> bytes:
        with _work:
            strip = take_strip(StripTask(candidates=found, sha256=sha256, frames=(0, _FRAME)))
        return base64.b64decode(strip.frames[-1].jpeg.partition(",")[2]) if strip.frames else b""

    return _kept.get(place, take)
