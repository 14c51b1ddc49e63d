"""`rushes pose PRED GT` scores poses; `rushes pose extract CLIP…` finds them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from rushes.terminal.console import one_line_errors, print_json, print_table, progress, say

if TYPE_CHECKING:
    from rushes.core import Measurement
    from rushes.pose.evaluate import PoseEvaluation

_MANY = ("--k", "--norm")
"""Options that take several values after one name: `--k 5 10 20`."""


class _ScoreByDefault(TyperGroup):
    """A group whose first word may be left out: anything but a subcommand's name goes to `score`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["score", *args]
        return super().parse_args(ctx, _spread(args))


def _spread(args: list[str]) -> list[str]:
    """Repeat an option's name before each of its values, which the parser needs.

    A value of `--k` is a number, one of `--norm` the name of a normalisation; anything else ends the list.

    >>> _spread(["score", "--k", "5", "10", "a.npy", "--norm", "torso-diameter", "bbox-diagonal", "b.npy"])
    ['score', '--k', '5', '--k', '10', 'a.npy', '--norm', 'torso-diameter', '--norm', 'bbox-diagonal', 'b.npy']
    """
    spread: list[str] = []
    current, fresh = "", False
    for word in args:
        if word in _MANY:
            current, fresh = word, True
            spread.append(word)
            continue
        if current and not fresh and _is_value(current, word):
            spread += [current, word]
            continue
        spread.append(word)
        current, fresh = (current, False) if fresh else ("", False)
    return spread


def _is_value(option: str, word: str) -> bool:
    if option == "--k":
        return word.replace(",", "").isdecimal()
    return word.startswith("absolute-px=") or word in (
        "torso-diameter",
        "bbox-diagonal",
        "torso-or-bbox",
        "head-size",
        "all",
    )


app = typer.Typer(
    cls=_ScoreByDefault,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Score poses against true ones: rushes pose PRED GT --norm NAME (options: rushes pose score --help). "
    "Find the poses of clips: rushes pose extract CLIP…\n\n"
    "Example: rushes pose pred.npz gt.npz --norm all\n\nExample: rushes pose gen.mp4 driving.mp4 --norm torso-diameter",
)


@app.command("score")
@one_line_errors
def score(
    pred: Annotated[str, typer.Argument(help="Predicted poses: .json (COCO), .jsonl, .npy, .npz, or a clip.")],
    gt: Annotated[str, typer.Argument(help="True poses, in any of the same formats.")],
    norm: Annotated[
        list[str],
        typer.Option(
            help="What PCK is measured against: torso-diameter, bbox-diagonal, absolute-px=T, torso-or-bbox, "
            "head-size (PCKh), or all (the first three). A PCK without it does not exist."
        ),
    ],
    k: Annotated[
        list[str] | None, typer.Option(metavar="K…", help="Percentages of the reference length: --k 5 10 20 50.")
    ] = None,
    px: Annotated[float, typer.Option(help="The absolute threshold of --norm all, in coordinate units.")] = 10.0,
    skeleton: Annotated[
        str | None, typer.Option(help="coco-17, mediapipe-33, openpose-25 or h36m-17; by joint count when left out.")
    ] = None,
    hips: Annotated[str | None, typer.Option(metavar="L,R", help="Hip joints by index, for other skeletons.")] = None,
    head: Annotated[str | None, typer.Option(metavar="A,B", help="Head joints by index, for head-size.")] = None,
    columns: Annotated[
        str | None, typer.Option(help="What three columns of an array are: xyz, or xyv (x, y, visibility).")
    ] = None,
    dims: Annotated[int | None, typer.Option(min=2, max=3, help="2 scores x and y of 3-D poses.")] = None,
    unit: Annotated[str | None, typer.Option(help="Unit of the coordinates: px, mm, cm, m; 3DPCK needs it.")] = None,
    root: Annotated[str, typer.Option(help="3-D errors: as-given, or hips as origin.")] = "as-given",
    duplicates: Annotated[str, typer.Option(help="Two poses for one image: refuse, or keep-best.")] = "refuse",
    unmatched: Annotated[
        str, typer.Option(help="True poses nobody predicted: skip (counted and shown), or wrong.")
    ] = "skip",
    out: Annotated[str | None, typer.Option("-o", "--out", metavar="RUN", help="Run directory.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON alone on stdout.")] = False,
) -> None:
    """Score predicted poses: PCK under declared normalisations, MPJPE, OKS, 3-D and motion errors.

    Example: rushes pose pred.npz gt.npz --norm torso-diameter --k 5 10 20 50 -o runs/pose
    """
    from rushes.pose.evaluate import DEFAULT_KS, score_pose

    with progress("frames", _frames(pred, gt), "frames") as advance:
        done = score_pose(
            pred,
            gt,
            norms=norm,
            ks=_ks(k) or DEFAULT_KS,
            px=px,
            skeleton=skeleton,
            hips=_pair(hips, "--hips"),
            head=_pair(head, "--head"),
            columns=_choice(columns, ("xyz", "xyv"), "--columns"),
            dims=dims,
            unit=unit,
            root=_choice(root, ("as-given", "hips"), "--root"),
            duplicates=_choice(duplicates, ("refuse", "keep-best"), "--duplicates"),
            unmatched=_choice(unmatched, ("skip", "wrong"), "--unmatched"),
            run=out,
            progress=advance,
        )
    if as_json:
        print_json(_as_json(done))
    else:
        _show(done)


