"""`rushes rank`: votes into a ranking."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rushes.present.terminal.console import print_json, print_table, say, show_signatures, tell
from rushes.present.terminal.options import Json, Verbose


def rank(
    votes: Annotated[
        str,
        typer.Argument(
            metavar="VOTES",
            help="CSV of counts (system_a, system_b, votes_a, votes_b, ties) or of votes (model_a, model_b, winner), "
            "an arena's JSON, a study's export, or its database.",
        ),
    ],
    by: Annotated[
        str, typer.Option(metavar="COLUMN", help="The question's column (default: question, if there is one).")
    ] = "",
    study: Annotated[str, typer.Option(metavar="NAME", help="Of a database: which study.")] = "",
    ties: Annotated[
        Literal["davidson", "rao-kupper", "half-tie", "drop-tie"], typer.Option(help="How ties count.")
    ] = "davidson",
    format: Annotated[
        Literal["text", "latex", "csv", "markdown"], typer.Option("--format", help="How the tables are written.")
    ] = "text",
    out: Annotated[Path | None, typer.Option("-o", "--out", metavar="FILE", help="Write the tables here.")] = None,
    chart: Annotated[
        Path | None, typer.Option("--chart", metavar="FILE", help="Also draw the ranking: .svg, .png or .pdf.")
    ] = None,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Rank systems by people's votes, question by question: strengths with intervals, possible ranks, head to head.

    Bradley-Terry strengths on the Elo scale. Intervals are over prompts and raters, as far as the votes name them.

    Example: rushes rank votes.csv --by question
    """
    from rushes.compare.output import write_out
    from rushes.compare.ranking.chart import draw
    from rushes.compare.ranking.formats import as_data, sentence, written
    from rushes.compare.ranking.rank import rank_votes

    found = rank_votes(votes, by=by, study=study, tie_policy=ties)
    if chart is not None:
        draw(found, chart)
    text = written(found, format) if format != "text" or out is not None else ""
    if out is not None:
        write_out(out, text, "tables")
    if as_json:
        print_json(as_data(found))
    elif out is None and text:
        print(text, end="")
    elif out is None:
        for one in found.rankings:
            tell(sentence(one))
            print()
            print_table(one.table())
            print_table(one.table("head_to_head"))
            tell(*one.notes)
            print()
        show_signatures(dict.fromkeys(m.signature for m in found.measurements), verbose=verbose)
    say(*found.remarks)
    for path in (out, chart):
        if path is not None and not as_json:
            print(path)
