"""`rushes clip`: every clip measured, with a review signal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from rushes.present.ci.outputs import AnnotateOption, CiOutputs, JunitOption, SummaryOption
from rushes.present.terminal.console import (
    EXIT_BAD_INPUT,
    EXIT_GATE,
    next_line,
    print_json,
    print_table,
    say,
    show_signatures,
    tell,
)
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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rushes.core import Measurement
    from rushes.instruments.clip.faces.models import Tier
    from rushes.instruments.clip.signals.profile import Profile
    from rushes.storage.runs import Run

_SHOWN = 25
"""Rows of the closing table; the run holds them all."""
_FILES = 3
"""Bundles that are listed."""


def clip(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH…",
            help="Clips, folders of clips, or globs in quotes; here, s3:// or gs://. A run is "
            "judged again, not measured.",
        ),
    ],
    audio: Annotated[
        str | None,
        typer.Option(help="A sound file for every clip, or a folder with one per clip, matched by path or stem."),
    ] = None,
    canon: Annotated[
        bool, typer.Option("--canon", help="Measure the canonical form of each clip, as rushes canon makes it.")
    ] = False,
    fps: Annotated[
        str | None,
        typer.Option(
            "--fps",
            metavar="RATE",
            help="With --canon: its frame rate (25, 30000/1001); by default each clip's own.",
        ),
    ] = None,
    alike: Annotated[
        str | None,
        typer.Option(
            metavar="FORM",
            help="Also measure each clip in a common form, WIDTHxHEIGHT@FPS,SECONDSs, as 160x120@8,2s.",
        ),
    ] = None,
    tier: Annotated[
        int | None,
        typer.Option(min=0, max=2, help="0 picture and timing, 1 faces, 2 SyncNet. (default: what the profile needs)"),
    ] = None,
    face_model: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="MediaPipe's 478-point face_landmarker.task, for tier 1; face-landmarker is the pulled one.",
        ),
    ] = None,
    syncnet_weights: Annotated[
        str | None, typer.Option(metavar="FILE", help="SyncNet's syncnet_v2.model, for tier 2.")
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Thresholds of the review signals: general, generated, thorough, talking-head, screen, animation, "
            "metricbundle-v1, auto (by what each clip is), or a file; see rushes profile. A run keeps its own unless "
            "you name one. (default: general)",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Also measure this optional metric, or one from another package; repeatable.",
        ),
    ] = None,
    motion: Annotated[
        bool,
        typer.Option("--motion", help="Also measure motion (optical flow); on if a rule of the profile needs it."),
    ] = False,
    network: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Also measure with a network of your own, by its manifest; repeatable."),
    ] = None,
    prompts: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="For --network, --metric text_error or word_error_rate: a CSV file with prompt_id, prompt_text and "
            "script.",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("-o", "--out", metavar="RUN", help="Run directory, here or s3://; the same paths continue it."),
    ] = None,
    add: Annotated[bool, typer.Option("--add", help="Add these clips to the run.")] = False,
    overwrite: Overwrite = False,
    shards: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Clips in a shard of the run, 0 for none. (default: 10,000, from 10,000 clips on)"
        ),
    ] = None,
    jobs: Jobs = None,
    timeout: Annotated[float | None, typer.Option(min=0.1, help="Timeout per clip, in seconds.")] = None,
    memory: Annotated[
        int | None,
        typer.Option(min=1, metavar="MB", help="Memory limit per worker; about 150 MB are used before the first clip."),
    ] = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    fail_on: Annotated[
        Literal["reject", "flagged"] | None,
        typer.Option(
            "--fail-on",
            help="Exit 3 if a clip is rejected, or (flagged) at least flagged; exit 1 if a rule could not be judged.",
        ),
    ] = None,
    allow_unjudged: Annotated[
        bool, typer.Option("--allow-unjudged", help="Let --fail-on pass even if a rule could not be judged.")
    ] = False,
    junit: JunitOption = None,
    summary: SummaryOption = None,
    annotate: AnnotateOption = False,
    bundle: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Also write ID.metrics.json per clip: 22 keys, and what they mean."),
    ] = None,
    csv: Annotated[
        str | None, typer.Option(metavar="FILE", help="Also write one row per clip as CSV; - for CSV alone on stdout.")
    ] = None,
    strict: Strict = False,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Measure clips and say which deserve a look. Review signals are reasons to look, not verdicts.

    Example: rushes clip takes/ --profile talking-head --fail-on reject
    """
    from rushes.workers import template

    with template.forkable():
        from rushes.instruments.clip.clip_task import prepare
        from rushes.instruments.clip.evaluate import evaluate_clips
        from rushes.instruments.clip.show.tables import csv_of, write_bundles, write_csv
        from rushes.instruments.clip.signals.profile import load_profile, profile_of

        prepare()

    _refuse_empty({"--audio": audio, "--prompts": prompts, "-o": out, "--bundle": bundle, "--csv": csv})
    if csv == "-" and as_json:
        raise typer.BadParameter("--csv - and --json both write to stdout; give one of them a file", param_hint="--csv")
    if add and overwrite:
        raise typer.BadParameter("--add and --overwrite exclude each other; give one", param_hint="--add")
    outputs = CiOutputs(junit=junit, summary=summary, annotate=annotate)
    outputs.require(fail_on, "give --fail-on reject or --fail-on flagged")
    if len(paths) == 1 and _is_run(paths[0]):
        measuring = {"-o": out, "--audio": audio, "--canon": canon, "--alike": alike, "--network": network}
        measuring |= {"--add": add, "--overwrite": overwrite}
        _judge_again(paths[0], profile, fail_on, allow_unjudged, outputs, refused=measuring, as_json=as_json)
        return
    rules = load_profile(profile or "general")
    where = chosen_engine(engine, address)
    with template.standing_by(), progress_bars() as progress:
        run = evaluate_clips(
            paths,
            run=out,
            audio=audio,
            tier=cast("Tier | None", tier),
            profile=rules,
            metrics=metric or (),
            motion=motion,
            face_model=face_model,
            syncnet_weights=syncnet_weights,
            canon=canon,
            fps=fps,
            alike=alike,
            networks=network or (),
            prompts=prompts,
            jobs=jobs,
            timeout=timeout,
            memory_mb=memory,
            engine=where,
            add=add,
            overwrite=overwrite,
            shards=shards,
            progress=progress,
        )
    bundles = write_bundles(run, bundle) if bundle else []
    more = [f"… and {len(bundles) - _FILES} more in {bundle}"] if len(bundles) > _FILES else []
    rules = profile_of(run.info.get("settings")) or rules  # without what is not here
    written = [*bundles[:_FILES], *more, *(write_csv(run, csv) if csv and csv != "-" else [])]
    if as_json:
        print_json(_as_json(run))
    elif csv == "-":
        print(csv_of(run), end="")
    else:
        _show(run, rules, written, verbose=verbose)
        if profile is None:
            _suggest(run, rules)
    say(*run.remarks)
    if metric:
        from rushes.cli.measure.failed import say_failed

        say_failed(run, strict=strict)
    if fail_on is not None:
        _hold(run, rules, fail_on, allow_unjudged=allow_unjudged, outputs=outputs)


