"""`rushes compare`: runs over the same clips, every one against the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from rushes.present.ci.outputs import AnnotateOption, CiOutputs, JunitOption, SummaryOption
from rushes.present.terminal.colours import faint, paint_signals
from rushes.present.terminal.console import (
    EXIT_BAD_INPUT,
    EXIT_GATE,
    next_line,
    print_json,
    print_table,
    say,
    show_signatures,
    tell,
)
from rushes.present.terminal.options import Json, PromptsOption, Verbose

if TYPE_CHECKING:
    from rushes.compare.runs.many import RunsComparison
    from rushes.compare.runs.results import MetricComparison, RunComparison
    from rushes.compare.runs.tables import TableFormat
    from rushes.storage.runs import Run

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
        typer.Option("--allow-unjudged", help="Let --fail-on pass even if it could not be checked on every clip."),
    ] = False,
    junit: JunitOption = None,
    summary: SummaryOption = None,
    annotate: AnnotateOption = False,
    metrics: Annotated[
        str,
        typer.Option(
            metavar="NAMES", help="Only these, with commas between: psnr,ssim. p is then corrected over them alone."
        ),
    ] = "",
    top: Annotated[int, typer.Option(min=0, help="How many of the most changed clips to list per metric.")] = 3,
    prompts: PromptsOption = None,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Show what changed between runs: paired differences with intervals, and the clips that changed most.

    Example: rushes compare runs/monday runs/tuesday -o compare.html
    """
    from rushes.compare.runs.checks import compare_checks, regression, unchecked
    from rushes.compare.runs.many import compare_all

    gates = [_gate(text) for text in fail_on or ()]
    outputs = CiOutputs(junit=junit, summary=summary, annotate=annotate)
    outputs.require(" ".join(fail_on or ()), "give --fail-on regression=METRIC:AMOUNT")
    table_format = _table_format(out, format)
    if as_json and table_format and out is None:
        raise typer.BadParameter("--json and a table cannot share stdout; give -o FILE", param_hint="--format")
    if len(runs) < 2:
        raise typer.BadParameter(f"expected two runs or more; got {len(runs)}", param_hint="RUN…")
    found = compare_all(runs, top=top, prompts=prompts, only=metrics)
    asked = [(one, name, amount) for one in found.comparisons for name, amount in gates]
    broken = [(amount, metric) for one, name, amount in asked for metric in regression(one, name, amount)]
    left_out = list(dict.fromkeys(why for one, name, _ in asked for why in unchecked(one, name)))
    written = _write(found, out, table_format, clips=clips, title=title)
    if as_json:
        from rushes.compare.runs.as_data import comparison_data

        rows = [
            {"run": m.second, "metric": m.reading.signature, "at": m.difference.place, "amount": amount}
            | {"regressed": True}
            for amount, m in broken
        ]
        told = {"asked": fail_on or [], "broken": rows, "unchecked": left_out}
        print_json(comparison_data(found) | {"gates": told} | written)
    elif out is None and table_format is None:
        show_comparison(found, verbose=verbose)
    elif out is not None:
        from rushes.compare.runs.page.words import opening

        _say_states(found.runs)
        tell(opening(found))
    _say_gates(broken, left_out, allow_unjudged)
    if outputs:
        from rushes.present.ci.formats import checks_markdown

        checks = compare_checks(found, gates, allow_unjudged=allow_unjudged)
        outputs.write(checks, checks_markdown(checks, noun="metric"))
    if out is not None and not as_json:
        print(out)
    if broken:
        raise typer.Exit(EXIT_GATE)
    if left_out and not allow_unjudged:
        raise typer.Exit(EXIT_BAD_INPUT)


