"""`rushes`: the verbs. Each verb's file imports only Typer at its top, so that `rushes --help` stays quick."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from rushes import __version__
from rushes.cli import (
    believe,
    board,
    canon,
    compare,
    demo,
    doctor,
    gate,
    import_scores,
    log,
    metrics,
    models,
    paper,
    report,
    serve,
    suite,
    table,
)
from rushes.core.platforms import require_unix
from rushes.core.registry import load
from rushes.distribution import make_random
from rushes.errors import RushesError
from rushes.instruments import INSTRUMENTS
from rushes.terminal.console import one_line_errors

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


_VERBS = {
    "board": board.board,
    "believe": believe.believe,
    "canon": canon.canon,
    "compare": compare.compare,
    "demo": demo.demo,
    "doctor": doctor.doctor,
    "gate": gate.gate,
    "import-scores": import_scores.import_scores,
    "log": log.log,
    "metrics": metrics.metrics,
    "models": models.app,
    "paper": paper.paper,
    "report": report.report,
    "serve": serve.serve,
    "suite": suite.app,
    "table": table.table,
}
"""Verbs about runs and about Rushes itself; the others are the instruments' own."""


def _add(name: str, verb: Any) -> None:
    if isinstance(verb, typer.Typer):
        app.add_typer(verb, name=name)
    else:
        app.command(name, cls=getattr(verb, "command_class", None))(one_line_errors(verb))


models.app.command("make-random")(one_line_errors(make_random.make_random))
_OWN = {name: load(verb) for _, instrument in INSTRUMENTS.items() for name, verb in instrument.commands.items()}
for _name, _verb in sorted((_VERBS | _OWN).items()):
    _add(_name, _verb)


def main() -> None:
    """Entry point of the `rushes` command."""
    try:
        require_unix()
    except RushesError as error:
        sys.exit(f"rushes: {error}")
    app()


if __name__ == "__main__":
    main()
