"""`rushes fvd`: FVD, FID-VID and KVD between two sets, under a declared protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rushes.core.words.suggest import did_you_mean
from rushes.instruments.distribution.features.backbones import BACKBONES
from rushes.instruments.distribution.protocols import GIVEN_METRICS, METRICS, SHORTHANDS, Choices, ProtocolName
from rushes.present.terminal.colours import bold, faint
from rushes.present.terminal.console import next_line, print_json, print_table, say, show_signatures, tell
from rushes.present.terminal.options import AddressOption, EngineOption, Json, Overwrite, Verbose, chosen_engine
from rushes.present.terminal.progress import progress_bars
from rushes.present.terminal.several import several_words

if TYPE_CHECKING:
    from rushes.instruments.distribution.compare import SetComparison


def known_backbone(name: str | None) -> str | None:
    """A backbone's name, checked where it is typed."""
    if name is not None and name not in BACKBONES:
        raise typer.BadParameter(f"no network is called {name!r}{did_you_mean(name, BACKBONES)}")
    return name


def _is_metric(name: str) -> bool:
    return name in METRICS or name in SHORTHANDS or name in GIVEN_METRICS


def _known_metrics(names: list[str] | None) -> list[str] | None:
    """Typer has no lists of choices."""
    for name in names or ():
        if not _is_metric(name):
            known = (*METRICS, *SHORTHANDS, *GIVEN_METRICS)
            raise typer.BadParameter(f"no set metric is called {name!r}{did_you_mean(name, known)}")
    return names


def _npz(path: str | None) -> str | None:
    if path is not None and not path.endswith(".npz"):
        raise typer.BadParameter(f"expected a name ending in .npz; got {path!r}")
    return path


def fvd(
    gen: Annotated[
        str | None,
        typer.Argument(metavar="GEN", help="Generated set: folder, glob, list or saved .npz; here, s3:// or gs://."),
    ] = None,
    gt: Annotated[str | None, typer.Argument(metavar="GT", help="Ground-truth set, in any of the same forms.")] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            callback=_known_metrics,
            help="fvd, fid-vid, kvd; fid, kid of frames; precision, recall, density, coverage, prdc (these four). "
            "Default: fvd.",
        ),
    ] = None,
    protocol: Annotated[
        ProtocolName | None,
        typer.Option(
            help="Protocol to follow; all runs every one except those of 128 frames. (default: stylegan-v, Skorokhodov "
            "et al. 2022; for fid-vid: genhoi)"
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Print what the protocol does, step by step, with its paper; measure nothing."),
    ] = False,
    backbone: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            callback=known_backbone,
            help="Network of every metric: i3d, r3d50, or one that a package adds. (default: each metric's own)",
        ),
    ] = None,
    network: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Manifest of a network of your own that gives the features."),
    ] = None,
    weights: Annotated[
        list[str] | None,
        typer.Option(help="Weights, recognised by content. Default: $RUSHES_WEIGHTS, tools/eval_fvd/, pulled models."),
    ] = None,
    sample_duration: Annotated[
        int | None, typer.Option(min=1, help="Frames of one segment, where the protocol leaves it open (16).")
    ] = None,
    extractor: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="GEN and GT are features (.npy, .npz, .pt), one row a video, made by this network."
        ),
    ] = None,
    kernel: Annotated[
        Literal["kid", "jedi"] | None,
        typer.Option(help="Variant of kernel_distance, and of kvd with --network. (default: kid)"),
    ] = None,
    stride: Annotated[
        int | None,
        typer.Option(min=1, help="Slide windows of --sample-duration frames over each video, one every N frames."),
    ] = None,
    rows: Annotated[
        Literal["window", "video-mean"] | None,
        typer.Option(help="With --stride: each window counts, or their mean per video. Default: window."),
    ] = None,
    vfr: Annotated[
        Literal["stored", "constant"] | None,
        typer.Option(help="Frames of a variable-rate video: as stored, or at a constant rate as ffmpeg makes them."),
    ] = None,
    interval: Annotated[Literal["subsampling", "jackknife"] | None, typer.Option(help="95 % interval.")] = None,
    extrapolate: Annotated[
        bool, typer.Option("--extrapolate", help="Also the value at infinitely many clips; needs N > D.")
    ] = False,
    versus: Annotated[
        str | None,
        typer.Option(metavar="GEN2", help="A second generated set, to test against the first."),
    ] = None,
    curve: Annotated[
        bool, typer.Option("--curve", help="Also the value at smaller N, and at infinitely many clips where N > D.")
    ] = False,
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Also measure each class: a CSV file with name,class; or folders (below each set)."
        ),
    ] = None,
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity",
            help="Also replace each constant by other protocols' and show what changes; reads the sets ten times.",
        ),
    ] = False,
    device: Annotated[
        Literal["cpu", "cuda"] | None, typer.Option(help="Device. (default: the GPU if there is one)")
    ] = None,
    precision: Annotated[
        Literal["tf32", "fp16", "fp32"] | None, typer.Option(help="Precision on a GPU. (default: tf32)")
    ] = None,
    batch_size: Annotated[int | None, typer.Option(min=1, help="Segments in a GPU batch.")] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "--workers", min=0, help="Decoding processes. (default: one per core)")
    ] = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    cache: Annotated[str | None, typer.Option(metavar="DIR", help="Keep features here and reuse them.")] = None,
    save_stats: Annotated[
        str | None,
        typer.Option(
            metavar="F", callback=_npz, help="Save the ground truth's statistics (.npz), to give as GT or GEN."
        ),
    ] = None,
    save_gen_stats: Annotated[
        str | None, typer.Option(metavar="F", callback=_npz, help="Save the generated set's statistics the same way.")
    ] = None,
    save_features: Annotated[
        bool, typer.Option("--save-features", help="Keep both sets' features in RUN, for the map of the sets.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at a clip that cannot be read, instead of skipping it.")
    ] = False,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed for the subsets of --interval, --extrapolate and --curve.")
    ] = 0,
    out: Annotated[
        str | None, typer.Option("-o", "--out", metavar="RUN", help="Run directory to write, here or s3://.")
    ] = None,
    overwrite: Overwrite = False,
    check: Annotated[
        bool,
        typer.Option("--self-test", help="Reproduce published numbers with the weights here; takes no GEN or GT."),
    ] = False,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """How far is the generated set from the real one? FVD, KVD, FID and others, each with its protocol.

    Example: rushes fvd generated/ real/ --metric fvd kvd --interval jackknife -o run
    """
    from rushes.instruments.distribution.evaluate import compare_sets

    if check:
        return _self_test(weights or [], as_json)
    if explain:
        chosen = Choices(backbone=backbone, sample_duration=sample_duration, stride=stride, rows=rows, vfr=vfr)
        return _explain(metric or ["fvd"], protocol, chosen, as_json=as_json)
    if gen is None or gt is None:
        raise typer.BadParameter(f"expected GEN and GT; got {'GEN alone' if gen else 'neither'}")
    with progress_bars() as progress:
        comparison = compare_sets(
            gen,
            gt,
            metrics=metric or "fvd",  # type: ignore[arg-type]
            protocol=protocol,
            backbone=backbone,
            network=network,
            kernel=kernel,
            extractor=extractor,
            sample_duration=sample_duration,
            stride=stride,
            rows=rows,
            vfr=vfr,
            weights=weights or (),
            interval=interval,
            extrapolate=extrapolate,
            sensitivity=sensitivity,
            seed=seed,
            versus=versus,
            curve=curve,
            groups=groups,
            strict=strict,
            device=device,
            precision=precision,
            batch_size=batch_size,
            jobs=jobs,
            engine=chosen_engine(engine, address),
            cache=cache,
            run=out,
            overwrite=overwrite,
            keep_features=save_features,
            save_gt=save_stats,
            save_gen=save_gen_stats,
            progress=progress,
            warn=say,
        )
    written = [path for path in (save_stats, save_gen_stats, out) if path]
    if as_json:
        print_json(_as_dict(comparison, written))
    else:
        _show(comparison, written, run=out, verbose=verbose)


