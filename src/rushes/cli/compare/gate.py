"""`rushes gate`: is the candidate still as good as its baseline?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rushes.present.ci.outputs import AnnotateOption, CiOutputs, JunitOption, SummaryOption
from rushes.present.terminal.console import EXIT_BAD_INPUT, EXIT_GATE, print_text, show_signatures
from rushes.present.terminal.options import PromptsOption, Verbose


def _metric(text: str) -> tuple[str, str | None]:
    """ "psnr:0.5" as metric and margin; a whole signature ends in its version, which is no margin."""
    name, _, margin = text.rpartition(":")
    if not name or name.endswith("|v"):
        return text, None
    return name, margin


def gate(
    baseline: Annotated[
        str, typer.Argument(metavar="BASELINE", help="The run to compare with; folder, s3:// or gs://.")
    ],
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="The run to judge, over the same clips.")],
    repeat: Annotated[
        list[str] | None,
        typer.Option(
            "--repeat", metavar="RUN", help="Another run of the baseline's system (another seed), to measure its noise."
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME[:MARGIN]",
            help="Decide by this metric; margin in its unit, or as 2% of the baseline. (default: every quality metric)",
        ),
    ] = None,
    baseline_digest: Annotated[
        str | None,
        typer.Option(metavar="DIGEST", help="Refuse a baseline with another digest (see rushes verify)."),
    ] = None,
    margin: Annotated[
        float, typer.Option(metavar="N", help="Margin by default: N times the noise of a clip between repeats.")
    ] = 1.0,
    level: Annotated[float, typer.Option(help="Confidence level of each verdict.")] = 0.95,
    allow_unclear: Annotated[
        bool, typer.Option("--allow-unclear", help="Exit 0 if the answer is unclear; worse still exits 3.")
    ] = False,
    allow_unjudged: Annotated[
        bool, typer.Option("--allow-unjudged", help="Let the gate pass even if no metric judges the picture.")
    ] = False,
    format: Annotated[
        Literal["text", "junit", "github", "json"],
        typer.Option("--format", help="Plain text, JUnit XML, a GitHub step summary (Markdown), or JSON."),
    ] = "text",
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="Write it here, and plain text to the terminal.")
    ] = None,
    junit: JunitOption = None,
    summary: SummaryOption = None,
    annotate: AnnotateOption = False,
    prompts: PromptsOption = None,
    verbose: Verbose = False,
) -> None:
    """Can a candidate (quantised, cached, distilled) replace its baseline? Same within margin, worse, or cannot tell.

    The gate passes only if a metric judges the picture: in runs of rushes fidelity, judge or fvd. Metrics of rushes
    clip see time, decoding and change, and an upside-down picture passes nearly all: alone they "cannot tell".

    Exit codes: 0 the gate passes, 3 it does not, 1 it cannot tell or an input is at fault.

    Example: rushes gate runs/full runs/int8 --repeat runs/full-seed2 --repeat runs/full-seed3
    """
    from rushes.compare.gate.gate import check_regression
    from rushes.compare.gate.report import gate_checks, gate_text
    from rushes.core.machine.files import replacing

    outputs = CiOutputs(junit=junit, summary=summary, annotate=annotate)
    outputs.require("gate", "")
    asked = [_metric(text) for text in metric or ()]
    if len(dict(asked)) < len(asked):
        raise typer.BadParameter("give each metric once, with one margin", param_hint="--metric")
    if baseline_digest is not None:
        from rushes.storage.integrity.verify import require_digest
        from rushes.storage.runs import read_run

        require_digest(read_run(baseline), baseline_digest)
    report = check_regression(
        baseline,
        candidate,
        repeats=repeat or (),
        metrics=dict(asked),
        margin=margin,
        level=level,
        allow_unjudged=allow_unjudged,
        prompts=prompts,
    )
    outputs.write(gate_checks(report, allow_unclear=allow_unclear), gate_text(report, "github"))
    text = gate_text(report, format, allow_unclear=allow_unclear, signatures=verbose or out is not None)
    if out is not None:
        with replacing(out) as file:
            file.write(text)
        text = gate_text(report, "text", signatures=verbose)
    if out is None and format != "text":
        print(text, end="")
    else:
        print_text(text)
        if not verbose:
            show_signatures((), verbose=False)
    if report.answer == "worse":
        raise typer.Exit(EXIT_GATE)
    if report.answer == "cannot tell" and not allow_unclear:
        raise typer.Exit(EXIT_BAD_INPUT)
