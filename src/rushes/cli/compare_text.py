"""What `rushes compare` prints on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rushes.terminal.console import print_table, say

if TYPE_CHECKING:
    from rushes.core.table import Table
    from rushes.suite.compare_many import RunsComparison
    from rushes.suite.compare_results import RunComparison

_NAMES_SHOWN = 5


def show_comparison(found: RunsComparison) -> None:
    """Two runs in full, as ever; several in one table, every one against the first."""
    if len(found.runs) == 2:
        _show(found)
        return
    if found.comparisons[0].distances:
        for one in found.comparisons:
            _show_distances(one)
        return
    from rushes.suite.compare_page_rows import not_compared
    from rushes.suite.compare_page_words import holm_lines, quiet_lines
    from rushes.suite.compare_tables import result_table

    for letter, run in zip(found.letters, found.runs, strict=True):
        print(f"{letter} {run.place}")
    say_states(found)
    _print(result_table(found), range(2, 7))
    for line in holm_lines(found):
        print(line)
    for said, names in quiet_lines(found):
        print(f"{said}: {', '.join(names)}")
    for row in not_compared(found).texts():
        print(f"Not compared: {row[0]} {row[1]}, {row[2]}: {row[3]}")


def say_states(found: RunsComparison) -> None:
    """On stderr, which runs are not complete."""
    for run in found.runs:
        if run.status != "complete":
            say(f"{run.place}: the run is {run.status}; what is finished so far was compared")


def _show(found: RunsComparison) -> None:
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
        _show_distances(comparison)
        return
    print(f"A {first.place}  ·  B {second.place}  ·  {len(comparison.paired)} clips in both, differences are B − A")
    _say_state(comparison)
    _print(difference_table(found), range(2, 9))
    if any(one.verdict == "moved" for one in found.judged):
        print(MOVED)
    for line in holm_lines(found):
        print(line)
    for line in unlike_lines(comparison):
        print(line)
    for word, names in quiet_readings(comparison).items():
        if names and word != "not comparable":  # named above, with the reason
            print(f"{QUIET[word]}: {', '.join(names)}")
    changes, transitions = change_table(comparison), transition_table(comparison)
    if changes.rows:
        _print(changes, (2, 3, 4))
    if transitions.rows:
        _print(transitions, (1, 2, 3))
        print(f"  {comparison.transitions[0].signature}")
    else:
        print(f"No table of review signals: {comparison.transitions_refused}")
    for refusal in comparison.refused:
        print(f"Refused: {refusal.why}")
    if comparison.unshared:
        print(f"Only in one run: {', '.join(comparison.unshared)}")
    _show_signatures(found)


def _show_distances(comparison: RunComparison) -> None:
    from rushes.suite.set_distances import HOLDS, distance_table, set_lines

    print(f"A {comparison.first.place}  ·  B {comparison.second.place}  ·  differences are B − A")
    for line in set_lines(comparison.first, comparison.second):
        print(line)
    _say_state(comparison)
    table = distance_table(comparison.distances)
    _print(table, range(2, len(table.header)))
    for change in comparison.distances:
        if change.why:
            print(f"Not compared: {change.name}: {change.why.removeprefix(f'{change.first.name}: ')}")
    named = {m.signature for change in comparison.distances for m in (change.first, change.second)}
    if alone := [about for about in comparison.unshared if about not in named]:
        print(f"Only in one run: {', '.join(alone)}")
    print(HOLDS)
    print("Signatures:")
    for signature in dict.fromkeys(m.signature for c in comparison.distances for m in (c.first, c.second)):
        print(f"  {signature}")


def _print(table: Table, numbers: Sequence[int]) -> None:
    print_table(table.title, table.header, table.texts(), numbers=numbers)


def _show_signatures(found: RunsComparison) -> None:
    """The shapes of the signatures once, then the metrics that stand for `of`; `--json` spells all of them out."""
    from rushes.paired.definitions import CHANGED_CLIPS, MEAN_DIFFERENCE, SIGN_FLIP
    from rushes.paired.family_definitions import HOLM
    from rushes.suite.compare_data import QUIET

    print("Signatures, `of` being each metric's own:")
    for definition in (MEAN_DIFFERENCE, SIGN_FLIP, HOLM.with_params(tests=max(found.family, 1)), CHANGED_CLIPS):
        print(f"  {definition.signature}")
    for signature in dict.fromkeys(one.metric.reading.signature for one in found.judged if one.verdict not in QUIET):
        print(f"  of {signature}")


def _say_state(comparison: RunComparison) -> None:
    for letter, run, alone in (
        ("A", comparison.first, comparison.only_first),
        ("B", comparison.second, comparison.only_second),
    ):
        if run.status != "complete":
            say(f"{run.place}: the run is {run.status}; what is finished so far was compared")
        if alone:
            more = ", …" if len(alone) > _NAMES_SHOWN else ""
            print(f"Only in {letter}, so not compared ({len(alone)}): {', '.join(alone[:_NAMES_SHOWN])}{more}")
    if comparison.doubtful:
        print(f"The same id, but two clips by their paths, so not compared: {_pairs(comparison)}")


def _pairs(comparison: RunComparison) -> str:
    paths = [{subject.id: subject.path for subject in run.subjects} for run in (comparison.first, comparison.second)]
    shown = [f"{name} ({paths[0][name]}, {paths[1][name]})" for name in comparison.doubtful[:_NAMES_SHOWN]]
    return ", ".join(shown) + (", …" if len(comparison.doubtful) > _NAMES_SHOWN else "")