fvd.command_class = several_words({"--metric": _is_metric})  # type: ignore[attr-defined]


def _explain(metrics: list[str], protocol: str | None, choices: Choices, *, as_json: bool) -> None:
    """What is done to two sets under a protocol, metric by metric."""
    from rushes.instruments.distribution.recipes import one_default, recipes
    from rushes.instruments.distribution.settings import metrics_from
    from rushes.instruments.distribution.show.protocol_words import explained, why_default

    chosen = metrics_from(metrics)
    found = recipes(protocol or one_default(chosen, choices.backbone), chosen, choices)
    if as_json:
        print_json(
            [{"metric": metric, **recipe.params(), "steps": explained(metric, recipe)} for metric, recipe in found]
        )
        return
    for metric, recipe in found:
        tell(f"{metric.upper()} under {recipe.protocol}", paint=bold)
        for step, words in explained(metric, recipe):
            tell(f"  {step:<14}{words}", hang=16)
        print()
    tell(why_default(found[-1][1].protocol))


def _self_test(weights: list[str], as_json: bool) -> None:
    """Published numbers beside what comes of them here; exit code 1 where one does not hold."""
    from rushes.instruments.distribution.self_test import self_test
    from rushes.instruments.distribution.settings import need_torch
    from rushes.instruments.distribution.show.tables import checks_table

    need_torch()
    checks = self_test(weights=weights)
    if as_json:
        print_json({"checks": [check.as_dict() for check in checks]})
    else:
        print_table(checks_table(checks), caption=True)
    if any(check.holds is False for check in checks):
        raise typer.Exit(1)


def _as_dict(comparison: SetComparison, written: list[str]) -> dict[str, object]:
    return {
        "measurements": [m.as_dict() for m in comparison.measurements],
        **({"departures": [m.as_dict() for m in comparison.departures]} if comparison.departures else {}),
        "excluded": {
            "generated": comparison.excluded("gen"),
            "ground_truth": comparison.excluded("gt"),
            **({"versus": comparison.excluded("versus")} if comparison.versus else {}),
        },
        "ignored": {"generated": comparison.ignored("gen"), "ground_truth": comparison.ignored("gt")},
        "weights": dict(comparison.weights),
        "weights_files": [str(path) for path in comparison.weights_files],
        "written": written,
    }


def _show(comparison: SetComparison, written: list[str], *, run: str | None, verbose: bool) -> None:
    from rushes.instruments.distribution.seed.video_metrics import left_out_lines
    from rushes.instruments.distribution.show.tables import all_tables, sensitivity_table

    left_out = list(left_out_lines(comparison))
    say(*left_out)
    tell(comparison.summary, paint=bold)
    for note in comparison.notes[len(left_out) :]:
        tell(f"Note: {note}")
    print()
    for table in all_tables(comparison.measurements):
        print_table(table)
    if comparison.departures:
        print_table(sensitivity_table([*comparison.measurements, *comparison.departures]), caption=True)
    shown = [m for m in comparison.measurements if not {"n", "class"} & m.place.keys()]
    show_signatures((m.signature for m in shown), verbose=verbose)
    tell("rushes fvd --explain says what the protocol does.", paint=faint)
    if run is not None:
        next_line("report", run)
    for path in written:
        print(path)
