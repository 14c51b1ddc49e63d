"""`rushes pose PRED GT` scores poses; `rushes pose extract CLIP…` finds them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from rushes.core.table import COUNT
from rushes.instruments.pose.instrument import NORMALIZATIONS
from rushes.present.terminal.console import (
    next_line,
    one_line_errors,
    print_json,
    print_table,
    print_words,
    say,
    show_signatures,
    tell,
)
from rushes.present.terminal.options import Json, Overwrite, Verbose
from rushes.present.terminal.progress import progress_bars
from rushes.present.terminal.several import several_words

if TYPE_CHECKING:
    from rushes.instruments.pose.evaluate import PoseEvaluation


class _ScoreByDefault(TyperGroup):
    """A group whose first word may be left out: anything but a subcommand's name goes to `score`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["score", *args]
        return super().parse_args(ctx, args)


def _is_norm(word: str) -> bool:
    from rushes.instruments.pose.scores.normalization import is_norm

    return is_norm(word)


app = typer.Typer(
    cls=_ScoreByDefault,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Score poses against true ones: rushes pose PRED GT --norm NAME (options: rushes pose score --help). "
    "Find the poses of clips: rushes pose extract CLIP…\n\n"
    "Example: rushes pose pred.npz gt.npz --norm all\n\nExample: rushes pose gen.mp4 driving.mp4 --norm torso-diameter",
)


