"""`rushes compare`: two runs over the same clips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from rushes.terminal.console import EXIT_BAD_INPUT, EXIT_GATE, print_json, print_table, say

if TYPE_CHECKING:
    from rushes.core.table import Table
    from rushes.suite.compare import RunComparison

_NAMES_SHOWN = 5


def compare(
    run_a: Annotated[
        str, typer.Argument(metavar="RUN_A", help="The run to compare against; a folder, s3:// or gs://.")
    ],
    run_b: Annotated[str, typer.Argument(metavar="RUN_B", help="The run to judge; differences are B − A.")],
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on", metavar="regression=METRIC:AMOUNT", help="Exit 3 when the mean got worse by more; repeatable."
        ),
    ] = None,
    allow_unjudged: Annotated[
        bool,
        typer.Option("--allow-unjudged", help="Let --fail-on hold although it could not be checked on every clip."),
    ] = False,
    top: Annotated[int, typer.Option(min=0, help="How many of the most changed clips to list per metric.")] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="JSON alone on stdout.")] = False,
) -> None:
    """What changed between two runs: paired differences, how sure they are, which clips moved.

    Example: rushes compare runs/monday runs/tuesday --fail-on regression=blur_score:5
    """
    from rushes.suite.compare import about, compare_runs, regression
    from rushes.suite.compare_data import as_data
    from rushes.suite.gate import unchecked

    gates = [_gate(text) for text in fail_on or ()]
    comparison = compare_runs(run_a, run_b, top=top)
    broken = [(m, amount, s) for m, amount in gates for s in regression(comparison, m, amount)]
    left_out = list(dict.fromkeys(why for m, _ in gates for why in unchecked(comparison, m)))
    if as_json:
        verdicts = [
            {"metric": s.metric.signature, "at": s.mean.place, "amount": amount, "regressed": True}
            for _, amount, s in broken
        ]
        print_json(as_data(comparison) | {"gates": {"asked": fail_on or [], "broken": verdicts, "unchecked": left_out}})
    else:
        _show(comparison)
    for _, amount, statistics in broken:
        mean = statistics.mean
        moved = f"{float(mean.value or 0):+.6g} {mean.definition.unit}"
        side = "up" if statistics.metric.better == "lower" else "down"
        say(f"gate: {about(mean)} is {moved}, more than {amount:g} {side}")
    if left_out:
        way_on = "let through by --allow-unjudged" if allow_unjudged else "--allow-unjudged lets it through"
        say(f"gate: not checked on everything: {'; '.join(left_out)}; {way_on}")
    if broken:
        raise typer.Exit(EXIT_GATE)
    if left_out and not allow_unjudged:
        raise typer.Exit(EXIT_BAD_INPUT)


def _gate(text: str) -> tuple[str, float]:
    """ "regression=blur_score:5" as metric and amount; the metric may be a whole signature."""
    kind, _, rest = text.partition("=")
    metric, _, amount = rest.rpartition(":")
    try:
        number = float(amount)
    except ValueError:
        number = -1.0
    if kind != "regression" or not metric or not 0 <= number < float("inf"):
        raise typer.BadParameter(
            f"expected regression=METRIC:AMOUNT with an amount from 0; got {text!r}", param_hint="--fail-on"
        )
    return metric, number


def _show(comparison: RunComparison) -> None:
    from rushes.suite.compare_data import (
        MOVED,
        QUIET,
        change_table,
        difference_table,
        quiet_readings,
        transition_table,
        unlike_lines,
        verdict,
    )

    first, second = comparison.first, comparison.second
    if comparison.distances:
        _show_distances(comparison)
        return
    print(f"A {first.place}  ·  B {second.place}  ·  {len(comparison.paired)} clips in both, differences are B − A")
    _say_state(comparison)
    _print(difference_table(comparison), range(2, 8))
    if any(verdict(m) == "moved" for m in comparison.metrics):
        print(MOVED)
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
    _show_signatures(comparison)


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


def _show_signatures(comparison: RunComparison) -> None:
    """The shapes of the signatures once, then the metrics that stand for `of`; `--json` spells all of them out."""
    from rushes.paired.definitions import CHANGED_CLIPS, MEAN_DIFFERENCE, SIGN_TEST
    from rushes.suite.compare_data import QUIET, verdict

    print("Signatures, `of` being each metric's own:")
    for definition in (MEAN_DIFFERENCE, SIGN_TEST, CHANGED_CLIPS):
        print(f"  {definition.signature}")
    for signature in dict.fromkeys(m.reading.signature for m in comparison.metrics if verdict(m) not in QUIET):
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
