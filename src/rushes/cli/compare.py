"""`rushes compare`: runs over the same clips, every one against the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from rushes.ci.outputs import AnnotateOption, CiOutputs, JunitOption, SummaryOption
from rushes.cli.compare_text import say_states, show_comparison
from rushes.terminal.console import EXIT_BAD_INPUT, EXIT_GATE, print_json, say, tell
from rushes.terminal.options import Verbose

if TYPE_CHECKING:
    from rushes.paired.statistics import PairedStatistics
    from rushes.suite.compare_many import RunsComparison
    from rushes.suite.compare_tables import TableFormat


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
    junit: JunitOption = None,
    summary: SummaryOption = None,
    annotate: AnnotateOption = False,
    top: Annotated[int, typer.Option(min=0, help="How many of the most changed clips to list per metric.")] = 3,
    verbose: Verbose = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON alone on stdout.")] = False,
) -> None:
    """What changed between runs: paired differences, how sure they are, which clips moved; as text, page or table.

    Example: rushes compare runs/monday runs/tuesday -o compare.html
    """
    from rushes.suite.compare_many import compare_all

    gates = [_gate(text) for text in fail_on or ()]
    outputs = CiOutputs(junit=junit, summary=summary, annotate=annotate)
    outputs.require(" ".join(fail_on or ()), "give --fail-on regression=METRIC:AMOUNT")
    table_format = _table_format(out, format)
    if as_json and table_format and out is None:
        raise typer.BadParameter("--json and a table cannot both have stdout; give -o FILE", param_hint="--format")
    if len(runs) < 2:
        raise typer.BadParameter(f"expected two runs or more; got {len(runs)}", param_hint="RUN…")
    found = compare_all(runs, top=top)
    checked = _check(found, gates)
    written = _write(found, out, table_format, clips=clips, title=title)
    if as_json:
        from rushes.suite.compare_as_data import comparison_data

        asked = {"asked": fail_on or [], "broken": checked.broken_data(), "unchecked": checked.left_out}
        print_json(comparison_data(found) | {"gates": asked} | written)
    elif out is None and table_format is None:
        show_comparison(found, verbose=verbose)
    elif out is not None:
        from rushes.suite.compare_page_words import opening

        say_states(found)
        tell(opening(found))
    _finish(checked, allow_unjudged)
    if outputs:
        from rushes.ci.markdown import checks_markdown
        from rushes.suite.compare_checks import compare_checks

        checks = compare_checks(found, gates, allow_unjudged=allow_unjudged)
        outputs.write(checks, checks_markdown(checks, noun="metric"))
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
    from rushes.suite.compare_regression import regression
    from rushes.suite.gate import unchecked

    rows = list(zip(found.letters[1:], found.comparisons, strict=True))
    broken = [(letter, amount, s) for letter, one in rows for m, amount in gates for s in regression(one, m, amount)]
    left_out = dict.fromkeys(why for _, one in rows for m, _ in gates for why in unchecked(one, m))
    return _Checked(broken, list(left_out))


def _finish(checked: _Checked, allow_unjudged: bool) -> None:
    from rushes.suite.compare_readings import about

    for _, amount, statistics in checked.broken:
        mean = statistics.mean
        moved = f"{float(mean.value or 0):+.6g} {mean.definition.unit}"
        side = "up" if statistics.metric.better == "lower" else "down"
        say(f"gate: {about(mean)} is {moved}, more than {amount:g} {side}")
    if checked.left_out:
        way_on = "let through by --allow-unjudged" if allow_unjudged else "--allow-unjudged lets it through"
        say(f"gate: not checked on everything: {'; '.join(checked.left_out)}; {way_on}")


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