@app.command("score", cls=several_words({"--k": str.isdecimal, "--norm": _is_norm}))
@one_line_errors
def score(
    pred: Annotated[
        str, typer.Argument(help="Predicted poses: .json (COCO), .jsonl, .npy, .npz, or a clip; or a folder of them.")
    ],
    gt: Annotated[str, typer.Argument(help="True poses, in any of the same formats; a folder against a folder.")],
    norm: Annotated[
        list[str],
        typer.Option(
            metavar="NAME…",
            help=f"What PCK is measured against: {', '.join(NORMALIZATIONS)}, or all (the first three); a distance "
            "follows its name: absolute-px=8 or AbsolutePixels(8). Required: PCK is undefined without it.",
        ),
    ],
    k: Annotated[
        list[str] | None, typer.Option(metavar="K…", help="Percentages of the reference length: --k 5 10 20 50.")
    ] = None,
    px: Annotated[float, typer.Option(help="The absolute threshold of --norm all, in coordinate units.")] = 10.0,
    skeleton: Annotated[
        str | None, typer.Option(help="coco-17, mediapipe-33, openpose-25 or h36m-17. (default: by joint count)")
    ] = None,
    hips: Annotated[str | None, typer.Option(metavar="L,R", help="Hip joints by index, for other skeletons.")] = None,
    head: Annotated[str | None, typer.Option(metavar="A,B", help="Head joints by index, for head-size.")] = None,
    columns: Annotated[
        Literal["xyz", "xyv"] | None, typer.Option(help="Meaning of an array's three columns; xyv: x, y, visibility.")
    ] = None,
    dims: Annotated[Literal[2, 3] | None, typer.Option(help="2 scores x and y of 3-D poses.")] = None,
    unit: Annotated[str | None, typer.Option(help="Unit of the coordinates: px, mm, cm, m; 3DPCK needs it.")] = None,
    root: Annotated[Literal["as-given", "hips"], typer.Option(help="Origin of 3-D errors.")] = "as-given",
    pair: Annotated[
        Literal["auto", "order", "time", "dtw"],
        typer.Option(help="Frames by image id or else in order (auto), in order, by time, or warped in time."),
    ] = "auto",
    lag: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Search for the best shift of up to N frames each way, and score with it."
        ),
    ] = 0,
    fit: Annotated[
        Literal["refuse", "scale"], typer.Option(help="If picture sizes differ: refuse, or scale the prediction.")
    ] = "refuse",
    duplicates: Annotated[
        Literal["refuse", "keep-best", "match"],
        typer.Option(help="If an image has several people: refuse, score the largest, or score all."),
    ] = "refuse",
    assign: Annotated[
        Literal["oks-hungarian", "oks-greedy", "iou-hungarian"] | None,
        typer.Option(
            help="How predictions are matched to people. Default: by OKS, or by boxes if the joints are not COCO's."
        ),
    ] = None,
    unmatched: Annotated[
        Literal["skip", "wrong"],
        typer.Option(help="True poses without a prediction: skip (and count them), or count as wrong."),
    ] = "skip",
    floor: Annotated[
        bool, typer.Option("--floor/--no-floor", help="Of clips: also score a re-encoded copy of the truth.")
    ] = True,
    out: Annotated[str | None, typer.Option("-o", "--out", metavar="RUN", help="Run directory.")] = None,
    overwrite: Overwrite = False,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Score predicted poses: PCK under declared normalisations, MPJPE, OKS, 3-D and motion errors.

    Example: rushes pose pred.npz gt.npz --norm torso-diameter --k 5 10 20 50 -o runs/pose
    """
    from rushes.instruments.pose.evaluate import score_pose
    from rushes.instruments.pose.pairing.question import DEFAULT_KS, PoseOptions
    from rushes.instruments.pose.show.set_text import show_set

    options: PoseOptions = {
        "norms": norm,
        "ks": _ks(k) or DEFAULT_KS,
        "px": px,
        "skeleton": skeleton,
        "hips": _pair(hips, "--hips"),
        "head": _pair(head, "--head"),
        "columns": columns,
        "dims": dims,
        "unit": unit,
        "root": root,
        "pair": pair,
        "lag": lag,
        "fit": fit,
        "duplicates": duplicates,
        "assign": assign,
        "unmatched": unmatched,
        "floor": floor,
    }
    with progress_bars() as progress:
        if Path(pred).is_dir() or Path(gt).is_dir():
            from rushes.instruments.pose.evaluate import score_poses

            scored = score_poses(pred, gt, run=out, overwrite=overwrite, progress=progress, **options)
            show_set(scored, verbose=verbose, as_json=as_json)
            return
        done = score_pose(pred, gt, run=out, overwrite=overwrite, progress=progress, **options)
    if as_json:
        print_json(_as_json(done))
    else:
        _show(done, verbose=verbose)


@app.command("extract")
@one_line_errors
def extract(
    clips: Annotated[list[str], typer.Argument(metavar="CLIP…", help="Clips, folders of clips, or globs in quotes.")],
    out: Annotated[
        str, typer.Option("-o", "--out", metavar="POSES", help="A .npz for one clip, a folder for several.")
    ] = "poses.npz",
    as_json: Json = False,
) -> None:
    """Find the body in every frame of a clip: 33 joints, each frame by itself, no smoothing.

    Example: rushes pose extract take.mp4 -o poses.npz
    """
    from rushes.instruments.pose.files.extract import extract_clips

    with progress_bars() as progress:
        written = extract_clips(clips, out=out, progress=progress, warn=say)
    if as_json:
        print_json([each.as_dict() for each in written])
        return
    rows = [(w.clip, str(w.frames), str(w.with_body), w.path) for w in written]
    print_words("Bodies found", ("clip", *COUNT("frames", "with a body"), "poses"), rows)
    print(out)


def _ks(words: list[str] | None) -> list[int]:
    """Percentages, each word one or several with commas."""
    parts = [part for word in words or [] for part in word.split(",") if part]
    if not all(part.isdecimal() for part in parts):
        raise typer.BadParameter(f"expected whole percentages such as 5 10 20; got {' '.join(parts)}", param_hint="--k")
    return [int(part) for part in parts]


def _pair(text: str | None, option: str) -> tuple[int, int] | None:
    """Two joints by index, "11,12"."""
    if text is None:
        return None
    parts = text.split(",")
    if len(parts) != 2 or not all(part.strip().isdecimal() for part in parts):
        raise typer.BadParameter(f"expected two joint indices such as 11,12; got {text!r}", param_hint=option)
    return int(parts[0]), int(parts[1])


def _as_json(done: PoseEvaluation) -> dict[str, object]:
    return {
        "run": str(done.run),
        "skeleton": done.skeleton.name,
        "warnings": list(done.warnings),
        **done.pairing.as_dict(),
        "measurements": [m.as_dict() for m in done.measurements],
    }


def _show(done: PoseEvaluation, *, verbose: bool) -> None:
    from rushes.instruments.pose.pair_scoring import COPY, floors
    from rushes.instruments.pose.show.tables import error_table, norm_of, pck_table, pcks

    title = f"Frames: {done.pairing.frames}, skeleton {done.skeleton.name}, paired by {done.pairing.by}"
    print_table(replace(pck_table(done.measurements), title=title), signatures=verbose)
    print_table(error_table(done.measurements), signatures=verbose)
    if floors(done.measurements):
        tell(f"copy {COPY}: the truth itself, re-encoded and seen by the same estimator. Less than that says nothing.")
    if len(done.accuracies) > 1:
        tell("The same predictions under each normalisation: these PCKs are not comparable with one another.")
    notes = dict.fromkeys(f"{m.name} {norm_of(m)}: {m.note}" for m in pcks(done.measurements) if m.note)
    for line in (*notes, *done.warnings):
        say(f"Note: {line}")
    if not verbose:  # else every row has its own
        show_signatures((), verbose=False)
    next_line("report", str(done.run))
    print(done.run)
