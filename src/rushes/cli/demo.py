"""`rushes demo`: sample material with known faults, through every instrument."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rushes.terminal.console import EXIT_BAD_INPUT, print_json, print_table, say

if TYPE_CHECKING:
    from rushes.core.instrument import DemoPart
    from rushes.suite.demo import DemoBoard


def demo(
    out: Annotated[
        str, typer.Option("-o", "--out", metavar="DIR", help="Where to put the samples and the runs.")
    ] = "demo",
    as_json: Annotated[bool, typer.Option("--json", help="JSON alone on stdout.")] = False,
) -> None:
    """Make sample takes with known faults, run every instrument on them, and show that each fault is found.

    Example: rushes demo -o demo
    """
    from rushes.errors import MissingDependency
    from rushes.instruments import INSTRUMENTS

    folder = Path(out)
    parts = []
    for name in (part for _, instrument in INSTRUMENTS.items() for part in instrument.demo):
        try:
            done = demo_part(name, folder)
        except MissingDependency as missing:
            say(f"left out: {missing}")
            continue
        parts.append(done)
        if not as_json:
            print_table(done.title, done.header, done.rows)
            print(f"{done.found}\n{done.run}\n")
    report = _report(parts, folder / "report.html")
    board = _board(folder)
    if as_json:
        shown = [{"title": p.title, "run": str(p.run), "found": p.found, "as_expected": p.as_expected} for p in parts]
        print_json({"report": report and str(report), "board": board and str(board.path), "parts": shown})
    else:
        print("Badges are review signals: reasons to look, not verdicts. People decide preference.")
        print(report or folder)
        if board is not None:
            print(f"\nWhich of three systems is better? {board.found}\n{board.path}")
    if not all(part.as_expected for part in parts) or (board is not None and not board.as_expected):
        say("rushes: the demo did not find every fault it put in; please report this")
        raise typer.Exit(EXIT_BAD_INPUT)


def demo_part(reference: str, folder: Path) -> DemoPart:
    """One part of the demo; `MissingDependency` where a package it needs is not installed."""
    from rushes.core.registry import load
    from rushes.errors import MissingDependency

    try:
        part: DemoPart = load(reference)(folder)
    except ModuleNotFoundError as error:
        if (error.name or "rushes").partition(".")[0] == "rushes":
            raise
        raise MissingDependency(
            f"the demo of {reference.split('.')[1]} needs {error.name}, which is not installed; "
            "run: pip install 'rushes[all]'"
        ) from None
    return part


def _board(folder: Path) -> DemoBoard | None:
    """The board of three made-up systems; None where its packages are missing."""
    from importlib.util import find_spec

    if find_spec("jinja2") is None:
        return None  # the report has said so
    from rushes.suite.demo import board

    return board(folder)


def _report(parts: Sequence[DemoPart], path: Path) -> Path | None:
    """The page that shows every part; None where its packages are missing."""
    from importlib.util import find_spec

    if find_spec("jinja2") is None:
        say("left out: the report needs jinja2; run: pip install 'rushes[report]'")
        return None
    from rushes.suite.report import write_report

    write_report([part.run for part in parts], path, title="The demo: known faults, found", made_by="rushes demo")
    return path
