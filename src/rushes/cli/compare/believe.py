"""`rushes believe`: which metrics agree with people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rushes.core.errors import InputError
from rushes.present.terminal.console import print_json, print_table, say, show_signatures, tell
from rushes.present.terminal.options import Json, PromptsOption, Verbose

if TYPE_CHECKING:
    from rushes.compare.agreement.metric_agreement import MetricAgreement

Statistics = Literal["kendall_tau_b", "kendall_tau_c", "spearman", "pearson", "pairwise_accuracy"]


def believe(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="SUITE|RUN…",
            help="A folder of rushes suite run; or runs over the rated clips, SYSTEM=RUN, or a folder of them.",
        ),
    ],
    ratings: Annotated[
        str | None,
        typer.Option(
            "--ratings",
            metavar="FILE",
            help="CSV: prompt_id, system, rater and a column per dimension; or clip, mos; or votes. "
            "(default: what the suite names)",
        ),
    ] = None,
    metrics: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Only these, with commas between: psnr,csim,diff:head_motion. p is then corrected over them alone.",
        ),
    ] = "",
    dimension: Annotated[list[str] | None, typer.Option(help="Only this dimension of the ratings; repeatable.")] = None,
    level: Annotated[
        Literal["within-prompt", "clip"],
        typer.Option(help="What decides: clips of one prompt against each other, or all clips pooled."),
    ] = "within-prompt",
    statistic: Annotated[Statistics, typer.Option(help="Which statistic decides.")] = "kendall_tau_b",
    margin: Annotated[float, typer.Option(min=0, max=1, help="Agreement within ± this margin counts as none.")] = 0.2,
    prompts: PromptsOption = None,
    format: Annotated[
        Literal["text", "latex", "csv", "markdown"],
        typer.Option(
            "--format", help="How it is written: latex and markdown are tables for a paper, csv has everything."
        ),
    ] = "text",
    out: Annotated[Path | None, typer.Option("-o", "--out", metavar="FILE", help="Write the tables here.")] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also write one metric's credential: how far it agrees with people, as TOML."
        ),
    ] = None,
    metric: Annotated[str, typer.Option(metavar="NAME", help="With --save: which metric.")] = "",
    kind: Annotated[str, typer.Option(help='With --save: kind of video, such as "text-to-video".')] = "",
    seen: Annotated[
        Literal["yes", "no", "unknown"],
        typer.Option(help="With --save: were these clips seen while the metric was made?"),
    ] = "unknown",
    data: Annotated[str, typer.Option(help="With --save: name of the data; else the ratings' folder.")] = "",
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Which metrics agree with people's ratings or votes over the same clips, and which do not.

    Kendall's τ, Spearman's ρ, Pearson's r and pairs put in the right order, with intervals over prompts and raters, and
    how well one person agrees with the others. For a study's votes, one by one: rushes study validity.

    Example: rushes believe out/suite --metrics psnr,ssim,lpips --format latex -o agreement.tex
    """
    from rushes.compare.agreement.metric_agreement import believe as compared
    from rushes.compare.agreement.tables import as_data, written
    from rushes.compare.output import write_out

    if save is None and (metric or kind or data or seen != "unknown"):
        raise InputError("--metric, --kind, --seen and --data describe a credential; add --save FILE.toml")
    found = compared(
        runs,
        ratings,
        only=metrics,
        dimensions=dimension or (),
        level=level,
        statistic=statistic,
        margin=margin,
        prompts=prompts,
    )
    if out is not None and format == "text":
        raise InputError("-o writes a table for a paper: add --format latex, csv or markdown")
    text = "" if format == "text" else written(found, format)
    if out is not None:
        write_out(out, text, "tables")
    if as_json:
        print_json(as_data(found))
    elif out is not None:
        print(out)
    elif text:
        print(text, end="")
    else:
        _show(found, verbose=verbose)
    say(*found.remarks)
    if save is not None:
        from rushes.compare.agreement.saving import credential_of
        from rushes.core.machine.files import replacing

        one = credential_of(found, metric, data=data, kind=kind, seen=seen)
        with replacing(save) as file:
            file.write(one.toml())
        say(
            f"Credential of {one.metric} on {one.question}: {save}",
            "A board uses it from credentials/ in its suite's folder.",
        )


def _show(found: MetricAgreement, *, verbose: bool) -> None:
    from rushes.compare.agreement.tables import (
        agreement_table,
        explanation,
        general,
        rule,
        sentences,
        shown_definitions,
        within_systems,
        without_value,
    )

    tell(*sentences(found))
    print()
    for dimension in found.humans.dimensions:
        if found.of(dimension):
            print_table(agreement_table(found, dimension))
            tell(*filter(None, [within_systems(found, dimension)]))
            for line in without_value(found, dimension):
                tell(f"No number: {line}")
    tell(rule(found))
    if verbose:
        tell(explanation(found))
    show_signatures((general(definition.signature) for definition in shown_definitions(found)), verbose=verbose)
