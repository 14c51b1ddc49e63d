"""`rushes doctor`: what is installed, and what each missing piece would unlock."""

from __future__ import annotations

from typing import Annotated

import typer

from rushes.terminal.console import EXIT_BAD_INPUT, print_json, print_table, say


def doctor(as_json: Annotated[bool, typer.Option("--json", help="JSON alone on stdout.")] = False) -> None:
    """Say what is installed, which models are found, and how to get what is missing.

    Exits with 0 unless the core itself is broken: a missing extra is a choice.

    Example: rushes doctor
    """
    from rushes.cli.installation import examine, is_sound

    pieces = examine()
    if as_json:
        print_json({"sound": is_sound(pieces), "pieces": [piece.as_dict() for piece in pieces]})
    else:
        rows = [(piece.kind, piece.name, "yes" if piece.here else "no", piece.detail) for piece in pieces]
        print_table("What is here", ("kind", "name", "here", "detail"), rows)
        missing = [(p.kind, p.name, p.unlocks, p.command or "–") for p in pieces if not p.here]
        if missing:
            print_table("What is not, and how to get it", ("kind", "name", "unlocks", "command"), missing)
        else:
            print("Nothing is missing.")
    if not is_sound(pieces):
        say("rushes: the core does not work; run the commands shown for it")
        raise typer.Exit(EXIT_BAD_INPUT)
