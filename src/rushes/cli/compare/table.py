"""`rushes table`: a paper's table out of what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rushes.present.terminal.console import print_json, say
from rushes.present.terminal.options import Json


def _decimals(text: str | None) -> int | dict[str, int] | None:
    """ "3" for every column, or "psnr=2,ssim=3"."""
    if text is None:
        return None
    try:
        if "=" not in text:
            return int(text)
        return {name.strip(): int(number) for name, _, number in (word.partition("=") for word in text.split(","))}
    except ValueError:
        raise typer.BadParameter(
            f"expected a number of decimals, or psnr=2,ssim=3; got {text!r}", param_hint="--digits"
        ) from None


def table(
    places: Annotated[
        list[str],
        typer.Argument(
            metavar="DIR…", help="Folders of rushes paper, or runs of fidelity, fvd, clip and pose: one row per system."
        ),
    ],
    format: Annotated[Literal["markdown", "latex", "csv"], typer.Option("--format", help="How it is written.")] = (
        "markdown"
    ),
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="psnr, ssim, lpips, l1, fid-vid, fvd, csim, lmd, sync, or any other metric, with commas between. "
            "Left out: all that were asked for.",
        ),
    ] = None,
    digits: Annotated[
        str | None, typer.Option(metavar="N", help="Decimals of every column, or by column: psnr=2,ssim=3.")
    ] = None,
    interval: Annotated[
        bool, typer.Option("--interval", help="Also each interval: ± half its width, or both ends.")
    ] = False,
    bold: Annotated[
        bool, typer.Option("--bold", help="Bold for the best value, where its interval overlaps no other system's.")
    ] = False,
    caption: Annotated[str | None, typer.Option(metavar="TEXT", help="Words above or below the table.")] = None,
    no_booktabs: Annotated[
        bool, typer.Option("--no-booktabs", help="LaTeX with plain rules, which need no package.")
    ] = False,
    out: Annotated[Path | None, typer.Option("-o", "--out", metavar="FILE", help="Write it here.")] = None,
    as_json: Json = False,
) -> None:
    """Make a paper's table: one row per system, each column with its signature as a footnote.

    Numbers of different signatures, or against different references, never share a column.

    Example: rushes table out/amber out/birch --format latex -o table.tex
    """
    from rushes.compare.paper.table import CAPTION, paper_table
    from rushes.core.machine.files import replacing

    made = paper_table(
        places,
        columns=columns,
        digits=_decimals(digits),
        interval=interval,
        bold=bold,
        caption=CAPTION if caption is None else caption,
    )
    text = made.latex(booktabs=not no_booktabs) if format == "latex" else made.text(format)
    if out is not None:
        with replacing(out) as file:
            file.write(text)
    if as_json:
        print_json(made.as_dict() | {"format": format, "text": text, "written": None if out is None else str(out)})
    elif out is None:
        print(text, end="")
    else:
        say(*made.notes)
        print(out)
