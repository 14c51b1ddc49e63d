"""`rushes failures`: the clips to look at and to print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rushes.present.terminal.console import print_json, say, tell
from rushes.present.terminal.options import Jobs, Json
from rushes.present.terminal.progress import progress_bars


def failures(
    suite: Annotated[
        list[str],
        typer.Argument(metavar="SUITE|RUN…", help="A folder of rushes suite run, or runs of several systems."),
    ],
    by: Annotated[
        str,
        typer.Option("--by", metavar="NAME", help="A metric, diff:METRIC or rating:QUESTION, with a value per clip."),
    ],
    against: Annotated[
        str, typer.Option(metavar="NAME", help="What it may disagree with (default: the first question or metric).")
    ] = "",
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Clips of each kind.")] = 3,
    width: Annotated[Literal["one", "two"], typer.Option(help="Columns of the paper, for a picture.")] = "two",
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE", help="A page (.html), or film strips (.pdf, .svg, .png)."),
    ] = None,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """List the worst and best clips, and the pairs where metric and people disagree most.

    Example: rushes failures out/suite --by rating:temporal_quality --top 3 -o failures.html
    """
    from rushes.compare.failures.cases import failures as found_in
    from rushes.core.errors import InputError

    if out is not None and out.suffix.lower() not in (".html", ".htm", ".pdf", ".svg", ".png"):
        raise InputError(f"{out}: expected a page (.html) or a picture (.pdf, .svg, .png)")
    found = found_in(suite[0] if len(suite) == 1 else suite, by, against=against, top=top)
    written = []
    if out is not None:
        with progress_bars() as progress:
            written = [str(path) for path in found.save(out, width=width, jobs=jobs, progress=progress)]
    if as_json:
        print_json(found.as_dict() | {"written": written})
        return
    if out is None:
        print(found)
    else:
        tell(*str(found).splitlines())
    say(*found.notes)
    if written:
        print("\n".join(written))
