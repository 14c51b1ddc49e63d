"""`rushes compare` in Python: runs over the same clips, every one against the first.

With many comparisons at once, chance alone moves some. So what is said of a metric rests on its interval and on Holm's
rule over all the comparisons that are shown: a page with fifty numbers is as careful as one with a single one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import overload

from rushes.compare.comparison import is_test
from rushes.compare.readings.sampled_runs import Declared, sample_means
from rushes.compare.runs.chosen import Only
from rushes.compare.runs.compare import compare_two, judged, require_one_instrument
from rushes.compare.runs.results import MetricComparison, RunComparison, letter, metrics_html
from rushes.core.answer import Answer, told, told_html, words_of
from rushes.core.errors import InputError
from rushes.core.machine.collection import uncollected
from rushes.storage.runs import Run, read_run
from rushes.storage.runs.ids import identity

MOST_RUNS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsComparison(Answer):
    """Two to nine runs, every one against the first."""

    __repr__ = told

    runs: tuple[Run, ...]
    comparisons: tuple[RunComparison, ...]
    """Each of the others against the first, in the order given."""
    judged: tuple[MetricComparison, ...]
    """Every metric of every comparison, by metric, then by run; () for runs of distances."""

    def _repr_html_(self) -> str:
        """Every metric that changed, or may have, with its verdict, for a notebook."""
        return told_html(self, metrics_html(one for one in self.judged if not one.quiet))

    @property
    def summary(self) -> str:
        """What it comes to, run by run, as the terminal opens with it."""
        said: str = words_of(self, "rushes.compare.runs.page.words:opening")
        return said

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the runs before, how their files differ, and how sure the answer is."""
        said: tuple[str, ...] = words_of(self, "rushes.compare.runs.page.words:comparison_notes")
        return said

    def _items(self) -> tuple[MetricComparison, ...]:
        return self.judged

    def _rows(self) -> list[dict[str, object]]:
        return [one.row() for one in self.judged]

    @property
    def letters(self) -> tuple[str, ...]:
        """A for the first run, B for the second …"""
        return tuple(map(letter, range(len(self.runs))))

    @property
    def family(self) -> int:
        """How many comparisons Holm's rule is over."""
        return sum(is_test(one.p) for one in self.judged)

    def find(self, name: str, **at: str) -> list[MetricComparison]:
        """Every run's comparison of this metric name or signature, about this; `InputError` where no run has one."""
        named = [one for one in self.judged if name in (one.reading.name, one.reading.signature)]
        found = [one for one in named if at.items() <= one.reading.place.items()]
        return found or self.comparisons[0].find(name, **at)


@overload
def compare_runs(
    first: Path | str | Run, second: Path | str | Run, *, top: int = 5, prompts: Declared = None, only: Only = ()
) -> RunComparison: ...
@overload
def compare_runs(
    first: Path | str | Run,
    second: Path | str | Run,
    third: Path | str | Run,
    /,
    *more: Path | str | Run,
    top: int = 5,
    prompts: Declared = None,
    only: Only = (),
) -> RunsComparison: ...


def compare_runs(
    first: Path | str | Run,
    second: Path | str | Run,
    *more: Path | str | Run,
    top: int = 5,
    prompts: Declared = None,
    only: Only = (),
) -> RunComparison | RunsComparison:
    """Compare runs clip by clip, subjects paired by id, which comes from the path of a clip.

    Numbers pair by signature and by what they are about; a metric that both runs have under different signatures is
    refused by name, with what differs. A clip whose two files differ in a fact that a metric depends on (frame size,
    rate …) is left out of that metric's statistics, and named in its `unlike`. Verdicts are after Holm's rule over
    every metric that is compared. `top` is how many of the most changed clips to keep per metric. Three runs or more
    give a `RunsComparison`: every one against the first, judged together. Numbered samples of a declared prompt
    (`p001-0`, `p001-1` …) are averaged within it; `prompts` is a file of prompts, left out those of the suite that the
    runs are in. `only` names metrics, with commas between them or one by one: no other is compared, and the correction
    is over these alone. Raises `InputError` when nothing can be compared, or no run has a metric of this name.
    """
    if not more:
        return compare_two(first, second, top=top, prompts=prompts, only=only)
    return compare_all((first, second, *more), top=top, prompts=prompts, only=only)


@uncollected()
def compare_all(
    runs: Sequence[Path | str | Run], *, top: int = 5, prompts: Declared = None, only: Only = ()
) -> RunsComparison:
    """Every run against the first; `compare_runs` of three and more, and what the pages and tables of two show.

    Raises `InputError` for fewer than two runs or more than nine, a run that is given twice, runs of different
    instruments, and a run of which nothing compares with the first.
    """
    if not 2 <= len(runs) <= MOST_RUNS:
        many = "; rushes board compares more systems" if len(runs) > MOST_RUNS else ""
        raise InputError(f"compare takes 2 to {MOST_RUNS} runs; got {len(runs)}{many}")
    opened = tuple(run if isinstance(run, Run) else read_run(run) for run in runs)
    places = [identity(run.place) for run in opened]
    if twice := [run.place for n, run in enumerate(opened) if places[n] in places[:n]]:
        raise InputError(f"{twice[0]} is given twice; name another run to compare it with")
    require_one_instrument(opened)
    folded, remarks = sample_means(opened, prompts)
    letters = map(letter, range(1, len(opened)))
    pairs = zip(letters, folded[1:], strict=True)
    names = [only] if isinstance(only, str) else list(only)
    made = [compare_two(folded[0], run, top=top, letters=("A", mark), prompts=(), only=names) for mark, run in pairs]
    return judge([replace(one, remarks=remarks) for one in made])


def judge(comparisons: Sequence[RunComparison]) -> RunsComparison:
    """Comparisons with one first run, judged together."""
    together = iter(judged([metric for one in comparisons if not one.distances for metric in one.metrics]))
    found = [
        one
        if one.distances
        else replace(
            one,
            metrics=tuple(next(together) for _ in one.metrics),
            signals=one.signals and replace(one.signals, tests=len(comparisons)),
        )
        for one in comparisons
    ]
    metrics = [metric for one in found if not one.distances for metric in one.metrics]
    order = {key: place for place, key in enumerate(dict.fromkeys(metric.key for metric in metrics))}
    return RunsComparison(
        runs=(found[0].first, *(one.second for one in found)),
        comparisons=tuple(found),
        judged=tuple(sorted(metrics, key=lambda metric: (order[metric.key], metric.run))),
    )
