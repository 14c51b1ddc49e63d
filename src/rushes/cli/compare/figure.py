"""`rushes figure`: a figure for a paper, from a suite."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rushes.present.terminal.console import print_json, say, tell
from rushes.present.terminal.options import Jobs, Json
from rushes.present.terminal.progress import progress_bars


def figure(
    kind: Annotated[
        Literal["ratings", "scatter", "ranking", "forest", "curves", "strips"],
        typer.Argument(
            metavar="KIND",
            help="ratings: means of people's answers. scatter: metrics against people. ranking: Elo or means with rank "
            "ranges. forest: differences from one system. curves: values per frame. strips: film strips.",
        ),
    ],
    suite: Annotated[
        list[str],
        typer.Argument(metavar="SUITE|RUN…", help="A folder of rushes suite run, or runs of several systems."),
    ],
    out: Annotated[
        Path,
        typer.Option("-o", "--out", metavar="FILE", help="The picture: .pdf, .svg or .png; its numbers beside it."),
    ],
    columns: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Metrics and questions as in rushes table; of curves, per-frame series."),
    ] = None,
    width: Annotated[Literal["one", "two"], typer.Option(help="Columns of the paper: 3.25 in or 6.875 in.")] = "one",
    versus: Annotated[
        str, typer.Option(metavar="SYSTEM", help="Of a forest: differences from this system (default: the reference).")
    ] = "",
    level: Annotated[Literal["clip", "system"], typer.Option(help="Of a scatter plot: what a dot is.")] = "clip",
    prompts: Annotated[
        str, typer.Option(metavar="IDS", help="Of curves and strips: these prompts, with commas between.")
    ] = "",
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Draw a figure for a paper, with its numbers as CSV beside it.

    Example: rushes figure scatter out/suite --columns psnr,rating:alignment -o scatter.pdf
    """
    from rushes.compare.figures.draw import figure as drawn
    from rushes.core.errors import InputError

    if out.suffix.lower() not in (".pdf", ".svg", ".png"):
        raise InputError(f"{out}: expected a .pdf, .svg or .png file")
    with progress_bars() as progress:
        made = drawn(
            kind,
            suite[0] if len(suite) == 1 else suite,
            columns=columns,
            width=width,
            versus=versus,
            level=level,
            prompts=prompts,
            jobs=jobs,
            progress=progress,
        )
    written = [str(path) for path in made.save(out)]
    if as_json:
        rows = [dict(zip(made.header, row, strict=True)) for row in made.rows]
        print_json({"figure": kind, "written": written, "caption": made.caption, "notes": made.notes, "rows": rows})
        return
    tell(f"Caption: {made.caption}")
    say(*made.notes)
    print("\n".join(written))
