"""`rushes judge CLIPS`: does the clip show what was asked for? And what is the judge worth?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rushes.present.terminal.console import next_line, print_json, print_table, say, show_signatures, tell
from rushes.present.terminal.options import Json, Overwrite, Verbose
from rushes.present.terminal.progress import progress_bars

if TYPE_CHECKING:
    from rushes.instruments.judge.asking.estimate import Estimate
    from rushes.instruments.judge.evaluate import Judged


def judge(
    clips: Annotated[
        list[str],
        typer.Argument(help="Clips, a folder or a pattern; several systems as NAME=FOLDER, or a suite's folder."),
    ],
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="KIND:WHO",
            help="openai:URL#MODEL (any OpenAI-compatible endpoint), 'command:CMD {request}', python:MODULE:FUNCTION, "
            "replay:FILE.",
        ),
    ] = None,
    prompts: Annotated[
        str | None, typer.Option(metavar="FILE", help="CSV with prompt_id and prompt_text; clips are called by id.")
    ] = None,
    form: Annotated[
        Literal["graded", "pairs", "questions"],
        typer.Option(help="1 to 5 per clip; two systems in both orders; yes/no questions made from the prompt."),
    ] = "graded",
    questions: Annotated[
        str | None, typer.Option(metavar="FILE", help="Your own questions, TOML or CSV; see docs/judge.md.")
    ] = None,
    per_prompt: Annotated[int, typer.Option(min=1, max=20, help="Questions that the judge makes per prompt.")] = 5,
    frames: Annotated[int, typer.Option(min=1, max=64, help="Frames of a clip that the judge sees.")] = 8,
    side: Annotated[int, typer.Option(min=32, max=4096, help="Longer side of a frame, in pixels.")] = 512,
    temperature: Annotated[float, typer.Option(min=0.0, max=2.0, help="Temperature of the model.")] = 0.0,
    repeats: Annotated[int, typer.Option(min=1, max=100, help="Times each question is asked.")] = 2,
    control: Annotated[
        int | None,
        typer.Option(min=0, help="Clips also asked about with another clip's prompt (default: all; 0: none)."),
    ] = None,
    plant: Annotated[
        int, typer.Option(min=0, help="Clips to ask about again as blurred, noisy and shuffled copies.")
    ] = 0,
    out: Annotated[str | None, typer.Option("-o", "--out", metavar="RUN", help="Run directory.")] = None,
    parallel: Annotated[int, typer.Option(min=1, max=512, help="Parallel requests.")] = 8,
    timeout: Annotated[float, typer.Option(min=0.1, help="Timeout per answer, in seconds.")] = 120.0,
    attempts: Annotated[
        int, typer.Option(min=1, max=20, help="Attempts per request if the endpoint is busy, slow or broken.")
    ] = 5,
    price_in: Annotated[float | None, typer.Option(min=0.0, help="Price of a million tokens sent.")] = None,
    price_out: Annotated[float | None, typer.Option(min=0.0, help="Price of a million tokens received.")] = None,
    budget: Annotated[
        str | None,
        typer.Option(metavar="N", help="Do not start if more would be needed: 1000 calls, 2000000tokens, 5cost."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print calls, tokens and cost; ask nothing.")] = False,
    record: Annotated[str | None, typer.Option(metavar="FILE", help="Also write the answers, for --replay.")] = None,
    replay: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Use recorded answers instead of a judge; as --judge replay:FILE."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Send frames to the endpoint's host without asking.")] = False,
    overwrite: Overwrite = False,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Ask a judge about clips and their prompts, and measure the judge in the same run.

    Keys are read from RUSHES_JUDGE_KEY or OPENAI_API_KEY. Frames go to another machine only after you confirm its name.

    Example: rushes judge out/ --prompts prompts.csv --judge openai:http://localhost:8000/v1#qwen2.5-vl -o runs/judge
    """
    from rushes.core.errors import InputError
    from rushes.suite.judging import judge as judged

    if (judge is None) == (replay is None):
        raise InputError("name one judge: --judge openai:URL#MODEL, or --replay FILE")

    def plan(estimate: Estimate) -> None:
        say(f"Plan: {estimate.text}.")
        if dry_run:
            if as_json:
                print_json(estimate.as_dict())
            raise typer.Exit

    with progress_bars() as progress:
        done = judged(
            clips,
            judge=judge or f"replay:{replay}",
            prompts=prompts,
            form=form,
            questions=questions,
            per_prompt=per_prompt,
            frames=frames,
            side=side,
            temperature=temperature,
            repeats=repeats,
            control=control,
            plant=plant,
            run=out,
            parallel=parallel,
            timeout=timeout,
            attempts=attempts,
            price_in=price_in,
            price_out=price_out,
            budget=budget,
            record=record,
            yes=yes,
            confirm=_confirmed,
            plan=plan,
            overwrite=overwrite,
            progress=progress,
            warn=say,
        )
    if as_json:
        print_json(_as_json(done))
    else:
        _show(done, verbose=verbose)


def _confirmed(estimate: Estimate) -> bool:
    """Whether frames may leave: an answer on the terminal to the host's name."""
    if not sys.stdin.isatty():
        return False
    say(f"Frames of {estimate.clips} clips will be sent to {estimate.destination}.")
    return typer.confirm("Send?", default=False, err=True)


def _as_json(done: Judged) -> dict[str, object]:
    return {
        "runs": [run.place for run in done.runs],
        "words": list(done.words),
        "judge": done.judge.subject.row() | {"measurements": done.judge.rows()},
        "subjects": [
            entry.subject.row() | {"measurements": entry.rows()} for run in done.runs for entry in run.entries[:-1]
        ],
    }


def _show(done: Judged, *, verbose: bool) -> None:
    from rushes.instruments.judge.show.section import mean_table, ranking_table

    for line in done.words:
        tell(line)
    print()
    for run in done.runs:
        if (table := mean_table(run)) is not None:
            print_table(table, signatures=False)
    if (ranking := ranking_table(done.judge)) is not None:
        print_table(ranking)
    show_signatures((m.signature for run in done.runs for e in run.entries for m in e.measurements), verbose=verbose)
    places = [run.place for run in done.runs]
    next_line(*(("board", *places) if len(places) > 1 else ("report", *places)))
    for place in places:
        print(place)
