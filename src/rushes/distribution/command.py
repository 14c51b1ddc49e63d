"""`rushes fvd`: FVD, FID-VID and KVD between two sets, under a declared protocol."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from rushes.terminal.console import print_json, print_table, progress, say
from rushes.terminal.engine_options import AddressOption, EngineOption, chosen_engine

if TYPE_CHECKING:
    from rushes.core import Measurement
    from rushes.distribution.compare import Comparison

_WORDS = {
    "--metric": {"fvd", "fid-vid", "kvd"},
}
_FILES = {"--weights"}


class Command(TyperCommand):
    """Lets `--metric fvd kvd` and `--weights A B` take several words, as well as the option given twice."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, spread(args))


def spread(args: list[str]) -> list[str]:
    """Repeat an option before each further word of its own.

    >>> spread(["gen", "gt", "--metric", "fvd", "kvd", "--json"])
    ['gen', 'gt', '--metric', 'fvd', '--metric', 'kvd', '--json']
    """
    spread_out: list[str] = []
    option, taken = "", 0
    for word in args:
        own = word in _WORDS.get(option, set()) or (option in _FILES and word.endswith((".pt", ".pth")))
        if word.startswith("-"):
            option, taken = word, 0
        elif own and taken:
            spread_out.append(option)
        elif not own and taken:
            option = ""
        taken += not word.startswith("-")
        spread_out.append(word)
    return spread_out


def fvd(
    gen: Annotated[
        str,
        typer.Argument(metavar="GEN", help="Generated set: folder, glob, list or saved .npz; here, s3:// or gs://."),
    ],
    gt: Annotated[str, typer.Argument(metavar="GT", help="Ground-truth set, in any of the same forms.")],
    metric: Annotated[list[str] | None, typer.Option(help="fvd, fid-vid, kvd; one or several. Default: fvd.")] = None,
    protocol: Annotated[
        str, typer.Option(help="genhoi, disco, stylegan-v, videogpt, cd-fvd, google-tf, or all of them.")
    ] = "genhoi",
    weights: Annotated[
        list[str] | None, typer.Option(help="Weights, recognised by content; tools/eval_fvd/ when left out.")
    ] = None,
    sample_duration: Annotated[
        int | None, typer.Option(min=1, help="Frames of one segment, where the protocol leaves it open (16).")
    ] = None,
    interval: Annotated[str | None, typer.Option(help="95 % interval: subsampling or jackknife.")] = None,
    extrapolate: Annotated[
        bool, typer.Option("--extrapolate", help="Also the value at infinitely many clips; needs N > D.")
    ] = False,
    device: Annotated[str | None, typer.Option(help="cpu or cuda; the GPU where there is one, when left out.")] = None,
    precision: Annotated[str | None, typer.Option(help="On a GPU: tf32 (default), fp16 or fp32.")] = None,
    batch_size: Annotated[int | None, typer.Option(min=1, help="Segments in a GPU batch.")] = None,
    workers: Annotated[int | None, typer.Option(min=0, help="Decoding processes; the cores when left out.")] = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    cache: Annotated[str | None, typer.Option(metavar="DIR", help="Keep features here and reuse them.")] = None,
    save_stats: Annotated[
        str | None, typer.Option(metavar="F", help="Save the ground truth's statistics (.npz), to give as GT or GEN.")
    ] = None,
    save_gen_stats: Annotated[
        str | None, typer.Option(metavar="F", help="Save the generated set's statistics the same way.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at a clip that cannot be read, in place of leaving it out.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Draws the subsets of --interval and --extrapolate.")] = 0,
    out: Annotated[
        str | None, typer.Option("-o", "--out", metavar="RUN", help="Run directory to write, here or s3://.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON alone on stdout.")] = False,
) -> None:
    """How far is the generated set from the real one? The answer carries every constant that made it.

    Example: rushes fvd generated/ real/ --metric fvd kvd --interval jackknife -o run
    """
    from rushes.distribution.compare import Question, metrics_from
    from rushes.distribution.distances import Extras
    from rushes.distribution.evaluate import compare_sets

    _choice("--interval", interval, ("subsampling", "jackknife"))
    _choice("--precision", precision, ("tf32", "fp16", "fp32"))
    _choice("--device", device, ("cpu", "cuda"))
    for option, path in (("--save-stats", save_stats), ("--save-gen-stats", save_gen_stats)):
        if path is not None and not path.endswith(".npz"):
            raise typer.BadParameter(f"expected a name ending in .npz; got {path!r}", param_hint=option)
    question = Question(
        metrics=metrics_from([word for given in metric or ["fvd"] for word in given.split(",")]),
        protocol=protocol,
        sample_duration=sample_duration,
        weights=tuple(Path(path) for path in weights or []),
        extras=Extras(interval=interval, extrapolate=extrapolate, seed=seed),  # type: ignore[arg-type]
        precision=precision,  # type: ignore[arg-type]
        device=device,
        batch=batch_size,
        workers=workers,
        cache=Path(cache) if cache else None,
        strict=strict,
    )
    comparison = compare_sets(
        gen,
        gt,
        question=question,
        run=out,
        save_gt=save_stats,
        save_gen=save_gen_stats,
        engine=chosen_engine(engine, address),
        progress=progress,
        say=say,
    )
    written = [path for path in (save_stats, save_gen_stats, out) if path]
    if as_json:
        print_json(_as_json(comparison, written))
    else:
        _show(comparison, written)


def _choice(option: str, value: str | None, allowed: tuple[str, ...]) -> None:
    if value is not None and value not in allowed:
        raise typer.BadParameter(f"expected {' or '.join(allowed)}; got {value!r}", param_hint=option)


def _as_json(comparison: Comparison, written: list[str]) -> dict[str, object]:
    from rushes.distribution.video_metrics import RESULT_KEYS

    answers = [
        {
            "metric": answer.metric,
            "protocol": answer.recipe.protocol,
            "result_key": RESULT_KEYS[answer.metric],
            "measurements": [
                {"signature": m.signature, "value": m.stored_value, "count": m.count, "note": m.note}
                for m in answer.measurements
            ],
        }
        for answer in comparison.answers
    ]
    left_out = {"generated": comparison.excluded("gen"), "ground_truth": comparison.excluded("gt")}
    return {
        "answers": answers,
        "excluded": left_out,
        "ignored": list(comparison.ignored),
        "weights": dict(comparison.weights),
        "written": written,
    }


fvd.command_class = Command  # type: ignore[attr-defined]


def _show(comparison: Comparison, written: list[str]) -> None:
    from rushes.core.text import value_text

    for side, words in (("gen", "generated"), ("gt", "ground-truth")):
        for why in comparison.excluded("gen" if side == "gen" else "gt").values():
            say(f"left out of the {words} set: {why}")
    if comparison.ignored:
        say(f"{len(comparison.ignored)} files are no clips and were ignored, {comparison.ignored[0]} among them")
    rows = []
    for answer in comparison.answers:
        params = dict(answer.value.definition.params)
        for m in answer.measurements:
            sizes = (params["n_gen"], params["n_gt"], params["d"])
            rows.append((m.definition.name, answer.recipe.protocol, value_text(m), *sizes))
    print_table(
        "Generated against ground truth",
        ("metric", "protocol", "value", "n gen", "n gt", "D"),
        rows,
        numbers=(2, 3, 4, 5),
    )
    _explain([answer.value for answer in comparison.answers])
    for path in written:
        print(path)


def _explain(values: list[Measurement]) -> None:
    for measurement in values:
        print(measurement.signature)
    for note in dict.fromkeys(part for m in values for part in m.note.split("; ") if part):
        print(f"note: {note}")
