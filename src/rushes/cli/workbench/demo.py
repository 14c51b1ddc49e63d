"""`rushes demo`: sample material with known faults, through every instrument."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rushes.present.terminal.colours import bold
from rushes.present.terminal.console import EXIT_BAD_INPUT, next_line, print_json, print_words, say, tell
from rushes.present.terminal.options import Json, Verbose
from rushes.present.terminal.progress import progress_bars

if TYPE_CHECKING:
    from rushes.compare.board.demo import DemoBoard
    from rushes.core.instrument import DemoPart
    from rushes.core.machine.progress import Progress


def demo(
    out: Annotated[
        str, typer.Option("-o", "--out", metavar="DIR", help="Where to put the samples and the runs.")
    ] = "demo",
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Make sample clips with planted faults, run every instrument on them, and show that each fault is found.

    An earlier demo in the folder is replaced.

    Example: rushes demo -o demo
    """
    from rushes.instruments.catalogue import INSTRUMENTS

    folder = Path(out)
    names = [part for _, instrument in INSTRUMENTS.items() for part in instrument.demo]
    with progress_bars() as progress:
        parts = list(_parts(names, folder, progress))
        progress(len(names), len(names) + 2, _STEP)
        report = _report(parts, folder / "report.html")
        progress(len(names) + 1, len(names) + 2, _STEP)
        board = _board(folder)
    if as_json:
        shown = [{"title": p.title, "run": str(p.run), "found": p.found, "as_expected": p.as_expected} for p in parts]
        print_json({"report": report and str(report), "board": board and str(board.path), "parts": shown})
    else:
        _show(parts, board, verbose=verbose)
        tell("  ".join(str(path) for path in (report or folder, board and board.path) if path))
        next_line("view", out)
    if not all(part.as_expected for part in parts) or (board is not None and not board.as_expected):
        say("rushes: the demo did not find every planted fault; please report this")
        raise typer.Exit(EXIT_BAD_INPUT)


_STEP = "demo"


def _parts(names: Sequence[str], folder: Path, progress: Progress) -> Iterator[DemoPart]:
    """Every part that can run here; one whose package is missing is left out, in a line."""
    from rushes.core.errors import MissingDependency

    for number, name in enumerate(names):
        progress(number, len(names) + 2, _STEP)
        try:
            yield demo_part(name, folder)
        except MissingDependency as missing:
            say(f"skipped: {missing}")


def _show(parts: Sequence[DemoPart], board: DemoBoard | None, *, verbose: bool) -> None:
    """The story in one screen: which system won, how sure that is, which clips to look at, what was found."""
    if board is not None:
        answer = board.winner or "none of them significantly"
        tell(f"Which of three made-up systems is better? {answer}.", paint=bold)
        tell(board.found, hang=0)
        print()
    for part in parts[:1]:
        _show_clips(part)
    for part in parts if verbose else ():
        print()
        print_words(part.title, part.header, part.rows)
        tell(part.found, hang=0)
        print(part.run)
    found = sum(part.as_expected for part in parts)
    print()
    tell(f"Planted faults: found in {found} of {len(parts)} parts{'' if verbose else ' (-v shows each table)'}.")
    tell("A review signal is a reason to look, not a verdict. People decide preference.")


def _show_clips(part: DemoPart) -> None:
    """How many clips of the first part have which signal, and the three to look at, by path."""
    from dataclasses import replace

    from rushes.present.verdict.opening import print_opening
    from rushes.present.verdict.verdict import FIRST, clip_verdict
    from rushes.storage.runs import read_run

    by_path = [replace(one, id=one.path) for one in read_run(part.run).subjects]
    print_opening(clip_verdict(by_path, most=FIRST))


def demo_part(reference: str, folder: Path) -> DemoPart:
    """One part of the demo; `MissingDependency` where a package it needs is not installed."""
    from rushes.core.machine.installing import not_installed
    from rushes.core.registry import load

    try:
        part: DemoPart = load(reference)(folder)
    except ModuleNotFoundError as error:
        if (error.name or "rushes").partition(".")[0] == "rushes":
            raise
        needs = f"the demo of {reference.split('.')[1]} needs {error.name}, which is not installed"
        raise not_installed(needs, extra="all") from None
    return part


def _board(folder: Path) -> DemoBoard | None:
    """The board of three made-up systems; None where its packages are missing."""
    from importlib.util import find_spec

    if find_spec("jinja2") is None:
        return None  # the report has said so
    from rushes.compare.board.demo import board

    return board(folder)


def _report(parts: Sequence[DemoPart], path: Path) -> Path | None:
    """The page that shows every part; None where its packages are missing."""
    from importlib.util import find_spec

    if find_spec("jinja2") is None:
        from rushes.core.machine.installing import not_installed

        say(f"Skipped the report: {not_installed('it needs jinja2', extra='report')}")
        return None
    from rushes.compare.report import write_report

    found = sum(part.as_expected for part in parts)
    lead = f"Sample clips with planted faults, through every instrument: found in {found} of {len(parts)} parts."
    write_report([part.run for part in parts], path, title="Demo: planted faults", lead=lead, made_by="rushes demo")
    return path
