"""`rushes`: the verbs. Each verb's file imports only Typer at its top, so that `rushes --help` stays quick."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from rushes import __version__
from rushes.cli.compare import believe, board, compare, gate, import_scores, paper, report, suite, table
from rushes.cli.measure import canon, metrics, models
from rushes.cli.project_file import use_project_file
from rushes.cli.workbench import config, demo, doctor, log, query, serve, view
from rushes.core.errors import RushesError
from rushes.core.machine.platforms import require_unix
from rushes.core.registry import load
from rushes.instruments.catalogue import INSTRUMENTS
from rushes.present.terminal.console import one_line_errors
from rushes.present.terminal.help import grouped_help
from rushes.present.terminal.streams import flush_or_forget, open_closed_streams

GROUPS = {
    "Measure": (
        *("clip", "fidelity", "judge", "fvd", "pose", "sweep", "robust", "paper"),
        *("canon", "calibrate", "import-scores"),
    ),
    "Look": ("view", "report", "table", "query", "export", "log", "metrics"),
    "Decide": ("suite", "board", "compare", "gate", "believe"),
    "Study": ("study", "serve"),
    "Setup": ("demo", "doctor", "models", "config"),
}
"""Under which head `rushes --help` shows a verb; one that is in none comes last."""

SENTENCE = "Rushes evaluates generated video: broken clips, better systems, FVD, and every number with its definition."
WELCOME = (
    ("Which of my clips are broken?", ("rushes clip CLIPS",)),
    (
        "Which system is better?",
        (
            "rushes suite init FOLDER -o suite.toml",
            "rushes suite run suite.toml -o out",
            "rushes board out -o board.html",
        ),
    ),
    ("What is the FVD of two sets?", ("rushes fvd GENERATED REAL",)),
    (
        "A table for my paper",
        ("rushes paper GENERATED REAL -o paper/mine", "rushes table paper/* --format latex"),
    ),
    ("All numbers in one file", ("rushes export RUN -o numbers.parquet",)),
)
"""What people come for, and the commands that do it: bare `rushes` shows these."""

app = typer.Typer(
    name="rushes",
    help="The evaluation workbench for generated video. No number without its definition; people decide preference.",
    no_args_is_help=True,
    cls=grouped_help(GROUPS, SENTENCE, WELCOME),
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"rushes {__version__}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    config: Annotated[
        str | None,
        typer.Option(
            "--config",
            metavar="FILE",
            envvar="RUSHES_CONFIG",
            help="Defaults of the project; left out, rushes.toml here or above; none for no file.",
        ),
    ] = None,
) -> None:
    """The evaluation workbench for generated video. No number without its definition; people decide preference."""
    use_project_file(context, config)


_VERBS = (
    *(board.board, believe.believe, canon.canon, compare.compare, config.config, demo.demo, doctor.doctor),
    *(query.export, gate.gate, import_scores.import_scores, log.log, metrics.metrics, paper.paper, query.query),
    *(report.report, serve.serve, table.table, view.view),
)
"""Verbs about runs and about Rushes itself, each called as its function is; the others are the instruments' own."""


def _add(name: str, verb: Any) -> None:
    if isinstance(verb, typer.Typer):
        app.add_typer(verb, name=name)
    else:
        app.command(name, cls=getattr(verb, "command_class", None))(one_line_errors(verb))


_SHARED = {verb.__name__.replace("_", "-"): verb for verb in _VERBS} | {"models": models.app, "suite": suite.app}
_OWN = {name: load(verb) for _, instrument in INSTRUMENTS.items() for name, verb in instrument.commands.items()}
for _name, _verb in sorted((_SHARED | _OWN).items()):
    _add(_name, _verb)


def main() -> None:
    """Entry point of the `rushes` command."""
    open_closed_streams()
    try:
        require_unix()
    except RushesError as error:
        sys.exit(f"rushes: {error}")
    try:
        app()
    finally:
        flush_or_forget()


if __name__ == "__main__":
    main()
