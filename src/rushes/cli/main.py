"""`rushes`: the verbs. Each verb's file imports only Typer at its top, so that `rushes --help` stays quick.

A command that names its verb loads that one alone; `app` has them all, for help, completion and a project file.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from rushes import __version__
from rushes.cli.project_file import VARIABLE, find_project_file, use_project_file
from rushes.core.errors import InputError, RushesError
from rushes.core.machine.interrupt import stop_on_sigterm
from rushes.core.machine.memory import ran_out_of_memory
from rushes.core.machine.packages import failure
from rushes.core.machine.platforms import own_process, require_unix
from rushes.core.registry import load
from rushes.core.words.options import this_is_a_shell_command
from rushes.instruments.catalogue import INSTRUMENTS
from rushes.present.terminal.console import NO_MEMORY, one_line_errors
from rushes.present.terminal.help import grouped_help
from rushes.present.terminal.streams import flush_or_forget, open_closed_streams

GROUPS = {
    "Measure": (
        *("clip", "fidelity", "judge", "fvd", "pose", "sweep", "robust", "paper"),
        *("canon", "calibrate", "import-scores"),
    ),
    "Look": ("view", "report", "table", "figure", "failures", "query", "export", "log", "verify", "metrics", "profile"),
    "Decide": ("suite", "board", "compare", "gate", "believe", "rank"),
    "Study": ("study", "serve"),
    "Setup": ("demo", "doctor", "models", "config", "new"),
}
"""Under which head `rushes --help` shows a verb; one that is in none comes last."""

SENTENCE = "Rushes evaluates generated video: broken clips, better systems, FVD, and every number with its definition."
WELCOME = (
    ("Which of my clips are broken?", ("rushes clip CLIPS",)),
    (
        "Which system is better?",
        ("rushes suite run FOLDER -o out", "rushes board out"),
    ),
    ("Do they show the prompt?", ("rushes judge CLIPS --prompts FILE --judge …",)),
    ("Which do people prefer?", ("rushes study create NAME out",)),
    ("What is the FVD of two sets?", ("rushes fvd GENERATED REAL",)),
    ("A table for my paper", ("rushes table out --format latex",)),
    ("PSNR, LPIPS, FVD in one go", ("rushes paper SYSTEM… --gt REAL --latex",)),
    ("All numbers in one file", ("rushes export RUN -o numbers.parquet",)),
)
"""What people come for, and the commands that do it: bare `rushes` shows these."""


def _version(wanted: bool) -> None:
    if wanted:
        print(f"rushes {__version__}")
        raise typer.Exit


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
            envvar=VARIABLE,
            help="Defaults of the project (default: rushes.toml here or above); none for no file.",
        ),
    ] = None,
    damaged: Annotated[
        bool, typer.Option("--damaged", help="Open runs whose files changed since they were complete, marked as such.")
    ] = False,
) -> None:
    """The evaluation workbench for generated video. No number without its definition; people decide preference."""
    use_project_file(context, config)
    if damaged:
        from rushes.storage.integrity.seal import allow_damaged

        allow_damaged(True)


_FOLDERS = {
    "compare": (
        *("board", "believe", "compare", "failures", "figure", "gate", "import-scores", "paper", "rank", "report"),
        "table",
    ),
    "measure": ("canon", "metrics", "profile"),
    "workbench": ("config", "demo", "doctor", "log", "new", "query", "serve", "verify", "view"),
}
"""Verbs about runs and about Rushes itself, each a function in a file of its name; the others are the instruments'."""
_SHARED = {
    name: f"rushes.cli.{folder}.{name.replace('-', '_')}:{name.replace('-', '_')}"
    for folder, names in _FOLDERS.items()
    for name in names
} | {
    "export": "rushes.cli.workbench.query:export",
    "models": "rushes.cli.measure.models:app",
    "suite": "rushes.cli.compare.suite:app",
}


def verbs() -> dict[str, str]:
    """Every verb as "module:name", those of other packages' instruments included."""
    found: dict[str, str] = {}
    for _, instrument in INSTRUMENTS.items():  # built-in ones come first, and no package takes a name that is taken
        found = dict(instrument.commands) | found
    return dict(sorted((found | _SHARED).items()))


def refused_verbs() -> list[tuple[str, str]]:
    """Verbs of other packages whose name is taken, each with why it does nothing."""
    known = verbs()
    return [
        (verb, f"the command {verb!r} of {INSTRUMENTS.package(name)} takes a name that is taken")
        for name, instrument in INSTRUMENTS.items()
        for verb, reference in instrument.commands.items()
        if not INSTRUMENTS.is_built_in(name) and known[verb] != reference
    ]


def with_verbs(chosen: Mapping[str, str]) -> typer.Typer:
    """The command line with these verbs."""
    command = typer.Typer(
        name="rushes",
        help=root.__doc__,
        no_args_is_help=True,
        cls=grouped_help(GROUPS, SENTENCE, WELCOME),
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    command.callback()(root)
    for name, reference in chosen.items():
        verb = _verb(name, reference)
        if isinstance(verb, typer.Typer):
            command.add_typer(verb, name=name)
        else:
            command.command(name, cls=getattr(verb, "command_class", None))(one_line_errors(verb))
    return command


def _verb(name: str, reference: str) -> Any:
    """What a verb does; of a package that cannot be loaded, to say so."""
    try:
        return load(reference)
    except Exception as error:
        if reference.startswith("rushes."):
            raise
        why = failure(f"loading the verb {name} of {reference.partition(':')[0]}", error)

    def broken() -> None:
        raise InputError(f"{why}; fix or remove the package")

    broken.__doc__ = f"Cannot be used: {why}."
    return broken


@cache
def __getattr__(name: str) -> Any:
    """`app`, the whole command line, made when it is asked for."""
    if name == "app":
        return with_verbs(verbs())
    raise AttributeError(name)


def _asked(arguments: Sequence[str]) -> dict[str, str]:
    """The verb of a command line, alone where it comes first; every one where others may have to be known."""
    known = verbs()
    is_plain = bool(arguments) and arguments[0] in known
    if is_plain and not os.environ.get(VARIABLE) and find_project_file(Path.cwd()) is None:
        return {arguments[0]: known[arguments[0]]}
    return known


def main() -> None:
    """Entry point of the `rushes` command."""
    open_closed_streams()
    own_process()
    this_is_a_shell_command()
    if sys.argv[1:2] not in (["serve"], ["view"]):  # servers finish the requests under way
        stop_on_sigterm()
    try:
        require_unix()
    except RushesError as error:
        sys.exit(f"rushes: {error}")
    try:
        gc.disable()  # imports make no garbage, and a tenth of their time would go into looking for it
        command = with_verbs(_asked(sys.argv[1:]))
        gc.enable()
        command()
    except Exception as error:
        if not ran_out_of_memory(error):
            raise
        sys.exit(f"rushes: {NO_MEMORY}")
    finally:
        flush_or_forget()


if __name__ == "__main__":
    main()