def _is_run(path: str) -> bool:
    from pathlib import Path

    return "://" not in path and Path(path, "run.json").is_file()


def _judge_again(
    path: str,
    profile: str | None,
    fail_on: Literal["reject", "flagged"] | None,
    allow_unjudged: bool,
    outputs: CiOutputs,
    *,
    refused: Mapping[str, object],
    as_json: bool,
) -> None:
    """The review signals of a run that is there, from its stored numbers; nothing is measured or written."""
    from rushes.core.errors import InputError
    from rushes.instruments.clip.signals.rejudge import judged_again
    from rushes.storage.runs import read_run

    for option, value in refused.items():
        if value:
            raise InputError(f"{path}: this is a run, which is judged again but not measured; leave out {option}")
    run, rules = judged_again(read_run(path), profile)
    if as_json:
        print_json(_as_json(run))
    else:
        _show(run, rules, [], verbose=False)
    if fail_on is not None:
        _hold(run, rules, fail_on, allow_unjudged=allow_unjudged, outputs=outputs)


def _refuse_empty(options: dict[str, str | None]) -> None:
    from rushes.core.errors import InputError

    for name, value in options.items():
        if value == "":
            raise InputError(f"{name}: expected a path; got an empty one (a variable that is not set?)")


def _hold(
    run: Run, rules: Profile, fail_on: Literal["reject", "flagged"], *, allow_unjudged: bool, outputs: CiOutputs
) -> None:
    """Leave with 3 where the gate does not hold, with 1 where nobody can tell."""
    from rushes.instruments.clip.signals.gate import check_gate

    found = check_gate(run, rules, fail_on)
    if outputs:
        from rushes.instruments.clip.signals.gate import clip_checks
        from rushes.present.ci.formats import checks_markdown

        checks = clip_checks(run, rules, fail_on, found, allow_unjudged=allow_unjudged)
        outputs.write(checks, checks_markdown(checks, noun="clip"))
    if found.caught:
        many, of = len(found.caught), len(run.subjects)
        word = "rejected" if fail_on == "reject" else "flagged or rejected"
        say(f"--fail-on {fail_on}: {many} of {of} clips {'is' if many == 1 else 'are'} {word}")
    if found.unjudged:
        way_on = "let through by --allow-unjudged" if allow_unjudged else "--allow-unjudged lets them through"
        say(f"--fail-on {fail_on}: not judged: {found.unjudged_text()}; {way_on}")
    if found.caught:
        raise typer.Exit(EXIT_GATE)
    if found.unjudged and not allow_unjudged:
        raise typer.Exit(EXIT_BAD_INPUT)


