"""`rushes doctor`: what is installed, and what each missing piece would unlock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from rushes.present.terminal.console import EXIT_BAD_INPUT, print_json, print_words, say, tell
from rushes.present.terminal.options import Json, Verbose

if TYPE_CHECKING:
    from rushes.cli.workbench.installation import Piece


def doctor(verbose: Verbose = False, as_json: Json = False) -> None:
    """Check the installation: what is installed, which models are found, how to get the rest.

    Exits with 0 unless the core itself is broken; extras are optional.

    Example: rushes doctor
    """
    from rushes.cli.workbench.installation import examine, is_sound
    from rushes.vision.models.catalogue import NOTHING_YET

    pieces = examine()
    if as_json:
        print_json({"sound": is_sound(pieces), "pieces": [asdict(piece) for piece in pieces]})
    else:
        rows = [(piece.kind, piece.name, "yes" if piece.here else "no", piece.detail) for piece in pieces]
        if verbose:
            print_words("What is installed", ("kind", "name", "installed", "detail"), rows)
        else:
            _summary(pieces)
        missing = [
            (p.name, p.kind, p.unlocks, p.command or "–")
            for p in pieces
            if not p.here and (verbose or p.unlocks != NOTHING_YET)
        ]
        for piece in pieces:
            if piece.kind == "core" and not piece.here:
                tell(f"{piece.name} does not work: {piece.detail}")
        if missing:
            print_words("Missing, and how to get it", ("name", "kind", "needed for", "command"), missing)
        else:
            print("Nothing is missing.")
    if not is_sound(pieces):
        say("rushes: the core does not work; run the commands shown for it")
        raise typer.Exit(EXIT_BAD_INPUT)


_NOUNS = {
    "core": "Core",
    "extra": "Extras",
    "package": "Packages",
    "models": "Models",
    "test tool": "Test tools",
    "machine": "Machine",
}


def _summary(pieces: Sequence[Piece]) -> None:
    """What is here, a line per kind; the versions are behind -v."""
    rushes = next(piece for piece in pieces if piece.name == "rushes")
    tell(f"rushes {rushes.detail}")
    for kind, noun in _NOUNS.items():
        every = [piece for piece in pieces if piece.kind == kind]
        if not every:
            continue
        lacking = [piece.name for piece in every if not piece.here]
        missing = f"; missing: {', '.join(lacking)}" if lacking else ""
        word = "found" if kind == "machine" else "installed"
        tell(f"{noun}: {len(every) - len(lacking)} of {len(every)} {word}{missing}")
    print()
