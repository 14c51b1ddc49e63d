"""What `rushes compare` prints on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rushes.terminal.colours import faint, paint_signals
from rushes.terminal.console import next_line, print_table, say, show_signatures, tell

if TYPE_CHECKING:
    from rushes.core.table import Table
    from rushes.suite.compare_many import RunsComparison
    from rushes.suite.compare_results import RunComparison

_NAMES_SHOWN = 5


def show_comparison(found: RunsComparison, *, verbose: bool = False) -> None:
    """Two runs in full; several in one table, every one against the first. What it comes to is said first."""
    from rushes.suite.compare_page_words import opening_lines

    for line in opening_lines(found):
        tell(line, paint=paint_signals)
    print()
    _show_all(found, verbose)
    next_line("compare", *(run.place for run in found.runs), "-o", "compare.html")


def _show_all(found: RunsComparison, verbose: bool) -> None:
    if len(found.runs) == 2:
        _show(found, verbose)
        return
    if found.comparisons[0].distances:
        for one in found.comparisons:
            _show_distances(one, verbose)
        return
    from rushes.suite.compare_page_rows import not_compared
    from rushes.suite.compare_page_words import holm_lines, quiet_lines
    from rushes.suite.compare_tables import result_table

    for letter, run in zip(found.letters, found.runs, strict=True):
        print(f"{letter} {run.place}")
    say_states(found)
    _print(result_table(found), range(2, 7))
    for line in holm_lines(found):
        tell(line)
    for said, names in quiet_lines(found):
        tell(f"{said}: {', '.join(names)}")
    for row in not_compared(found).texts():
        tell(f"Not compared: {row[0]} {row[1]}, {row[2]}: {row[3]}")
    _show_signatures(found, verbose)


def say_states(found: RunsComparison) -> None:
    """On stderr, which runs are not complete."""
    for run in found.runs:
        if run.status != "complete":
            say(f"{run.place}: the run is {run.status}; what is finished so far was compared")


def _show(found: RunsComparison, verbose: bool) -> None:
    from rushes.suite.compare_data import (
        MOVED,
        QUIET,
        change_table,
        quiet_readings,
        transition_table,
        unlike_lines,
    )
    from rushes.suite.compare_page_words import holm_lines
    from rushes.suite.compare_tables import difference_table

    comparison = found.comparisons[0]
    first, second = comparison.first, comparison.second
    if comparison.distances:
        _show_distances(comparison, verbose)
        return
    tell(f"A {first.place}  ·  B {second.place}  ·  {len(comparison.paired)} clips in both, differences are B − A")
    _say_state(comparison)
    differences = difference_table(found)
    if differences.rows:
        _print(differences, range(2, 9))
    if any(one.verdict == "moved" for one in found.judged):
        tell(MOVED)
    for line in (*holm_lines(found), *unlike_lines(comparison)):
        tell(line)
    for word, names in quiet_readings(comparison).items():
        if names and word != "not comparable":  # named above, with the reason
            tell(f"{QUIET[word]}: {', '.join(names)}")
    told = {one.name for one in found.judged if one.verdict in ("better", "worse", "moved")}
    changes, transitions = change_table(comparison), transition_table(comparison)
    shown = [row for row in changes.rows if verbose or row[0].text in told]
    if shown:
        print()
        _print(replace(changes, rows=shown), (2, 3, 4))
    elif changes.rows:
        tell("Clips that changed most, though no change is clear: -v", paint=faint)
    if transitions.rows and not shown:
        print()
    if transitions.rows:
        _print(transitions, (1, 2, 3))
    else:
        tell(f"No table of review signals: {comparison.transitions_refused}")
    for refusal in comparison.refused:
        tell(f"Refused: {refusal.why}")
    if comparison.unshared:
        tell(f"Only in one run: {', '.join(comparison.unshared)}")
    _show_signatures(found, verbose)


def _show_distances(comparison: RunComparison, verbose: bool) -> None:
    from rushes.suite.set_distances import HOLDS, distance_table, set_lines

    tell(f"A {comparison.first.place}  ·  B {comparison.second.place}  ·  differences are B − A")
    for line in set_lines(comparison.first, comparison.second):
        tell(line)
    _say_state(comparison)
    table = distance_table(comparison.distances)
    _print(table, range(2, len(table.header)))
    for change in comparison.distances:
        if change.why:
            tell(f"Not compared: {change.name}: {change.why.removeprefix(f'{change.first.name}: ')}")
    named = {m.signature for change in comparison.distances for m in (change.first, change.second)}
    if alone := [about for about in comparison.unshared if about not in named]:
        tell(f"Only in one run: {', '.join(alone)}")
    tell(HOLDS)
    show_signatures((m.signature for c in comparison.distances for m in (c.first, c.second)), verbose=verbose)


def _print(table: Table, numbers: Sequence[int]) -> None:
    verdicts = [column for column, head in enumerate(table.header) if head == "verdict"]
    print_table(table.title, table.header, table.texts(), numbers=numbers, keep=[*verdicts, 2])


def _show_signatures(found: RunsComparison, verbose: bool) -> None:
    """The shapes of the signatures once, then the metrics that stand for `of`; `--json` spells all of them out."""
    from rushes.paired.definitions import CHANGED_CLIPS, MEAN_DIFFERENCE, SIGN_FLIP
    from rushes.paired.family_definitions import HOLM
    from rushes.suite.compare_data import QUIET

    every = (MEAN_DIFFERENCE, SIGN_FLIP, HOLM.with_params(tests=max(found.family, 1)), CHANGED_CLIPS)
    signals = [one.transitions[0].signature for one in found.comparisons if one.transitions]
    readings = [f"of {one.metric.reading.signature}" for one in found.judged if one.verdict not in QUIET]
    show_signatures([*(definition.signature for definition in every), *signals, *readings], verbose=verbose)


def _say_state(comparison: RunComparison) -> None:
    for letter, run, alone in (
        ("A", comparison.first, comparison.only_first),
        ("B", comparison.second, comparison.only_second),
    ):
        if run.status != "complete":
            say(f"{run.place}: the run is {run.status}; what is finished so far was compared")
        if alone:
            more = ", …" if len(alone) > _NAMES_SHOWN else ""
            tell(f"Only in {letter}, so not compared ({len(alone)}): {', '.join(alone[:_NAMES_SHOWN])}{more}")
    if comparison.doubtful:
        tell(f"The same id, but two clips by their paths, so not compared: {_pairs(comparison)}")


def _pairs(comparison: RunComparison) -> str:
    paths = [{subject.id: subject.path for subject in run.subjects} for run in (comparison.first, comparison.second)]
    shown = [f"{name} ({paths[0][name]}, {paths[1][name]})" for name in comparison.doubtful[:_NAMES_SHOWN]]
    return ", ".join(shown) + (", …" if len(comparison.doubtful) > _NAMES_SHOWN else "")
