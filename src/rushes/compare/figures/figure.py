"""A figure of a paper: a picture, the numbers in it, and what to write below it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from rushes.core.answer import Answer
from rushes.core.errors import InputError
from rushes.core.machine.browser import open_page
from rushes.core.machine.files import replacing, replacing_bytes
from rushes.core.table import NUMBER, TEXT, Cell, Table, csv_text
from rushes.present.charts.paper import in_print, picture

if TYPE_CHECKING:
    import pandas

Kind: TypeAlias = Literal["ratings", "scatter", "ranking", "forest", "curves", "strips"]
Value: TypeAlias = "str | float | int | bool | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperFigure(Answer):
    """One figure. In a notebook it shows itself."""

    kind: str
    caption: str
    """What is shown, how intervals were made, and on how many clips it rests: a caption to start from."""
    svg: str
    """On its canvas, in pixels."""
    header: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    """Every number in the picture, with its signature."""
    notes: tuple[str, ...] = ()
    """What a reader must know beside it."""

    @property
    def summary(self) -> str:
        """What is shown, as a caption."""
        return self.caption

    def _items(self) -> tuple[tuple[Value, ...], ...]:
        return self.rows

    def show(self) -> Path | None:
        """Open the figure in the browser, and print where it is."""
        page = Path(tempfile.mkdtemp(prefix="rushes-")) / f"{self.kind}.svg"
        page.write_text(self.svg, encoding="utf-8")
        open_page(page)
        print(page)
        return page

    def __repr__(self) -> str:
        return f"<PaperFigure {self.kind}, {len(self.rows)} rows: {self.caption}>"

    def _repr_html_(self) -> str:
        return in_print(self.svg)

    @property
    def data(self) -> Table:
        """The numbers as a table."""
        kinds = [
            NUMBER if any(isinstance(row[n], float) for row in self.rows) else TEXT for n in range(len(self.header))
        ]
        columns = [column for kind, head in zip(kinds, self.header, strict=True) for column in kind(head)]
        rows = [[Cell("" if value is None else str(value)) for value in row] for row in self.rows]
        return Table(title=self.caption, columns=columns, rows=rows)

    def csv(self) -> str:
        """The same numbers as CSV."""
        return csv_text(self.header, self.rows)

    def to_pandas(self) -> pandas.DataFrame:
        from rushes.core.registry import optional_package

        frames = optional_package("pandas", "to_pandas needs pandas", package="pandas")
        made: pandas.DataFrame = frames.DataFrame([list(row) for row in self.rows], columns=list(self.header))
        return made

    def save(self, path: Path | str) -> list[Path]:
        """Write .pdf, .svg or .png, and the numbers beside it as .csv; the same data give the same bytes.

        Raises `InputError` where that .csv is something else: a figure called ratings.pdf never overwrites the ratings.
        """
        target = Path(path)
        beside = target.with_suffix(".csv")
        self._require_own(beside)
        data = picture(self.svg, target.suffix.lower())
        with replacing_bytes(target) as file:
            file.write(data)
        with replacing(beside) as out:
            out.write(self.csv())
        return [target, beside]

    def _require_own(self, beside: Path) -> None:
        """Only the numbers of an earlier figure may be replaced."""
        if not beside.exists():
            return
        with beside.open(encoding="utf-8", errors="replace") as file:
            first = file.readline()
        if first != csv_text(self.header, ()):
            raise InputError(f"{beside}: exists and is not this figure's data; give the figure another name")


def rounded(value: float | None) -> float | None:
    """As stored in runs: 8 decimals."""
    return None if value is None else round(float(value), 8)


def listed(names: Sequence[str]) -> str:
    return ", ".join(names)
