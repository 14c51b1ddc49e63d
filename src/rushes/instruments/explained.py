"""`rushes.metrics`: the catalogue in Python, as `rushes metrics` prints it."""

from __future__ import annotations

from dataclasses import dataclass

from rushes.core import Definition
from rushes.core.answer import Answer, told
from rushes.core.table import Table, word_table
from rushes.core.words.definition_text import definition_lines, range_text
from rushes.instruments.catalogue import catalog, families, find, names_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics(Answer):
    """Definitions of the catalogue: all, those of a family, or those that a name means."""

    __repr__ = told

    definitions: tuple[Definition, ...]
    name: str = ""
    """What was asked for; "" for all."""
    notes: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """One metric in full, or how many there are."""
        family = families()
        if self.name and self.name not in family.values():
            blocks = [
                definition_lines(d, also_called=names_of(d), family=family[d.signature]) for d in self.definitions
            ]
            return "\n\n".join("\n".join(lines) for lines in blocks)
        names = len({d.name for d in self.definitions})
        of = f" of {self.name}" if self.name else ""
        return f"{names} metrics{of}; rushes.metrics('NAME') shows one, .to_pandas() lists them."

    def _items(self) -> tuple[Definition, ...]:
        return self.definitions

    def _rows(self) -> list[dict[str, object]]:
        family = families()
        return [
            dict[str, object](metric=d.name, family=family[d.signature], better=d.better, range=range_text(d))
            | {"unit": d.unit, "summary": d.summary, "signature": d.signature}
            for d in self.definitions
        ]

    def _tables(self) -> tuple[Table, ...]:
        rows = dict.fromkeys((d.name, d.better, range_text(d), d.unit) for d in self.definitions)
        return (word_table("", ("metric", "better", "range", "unit"), list(rows)),)


def metrics(name: str = "") -> Metrics:
    """The metrics of the catalogue: all of them, those of a family, or one.

        rushes.metrics("csim")              # formula, unit, range, direction, edge cases, reference, history
        rushes.metrics().to_pandas()        # all of them

    Args:
        name: any name of a metric (its own, a column's, a paper's, a signature), or a family; all by default.

    Returns:
        `Metrics`: their definitions, which the repr prints.

    Raises:
        InputError: no metric has this name; the message has the nearest.
    """
    family = families()
    if name and name not in family.values():
        return Metrics(definitions=tuple(find(name)), name=name)
    found = tuple(d for d in catalog().values() if name in ("", family[d.signature]))
    return Metrics(definitions=found, name=name)