@app.command("extract")
@one_line_errors
def extract(
    clips: Annotated[list[str], typer.Argument(metavar="CLIP…", help="Clips, folders of clips, or globs in quotes.")],
    out: Annotated[
        str, typer.Option("-o", "--out", metavar="POSES", help="A .npz for one clip, a folder for several.")
    ] = "poses.npz",
    as_json: Annotated[bool, typer.Option("--json", help="JSON alone on stdout.")] = False,
) -> None:
    """Find the body in every frame of a clip: 33 joints, each frame by itself, no smoothing.

    Example: rushes pose extract take.mp4 -o poses.npz
    """
    from rushes.pose.evaluate import extract_clips

    with progress("frames", _frames(*clips), "frames") as advance:
        written = extract_clips(clips, out, progress=advance)
    if as_json:
        print_json([each.facts() for each in written])
        return
    rows = [(w.clip, str(w.frames), str(w.found), w.path) for w in written]
    print_table("Bodies found", ("clip", "frames", "with a body", "poses"), rows, numbers=(1, 2))
    print(out)


def _ks(words: list[str] | None) -> list[int]:
    parts = [part for word in words or [] for part in word.split(",") if part]
    if not all(part.isdecimal() for part in parts):
        raise typer.BadParameter(f"expected whole percentages such as 5 10 20; got {' '.join(parts)}", param_hint="--k")
    return [int(part) for part in parts]


def _pair(text: str | None, option: str) -> tuple[int, int] | None:
    if text is None:
        return None
    parts = text.split(",")
    if len(parts) != 2 or not all(part.strip().isdecimal() for part in parts):
        raise typer.BadParameter(f"expected two joint indices such as 11,12; got {text!r}", param_hint=option)
    return int(parts[0]), int(parts[1])


def _choice(word: str | None, choices: tuple[str, ...], option: str) -> Any:
    if word is not None and word not in choices:
        raise typer.BadParameter(f"expected {' or '.join(choices)}; got {word!r}", param_hint=option)
    return word


def _as_json(done: PoseEvaluation) -> dict[str, object]:
    return {
        "run": str(done.run),
        "skeleton": done.skeleton.name,
        "remarks": list(done.remarks),
        **done.pairing.facts(),
        "measurements": [
            {"signature": m.signature, "value": m.stored_value, "count": m.count, "note": m.note}
            for m in done.measurements
        ],
    }


def _show(done: PoseEvaluation) -> None:
    from rushes.core.text import value_text

    ks = list(done.accuracies[0].pck_at)
    facts = done.pairing.facts()
    title = f"Frames: {facts['frames']}, skeleton {done.skeleton.name}, paired by {facts['matched_by']}"
    header = ("normalisation", *(f"PCK@{k}" for k in ks), "key points", "signature")
    print_table(title, header, _pck_rows(done), numbers=range(1, len(header) - 1))
    single = [m for m in done.measurements if m.definition.name not in ("pck", "pckh", "pck_joint")]
    lines = [(value_text(m), m.signature, m.note) for m in single]
    print_table("Beside PCK", ("value", "signature", "note"), lines, numbers=(0,))
    if len(done.accuracies) > 1:
        print("The same predictions under each normalisation: these PCKs do not compare with one another.")
    notes = {f"{m.definition.name} {_norm(m)}: {m.note}": None for m in done.measurements if m.note and _norm(m)}
    for remark in (*notes, *done.remarks):
        say(f"note: {remark}")
    print(done.run)


def _pck_rows(done: PoseEvaluation) -> list[tuple[str, ...]]:
    """One row per normalisation; its signature is every column's, with k for the column's number."""
    rows = []
    for each, found in zip(done.accuracies, done.scores.tally.pck, strict=True):
        label = each.normalization.label()
        first = next(m.signature for m in done.measurements if _norm(m) == label)
        signature = re.sub(r"\|k:\d+", "|k:K", first)
        total = int(found.total.sum())
        values = [f"{value:.4f}" if total else "–" for value in each.pck_at.values()]
        rows.append((label, *values, str(total), signature))
    return rows


def _norm(measurement: Measurement) -> str:
    """The normalisation of a PCK over all joints; empty for every other number."""
    if measurement.definition.name not in ("pck", "pckh"):
        return ""
    return _head(measurement) or dict(measurement.definition.params)["norm"]


def _head(measurement: Measurement) -> str:
    """The label of a head-normalised PCK, whose signature names the joints instead."""
    head = dict(measurement.definition.params).get("head")
    return f"head-size({head})" if head else ""


def _frames(*paths: str) -> int:
    """How many frames the clips among these say they have: what a progress bar counts to."""
    from rushes.errors import MediaError
    from rushes.media import probe
    from rushes.media.find import VIDEO_SUFFIXES

    total = 0
    for path in paths:
        if path.lower().endswith(tuple(VIDEO_SUFFIXES)):
            try:
                video = probe(path).video
            except MediaError:
                continue  # the reader says what is wrong with it, in its own words
            total += (video.frames_declared or 0) if video else 0
    return total
