"""`rushes demo`: sample material with known faults, through every instrument."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rushes.cli.console import EXIT_BAD_INPUT, print_json, print_table, say


def demo(
    out: Annotated[
        str, typer.Option("-o", "--out", metavar="DIR", help="Where to put the samples and the runs.")
    ] = "demo",
    as_json: Annotated[bool, typer.Option("--json", help="JSON alone on stdout.")] = False,
) -> None:
    """Make sample takes with known faults, run every instrument on them, and show that each fault is found.

    Example: rushes demo -o demo
    """
    from rushes.demo.parts import PARTS
    from rushes.errors import MissingDependency

    folder = Path(out)
    parts = []
    for part in PARTS:
        try:
            done = part(folder)
        except MissingDependency as missing:
            say(f"left out: {missing}")
            continue
        parts.append(done)
        if not as_json:
            print_table(done.title, done.header, done.rows)
            print(f"{done.found}\n{done.run}\n")
    if as_json:
        print_json(
            [{"title": p.title, "run": str(p.run), "found": p.found, "as_expected": p.as_expected} for p in parts]
        )
    else:
        print("Badges are review signals: reasons to look, not verdicts. People decide preference.")
        print(folder)
    if not all(part.as_expected for part in parts):
        say("rushes: the demo did not find every fault it put in; please report this")
        raise typer.Exit(EXIT_BAD_INPUT)
