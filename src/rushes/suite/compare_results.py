"""What a comparison of two runs says: clip by clip, metric by metric, and what was refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rushes.core import Measurement
from rushes.core.showing import brief, line_html, numbers_html, page_html, table_html
from rushes.core.table import Cell, Table, interval_cell, number
from rushes.errors import InputError
from rushes.paired.statistics import PairedStatistics
from rushes.runs import Run
from rushes.suite.set_distances import DistanceChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One clip's value in both runs; the difference is second − first."""

    subject: str
    first: Measurement
    second: Measurement
    difference: Measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlike:
    """A clip that a metric cannot be compared on, and which facts of the two files differ."""

    subject: str
    why: str
    """ "frame size 640×360 in A, 320×180 in B"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricComparison:
    """One metric over the clips in both runs, about one thing where it has places (one joint, one system)."""

    reading: Measurement
    """One of its numbers in the first run: which reading of the metric this is, and what it is about."""
    statistics: PairedStatistics
    largest: tuple[Change, ...]
    """The clips that changed most, most first; of equals, in the first run's order. Unchanged clips are not listed."""
    unlike: tuple[Unlike, ...] = ()
    """Clips with both values that the statistics leave out, because facts that the metric depends on differ."""
    changes: tuple[Change, ...] = ()
    """Every clip that the statistics rest on, in the first run's order; unchanged ones and missing values too."""

    @property
    def why_unlike(self) -> str:
        """`why_unlike` of its clips."""
        return why_unlike(self.unlike)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A metric whose two readings do not compare, and in what they differ."""

    name: str
    first: str
    second: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """Two runs, side by side."""

    __repr__ = brief

    first: Run
    second: Run
    paired: tuple[str, ...]
    only_first: tuple[str, ...]
    """Subjects without a partner in the second run."""
    only_second: tuple[str, ...]
    doubtful: tuple[str, ...]
    """Ids that both runs have for clips that, by their paths, are two different ones; not compared."""
    metrics: tuple[MetricComparison, ...]
    refused: tuple[Refused, ...]
    unshared: tuple[str, ...]
    """Metrics that one run does not have at all: signatures, with what they are about."""
    transitions: tuple[Measurement, ...]
    """Nine counts, before pass, flagged, reject by after pass, flagged, reject; () when badges do not compare."""
    transitions_refused: str = ""
    distances: tuple[DistanceChange, ...] = ()
    """Two runs of distances between sets: both values of each. `metrics` then serves gates alone."""

    def _repr_html_(self) -> str:
        """The mean difference of every metric, for a notebook; `compare_all` adds verdicts over several metrics."""
        if self.distances:
            return page_html(
                line_html(repr(self)), numbers_html(m for c in self.distances for m in (c.first, c.second))
            )
        means = [(m.reading, m.statistics.mean) for m in self.metrics]
        rows = [
            (Cell(reading.name, reading), number(mean), interval_cell(mean), Cell(str(mean.count)))
            for reading, mean in means
        ]
        table = Table(
            title="B − A, mean over the clips", header=("metric", "difference", "95 % interval", "N"), rows=rows
        )
        return page_html(line_html(repr(self)), table_html(table))

    def find(self, name: str, **at: str) -> list[MetricComparison]:
        """The comparisons of this metric name or signature, about this: `find("pck", joint="left_wrist")`.

        Raises `InputError`, saying why, where there is none.
        """
        named = [m for m in self.metrics if name in (m.reading.name, m.reading.signature)]
        if found := [m for m in named if at.items() <= m.reading.place.items()]:
            return found
        if named:
            raise InputError(f"{name} was compared, but not at {at}")
        for refusal in self.refused:
            if name in (refusal.name, refusal.first, refusal.second):
                raise InputError(f"{name} was not compared: {refusal.why}")
        have = ", ".join(dict.fromkeys(m.reading.name for m in self.metrics))
        raise InputError(f"{name}: the two runs do not both have it; they share {have}")


def why_unlike(unlike: Sequence[Unlike]) -> str:
    """What differs, in words: the commonest difference first, and on how many clips."""
    kinds = Counter(clip.why for clip in unlike).most_common()
    if len(kinds) < 2:
        return "".join(why for why, _ in kinds)
    why, count = kinds[0]
    return f"{why} on {count} of them, other differences on the rest"
