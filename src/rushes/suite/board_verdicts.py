"""Which systems can be told apart on a reading, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rushes.core import Measurement
from rushes.suite.board_data import ReadingKey

Verdict: TypeAlias = Literal["better", "worse", "told apart", "not told apart", "not comparable"]
""" "told apart" where the values surely differ and the reading does not say which is better: it only moves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Two systems on one reading; the difference is first − second."""

    first: str
    second: str
    difference: Measurement
    """Mean paired difference over shared prompts, with its interval; its note says where there is none."""
    p: Measurement
    """Unadjusted."""
    adjusted_p: Measurement
    """Holm over everything that the board judges."""
    verdict: Verdict
    """Of the first against the second."""
    wins: int = 0
    ties: int = 0
    losses: int = 0
    """Prompts on which the first is better, equal, worse, by the reading's direction; higher, equal, lower where it has
    none. Equal means equal in 8 decimals."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReadingVerdict:
    """One column's verdict."""

    key: ReadingKey
    contrasts: tuple[Contrast, ...]
    """Every pair of systems, in the board's order."""
    letters: Mapping[str, str]
    """By system: systems that share a letter cannot be told apart; "" where it has no value."""
    ranks: Mapping[str, tuple[int, int]]
    """By system: its best and its worst rank, by which systems it is surely behind and surely ahead of."""
    why_not: str = ""
    """Why the column has no verdict: no direction, one system, nothing shared; "" where it has one."""

    def __repr__(self) -> str:
        letters = ", ".join(f"{name} {letters or '–'}" for name, letters in self.letters.items())
        return f"ReadingVerdict({self.key.partition('|')[0]}: {self.why_not or letters})"
