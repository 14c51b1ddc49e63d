"""`rushes log`: a run's numbers into an experiment tracker."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from rushes.present.terminal.console import print_json, say
from rushes.present.terminal.options import Json


def log(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run directory, here, s3:// or gs://.")],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="TRACKER",
            help="wandb, wandb:PROJECT, mlflow, mlflow:NAME or tensorboard:FOLDER. The tracker's own settings apply.",
        ),
    ],
    step: Annotated[int | None, typer.Option(min=0, metavar="N", help="The step the numbers belong to.")] = None,
    prefix: Annotated[str, typer.Option(metavar="TEXT", help='Before every name, such as "val/".')] = "",
    worst: Annotated[int, typer.Option(min=0, metavar="N", help="Film strips of the N worst clips; 0 for none.")] = 4,
    no_report: Annotated[bool, typer.Option("--no-report", help="Numbers and pictures only, not the page.")] = False,
    as_json: Json = False,
) -> None:
    """Log a run's numbers to Weights & Biases, MLflow or TensorBoard, each with its signature and interval.

    Refuses a name that was already logged under another signature.

    Example: rushes log runs/clip-1a2b3c4d --to tensorboard:logs --step 1000
    """
    from rushes.integrations.trackers import log as send

    done = send(run, to, step=step, prefix=prefix, report=not no_report, worst=worst)
    if as_json:
        print_json(asdict(done))
        return
    for name, why in done.missing.items():
        say(f"{name}: no value ({why})")
    more = [f"{len(done.names)} numbers", *done.files, *([f"{done.pictures} film strips"] if done.pictures else [])]
    print(f"{', '.join(more)} to {done.place}")
