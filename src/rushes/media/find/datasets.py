"""Tables of videos as clips: folders that Hugging Face's `datasets` saved, and parquet files.

    hf:FOLDER                              a folder of save_to_disk, one of its splits, or a folder of parquet files
    hf:FOLDER?column=video&id=prompt_id    which column holds the videos, and which one names them
    hf:frames.parquet?fps=8                the rate, where a row is a list of frames

A folder with `state.json` or `dataset_dict.json`, and a `.parquet` file, are known without `hf:`. Rows are read a few
at a time. Videos inside the table are written to a cache (`RUSHES_CACHE`, else the user's cache folder) under the
digest of their bytes, once; lists of frames are written there without loss (FFV1). Videos that the table names by path
are read where they lie.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl

import numpy as np
from numpy.typing import NDArray

from rushes.core.errors import InputError
from rushes.core.machine.cache import cache_folder
from rushes.core.machine.files import replacing_path
from rushes.core.machine.installing import not_installed
from rushes.core.machine.provenance import bytes_digest
from rushes.media.array_reader import frame_rate
from rushes.media.encode import write_clip

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
    depth = 0
    while types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        kind, depth = kind.value_type, depth + 1
    if depth == 1 and (_is_media(kind) or types.is_binary(kind)):
        return "pictures"
    return "arrays" if depth == 4 and types.is_uint8(kind) else None


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
    if not value:
        raise InputError(f"{what}: expected pictures; the list is empty")
    return [_picture(item, f"{what}, picture {number}") for number, item in enumerate(value)]


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


PREFIX = "hf:"
_MARKS = ("state.json", "dataset_dict.json")
_OPTIONS = ("column", "id", "fps")
_ROWS = 8
"""Read at a time: a row may be a whole video."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A table, and what was said about it."""

    place: Path
    column: str = ""
    id: str = ""
    fps: str = ""


def is_dataset(named: str | Path) -> bool:
    """Whether this names a table of videos: by `hf:`, by the files in the folder, or by its ending."""
    text = str(named)
    if text.startswith(PREFIX):
        return True
    path = Path(text)
    if path.suffix.lower() == ".parquet":
        return path.is_file()
    return any((path / mark).is_file() for mark in _MARKS)


def dataset_clips(named: str | Path) -> Iterator[tuple[Path, str]]:
    """Each row's video as a file here, and its name: the id column's text, else the row's number, "000012".

    Raises `InputError` where there is no such table, where no column or several hold videos, and for frames without a
    rate; `MissingDependency` without pyarrow. A row without a video is a path that does not exist, so that it is a row
    of the run as well.
    """
    asked = _asked(str(named))
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise not_installed("tables of videos need pyarrow", extra="datasets") from None
    tables = list(_tables(asked.place))
    if not tables:
        raise InputError(f"{asked.place}: expected a folder of save_to_disk, or parquet files; found neither")
    seen: dict[str, int] = {}
    copies: Counter[Path] = Counter()
    rows = ((start, file, row) for start, files in tables for file in files for row in _rows(file, asked))
    for number, (start, file, row) in enumerate(rows):
        name = f"{start}{row.name or f'{number:06d}'}"
        if name in seen:
            raise InputError(f"{file}: rows {seen[name]} and {number} are both called {name!r}; ids must differ")
        seen[name] = number
        clip = row.file(file, number, asked)
        copies[clip] += 1
        yield (_copy(clip, copies[clip]) if copies[clip] > 1 and clip.parent == _cache() else clip), name


def _copy(clip: Path, number: int) -> Path:
    """The same video under a path of its own: two rows that are alike are two clips."""
    return _kept(clip.with_stem(f"{clip.stem}-{number}"), lambda part: os.link(clip, part))


def _kept(target: Path, write: Callable[[Path], object]) -> Path:
    """A file of the cache, written where it is not there yet."""
    if not target.is_file():
        with replacing_path(target, f".{target.name}.{os.getpid()}.part") as part:
            write(part)
    return target


