"""`rushes board`: which system is better, as one HTML file."""

from __future__ import annotations

from typing import Annotated

import typer

from rushes.present.terminal.console import print_json, tell, window_width
from rushes.present.terminal.options import Json
from rushes.present.terminal.progress import progress_bars


def board(
    given: Annotated[
        list[str],
        typer.Argument(metavar="DIR|RUN…", help="A suite's folder, or runs of several systems: RUN or NAME=RUN."),
    ],
    out: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            help="The page; FILE.tex or .md: answer and table as text. (default: board.html in the suite's folder)",
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "",
    strips: Annotated[
        int, typer.Option(min=0, metavar="N", help="Film strips for up to N clips, most disagreement first.")
    ] = 120,
    timelines: Annotated[
        int, typer.Option(min=0, metavar="N", help="Timelines for up to N clips, in the same order.")
    ] = 300,
    with_clips: Annotated[
        bool, typer.Option("--with-clips", help="Write a folder to share: -o DIR gets index.html and the clips.")
    ] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Print the page's whole opening.")] = False,
    as_json: Json = False,
) -> None:
    """Show which system is better in what, by people first, and which differences are significant, in one page.

    Example: rushes board suite -o board.html
    """
    from rushes.compare.board.board import write_board

    one = given[0] if len(given) == 1 else None
    if with_clips:
        _supplement(one if one is not None else given, out or "supplement", title, strips, timelines, as_json=as_json)
        return
    with progress_bars() as progress:
        made = write_board(
            one if one is not None else given,
            out,
            title=title,
            strips=strips,
            timelines=timelines,
            progress=progress,
        )
    if as_json:
        from rushes.compare.board.board import board_as_data

        written = {"board": str(made.path), "bytes": made.bytes}
        print_json(written | board_as_data(made.data, made.verdicts, opening=made.opening, powered=made.powered))
        return
    opening = made.opening
    if verbose:
        tell(opening.headline, *opening.lines, *filter(None, [opening.sure]))
    else:
        tell(*opening.terminal(window_width()), "More is on the page; -v prints its opening in full.")
    print(made.path)


def _supplement(given: str | list[str], out: str, title: str, strips: int, timelines: int, *, as_json: bool) -> None:
    """The board and its clips as a folder."""
    from rushes.compare.supplement import write_supplement

    with progress_bars() as progress:
        made = write_supplement(given, out, title=title, strips=strips, timelines=timelines, progress=progress)
    if as_json:
        print_json({"supplement": str(made.path), "clips": made.clips, "bytes": made.bytes, "missing": made.missing})
        return
    tell(made.board.opening.headline, hang=2)
    tell(f"{made.clips} clips and the board, {made.bytes / 1e6:.1f} MB; zip the folder and open index.html anywhere.")
    tell(*made.missing)
    print(made.path)
