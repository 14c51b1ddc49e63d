"""`rushes paper`: measure everything that a paper's table needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rushes.cli.measure.fidelity import Cut, ResizeTo, lag_frames
from rushes.instruments.distribution.protocols import PROTOCOLS as SET_PROTOCOLS
from rushes.instruments.fidelity.protocols import PROTOCOLS as PAIR_PROTOCOLS
from rushes.present.terminal.console import next_line, print_json, print_words, say, show_signatures, tell
from rushes.present.terminal.options import Jobs, Json, Verbose
from rushes.present.terminal.progress import progress_bars
from rushes.present.terminal.several import several_words

if TYPE_CHECKING:
    from rushes.compare.paper.folder import Paper
    from rushes.compare.paper.table import PaperTable


def paper(
    places: Annotated[
        list[str],
        typer.Argument(metavar="GEN… GT", help="Generated clips, a folder or glob per system; last, the references."),
    ],
    out: Annotated[
        Path,
        typer.Option("-o", "--out", metavar="DIR", help="Folder for the runs, one below it per system."),
    ] = Path("paper"),
    gt: Annotated[
        str | None, typer.Option("--gt", metavar="GT", help="The references, instead of the last GEN.")
    ] = None,
    name: Annotated[str, typer.Option(metavar="SYSTEM", help="Name of the row. (default: the folder's name)")] = "",
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Metrics with commas between (default: psnr, ssim, lpips, l1, fid-vid, fvd, csim, lmd, sync), or any "
            "other.",
        ),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME…",
            help="Protocol to follow in every instrument that knows it: disco. Several give several columns.",
        ),
    ] = None,
    pair: Annotated[
        Literal["name", "index", "time"], typer.Option(help="How clips and frames pair, as in rushes fidelity.")
    ] = "name",
    cut: Cut = "none",
    lag: Annotated[str, typer.Option(callback=lag_frames, help="Frame offset of GEN; auto estimates it.")] = "0",
    resize_to: ResizeTo = None,
    weights: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE…|NAME=FILE…",
            help="Weights of the distances, recognised by content; of a pair metric, with its name: lpips=alex.pth.",
        ),
    ] = None,
    syncnet_weights: Annotated[
        str | None, typer.Option(metavar="FILE", help="SyncNet's syncnet_v2.model, for Sync.")
    ] = None,
    audio: Annotated[
        str | None, typer.Option(help="For Sync: a sound file for every clip, or a folder with one per clip.")
    ] = None,
    prompts: Annotated[
        str | None, typer.Option(metavar="FILE", help="For WER: a CSV file with prompt_id and script.")
    ] = None,
    interval: Annotated[
        Literal["subsampling", "jackknife"] | None, typer.Option(help="95 % interval of the distances.")
    ] = None,
    device: Annotated[Literal["cpu", "cuda"] | None, typer.Option(help="Where networks run.")] = None,
    jobs: Jobs = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the contents of the folder.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print the table as LaTeX.")] = False,
    signatures: Annotated[
        Literal["footnote", "comment", "none"], typer.Option(help="Where the LaTeX has its signatures.")
    ] = "comment",
    width: Annotated[
        Literal["one", "two"] | None, typer.Option(help="Fit the LaTeX into one or both columns of a paper.")
    ] = None,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Measure systems for a paper's table: PSNR, SSIM, LPIPS, L1, FID-VID, FVD, CSIM, LMD and Sync.

    --columns also takes AED, AKD, FID, WER and every other metric of pairs and sets, by name.
    A column that cannot be measured is a dash, with the reason. Fetch what is missing and run the same command again.

    Example: rushes paper amber/ birch/ --gt real/ -o out --latex
    """
    from rushes.compare.paper.columns import COLUMNS
    from rushes.compare.paper.paper import measure_paper
    from rushes.compare.paper.table import paper_table

    remarks: list[str] = []
    given = weights or []
    systems, truth = _systems(places, gt, name)
    made = []
    with progress_bars() as progress:
        for gen in systems:
            made.append(
                measure_paper(
                    gen,
                    truth,
                    out=out if len(systems) == 1 else out / _folder(gen),
                    name=name,
                    columns=tuple(COLUMNS) if columns is None else columns,
                    protocol=protocol or (),
                    pair=pair,
                    cut=cut,
                    lag="auto" if lag == "auto" else int(lag),
                    resize_to=resize_to,
                    weights=[word for word in given if not _is_named(word)],
                    models=dict(word.split("=", 1) for word in given if _is_named(word)),
                    syncnet_weights=syncnet_weights,
                    audio=audio,
                    prompts=prompts,
                    interval=interval,
                    device=device,
                    jobs=jobs,
                    overwrite=overwrite,
                    progress=progress,
                    warn=remarks.append,
                )
            )
    table = paper_table(*(one.path for one in made))
    if as_json:
        print_json([_as_json(one, table) for one in made] if len(made) > 1 else _as_json(made[0], table))
    elif latex:
        print(table.latex(signatures=signatures, width=width), end="")
    elif len(made) > 1:
        print(table.text("text"), end="")
    else:
        _show(made[0], table, verbose=verbose)
    say(*remarks)


def _systems(places: list[str], gt: str | None, name: str) -> tuple[list[str], str]:
    """The generated sets and the references: --gt, else the last place."""
    from rushes.core.errors import InputError

    if gt is None and len(places) < 2:
        raise InputError(f"{places[0]}: expected generated clips and their references; add GT, or --gt GT")
    systems, truth = (places, gt) if gt is not None else (places[:-1], places[-1])
    if name and len(systems) > 1:
        raise InputError(f"--name is for one system; got {len(systems)}, which are named after their folders")
    return systems, truth


def _folder(gen: str) -> str:
    """What a system's folder below DIR is called."""
    from rushes.suite.names import set_name

    return set_name(gen).replace("/", "-")


paper.command_class = several_words(  # type: ignore[attr-defined]
    {
        "--protocol": lambda word: word in PAIR_PROTOCOLS or word in SET_PROTOCOLS,
        "--weights": lambda word: "=" in word or Path(word).is_file(),
    }
)


def _is_named(word: str) -> bool:
    """Whether it is NAME=FILE, and no file whose path has a sign of equality in it."""
    return word.partition("=")[0].replace("-", "").isalnum() and "=" in word and not Path(word).exists()


def _as_json(made: Paper, table: PaperTable) -> dict[str, object]:
    return {
        "paper": str(made.path),
        "name": made.name,
        "runs": [str(path) for path in made.run_paths],
        "reasons": dict(made.reasons),
        "table": table.as_dict(),
    }


def _show(made: Paper, table: PaperTable, *, verbose: bool) -> None:
    from rushes.compare.paper.grid import DASH, headed, interval_text, number_text
    from rushes.core.table import INTERVAL, NUMBER

    rows = []
    for column in table.columns:
        reading = column.readings[0]
        head = headed(column)
        if reading is None or reading.measurement.value is None:
            rows.append((head, DASH, DASH, ""))
            continue
        ends = interval_text(reading, column.digits)
        beside = f"± {ends[0]}" if len(ends) == 1 else " to ".join(ends) or DASH
        rows.append((head, number_text(float(reading.measurement.value), column.digits), beside, reading.rests_on))
    print_words(made.name, ("column", *NUMBER("value"), *INTERVAL("interval"), "N"), rows)
    for text in table.notes:
        tell(f"Note: {text}")
    show_signatures((note.signature for note in table.footnotes), verbose=verbose)
    next_line("table", str(made.path), "--format", "latex")
    print(made.path)
