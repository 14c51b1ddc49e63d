"""`rushes robust`: ESI and Justification Drift of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rushes.present.terminal.console import next_line, print_json, print_table, say, show_signatures, tell
from rushes.present.terminal.options import Json, Overwrite, Verbose
from rushes.present.terminal.progress import progress_bars

if TYPE_CHECKING:
    from rushes.core.table import Table
    from rushes.instruments.robustness.measure import SweepReport

_MARKS = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}


def robust(
    sweep_dir: Annotated[
        list[str], typer.Argument(help="Sweep directories, or folders of them; here, s3:// or gs://.")
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--out", "--output", metavar="RUN", help="Run directory, here or s3://. (default: one under runs/)"
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(help="The same clips swept with another judge, to compare the two; repeatable."),
    ] = None,
    add: Annotated[bool, typer.Option("--add", help="Add these sweeps to the run.")] = False,
    overwrite: Overwrite = False,
    verify: Annotated[
        bool, typer.Option("--verify/--no-verify", help="Check each run's manifest_hash before measuring.")
    ] = True,
    follow_links: Annotated[
        bool, typer.Option("--follow-links", help="Follow links that lead out of the sweep.")
    ] = False,
    null_justification: Annotated[
        Literal["empty", "text"],
        typer.Option(help='A justification that is null: empty, like a missing one, or the text "None".'),
    ] = "empty",
    worst: Annotated[int, typer.Option(min=0, help="How many of the worst runs to list.")] = 5,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Does a judge's answer survive small changes of the clip? Stability (ESI) and drift of its reasons, over a sweep.

    Example: rushes robust sweep/ -o run
    """
    from rushes.instruments.robustness.evaluate import default_run, measure_robustness

    run = output or default_run(
        sweep_dir, verify=verify, worst=worst, against=against or (), null_justification=null_justification
    )
    with progress_bars() as progress:
        found = measure_robustness(
            sweep_dir,
            run=run,
            against=against or None,
            verify=verify,
            worst=worst,
            follow_links=follow_links,
            null_justification=null_justification,
            add=add,
            overwrite=overwrite,
            progress=progress,
        )
    if as_json:
        data = [report.as_dict() | {"run": str(run)} for report in found]
        together = {"over_clips": found.pooled, "comparison": found.comparison}
        more = {name: part.as_dict() for name, part in together.items() if part is not None}
        print_json((data[0] if len(data) == 1 else {"sweeps": data}) | more)
        return
    signatures: list[str] = []
    for report in found:
        _show(report)
        signatures += _signatures(report.table(), report.effects())
    for part in (found.pooled, found.comparison):
        if part is not None:
            print_table(part.table())
            signatures += _signatures(part.table())
            say(*part.remarks)
    show_signatures(signatures, verbose=verbose)
    next_line("report", str(run))
    print(run)


def _signatures(*tables: Table) -> list[str]:
    return [cell.signature for table in tables for row in table.rows for cell in row if cell.signature]


def _show(report: SweepReport) -> None:
    tell(f"{report.path}: {report.runs} runs, baseline {report.baseline}")
    print_table(report.table())
    if report.effects().rows:
        print_table(report.effects())
    for run in report.worst:
        tell(run.headline(report.baseline_answer or ""))
        tell("  " + " ".join(_MARKS[part.change].format(part.text) for part in run.diff))
    for remark in report.remarks:
        say(f"{report.path}: {remark}")
