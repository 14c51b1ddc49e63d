"""`rushes table`: a paper's table out of what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rushes.present.terminal.console import print_json, say
from rushes.present.terminal.options import Json

if TYPE_CHECKING:
    from rushes.compare.paper.table import PaperTable


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
            metavar="SUITE|DIR…",
            help="A folder of rushes suite run; or folders of rushes paper and runs of fidelity, fvd, clip, pose "
            "and instruments of other packages.",
        ),
    ],
    format: Annotated[
        Literal["markdown", "latex", "csv", "html", "text"] | None,
        typer.Option("--format", help="How it is written; by default as the name of -o says, else markdown."),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Metrics, with commas between: psnr, fvd, luma_alternation … talking-head is all that people ask of "
            "talking heads. Of a suite also rating:QUESTION, wins:QUESTION, elo:QUESTION, diff:METRIC (from the "
            "reference) and signals (share of flagged clips). By default up to eight.",
        ),
    ] = None,
    digits: Annotated[
        str | None, typer.Option(metavar="N", help="Decimals of every column, or by column: psnr=2,ssim=3.")
    ] = None,
    interval: Annotated[
        Literal["none", "beside", "under"],
        typer.Option(
            "--interval", help="How intervals are shown: beside the value (± half its width) or under it (both ends)."
        ),
    ] = "none",
    bold: Annotated[
        bool,
        typer.Option("--bold/--no-bold", help="Mark best and second best where the board's tests are significant."),
    ] = True,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="A row per metric, each with how far it is known to agree with people.")
    ] = False,
    signatures: Annotated[
        Literal["footnote", "comment", "appendix", "none"] | None,
        typer.Option(
            help="Where signatures go: below the table, into comments of the LaTeX file, into a file of their own "
            "beside -o, nowhere. By default below; in LaTeX, comments."
        ),
    ] = None,
    width: Annotated[
        Literal["one", "two"] | None,
        typer.Option(help="Fit the LaTeX into one or both columns of a two-column paper."),
    ] = None,
    caption: Annotated[str | None, typer.Option(metavar="TEXT", help="Caption of the table.")] = None,
    no_booktabs: Annotated[
        bool, typer.Option("--no-booktabs", help="LaTeX with plain rules, which need no package.")
    ] = False,
    out: Annotated[Path | None, typer.Option("-o", "--out", metavar="FILE", help="Write it here.")] = None,
    as_json: Json = False,
) -> None:
    """Make a paper's table: one row per system, any measured metric or question a column, significance marked.

    Numbers of different signatures, or against different references, never share a column.

    Example: rushes table out/suite --columns rating:alignment,fvd,psnr,signals --width two -o table.tex
    """
    from rushes.compare.paper.table import paper_table
    from rushes.core.errors import InputError

    chosen = format or _FORMATS.get(out.suffix.lower() if out is not None else "", "markdown")
    if signatures == "appendix" and out is None:
        raise InputError("--signatures appendix writes a second file beside the table; give -o FILE")
    made = paper_table(
        *places,
        columns=columns,
        digits=_decimals(digits),
        interval=interval,
        bold=bold,
        caption=caption,
        agreement=agreement,
    )
    if chosen == "latex":
        text = made.latex(booktabs=not no_booktabs, width=width, signatures=signatures or "comment")
    else:
        text = made.text(chosen, signatures=signatures)
    written = [] if out is None else _write(made, text, out, appendix=signatures == "appendix", format=chosen)
    if as_json:
        print_json(made.as_dict() | {"format": chosen, "text": text, "written": written[0] if written else None})
    elif out is None:
        print(text, end="")
    else:
        say(*made.notes)
        print("\n".join(written))


_FORMATS: dict[str, Literal["markdown", "latex", "csv", "html", "text"]] = {
    ".tex": "latex",
    ".csv": "csv",
    ".html": "html",
    ".txt": "text",
}


def _write(made: PaperTable, text: str, out: Path, *, appendix: bool, format: str) -> list[str]:
    """The table's file, and the signatures' beside it: table-signatures.tex."""
    from rushes.core.machine.files import replacing

    files = {out: text}
    if appendix:
        suffix = ".tex" if format == "latex" else ".md"
        files[out.with_name(f"{out.stem}-signatures{suffix}")] = made.appendix(
            "latex" if format == "latex" else "markdown"
        )
    for path, words in files.items():
        with replacing(path) as file:
            file.write(words)
    return [str(path) for path in files]
