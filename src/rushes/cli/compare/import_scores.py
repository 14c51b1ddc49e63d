"""`rushes import-scores`: numbers that other tools computed, as runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rushes.core.table import COUNT
from rushes.present.terminal.console import print_json, print_words, say, tell
from rushes.present.terminal.options import Json

if TYPE_CHECKING:
    from rushes.suite.imports.scores import Imported


def import_scores(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE…", help="A CSV of scores, or VBench's *_eval_results.json of one system."),
    ],
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="DIR", help="Output folder; each system gets a folder of runs in it.")
    ],
    define: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME:unit=…,better=…",
            help="What a column means: unit, better (higher, lower, neither), lowest, highest, column; repeatable.",
        ),
    ] = None,
    definitions: Annotated[
        Path | None, typer.Option(metavar="TOML", help="The same as a file, with a table per metric.")
    ] = None,
    system: Annotated[str, typer.Option(metavar="NAME", help="The system's name, if the file does not give it.")] = "",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the existing runs.")] = False,
    as_json: Json = False,
) -> None:
    """Import scores of other tools: VBench's results with its total, or a CSV whose columns you declare.

    Every system becomes a run below DIR, for boards, comparisons and rushes believe. A column that seems to be on two
    scales is reported, and marked on each of its numbers.

    Example: rushes import-scores scores.csv -o runs --define clip_score:unit=1,better=higher,lowest=0,highest=1
    """
    from rushes.suite.imports.definitions import parse_definition, read_definitions
    from rushes.suite.imports.scores import import_table
    from rushes.suite.imports.vbench_results import import_vbench

    if all(file.suffix.lower() == ".json" for file in files):
        if define or definitions:
            raise typer.BadParameter(
                "VBench's results already have their definitions; leave out --define", param_hint="--define"
            )
        made = import_vbench(files, out, system=system, overwrite=overwrite)
    elif len(files) > 1:
        raise typer.BadParameter(f"expected one CSV, or VBench's JSON files; got {len(files)} files", param_hint="FILE")
    else:
        columns = [parse_definition(text) for text in define or ()]
        columns += read_definitions(definitions) if definitions else []
        made = import_table(files[0], out, columns, system=system, overwrite=overwrite)
    if as_json:
        runs = [{"run": str(run.path), "subjects": len(run.subjects), "system": _system(run.info)} for run in made.runs]
        print_json({"runs": runs, "remarks": list(made.remarks)})
    else:
        _show(made)
    say(*made.remarks)


def _system(info: object) -> str:
    return str(info["settings"]["system"])  # type: ignore[index]


def _show(made: Imported) -> None:
    rows = []
    for run in made.runs:
        names = list(dict.fromkeys(m.name for found in run.measurements.values() for m in found))
        rows.append((_system(run.info), str(len(run.subjects)), ", ".join(names), str(run.path)))
    print_words("Imported", ("system", *COUNT("clips"), "metrics", "run"), rows)
    for run in made.runs:
        for m in run.select():
            if m.name.startswith("vbench") and m.name.endswith("_total") and m.value is not None:
                print(f"{_system(run.info)}: {m.name} {float(m.value):.4f}")
                tell(f"  {m.signature}")
