"""`rushes compare`: runs over the same clips, every one against the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rushes.terminal.console import EXIT_BAD_INPUT, EXIT_GATE, print_json, print_table, say

if TYPE_CHECKING:
    from rushes.core.table import Table
    from rushes.paired.statistics import PairedStatistics
    from rushes.suite.compare import RunComparison
    from rushes.suite.compare_many import RunsComparison
    from rushes.suite.compare_tables import TableFormat

_NAMES_SHOWN = 5


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN…",
            help="The run to compare against, A, then one to eight more; here, s3:// or gs://. Differences are B − A.",
        ),
    ],
    out: Annotated[
        str | None,
        typer.Option("-o", "--out", metavar="FILE", help="A page (.html) or a table (.md, .tex, .csv) to write."),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="A table on stdout or in FILE: markdown, latex, csv."),
    ] = None,
    clips: Annotated[
        int, typer.Option(min=0, metavar="N", help="Clips that the page shows side by side, most changed first.")
    ] = 10,
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "",
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
    """What changed between runs: paired differences, how sure they are, which clips moved; as text, page or table.

    Example: rushes compare runs/monday runs/tuesday -o compare.html
    """
    from rushes.suite.compare_many import compare_all

    gates = [_gate(text) for text in fail_on or ()]
    table_format = _table_format(out, format)
    if as_json and table_format and out is None:
        raise typer.BadParameter("--json and a table cannot both have stdout; give -o FILE", param_hint="--format")
    if len(runs) < 2:
        raise typer.BadParameter(f"expected two runs or more; got {len(runs)}", param_hint="RUN…")
    found = compare_all(runs, top=top)
    checked = _check(found, gates)
    written = _write(found, out, table_format, clips=clips, title=title)
    if as_json:
        asked = {"asked": fail_on or [], "broken": checked.broken_data(), "unchecked": checked.left_out}
        print_json(_data(found) | {"gates": asked} | written)
    elif out is None and table_format is None:
        _show_all(found)
    elif out is not None:
        from rushes.suite.compare_page_words import opening

        _say_states(found)
        print(opening(found))
    _finish(checked, allow_unjudged)
    if out is not None and not as_json:
        print(out)
    if checked.broken:
        raise typer.Exit(EXIT_GATE)
    if checked.left_out and not allow_unjudged:
        raise typer.Exit(EXIT_BAD_INPUT)


def _table_format(out: str | None, asked: str | None) -> TableFormat | None:
    """The format of a table, by name or by the file's ending; None for a page and for the terminal."""
    from rushes.suite.compare_tables import ENDINGS, FORMATS

    ending = next((ENDINGS[end] for end in ENDINGS if (out or "").lower().endswith(end)), None)
    named = next((name for name in FORMATS if name == asked), None)
    if asked is not None and named is None:
        raise typer.BadParameter(f"a table is {', '.join(FORMATS)}; got {asked!r}", param_hint="--format")
    return named or ending


def _write(
    found: RunsComparison, out: str | None, table_format: TableFormat | None, *, clips: int, title: str
) -> dict[str, object]:
    """Write what was asked for; what `--json` says of it."""
    from rushes.terminal.progress import progress_bars

    if table_format is not None:
        from rushes.suite.compare_tables import comparison_table, write_table

        if out is None:
            print(comparison_table(found, table_format), end="")
            return {}
        write_table(found, out, table_format)
        return {"table": out}
    if out is None:
        return {}
    from rushes.suite.compare_page import write_comparison

    with progress_bars() as progress:
        made = write_comparison(found, out, title=title, clips=clips, progress=progress)
    return {"page": str(made.path), "bytes": made.bytes, "found": made.found}


@dataclass(frozen=True, slots=True)
class _Checked:
    """What the gates found, over every run."""

    broken: list[tuple[str, float, PairedStatistics]]
    """The run's letter, the amount allowed and what moved by more."""
    left_out: list[str]

    def broken_data(self) -> list[dict[str, object]]:
        return [
            {"run": letter, "metric": s.metric.signature, "at": s.mean.place, "amount": amount, "regressed": True}
            for letter, amount, s in self.broken
        ]


def _check(found: RunsComparison, gates: Sequence[tuple[str, float]]) -> _Checked:
    from rushes.suite.compare import regression
    from rushes.suite.gate import unchecked

    rows = list(zip(found.letters[1:], found.comparisons, strict=True))
    broken = [(letter, amount, s) for letter, one in rows for m, amount in gates for s in regression(one, m, amount)]
    left_out = dict.fromkeys(why for _, one in rows for m, _ in gates for why in unchecked(one, m))
    return _Checked(broken, list(left_out))


def _finish(checked: _Checked, allow_unjudged: bool) -> None:
    from rushes.suite.compare import about

    for _, amount, statistics in checked.broken:
        mean = statistics.mean
        moved = f"{float(mean.value or 0):+.6g} {mean.definition.unit}"
        side = "up" if statistics.metric.better == "lower" else "down"
        say(f"gate: {about(mean)} is {moved}, more than {amount:g} {side}")
    if checked.left_out:
        way_on = "let through by --allow-unjudged" if allow_unjudged else "--allow-unjudged lets it through"
        say(f"gate: not checked on everything: {'; '.join(checked.left_out)}; {way_on}")


def _data(found: RunsComparison) -> dict[str, Any]:
    """Two runs as ever, and what is said after Holm's rule; of several, each against the first."""
    from rushes.suite.compare_data import as_data
    from rushes.suite.compare_many import as_many_data

    judged: dict[str, Any] = as_many_data(found)
    if len(found.runs) > 2:
        return judged | {"comparisons": [as_data(one) for one in found.comparisons]}
    alone: dict[str, Any] = as_data(found.comparisons[0])
    return judged | alone | {"definitions": alone["definitions"] | judged["definitions"]}


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


def _show_all(found: RunsComparison) -> None:
    """Two runs in full, as ever; several in one table, every one against the first."""
    if len(found.runs) == 2:
        _show(found.comparisons[0])
        if names := [one.name for one in found.judged if one.alone]:
            print(f"With {found.family} comparisons at once (Holm), no longer clear: {', '.join(names)}")
        return
    if found.comparisons[0].distances:
        for one in found.comparisons:
            _show_distances(one)
        return
    from rushes.suite.compare_page_rows import not_compared
    from rushes.suite.compare_page_words import quiet_lines
    from rushes.suite.compare_tables import result_table

    for letter, run in zip(found.letters, found.runs, strict=True):
        print(f"{letter} {run.place}")
    _say_states(found)
    _print(result_table(found), range(2, 7))
    for said, names in quiet_lines(found):
        print(f"{said}: {', '.join(names)}")
    for row in not_compared(found).texts():
        print(f"Not compared: {row[0]} {row[1]}, {row[2]}: {row[3]}")


def _say_states(found: RunsComparison) -> None:
    for run in found.runs:
        if run.status != "complete":
            say(f"{run.place}: the run is {run.status}; what is finished so far was compared")


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
