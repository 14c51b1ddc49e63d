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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from rushes.core.files import replacing_path
from rushes.core.provenance import bytes_digest
from rushes.errors import InputError, MissingDependency
from rushes.media.array_reader import frame_rate
from rushes.media.dataset_columns import VideoColumn, ending, frames_of, video_column
from rushes.media.encode import write_clip

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
        raise MissingDependency("tables of videos need pyarrow; run: pip install 'rushes[datasets]'") from None
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
    twin = clip.with_stem(f"{clip.stem}-{number}")
    if not twin.is_file():
        with replacing_path(twin, f".{twin.name}.{os.getpid()}.part") as part:
            os.link(clip, part)
    return twin


def _asked(text: str) -> _Asked:
    bare, _, query = text.removeprefix(PREFIX).partition("?") if text.startswith(PREFIX) else (text, "", "")
    options = dict(parse_qsl(query, keep_blank_values=True))
    if unknown := sorted(set(options) - set(_OPTIONS)):
        raise InputError(f"{text}: expected {', '.join(_OPTIONS)} after the question mark; got {unknown[0]!r}")
    place = Path(bare)
    if not bare or not place.exists():
        raise InputError(f"{text}: there is no such folder or file; hf: reads what lies here, and downloads nothing")
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
            raise InputError(f"{table}: {self.column.name} holds frames, which have no rate; give hf:…?fps=8")
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
        target = _cache() / f"{bytes_digest(data)}{ending(path, data)}"
        if not target.is_file():
            with replacing_path(target, f".{target.name}.{os.getpid()}.part") as part:
                part.write_bytes(data)
        return target


def _rows(file: Path, asked: _Asked) -> Iterator[_Row]:
    import pyarrow as pa

    try:
        schema, batches = _opened(file)
        column = video_column(schema, asked.column, source=str(file))
        if asked.id and asked.id not in schema.names:
            columns = ", ".join(schema.names)
            raise InputError(f"{file}: there is no column {asked.id!r} to name rows by; there are {columns}")
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
    root = os.environ.get("RUSHES_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rushes"
    folder = Path(root) / "datasets"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror}); RUSHES_CACHE names another place") from None
    return folder
