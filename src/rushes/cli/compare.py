"""`rushes compare`: two runs over the same clips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rushes.terminal.console import EXIT_GATE, print_json, print_table, say

if TYPE_CHECKING:
    from rushes.core import Measurement
    from rushes.suite.compare import Comparison, MetricComparison

_NAMES_SHOWN = 5
_QUIET = {"same": "The same on every clip", "no pair": "No clip has a value in both runs"}
"""Verdicts that get one line for all their metrics, not a row each."""


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
    top: Annotated[int, typer.Option(min=0, help="How many of the most changed clips to list per metric.")] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="JSON alone on stdout.")] = False,
) -> None:
    """What changed between two runs: paired differences, how sure they are, which clips moved.

    Example: rushes compare runs/monday runs/tuesday --fail-on regression=blur_score:5
    """
    from rushes.suite.compare import compare_runs, regression
    from rushes.suite.compare_data import as_data

    gates = [_gate(text) for text in fail_on or ()]
    comparison = compare_runs(run_a, run_b, top=top)
    broken = [(m, amount, s) for m, amount in gates for s in regression(comparison, m, amount)]
    if as_json:
        verdicts = [{"metric": s.metric.signature, "amount": amount, "regressed": True} for _, amount, s in broken]
        print_json(as_data(comparison) | {"gates": {"asked": fail_on or [], "broken": verdicts}})
    else:
        _show(comparison)
    for _, amount, statistics in broken:
        mean = statistics.mean
        moved = f"{float(mean.value or 0):+.6g} {mean.definition.unit}"
        say(f"gate: {mean.signature} is {moved}, more than {amount:g} worse")
    if broken:
        raise typer.Exit(EXIT_GATE)


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


def _show(comparison: Comparison) -> None:
    from rushes.core.text import value_text
    from rushes.suite.compare_data import reading_name, verdict

    first, second = comparison.first, comparison.second
    print(f"A {first.place}  ·  B {second.place}  ·  {len(comparison.paired)} clips in both, differences are B − A")
    _say_state(comparison)
    print_table(
        "Mean differences, with 95 % intervals (Student's t; exact for true/false) and the exact sign test",
        ("metric", "better", "mean", "from", "to", "rose", "fell", "same", "sign p", "verdict"),
        [_metric_row(c) for c in comparison.metrics if verdict(c) not in _QUIET],
        numbers=range(2, 9),
    )
    for word, label in _QUIET.items():
        names = [reading_name(c.statistics.metric) for c in comparison.metrics if verdict(c) == word]
        if names:
            print(f"{label}: {', '.join(names)}")
    rows = [
        [
            reading_name(c.statistics.metric),
            x.subject,
            *(value_text(m) for m in (x.first, x.second)),
            _signed(x.difference),
        ]
        for c in comparison.metrics
        for x in c.largest
    ]
    if rows:
        print_table("Clips that changed most", ("metric", "clip", "A", "B", "B − A"), rows, numbers=(2, 3, 4))
    _show_transitions(comparison)
    for refusal in comparison.refused:
        print(f"Refused: {refusal.why}")
    if comparison.unshared:
        print(f"Only in one run: {', '.join(comparison.unshared)}")
    _show_signatures(comparison)


def _show_signatures(comparison: Comparison) -> None:
    """The shapes of the signatures once, then the metrics that stand for `of`; `--json` spells all of them out."""
    from rushes.suite.compare_data import verdict

    shown = [c.statistics for c in comparison.metrics if verdict(c) not in _QUIET]
    print("Signatures, `of` being each metric's own:")
    for signature in dict.fromkeys(m.definition.with_params(of="…").signature for s in shown for m in s.measurements):
        print(f"  {signature}")
    for statistics in shown:
        print(f"  of {statistics.metric.signature}")


def _say_state(comparison: Comparison) -> None:
    for letter, run, alone in (
        ("A", comparison.first, comparison.only_first),
        ("B", comparison.second, comparison.only_second),
    ):
        if run.status != "complete":
            say(f"{run.place}: the run is {run.status}; what is finished so far was compared")
        if alone:
            more = ", …" if len(alone) > _NAMES_SHOWN else ""
            print(f"Only in {letter}, so not compared ({len(alone)}): {', '.join(alone[:_NAMES_SHOWN])}{more}")


def _metric_row(comparison: MetricComparison) -> list[str]:
    from rushes.core.text import value_text
    from rushes.suite.compare_data import reading_name, verdict

    s = comparison.statistics
    return [
        reading_name(s.metric),
        {"higher": "↑", "lower": "↓", "neither": "·"}[s.metric.better],
        *(_signed(m) for m in (s.mean, s.low, s.high)),
        *(value_text(m) for m in (s.rose, s.fell, s.same, s.sign_test)),
        verdict(comparison),
    ]


def _signed(m: Measurement) -> str:
    value = m.value
    if value is None:
        return "–"
    text = f"{float(value):+.2f}" if abs(float(value)) >= 1000 else f"{float(value):+.4f}"
    return "0" if float(text) == 0 and float(value) == 0 else text


def _show_transitions(comparison: Comparison) -> None:
    from rushes.suite.compare import BADGES

    if not comparison.transitions:
        print(f"No table of review signals: {comparison.transitions_refused}")
        return
    counts = [str(m.value) for m in comparison.transitions]
    rows = [[badge, *counts[3 * n : 3 * n + 3]] for n, badge in enumerate(BADGES)]
    print_table("Review signals: clips", ("A ↓  B →", *BADGES), rows, numbers=(1, 2, 3))
    print(f"  {comparison.transitions[0].definition.with_params(before='…', after='…').signature}")
