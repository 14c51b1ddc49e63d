"""Several runs against the first one, judged together: with many comparisons at once, chance alone moves some.

Every run is compared with the first as two runs are. What is said of a metric then rests on its interval and on Holm's
rule over all the comparisons that are shown, so that a page with fifty numbers is as careful as one with a single one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rushes.core import Measurement
from rushes.core.measurement import At
from rushes.core.showing import brief, line_html, page_html, table_html
from rushes.errors import InputError
from rushes.paired.family import deviation, holm_tests, is_test, spread_difference
from rushes.runs import Run, read_run
from rushes.suite.compare import compare_two
from rushes.suite.compare_data import SURE, direction, reading_names, verdict, verdict_text
from rushes.suite.compare_refusals import require_one_instrument
from rushes.suite.compare_results import MetricComparison, RunComparison

MOST_RUNS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One metric of one run against the first, judged beside everything else that is shown."""

    run: int
    """The run's place among the runs compared: 1 is the second one given, B."""
    name: str
    """What to call the reading: "blur_score (p10)"."""
    metric: MetricComparison
    spread: Measurement
    """The mean difference in units of the metric's spread, with its interval."""
    holm: Measurement
    """Its p after Holm's rule."""

    @property
    def p(self) -> Measurement:
        """Of the sign-flip test, this metric alone."""
        return self.metric.statistics.p

    @property
    def verdict(self) -> str:
        """ "better", "worse" or "moved" where Holm's rule leaves it below 0.05; else as `compare_data.verdict`."""
        alone = verdict(self.metric)
        return "unclear" if alone in _CLEAR and not self.holds else alone

    @property
    def holds(self) -> bool:
        """Whether the change is clear among all that are shown."""
        return self.holm.value is not None and float(self.holm.value) <= SURE

    @property
    def alone(self) -> bool:
        """Whether it would be clear if it were the only comparison, and is not among so many."""
        return verdict(self.metric) in _CLEAR and not self.holds

    @property
    def text(self) -> str:
        """The verdict for people: "better", "moved higher", "cannot tell"."""
        return verdict_text(self.verdict, direction(self.metric))

    @property
    def letter(self) -> str:
        return letter(self.run)

    @property
    def key(self) -> tuple[str, At]:
        """Which reading it is, whatever the run."""
        return self.metric.reading.signature, self.metric.reading.at

    @property
    def single(self) -> bool:
        """Whether it rests on one number in each run, as a mean over a set or a study's score: nothing to pair over."""
        return len(self.metric.changes) == 1 and not self.metric.unlike


_CLEAR = ("better", "worse", "moved")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsComparison:
    """Two to nine runs, every one against the first."""

    __repr__ = brief

    runs: tuple[Run, ...]
    comparisons: tuple[RunComparison, ...]
    """Each of the others against the first, in the order given."""
    judged: tuple[Judged, ...]
    """Every metric of every comparison, by metric, then by run; () for runs of distances."""

    def _repr_html_(self) -> str:
        """The verdicts in words and every metric that moved, for a notebook."""
        from rushes.suite.compare_page_words import opening_lines
        from rushes.suite.compare_tables import difference_table, result_table

        table = difference_table(self) if len(self.runs) == 2 else result_table(self)
        return page_html(*map(line_html, opening_lines(self)), table_html(table, columns=len(table.header)))

    @property
    def letters(self) -> tuple[str, ...]:
        """A for the first run, B for the second …"""
        return tuple(map(letter, range(len(self.runs))))

    @property
    def family(self) -> int:
        """How many comparisons Holm's rule is over."""
        return sum(is_test(one.p) for one in self.judged)

    def find(self, name: str, **at: str) -> list[Judged]:
        """Every run's comparison of this metric name or signature, about this; `InputError` where no run has one."""
        found = [
            one
            for one in self.judged
            if name in (one.metric.reading.name, one.metric.reading.signature)
            and at.items() <= one.metric.reading.place.items()
        ]
        return found or [one for one in self.judged if one.metric in self.comparisons[0].find(name, **at)]


def letter(place: int) -> str:
    """What a run is called on a page.

    >>> letter(0), letter(8)
    ('A', 'I')
    """
    return chr(ord("A") + place)


def compare_all(runs: Sequence[Path | str | Run], *, top: int = 5) -> RunsComparison:
    """Every run against the first; `compare_runs` of three and more, and what the pages and tables of two show.

    Raises `InputError` for fewer than two runs or more than nine, a run that is given twice, runs of different
    instruments, and a run of which nothing compares with the first.
    """
    if not 2 <= len(runs) <= MOST_RUNS:
        many = "; rushes board compares more systems" if len(runs) > MOST_RUNS else ""
        raise InputError(f"compare takes 2 to {MOST_RUNS} runs; got {len(runs)}{many}")
    opened = tuple(run if isinstance(run, Run) else read_run(run) for run in runs)
    _require_distinct(opened)
    require_one_instrument(opened)
    return judge(tuple(compare_two(opened[0], other, top=top) for other in opened[1:]))


def _require_distinct(runs: Sequence[Run]) -> None:
    seen: dict[str, Run] = {}
    for run in runs:
        where = run.url or str(run.path.resolve())
        if where in seen:
            raise InputError(f"{run.place} is given twice; a run does not differ from itself: name another one")
        seen[where] = run


def judge(comparisons: Sequence[RunComparison]) -> RunsComparison:
    """Comparisons with one first run, judged together."""
    rows = [
        (place, name, metric)
        for place, comparison in enumerate(comparisons, 1)
        if not comparison.distances
        for name, metric in zip(reading_names(comparison.metrics), comparison.metrics, strict=True)
    ]
    statistics = [metric.statistics for _, _, metric in rows]
    judged = [
        Judged(run=place, name=name, metric=metric, spread=_spread(metric), holm=holm)
        for (place, name, metric), holm in zip(rows, holm_tests(statistics), strict=True)
    ]
    order = {key: number for number, key in enumerate(dict.fromkeys(one.key for one in judged))}
    judged.sort(key=lambda one: (order[one.key], one.run))
    return RunsComparison(
        runs=(comparisons[0].first, *(comparison.second for comparison in comparisons)),
        comparisons=tuple(comparisons),
        judged=tuple(judged),
    )


def _spread(metric: MetricComparison) -> Measurement:
    return spread_difference(metric.statistics, values_of(metric))


def values_of(metric: MetricComparison) -> list[float]:
    """All values of both runs that the comparison rests on, as stored."""
    return [
        float(value)
        for change in metric.changes
        if change.difference.value is not None
        for value in (change.first.stored_value, change.second.stored_value)
        if value is not None
    ]


def change_in_spreads(metric: MetricComparison) -> dict[str, float]:
    """By clip, its change in units of the metric's spread; clips that did not change are left out."""
    unit = deviation(values_of(metric))
    return {
        change.subject: float(change.difference.stored_value) / unit
        for change in metric.changes
        if change.difference.stored_value and unit
    }
