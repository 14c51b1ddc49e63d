"""Which column of a table holds the videos, and how a row of it becomes a file: bytes, a path, or a list of frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rushes.errors import InputError

Kind = Literal["file", "pictures", "arrays"]
_STARTS = (
    (0, b"\x1aE\xdf\xa3", ".mkv"),
    (0, b"GIF8", ".gif"),
    (0, b"RIFF", ".avi"),
    (4, b"ftypqt", ".mov"),
    (4, b"ftyp", ".mp4"),
    (0, b"OggS", ".ogv"),
    (0, b"FLV", ".flv"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoColumn:
    """A column that holds videos."""

    name: str
    kind: Kind
    """file: bytes or a path; pictures: a list of coded pictures; arrays: nested lists T × H × W × 3 of 0 to 255."""


def video_column(schema: Any, wanted: str, *, source: str) -> VideoColumn:
    """The column of this name, or the only one that can hold videos; `InputError` says what there is."""
    found = [VideoColumn(name=field.name, kind=kind) for field in schema if (kind := _kind(field.type)) is not None]
    names = ", ".join(schema.names)
    if wanted:
        chosen = next((column for column in found if column.name == wanted), None)
        if chosen is None:
            raise InputError(f"{source}: the column {wanted!r} holds no videos; the columns are {names}")
        return chosen
    files = [column for column in found if column.kind != "file" or _is_video(schema, column.name)]
    if len(files or found) != 1:
        several = ", ".join(column.name for column in files or found)
        why = f"several columns may hold videos ({several}); give ?column=NAME" if several else "no column holds videos"
        raise InputError(f"{source}: {why}; the columns are {names}")
    return (files or found)[0]


def _kind(kind: Any) -> Kind | None:
    import pyarrow.types as types

    kind = getattr(kind, "storage_type", kind)
    if types.is_binary(kind) or types.is_large_binary(kind) or _is_media(kind):
        return "file"
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        inner = kind.value_type
        if _is_media(inner) or types.is_binary(inner):
            return "pictures"
        depth = 1
        while types.is_list(inner) or types.is_large_list(inner) or types.is_fixed_size_list(inner):
            inner, depth = inner.value_type, depth + 1
        return "arrays" if depth == 4 and types.is_uint8(inner) else None
    return None


def _is_media(kind: Any) -> bool:
    """The struct that the `datasets` package keeps media in."""
    import pyarrow.types as types

    return bool(types.is_struct(kind)) and {"bytes", "path"} <= {field.name for field in kind}


def _is_video(schema: Any, name: str) -> bool:
    """Whether the `datasets` package calls the column a video, or its name does."""
    import json

    stored = (schema.metadata or {}).get(b"huggingface", b"{}")
    try:
        features = json.loads(stored)["info"]["features"]
        return bool(features[name]["_type"] == "Video")
    except (ValueError, LookupError, TypeError):
        return "video" in name.lower() or "clip" in name.lower()


def ending(path: str | None, data: bytes) -> str:
    """The file's ending: that of the path it came from, else what its first bytes say; .mp4 where they say nothing.

    >>> ending("a/take.WEBM", b""), ending(None, b"\\x00\\x00\\x00 ftypisom"), ending(None, b"?")
    ('.webm', '.mp4', '.mp4')
    """
    name = (path or "").rpartition("/")[2]
    if "." in name:
        return f".{name.rpartition('.')[2].lower()}"
    return next((suffix for at, start, suffix in _STARTS if data[at:].startswith(start)), ".mp4")


def frames_of(value: Any, kind: Kind, *, what: str) -> list[NDArray[np.uint8]]:
    """A list of coded pictures, or nested lists of values, as RGB frames; `InputError` for anything else."""
    if kind == "arrays":
        try:
            video = np.asarray(value, np.uint8)
        except (ValueError, TypeError, OverflowError):
            video = np.zeros(0, np.uint8)
        if video.ndim != 4 or video.shape[3] != 3 or not video.size:
            raise InputError(f"{what}: expected frames × height × width × 3; got shape {video.shape}")
        return list(video)
    return [_picture(item, f"{what}, picture {number}") for number, item in enumerate(_items(value, what))]


def _items(value: Any, what: str) -> Sequence[Any]:
    if not value:
        raise InputError(f"{what}: expected pictures; the list is empty")
    return list(value)


def _picture(item: Any, what: str) -> NDArray[np.uint8]:
    import cv2

    data = item.get("bytes") if isinstance(item, Mapping) else item
    if data is None and isinstance(item, Mapping) and item.get("path"):
        with open(item["path"], "rb") as file:
            data = file.read()
    pixels = None if not data else cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    if pixels is None:
        raise InputError(f"{what}: cannot be decoded as a picture")
    return np.ascontiguousarray(pixels[..., ::-1])
