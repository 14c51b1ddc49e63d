"""What every verb gives back: a sentence, its notes, its rows and its page, asked for in the same way.

    found = rushes.fvd("generated/", "real/")
    found.summary          the answer, in a sentence or a few
    found.notes            what to know before quoting it, as the terminal prints it
    found.to_pandas()      its rows as a data frame
    found.show()           its page in the browser, or its tables where it has no page
    len(found), for one in found, found

A class that answers defines `summary`, `notes` and `_items`, what it is a collection of, and says `__repr__ = told`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rushes.core.registry import load, optional_package
from rushes.core.selection import full_name
from rushes.core.words.notebook_repr import line_html, page_html

if TYPE_CHECKING:
    from pathlib import Path

    from rushes.core.measurement import Measurement
    from rushes.core.table import Table

_SHOW = "rushes.compare.showing:show"
"""Named and not imported: pages are made above everything that answers."""


def words_of(answer: object, reference: str) -> Any:
    """What a function of the layer that has the words says of an answer: "package.module:name", imported now.

    Named and not imported, since whoever makes words knows what they are about.
    """
    return load(reference)(answer)


class Answer:
    """The parts of an answer that follow from its summary, its notes and its items."""

    __slots__ = ()

    def _items(self) -> Sequence[Any]:
        raise NotImplementedError

    def _rows(self) -> Sequence[Mapping[str, object]]:
        """One row per item, for a data frame."""
        return [measurement_row(item) for item in self._items()]

    def _tables(self) -> Sequence[Table]:
        """What is printed where there is no page."""
        return ()

    def __len__(self) -> int:
        return len(self._items())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items())

    def __bool__(self) -> bool:
        return True  # an answer about nothing is an answer

    def to_pandas(self) -> Any:
        """Its rows as a pandas data frame; `MissingDependency` where pandas is not installed."""
        return frame_of(self._rows())

    def show(self) -> Path | None:
        """Open its page in the browser and print where it is; without a page, print its tables.

        Returns the page, or None.
        """
        shown: Path | None = load(_SHOW)(self)
        return shown


def told(self: Any) -> str:
    """The summary and, a line each, the notes: the `__repr__` of an answer."""
    return "\n".join([self.summary, *(f"Note: {note}" for note in self.notes)])


def told_html(self: Any, *parts: str) -> str:
    """The same for a notebook, with what follows it."""
    return page_html(*map(line_html, told(self).splitlines()), *parts)


def frame_of(rows: Sequence[Mapping[str, object]]) -> Any:
    """Rows as a data frame; columns in order of first appearance."""
    pandas = optional_package("pandas", "a data frame needs pandas", package="pandas")
    heads = list(dict.fromkeys(key for row in rows for key in row))
    return pandas.DataFrame([[row.get(head) for head in heads] for row in rows], columns=heads)


def measurement_row(m: Measurement) -> dict[str, object]:
    """A number as a row: what it is called and about, its value and interval, and its signature."""
    ends = {"low": None, "high": None} if m.interval is None else {"low": m.interval.low, "high": m.interval.high}
    row: dict[str, object] = {
        "metric": full_name(m.definition),
        **dict(m.at),
        "value": m.stored_value,
        **ends,
        "unit": m.definition.unit,
    }
    return row | {"count": m.count, "note": m.note, "signature": m.signature}
