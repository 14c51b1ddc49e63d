"""`rushes report`: runs as one HTML file."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from rushes.present.terminal.console import print_json, tell
from rushes.present.terminal.options import Json
from rushes.present.terminal.progress import progress_bars


def report(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN…", help="Run directories of any instrument, here, s3:// or gs://.")
    ],
    out: Annotated[
        str | None,
        typer.Option(
            "-o", "--out", metavar="FILE", help="The page. (default: report.html in the run, or here for several runs)"
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "",
    strips: Annotated[
        int, typer.Option(min=0, metavar="N", help="Film strips for the first N clips of a run, worst first.")
    ] = 100,
    no_strips: Annotated[bool, typer.Option("--no-strips", help="No film strips: a quicker, smaller page.")] = False,
    as_json: Json = False,
) -> None:
    """Write runs as one self-contained page: review signals, every clip, every number with its signature.

    Example: rushes report runs/clip-1a2b3c4d -o report.html
    """
    from rushes.workers import template

    with template.forkable():
        from rushes.compare.report import write_report

    with template.standing_by(), progress_bars() as progress:
        made_by = shlex.join(["rushes", "report", *runs])
        kept = 0 if no_strips else strips
        made = write_report(runs, out, title=title, made_by=made_by, strips=kept, progress=progress)
    if as_json:
        rows = [
            {"run": run.place, "instrument": run.instrument, "status": run.status, "subjects": len(run.subjects)}
            for run in made.runs
        ]
        print_json({"report": str(made.path), "bytes": made.bytes, "found": made.found, "runs": rows})
        return
    tell(made.found, hang=0)
    print(made.path)
