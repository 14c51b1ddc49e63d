"""A table as an .xlsx file: the values in one sheet, how each column was measured in a second.

The same run gives the same bytes: no clock goes into the file.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from rushes.core.errors import InputError
from rushes.core.machine.files import replacing_bytes
from rushes.core.registry import optional_package
from rushes.storage.remote.transfer import upload_on_exit

MOST_ROWS, MOST_COLUMNS, MOST_LETTERS = 1_048_576, 16_384, 32_767
"""What the format holds."""
_MADE = datetime(1980, 1, 1)
_HEADS = ("column", "signature", "unit", "better", "about")
_WIDEST = 60


def write_sheets(
    target: Path | str, heads: Sequence[str], rows: Iterator[Mapping[str, Any]], signatures: Sequence[Sequence[str]]
) -> None:
    """Write the sheets "values" and "signatures"; `InputError` for more than a sheet holds.

    Numbers are numbers, true and false are so, a missing value is an empty cell; a text is never a formula.
    """
    needs = "an .xlsx file needs XlsxWriter (.csv and .jsonl need no package)"
    xlsxwriter = optional_package("xlsxwriter", needs, extra="query")
    if len(heads) > MOST_COLUMNS:
        raise InputError(f"{target}: a sheet has at most {MOST_COLUMNS:,} columns; this run has {len(heads):,}")
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    made = io.BytesIO()
    with xlsxwriter.Workbook(made, options) as book:
        book.set_properties({"created": _MADE})
        bold = book.add_format({"bold": True})
        values = _sheet(book, "values", heads, bold)
        for number, row in enumerate(rows, 1):
            if number >= MOST_ROWS:
                raise InputError(f"{target}: a sheet has at most {MOST_ROWS:,} rows; write .parquet or .csv")
            _write(values, number, row.values())
        told = _sheet(book, "signatures", _HEADS, bold)
        for number, line in enumerate(signatures, 1):
            _write(told, number, line)
        told.set_column(1, 1, _WIDEST)
    with upload_on_exit(target) as file, replacing_bytes(file) as out:
        out.write(made.getbuffer())


def _sheet(book: Any, name: str, heads: Sequence[str], bold: Any) -> Any:
    sheet = book.add_worksheet(name)
    for place, head in enumerate(heads):
        sheet.write_string(0, place, head, bold)
        sheet.set_column(place, place, min(max(len(head) + 2, 10), _WIDEST))
    sheet.freeze_panes(1, 1)
    return sheet


def _write(sheet: Any, number: int, cells: Any) -> None:
    for place, value in enumerate(cells):
        if isinstance(value, bool):
            sheet.write_boolean(number, place, value)
        elif isinstance(value, (int, float)):
            sheet.write_number(number, place, value)
        elif value:
            sheet.write_string(number, place, str(value)[:MOST_LETTERS])
