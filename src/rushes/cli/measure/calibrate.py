"""`rushes calibrate`: a profile for one kind of clips, from clips that are known to be good."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rushes.present.terminal.console import next_line, print_words, show_signatures, tell
from rushes.present.terminal.options import Jobs, Verbose
from rushes.present.terminal.progress import progress_bars

if TYPE_CHECKING:
    from rushes.instruments.clip.signals.calibration import Calibration


def calibrate(
    clips: Annotated[
        list[str],
        typer.Argument(metavar="GOOD_CLIPS…", help="Clips that are known to be good, folders or globs of them."),
    ],
    out: Annotated[str, typer.Option("-o", "--out", metavar="FILE", help="The profile to write, a TOML file.")],
    profile: Annotated[
        str, typer.Option(help="The profile to start from: general, talking-head, generated, or a TOML file.")
    ] = "general",
    percentile: Annotated[
        float, typer.Option(min=50, max=100, help="Percentage of good clips that should pass each threshold.")
    ] = 99.0,
    name: Annotated[str | None, typer.Option(help="Name of the profile. (default: the file's stem)")] = None,
    run: Annotated[
        str | None,
        typer.Option(
            "--run", metavar="RUN", help="Run directory for the measured clips; an existing one is continued."
        ),
    ] = None,
    jobs: Jobs = None,
    verbose: Verbose = False,
) -> None:
    """Make a profile whose thresholds fit your clips, and say how many false alarms to expect.

    Example: rushes calibrate good_takes/ -o my.toml, then rushes clip takes/ --profile my.toml
    """
    from pathlib import Path

    from rushes.core.machine.files import replacing
    from rushes.instruments.clip.evaluate import evaluate_clips
    from rushes.instruments.clip.signals.calibration import calibrate as made_of
    from rushes.instruments.clip.signals.profile import load_profile

    rules = load_profile(profile)
    with progress_bars() as progress:
        measured = evaluate_clips(clips, run=run, profile=rules, jobs=jobs, progress=progress)
    found = made_of(measured, profile=rules, percentile=percentile, name=name or Path(out).stem)
    with replacing(Path(out)) as file:
        file.write(found.toml(source=" ".join(clips)))
    _show(found, verbose=verbose)
    if found.left_out:
        tell(f"Skipped, because they could not be fully read: {found.left_out}")
    next_line("clip", *clips, "--profile", out)
    print(out)


def _show(found: Calibration, *, verbose: bool) -> None:
    rows = []
    for row in found.rules:
        sign = {"above": ">", "below": "<", "is": "="}[row.rule.comparison]
        spread = "–" if row.low is None else f"{row.low:.4g} to {row.high:.4g}"
        share = row.kept or f"{100 * (row.expected or 0):.1f} %"
        rows.append(
            [row.rule.metric, row.rule.level, f"{sign} {row.before}", f"{sign} {row.rule.threshold}", spread, share]
        )
    header = ("metric", "level", "before", "now", "good clips", "beyond it, to expect")
    print_words(f"Thresholds at the {found.percentile:g}th percentile of {found.clips} clips", header, rows)
    rate = found.false_alarms
    assert rate.interval is not None
    tell(
        f"False alarms to expect: {100 * float(rate.value or 0):.1f} % of such clips "
        f"({100 * rate.interval.low:.1f} to {100 * rate.interval.high:.1f} %)"
    )
    show_signatures([rate.signature], verbose=verbose)