def _asked(text: str) -> _Asked:
    bare, _, query = text.removeprefix(PREFIX).partition("?") if text.startswith(PREFIX) else (text, "", "")
    options = dict(parse_qsl(query, keep_blank_values=True))
    if unknown := sorted(set(options) - set(_OPTIONS)):
        raise InputError(f"{text}: expected {', '.join(_OPTIONS)} after the question mark; got {unknown[0]!r}")
    place = Path(bare)
    if not bare or not place.exists():
        raise InputError(f"{text}: no such folder or file; hf: reads local data sets and does not download")
    return _Asked(place=place, **options)


def _tables(place: Path) -> Iterator[tuple[str, list[Path]]]:
    """Files in order, and what stands before the names of their rows: the split's name, where there are several."""
    if place.is_file():
        yield "", [place]
    elif (place / "dataset_dict.json").is_file():
        for folder in sorted(path for path in place.iterdir() if path.is_dir()):
            for _, files in _tables(folder):
                yield f"{folder.name}/", files
    else:
        files = sorted(place.glob("*.arrow")) or sorted(place.rglob("*.parquet"))
        if files:
            yield "", files


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One video, as it lies in the table."""

    name: str
    column: VideoColumn
    value: Any

    def file(self, table: Path, number: int, asked: _Asked) -> Path:
        if self.value is None:
            return table.with_name(f"{table.name}-row-{number}-has-no-video")
        if self.column.kind == "file":
            return self._own(table, number)
        what = f"{table}, row {number}"
        if not asked.fps:
            raise InputError(
                f"{table}: {self.column.name} holds frames, which have no frame rate; give one: hf:…?fps=8"
            )
        frames = frames_of(self.value, self.column.kind, what=what)
        content = b"".join(bytes(str(frame.shape), "ascii") + frame.tobytes() for frame in frames)
        target = _cache() / f"{bytes_digest(content + asked.fps.encode())}.mkv"
        if not target.is_file():
            try:
                rate = frame_rate(float(asked.fps))
            except ValueError:
                raise InputError(f"{asked.place}: fps is a number of frames a second; got {asked.fps!r}") from None
            write_clip(target, frames, fps=rate, codec="ffv1", pix_fmt="bgr0")
        return target

    def _own(self, table: Path, number: int) -> Path:
        """Bytes as a file of the cache; a path as it is, relative ones below the table's folder."""
        given = self.value if isinstance(self.value, dict) else {"bytes": self.value, "path": None}
        data, path = given.get("bytes"), given.get("path")
        if data is None:
            return table.parent / path if path else table.with_name(f"{table.name}-row-{number}-has-no-video")
        return _kept(_cache() / f"{bytes_digest(data)}{ending(path, data)}", lambda part: part.write_bytes(data))


def _rows(file: Path, asked: _Asked) -> Iterator[_Row]:
    import pyarrow as pa

    try:
        schema, batches = _opened(file)
        column = video_column(schema, asked.column, source=str(file))
        if asked.id and asked.id not in schema.names:
            columns = ", ".join(schema.names)
            raise InputError(f"{file}: no column {asked.id!r} to name rows by; the columns are {columns}")
        for batch in batches([column.name, *([asked.id] if asked.id else [])]):
            names = batch.column(asked.id).to_pylist() if asked.id else [""] * batch.num_rows
            for position in range(batch.num_rows):  # one at a time: eight videos as Python lists may be gigabytes
                value = batch.column(column.name)[position].as_py()
                yield _Row(name=str(names[position]), column=column, value=value)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        raise InputError(f"{file}: cannot be read as a table ({' '.join(str(error).split())[:200]})") from None


def _opened(file: Path) -> tuple[Any, Any]:
    """The schema of a table, and what reads some of its columns batch by batch."""
    import pyarrow as pa

    if file.suffix.lower() == ".parquet":
        import pyarrow.parquet as parquet

        opened = parquet.ParquetFile(file, memory_map=True)
        return opened.schema_arrow, lambda columns: opened.iter_batches(batch_size=_ROWS, columns=columns)
    source = pa.memory_map(str(file))
    stream = pa.ipc.open_stream(source)
    return stream.schema, lambda columns: (batch.select(columns) for batch in stream)


def _cache() -> Path:
    """Where videos out of tables lie."""
    folder = cache_folder() / "datasets"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror}); RUSHES_CACHE names another folder") from None
    return folder