def _as_json(run: Run) -> dict[str, object]:
    from rushes.core.reason import SIGNALS
    from rushes.instruments.clip.signals.profile import LEFT_OUT

    settings = run.info.get("settings") or {}
    return {
        "run": run.place,
        "review_signals": {badge: sum(subject.badge == badge for subject in run.subjects) for badge in SIGNALS},
        "with_a_remark": sum(subject.badge == "pass" and bool(subject.remarks) for subject in run.subjects),
        "profile": {key: settings[key] for key in ("profile", "profile_sha256", LEFT_OUT) if key in settings},
        "clips": [entry.subject.row() | {"measurements": entry.rows()} for entry in run.entries],
    }


def _show(run: Run, rules: Profile, written: list[str], *, verbose: bool) -> None:
    from rushes.instruments.clip.show.tables import clip_table
    from rushes.instruments.clip.show.words import notes
    from rushes.instruments.clip.signals.choice import chosen_lines, pass_lines
    from rushes.present.verdict.opening import print_opening
    from rushes.present.verdict.verdict import FIRST, clip_verdict

    some = FIRST if len(run.subjects) > FIRST else 0  # the table shows three at a glance
    print_opening(clip_verdict(run.subjects, most=some), about=f"profile {rules.name}")
    for line in (*chosen_lines(run), *pass_lines(run, rules)):
        tell(line)
    print()
    print_table(replace(clip_table(run, most=_SHOWN, profile=rules), title=""))
    if len(run.subjects) > _SHOWN:
        print(f"… and {len(run.subjects) - _SHOWN} more in the run")
    tell(*notes(run))
    show_signatures(_signatures(run, rules.columns), verbose=verbose)
    for path in written:
        print(path)
    next_line("report", run.place)
    print(run.place)


def _suggest(run: Run, rules: Profile) -> None:
    """Name a better profile where nobody named one and the clips are plainly of another kind."""
    from rushes.instruments.clip.signals.choice import suggestion

    if line := suggestion(run, rules):
        say(line)


def _signatures(run: Run, chosen: Sequence[str]) -> list[str]:
    """The definitions behind the columns shown."""
    from rushes.instruments.clip.bundle import by_name
    from rushes.instruments.clip.show.tables import columns

    names = {facts["name"] for facts in run.info["definitions"].values()}
    everything: dict[str, Measurement] = {}
    for entry in run.entries:
        everything = by_name((*everything.values(), *entry.measurements))
        if len(everything) == len(names):
            break
    return [everything[column.name].signature for column in columns(everything.values(), chosen=chosen)]