def _table_format(out: str | None, asked: str | None) -> TableFormat | None:
    """The format of a table, by name or by the file's ending; None for a page and for the terminal."""
    from rushes.compare.runs.tables import ENDINGS, FORMATS

    ending = next((ENDINGS[end] for end in ENDINGS if (out or "").lower().endswith(end)), None)
    named = next((name for name in FORMATS if name == asked), None)
    if asked is not None and named is None:
        raise typer.BadParameter(f"expected a table as {', '.join(FORMATS)}; got {asked!r}", param_hint="--format")
    return named or ending


def _write(
    found: RunsComparison, out: str | None, table_format: TableFormat | None, *, clips: int, title: str
) -> dict[str, object]:
    """Write what was asked for; what `--json` says of it."""
    from rushes.present.terminal.progress import progress_bars

    if table_format is not None:
        from rushes.compare.output import write_out
        from rushes.compare.runs.tables import comparison_table

        text = comparison_table(found, table_format)
        if out is None:
            print(text, end="")
            return {}
        write_out(out, text, "table")
        return {"table": out}
    if out is None:
        return {}
    from rushes.compare.runs.page.page import write_comparison

    with progress_bars() as progress:
        made = write_comparison(found, out, title=title, clips=clips, progress=progress)
    return {"page": str(made.path), "bytes": made.bytes, "found": made.found}


def _say_gates(broken: Sequence[tuple[float, MetricComparison]], left_out: Sequence[str], allow_unjudged: bool) -> None:
    from rushes.compare.runs.compare import about
    from rushes.core.words.number_text import signed_text

    for amount, metric in broken:
        mean = metric.difference
        moved = f"{signed_text(float(mean.value or 0))} {mean.definition.unit}"
        side = "up" if metric.reading.definition.better == "lower" else "down"
        say(f"gate: {about(mean)} is {moved}, more than {amount:g} {side}")
    if left_out:
        way_on = "let through by --allow-unjudged" if allow_unjudged else "--allow-unjudged lets it through"
        say(f"gate: not checked on everything: {'; '.join(left_out)}; {way_on}")


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


def show_comparison(found: RunsComparison, *, verbose: bool = False) -> None:
    """Two runs in full; several in one table, every one against the first. What it comes to is said first."""
    from rushes.compare.runs.page.words import opening_lines

    for line in opening_lines(found):
        tell(line, paint=paint_signals)
    print()
    if found.comparisons[0].distances:
        for one in found.comparisons:
            _show_distances(one, verbose)
    elif len(found.runs) == 2:
        _show_two(found, verbose)
    else:
        _show_several(found, verbose)
    next_line("compare", *(run.place for run in found.runs), "-o", "compare.html")


def _show_several(found: RunsComparison, verbose: bool) -> None:
    from rushes.compare.runs.page.rows import not_compared
    from rushes.compare.runs.page.words import fact_lines, holm_lines, people_lines, quiet_lines
    from rushes.compare.runs.tables import result_table

    for letter, run in zip(found.letters, found.runs, strict=True):
        print(f"{letter} {run.place}")
    _say_states(found.runs)
    tell(*found.comparisons[0].remarks, *fact_lines(found))
    print_table(result_table(found))
    tell(*people_lines(found), *holm_lines(found))
    for said, names in quiet_lines(found):
        tell(f"{said}: {', '.join(names)}")
    for row in not_compared(found).texts():
        tell(f"Not compared: {row[0]} {row[1]}, {row[2]}: {row[3]}")
    _show_signatures(found, verbose)


def _say_states(runs: Sequence[Run]) -> None:
    """On stderr, which runs are not complete."""
    for run in runs:
        if run.status != "complete":
            say(f"{run.place}: the run is {run.status}; only what is finished was compared")


