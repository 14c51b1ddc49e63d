"""`rushes fidelity GEN GT`: how far clips are from their references."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rushes.instruments.fidelity.metrics import METRICS
from rushes.instruments.fidelity.protocols import DEFAULT, PROTOCOLS
from rushes.present.terminal.colours import bold
from rushes.present.terminal.console import next_line, print_json, print_table, say, show_signatures, tell
from rushes.present.terminal.options import (
    AddressOption,
    EngineOption,
    Jobs,
    Json,
    Overwrite,
    Strict,
    Verbose,
    chosen_engine,
)
from rushes.present.terminal.progress import progress_bars
from rushes.present.terminal.several import several_words

if TYPE_CHECKING:
    from rushes.instruments.fidelity.evaluate import FidelityEvaluation

_SHOWN = 40
"""Pairs that a terminal shows."""
_COLUMNS = 6
"""Numbers of a pair that it has room for; the others are in the run, the CSV and the report."""


Cut = Annotated[Literal["none", "shortest"], typer.Option(help="If lengths differ: fail, or truncate to the shorter.")]
ResizeTo = Annotated[Literal["gt", "gen"] | None, typer.Option(help="If sizes differ: bring both to this side's size.")]


def lag_frames(text: str) -> str:
    """A whole number of frames, or auto."""
    if text != "auto" and not text.removeprefix("-").isdecimal():
        raise typer.BadParameter(f"expected auto or a whole number of frames; got {text!r}")
    return text


def _models(words: list[str] | None) -> dict[str, str]:
    """`--weights lpips=FILE` as group and file."""
    found: dict[str, str] = {}
    for word in words or ():
        group, sign, path = word.partition("=")
        if not (group and sign and path):
            raise typer.BadParameter(f"expected NAME=FILE, such as lpips=alex.pth; got {word!r}")
        found[group] = path
    return found


def fidelity(
    gen: Annotated[
        str, typer.Argument(metavar="GEN", help="Generated: a clip, a folder or glob of clips, a folder of pictures.")
    ],
    gt: Annotated[str, typer.Argument(metavar="GT", help="Reference clips, in the same forms as GEN.")],
    protocol: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME…", help=f"Protocol to follow: {', '.join(PROTOCOLS)}. Default: {DEFAULT}."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME…", help="Single metrics, alone or beside a protocol: psnr ssim lpips vmaf csim …"),
    ] = None,
    pair: Annotated[
        Literal["name", "index", "time"],
        typer.Option(
            help="name: clips by name, frames by index, at one rate. index: clips in order, frames by index. time: "
            "clips by name, frames that are shown together."
        ),
    ] = "name",
    cut: Cut = "none",
    lag: Annotated[
        str,
        typer.Option(callback=lag_frames, help="Frame offset of GEN; auto estimates it."),
    ] = "0",
    resize_to: ResizeTo = None,
    weights: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FILE…", help="A model file to use instead of the pulled one: lpips=alex.pth."),
    ] = None,
    device: Annotated[Literal["cpu", "cuda"], typer.Option(help="Where networks run.")] = "cpu",
    precision: Annotated[
        Literal["tf32", "fp16", "fp32"] | None, typer.Option(help="Precision of LPIPS on a GPU. (default: tf32)")
    ] = None,
    out: Annotated[str | None, typer.Option("-o", "--out", metavar="RUN", help="Run directory.")] = None,
    jobs: Jobs = None,
    timeout: Annotated[float | None, typer.Option(min=0.1, help="Timeout per pair, in seconds.")] = None,
    memory: Annotated[int | None, typer.Option(min=64, help="Memory limit per pair, in megabytes.")] = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    overwrite: Overwrite = False,
    csv: Annotated[str | None, typer.Option(metavar="FILE", help="Also write one row per pair as CSV.")] = None,
    strict: Strict = False,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Compare clips with their references: PSNR, SSIM, LPIPS, VMAF, identity, landmarks; per frame, clip and set.

    Example: rushes fidelity out/ truth/ --protocol disco --metric csim -o runs/fidelity
    """
    from rushes.workers import template

    with template.forkable():
        from rushes.instruments.fidelity.evaluate import evaluate_fidelity
        from rushes.instruments.fidelity.show.tables import write_csv

    models = _models(weights)
    where = chosen_engine(engine, address)
    with template.standing_by(), progress_bars() as progress:
        done = evaluate_fidelity(
            gen,
            gt,
            protocol=protocol or (),
            metrics=metric or (),
            pair=pair,
            cut=cut,
            lag="auto" if lag == "auto" else int(lag),
            resize_to=resize_to,
            models=models,
            device=device,
            precision=precision,
            run=out,
            jobs=jobs,
            timeout=timeout,
            memory_mb=memory,
            engine=where,
            overwrite=overwrite,
            progress=progress,
        )
    written = write_csv(done.run, csv) if csv else []
    if as_json:
        print_json(_as_json(done))
    else:
        _show(done, written, verbose=verbose)
    say(*done.notes)
    if metric:
        from rushes.cli.measure.failed import say_failed

        say_failed(done.run, strict=strict)


_WORDS = {"--protocol": PROTOCOLS.__contains__, "--metric": METRICS.__contains__, "--weights": lambda word: "=" in word}
fidelity.command_class = several_words(_WORDS)  # type: ignore[attr-defined]


def _as_json(done: FidelityEvaluation) -> dict[str, object]:
    return {
        "run": done.run.place,
        "set": [m.as_dict() for m in done.measurements],
        "pairs": [entry.subject.row() | {"measurements": entry.rows()} for entry in done.pairs],
    }


def _show(done: FidelityEvaluation, written: list[str], *, verbose: bool) -> None:
    from rushes.instruments.fidelity.show.tables import pair_table, set_table

    tell(done.summary, paint=bold)
    print()
    if len(done.pairs) > 1:
        print_table(pair_table(done.run, most=_SHOWN, columns=_COLUMNS))
        if len(done.pairs) > _SHOWN:
            print(f"… and {len(done.pairs) - _SHOWN} more in the run")
    means = set_table(done.run)
    print_table(means if len(done.pairs) > 1 else replace(means, title="Mean over the frames"), signatures=False)
    show_signatures((m.signature for m in done.measurements), verbose=verbose)
    for path in written:
        print(path)
    next_line("report", done.run.place)
    print(done.run.place)
