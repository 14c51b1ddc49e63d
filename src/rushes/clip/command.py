"""`rushes clip`: MetricBundleV1 on clips, with review signals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated, cast

import typer

from rushes.terminal.console import EXIT_GATE, print_json, print_table, progress, say
from rushes.terminal.engine_options import AddressOption, EngineOption, chosen_engine

if TYPE_CHECKING:
    from rushes.clip.faces import Tier
    from rushes.runs import Run

_SHOWN = 25
"""Rows of the closing table; the run holds them all."""


def clip(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH…", help="Clips, folders of clips, or globs in quotes; here, s3:// or gs://."),
    ],
    audio: Annotated[
        str | None, typer.Option(help="A sound file for every clip, or a folder with one per clip, matched by stem.")
    ] = None,
    tier: Annotated[
        int, typer.Option(min=0, max=2, help="How far to measure: 0 picture and timing, 1 faces, 2 SyncNet.")
    ] = 0,
    face_model: Annotated[
        str | None, typer.Option(metavar="FILE", help="MediaPipe's 478-point face_landmarker.task, for tier 1.")
    ] = None,
    syncnet_weights: Annotated[
        str | None, typer.Option(metavar="FILE", help="SyncNet's syncnet_v2.model, for tier 2.")
    ] = None,
    profile: Annotated[
        str, typer.Option(help="Thresholds of the review signals: general, talking-head, or a TOML file.")
    ] = "general",
    out: Annotated[
        str | None,
        typer.Option("-o", "--out", metavar="RUN", help="Run directory, here or s3://; the same one continues."),
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Worker processes; the cores when left out.")] = None,
    timeout: Annotated[
        float | None, typer.Option(min=0.1, help="Seconds a clip may take before it is given up.")
    ] = None,
    memory: Annotated[
        int | None,
        typer.Option(min=1, metavar="MB", help="Memory a worker may hold, some 150 MB of it before the first clip."),
    ] = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    fail_on: Annotated[
        str | None, typer.Option("--fail-on", help="Exit 3 when a clip is: reject, or flagged (or worse).")
    ] = None,
    bundle: Annotated[
        str | None, typer.Option(metavar="DIR", help="Also write ID.metrics.json, 22 keys, per clip.")
    ] = None,
    csv: Annotated[str | None, typer.Option(metavar="FILE", help="Also write one row per clip as CSV.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON alone on stdout.")] = False,
) -> None:
    """Measure clips and say which deserve a look. Badges are review signals, not verdicts.

    Example: rushes clip takes/ --profile talking-head --fail-on reject
    """
    from rushes.clip.evaluate import evaluate_clips
    from rushes.clip.table import write_bundles, write_csv

    if fail_on not in (None, "reject", "flagged"):
        raise typer.BadParameter(f"expected reject or flagged; got {fail_on!r}", param_hint="--fail-on")
    where = chosen_engine(engine, address)
    with _bar() as bar:
        run = evaluate_clips(
            paths,
            run=out,
            audio=audio,
            tier=cast("Tier", tier),
            profile=profile,
            face_model=face_model,
            syncnet_weights=syncnet_weights,
            jobs=jobs,
            timeout=timeout,
            memory_mb=memory,
            engine=where,
            progress=bar,
        )
    written = [*(write_bundles(run, bundle) if bundle else []), *([write_csv(run, csv)] if csv else [])]
    if as_json:
        print_json(_as_json(run))
    else:
        _show(run, profile, written)
    worst = {"reject": {"reject"}, "flagged": {"reject", "flagged"}}.get(fail_on or "", set())
    caught = sum(subject.badge in worst for subject in run.subjects)
    if caught:
        say(f"gate --fail-on {fail_on}: {caught} of {len(run.subjects)} clips did not hold")
        raise typer.Exit(EXIT_GATE)


@contextmanager
def _bar() -> Iterator[Callable[[int, int], Callable[[int], None]]]:
    """A progress bar that opens once the number of clips is known, finished ones already counted."""
    with ExitStack() as stack:

        def opened(total: int, finished: int) -> Callable[[int], None]:
            advance = stack.enter_context(progress("clips", total, "clips"))
            advance(finished)
            return advance

        yield opened


def _as_json(run: Run) -> dict[str, object]:
    return {
        "run": run.place,
        "review_signals": _counts(run),
        "clips": [entry.subject.row() | {"measurements": entry.rows()} for entry in run.entries],
    }


def _counts(run: Run) -> dict[str, int]:
    return {badge: sum(s.badge == badge for s in run.subjects) for badge in ("reject", "flagged", "pass")}


def _show(run: Run, profile: str, written: list[str]) -> None:
    from rushes.clip.table import clip_columns, clip_rows, worst_first

    ranked = worst_first(run)
    columns = clip_columns(run)
    header = ("clip", "signal", *(label for label, _ in columns), "reasons")
    print_table("Review signals", header, clip_rows(ranked[:_SHOWN], columns), numbers=range(2, 2 + len(columns)))
    if len(ranked) > _SHOWN:
        print(f"… and {len(ranked) - _SHOWN} more in the run")
    counts = _counts(run)
    print(f"Review signals (profile {profile}): " + ", ".join(f"{n} {badge}" for badge, n in counts.items()))
    unjudged = _not_judged(run)
    if unjudged:
        print(f"Not computed for some clips, so not judged: {', '.join(unjudged)}")
    for signature in _signatures(run):
        print(f"  {signature}")
    for path in written[:3]:
        print(path)
    print(f"rushes report {run.place} -o report.html makes a page of it")
    print(run.place)


def _not_judged(run: Run) -> list[str]:
    """Metrics with a rule but no value, over the clips that could be read."""
    names: set[str] = set()
    for subject in run.subjects:
        listed = subject.facts.get("not_judged")
        if isinstance(listed, list) and "error" not in subject.facts:
            names.update(map(str, listed))
    return sorted(names)


def _signatures(run: Run) -> list[str]:
    """The definitions behind the columns shown."""
    from rushes.clip.table import clip_columns

    shown = {name for _, name in clip_columns(run)}
    seen: dict[str, str] = {}
    for entry in run.entries:
        for measurement in entry.measurements:
            if measurement.definition.name in shown:
                seen.setdefault(measurement.definition.name, measurement.signature)
    return list(seen.values())
