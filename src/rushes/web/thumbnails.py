"""A small picture of a clip, made when a page asks for it: a frame at its fault where it has one, else the middle.

Pictures are kept in the user's cache folder, never inside a run, and the oldest go when there are too many. A file that
is not the one the run measured has no picture: it would stand beside numbers that are not its own.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import threading
from collections.abc import Sequence
from contextlib import suppress
from html import escape
from pathlib import Path

from rushes.core import Measurement
from rushes.core.files import replacing_bytes
from rushes.core.provenance import file_digest
from rushes.errors import MediaError, RunError
from rushes.models.cache import cache_folder
from rushes.report.subjects import reason_metric
from rushes.runs import Run, Subject
from rushes.web.run_cache import OpenRun, Row
from rushes.web.take_files import take_file

LONGEST = 320
"""Pixels of a picture's longer side: sharp at 160 px on a display of double density."""
_QUALITY = 74
_MOST_BYTES = 256 * 1024 * 1024
"""Of all pictures kept, some 25,000."""
_LOOK_EVERY = 200
"""Pictures written between two looks at how much is kept."""
_PLACE = re.compile(r"(\d+(?:\.\d+)?)(?:–(\d+(?:\.\d+)?))? s\b")
_key = secrets.token_bytes(32)
_tokens: dict[str, tuple[str, str]] = {}
_working = threading.BoundedSemaphore(max(1, (os.cpu_count() or 2) - 1))
"""Pictures made at once: pages and players go on meanwhile."""


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
    file = take_file(opened.run, subject)
    if file is None:
        raise MediaError(f"{subject.path}: the clip is not where the run found it")
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
    """When to look, in milliseconds: the middle of the first fault the review signal names, else the clip's middle.

    >>> place_ms("1.0–2.4 s"), place_ms("at 2.0 s"), place_ms("sound about 200 ms early")
    (1700.0, 2000.0, None)
    """
    subject, measurements = row.entry.subject, row.entry.measurements
    for reason in subject.reasons:
        found = place_ms(_note(measurements, reason_metric(reason)) or reason.partition(" (")[0])
        if found is not None:
            return found
    return _marked_ms(run, row) or _middle_ms(subject)


def place_ms(text: str) -> float | None:
    """The moment that words such as "frozen 1.0–2.4 s" name, the middle of a stretch; None where they name none."""
    found = _PLACE.search(text)
    if found is None:
        return None
    return 500 * (float(found[1]) + float(found[2] or found[1]))


def _note(measurements: Sequence[Measurement], name: str) -> str:
    return next((m.note for m in measurements if m.name == name), "")


def _marked_ms(run: Run, row: Row) -> float | None:
    """The middle one of the moments the timeline marks, for a clip with a review signal that names no place."""
    if run.instrument != "clip" or row.entry.subject.badge in (None, "pass"):
        return None
    from rushes.clip.timeline import find_faults, kept_series

    with suppress(RunError, ValueError):
        series = kept_series(run, row.entry)
        times, frames = series.get("time_ms"), find_faults(row.entry.measurements, series).frames()
        inside = [frame for frame in frames if times is not None and frame < len(times)]
        if inside and times is not None:
            return float(times[inside[len(inside) // 2]])
    return None


def _middle_ms(subject: Subject) -> float:
    media = subject.facts.get("media")
    stated = media.get("duration_ms") if isinstance(media, dict) else None
    return float(stated) / 2 if isinstance(stated, int | float) else 500.0


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
    import cv2

    from rushes.media.still import still_at

    if sha256 is not None and file_digest(file) != sha256:
        raise MediaError(f"{file}: not the file that was measured, so its picture is not shown")
    picture = still_at(file, at_ms)
    height, width = picture.shape[:2]
    scale = LONGEST / max(height, width)
    if scale < 1:
        size = (max(round(width * scale), 1), max(round(height * scale), 1))
        picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)  # type: ignore[assignment]
    done, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    if not done:
        raise MediaError(f"{file}: the frame could not be encoded as JPEG")
    return data.tobytes()


_written = 0


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
