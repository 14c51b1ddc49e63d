"""`rushes`: the verbs. Each verb's file imports only Typer at its top, so that `rushes --help` stays quick."""

from __future__ import annotations

from typing import Annotated

import typer

from rushes import __version__
from rushes.cli import (
    canon,
    clip,
    compare,
    demo,
    doctor,
    fvd,
    make_random,
    metrics,
    models,
    pose,
    report,
    robust,
    serve,
    study_results,
    sweep,
)
from rushes.cli.console import one_line_errors

app = typer.Typer(
    name="rushes",
    help="The evaluation workbench for generated video. No number without its definition; people decide preference.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"rushes {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """The evaluation workbench for generated video. No number without its definition; people decide preference."""


app.command("canon")(one_line_errors(canon.canon))
app.command("clip")(one_line_errors(clip.clip))
app.command("compare")(one_line_errors(compare.compare))
app.command("demo")(one_line_errors(demo.demo))
app.command("doctor")(one_line_errors(doctor.doctor))
app.command("fvd", cls=fvd.Command)(one_line_errors(fvd.fvd))
app.command("metrics")(one_line_errors(metrics.metrics))
models.app.command("make-random")(one_line_errors(make_random.make_random))
app.add_typer(models.app, name="models")
app.add_typer(pose.app, name="pose")
app.command("report")(one_line_errors(report.report))
app.command("robust")(one_line_errors(robust.robust))
app.command("sweep")(one_line_errors(sweep.sweep))
app.command("serve")(one_line_errors(serve.serve))
app.add_typer(study_results.app)


def main() -> None:
    """Entry point of the `rushes` command."""
    app()


if __name__ == "__main__":
    main()
