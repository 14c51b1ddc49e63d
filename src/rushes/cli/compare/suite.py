"""`rushes suite`: several systems under the same instruments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rushes.present.terminal.console import (
    EXIT_BAD_INPUT,
    next_line,
    one_line_errors,
    print_json,
    print_words,
    say,
    tell,
)
from rushes.present.terminal.options import AddressOption, EngineOption, Jobs, Json, chosen_engine
from rushes.present.terminal.progress import progress_bars

if TYPE_CHECKING:
    from rushes.suite.folder import SuiteRun, SuiteStep

app = typer.Typer(help="Measure several systems alike: write a suite file, run what is missing.", no_args_is_help=True)


@app.callback()
def suite() -> None:
    """Measure several systems alike: write a suite file, run what is missing.

    Example: rushes suite init takes/ -o suite.toml, then rushes suite run suite.toml -o out/takes
    """


@app.command("init")
@one_line_errors
def init(
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER…", help="A folder with one folder per system, or the systems.")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="The suite file to write.")] = Path(
        "suite.toml"
    ),
    name: Annotated[str, typer.Option(help="The suite's name. (default: that of its folder)")] = "",
    field: Annotated[
        Literal["text-to-video", "talking-head", "animation"] | None,
        typer.Option("--for", help="Write the instruments and metrics that papers of this field print."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
) -> None:
    """Write a suite file from what the folders hold: systems, reference, prompts, ratings, votes, a study.

    Example: rushes suite init takes/ --for text-to-video -o suite.toml
    """
    from rushes.suite.draft import draft_suite

    made = draft_suite(folders, out, name=name, field=field, overwrite=overwrite)
    rows = [(system, "system", ", ".join(map(str, places))) for system, places in made.systems.items()]
    beside = {what: getattr(made, what) for what in ("reference", "prompts", "ratings", "votes")}
    rows += [("", what, str(path)) for what, path in beside.items() if path is not None]
    rows += [("", "study", f"{made.study[1]} in {made.study[0]}")] if made.study else []
    rows += [("", "common form", made.alike.spelling)] if made.alike else []
    print_words("Found", ("name", "is", "where"), rows)
    say(*made.remarks)
    tell("Edit the file for other instruments.")
    next_line("suite", "run", str(made.path), "-o", f"out/{made.path.stem}")
    print(made.path)


@app.command("run")
@one_line_errors
def run(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE|FOLDER",
            help="The suite file, or a folder with a folder of clips per system.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="DIR", help="Folder for the runs; the same call continues it.")
    ],
    jobs: Jobs = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace every run of the folder.")] = False,
    as_json: Json = False,
) -> None:
    """Run everything of a suite that is missing: every system under every instrument, each into a run of its own.

    If one system fails, the others still run; the failure is reported at the end, with exit code 1.

    Example: rushes suite run systems/ -o out
    """
    from rushes.suite.folder import run_suite

    where = chosen_engine(engine, address)
    remarks: list[str] = []
    begun: list[SuiteStep] = []
    with progress_bars() as progress:
        done = run_suite(
            file,
            out,
            jobs=jobs,
            engine=where,
            overwrite=overwrite,
            progress=lambda at, total, what: progress(at, total, f"{begun[-1].folder} {what}" if begun else what),
            warn=remarks.append,
            started=begun.append,
        )
    if as_json:
        print_json(_as_json(done))
    else:
        _show(done)
    say(*remarks)
    for step in done.failed:
        say(f"{step.folder}: {step.why}")
    if done.failed:
        raise typer.Exit(EXIT_BAD_INPUT)


def _show(done: SuiteRun) -> None:
    rows = [
        (step.system or "all systems", step.plan, "failed" if step.why else "done", str(done.path / step.folder))
        for step in done.steps
    ]
    rows += [(system.name, "given", "run", place) for system in done.suite.systems for place in system.runs]
    print_words(f"Suite {done.suite.name}", ("system", "instrument", "is", "run"), rows)
    next_line("board", str(done.path), "-o", "board.html")
    print(done.path)


def _as_json(done: SuiteRun) -> dict[str, object]:
    return {
        "suite": done.suite.name,
        "path": str(done.path),
        "runs": [
            {"system": step.system, "instrument": step.instrument, "run": str(done.path / step.folder), "why": step.why}
            for step in done.steps
        ],
    }
