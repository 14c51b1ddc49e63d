"""Reading and writing the tables: one line for every error, and no cell that a spreadsheet would run.

A text cell that begins with = + - @, a tab or a line break is a formula to a spreadsheet. It is written with a leading
apostrophe, and reading takes it away again.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from rushes.core.errors import InputError
from rushes.core.machine.files import replacing_bytes

_FORMULA = tuple("=+-@\t\r\n＝＋－＠")


def safe_cell(text: str) -> str:
    """The cell as written: never a formula.

    >>> safe_cell("=1+1"), safe_cell("plain"), safe_cell("'=1")
    ("'=1+1", 'plain', "''=1")
    """
    return f"'{text}" if text.lstrip("'").startswith(_FORMULA) else text


def read_cell(text: str) -> str:
    """The text that `safe_cell` was given.

    >>> [read_cell(safe_cell(t)) for t in ("=1+1", "'=1", "'tis", "-")]
    ['=1+1', "'=1", "'tis", '-']
    """
    escaped = text.startswith("'") and text.lstrip("'").startswith(_FORMULA)
    return text[1:] if escaped else text


Numbered: TypeAlias = tuple[int, dict[str, str]]
"""A row of a CSV and its line."""


def read_rows(path: Path | str, *, needed: Sequence[str], strip: bool = False) -> list[Numbered]:
    """Rows of a CSV with their line numbers; `InputError` for an unreadable file or missing columns."""
    return list(each_row(path, needed=needed, strip=strip))


def each_row(path: Path | str, *, needed: Sequence[str] = (), strip: bool = False) -> Iterator[Numbered]:
    """The same rows one after the other: of a large file few are held."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")  # as bytes: line breaks inside cells stay
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        columns = [name.strip() for name in next(reader, ())]
        missing = [name for name in needed if name not in columns]
        if missing:
            raise InputError(f"{path}: expected the columns {', '.join(needed)}; missing: {', '.join(missing)}")
        for cells in filter(None, reader):
            if len(cells) != len(columns):
                raise InputError(
                    f"{path}, line {reader.line_num}: expected {len(columns)} cells; got a different number"
                )
            texts = map(str.strip, cells) if strip else cells
            row = zip(columns, texts, strict=True)
            yield reader.line_num, {key: read_cell(text) if text[:1] == "'" else text for key, text in row}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as a CSV in UTF-8 ({error})") from None


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """A CSV with these columns; text cells made safe, None as an empty cell."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row.get(name)) for name in columns])
    return out.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, str):
        return safe_cell(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else value


def write_file(path: Path | str, data: str | bytes) -> Path:
    """Put the whole file in place in one step; `InputError` where the disk refuses."""
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing_bytes(target) as out:
            out.write(data.encode("utf-8", "replace") if isinstance(data, str) else data)
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror or error})") from None
    return target