def _show_two(found: RunsComparison, verbose: bool) -> None:
    from rushes.compare.runs.page.words import MOVED, holm_lines, people_lines, quiet_lines, unlike_lines
    from rushes.compare.runs.results import transition_table
    from rushes.compare.runs.tables import change_table, difference_table
    from rushes.present.verdict.verdict import counted

    comparison = found.comparisons[0]
    tell(f"A  {comparison.first.place}", f"B  {comparison.second.place}")
    tell(f"{counted(len(comparison.paired), 'clip')} in both; differences are B − A")
    _say_state(comparison)
    tell(*comparison.fact_lines())
    differences = difference_table(found)
    if differences.rows:
        print_table(differences)
    if any(one.verdict == "moved" for one in found.judged):
        tell(MOVED)
    tell(*people_lines(found), *holm_lines(found), *unlike_lines(comparison))
    for said, names in quiet_lines(found, unlike=False):  # what is not comparable is named above, with the reason
        tell(f"{said}: {', '.join(names)}")
    told = None if verbose else {one.name for one in found.judged if one.outcome.is_change}
    shown, transitions = change_table(comparison, told), transition_table(comparison.transitions)
    if shown.rows:
        print()
        print_table(shown)
    elif any(one.p.count and one.top for one in comparison.metrics):
        tell("Clips that changed most, though no difference is significant: -v", paint=faint)
    if transitions.rows and not shown.rows:
        print()
    if transitions.rows:
        print_table(transitions)
    else:
        tell(f"No table of review signals: {comparison.transitions_refused}")
    for refusal in comparison.refused:
        tell(f"Refused: {refusal.why}")
    if comparison.unshared:
        tell(f"Only in one run: {', '.join(comparison.unshared)}")
    _show_signatures(found, verbose)


def _show_distances(comparison: RunComparison, verbose: bool) -> None:
    from rushes.compare.runs.set_distances import distance_table, more_than_chance, refused_lines, set_lines

    tell(f"A {comparison.first.place}  ·  B {comparison.second.place}  ·  differences are B − A")
    tell(*set_lines(comparison.first, comparison.second))
    _say_state(comparison)
    print_table(distance_table(comparison.distances))
    tell(*refused_lines(comparison.distances))
    named = {m.signature for change in comparison.distances for m in (change.first, change.second)}
    if alone := [about for about in comparison.unshared if about not in named]:
        tell(f"Only in one run: {', '.join(alone)}")
    tell(more_than_chance())
    show_signatures((m.signature for c in comparison.distances for m in (c.first, c.second)), verbose=verbose)


def _show_signatures(found: RunsComparison, verbose: bool) -> None:
    """The shapes of the signatures once, then the metrics that stand for `of`; `--json` spells all of them out."""
    from rushes.compare.definitions.comparisons import CHANGED_CLIPS, HOLM, MEAN_DIFFERENCE, SIGN_FLIP

    every = (MEAN_DIFFERENCE, SIGN_FLIP, HOLM.with_params(tests=max(found.family, 1)), CHANGED_CLIPS)
    signals = [one.transitions[0].signature for one in found.comparisons if one.transitions]
    readings = [f"of {one.reading.signature}" for one in found.judged if not one.quiet]
    show_signatures([*(definition.signature for definition in every), *signals, *readings], verbose=verbose)


def _say_state(comparison: RunComparison) -> None:
    _say_states((comparison.first, comparison.second))
    tell(*comparison.remarks)
    for letter, alone in (("A", comparison.only_first), ("B", comparison.only_second)):
        if alone:
            more = ", …" if len(alone) > _NAMES_SHOWN else ""
            tell(f"Only in {letter}, so not compared ({len(alone)}): {', '.join(alone[:_NAMES_SHOWN])}{more}")
    if comparison.doubtful:
        tell(f"The same id, but two clips by their paths, so not compared: {_pairs(comparison)}")


def _pairs(comparison: RunComparison) -> str:
    paths = [{subject.id: subject.path for subject in run.subjects} for run in (comparison.first, comparison.second)]
    shown = [f"{name} ({paths[0][name]}, {paths[1][name]})" for name in comparison.doubtful[:_NAMES_SHOWN]]
    return ", ".join(shown) + (", …" if len(comparison.doubtful) > _NAMES_SHOWN else "")
