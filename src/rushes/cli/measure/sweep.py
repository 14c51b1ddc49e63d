"""`rushes sweep`: judge a clip again and again while it is perturbed."""

from __future__ import annotations

from typing import Annotated

import typer

from rushes.present.terminal.console import next_line, print_json, say
from rushes.present.terminal.options import AddressOption, EngineOption, Json, chosen_engine
from rushes.present.terminal.progress import progress_bars

_AXES_HELP = (
    "name=value,value; once per axis. Names: brightness, contrast, gaussian_blur, gaussian_noise, resize, crf, fps, "
    "audio_shift, audio_noise."
)


def sweep(
    clips: Annotated[list[str], typer.Argument(help="Clips, folders or globs, here, s3:// or gs://.")],
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--out",
            "--output",
            metavar="DIR",
            help="The sweep directory, here or s3://; one below it per clip if several.",
        ),
    ],
    axis: Annotated[list[str], typer.Option("--axis", help=_AXES_HELP)],
    seeds: Annotated[str, typer.Option(help="Whole numbers with commas; each draws its own noise.")] = "1",
    design: Annotated[
        str,
        typer.Option(
            help="full-grid: every combination; one-at-a-time: one axis varies, the others keep their first value."
        ),
    ] = "full-grid",
    profile: Annotated[str, typer.Option(help="Thresholds of the clip bundle: a name or a TOML file.")] = "general",
    tier: Annotated[
        int,
        typer.Option(min=0, max=2, help="How far the clip bundle measures: 1 with faces and sound, 2 with SyncNet."),
    ] = 0,
    command: Annotated[
        str | None,
        typer.Option(
            help="Your own judge, 'CMD {clip}', printing JSON with output and justification; short for "
            "--judge 'command:CMD {clip}'."
        ),
    ] = None,
    judge: Annotated[
        str,
        typer.Option(
            metavar="NAME[:ARGUMENT]",
            help="bundle, openai:MODEL for an OpenAI-compatible endpoint, 'command:CMD {clip}', or an installed one.",
        ),
    ] = "bundle",
    base_url: Annotated[str, typer.Option(help="The endpoint, with openai:MODEL.")] = "https://api.openai.com/v1",
    question: Annotated[str, typer.Option(help="What to ask the model about the clip.")] = "",
    frames: Annotated[int, typer.Option(min=1, max=64, help="Frames the model sees.")] = 4,
    api_key_env: Annotated[
        str, typer.Option(help="Environment variable that holds the endpoint's key.")
    ] = "OPENAI_API_KEY",
    attempts: Annotated[
        int, typer.Option(min=1, max=20, help="Attempts per request if the endpoint is busy, slow or broken.")
    ] = 3,
    logprobs: Annotated[
        bool, typer.Option("--logprobs", help="Take confidence and entropy from the model's token log-probabilities.")
    ] = False,
    timeout: Annotated[
        float | None,
        typer.Option(min=0.01, help="Timeout per run, in seconds. (default: 120 for a program or a model)"),
    ] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", min=1, help="Runs at a time. (default: one per core)")] = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    keep_clips: Annotated[bool, typer.Option(help="Keep each perturbed clip in its run's folder.")] = False,
    retry_failed: Annotated[bool, typer.Option(help="Retry runs whose judge failed.")] = False,
    as_json: Json = False,
) -> None:
    """Perturb clips along axes and record what a judge says about each version; `rushes robust` measures the result.

    Example: rushes sweep take.mp4 --axis brightness=0.8,1.0,1.2 --axis crf=18,28,38 --seeds 1,2 -o sweep
    """
    from rushes.core.errors import InputError
    from rushes.core.judge import JudgeOptions
    from rushes.instruments.robustness.sweep.axes import check_design, checked_grid, parse_axis, parse_seeds
    from rushes.instruments.robustness.sweep.evaluate import sweep_clips
    from rushes.instruments.robustness.sweep.judges import named_judge

    check_design(design)
    grid = checked_grid(parse_axis(text) for text in axis)
    if command is not None and judge != "bundle":
        raise InputError("give --command or --judge, not both")
    options = JudgeOptions(
        profile=profile,
        base_url=base_url,
        question=question,
        frames=frames,
        api_key_env=api_key_env,
        timeout=timeout,
        tier=tier,
        attempts=attempts,
        logprobs=logprobs,
    )
    chosen = named_judge(judge if command is None else f"command:{command}", options)
    with progress_bars() as progress:
        outcome = sweep_clips(
            clips,
            axes=grid,
            seeds=parse_seeds(seeds),
            design=design,
            out=output,
            judge=chosen,
            jobs=jobs,
            timeout=timeout,
            keep_clips=keep_clips,
            retry_failed=retry_failed,
            engine=chosen_engine(engine, address),
            progress=progress,
            warn=say,
        )
    if as_json:
        paths = [str(path) for path in outcome.sweeps]
        print_json({"sweeps": paths, "runs": outcome.runs, "kept": outcome.kept, "failed": outcome.failed})
        return
    if outcome.failed:
        say(
            f"the judge failed in {outcome.failed} runs; each is recorded with its reason, and none counts as an answer"
        )
    print(f"{outcome.runs} runs ({outcome.kept} reused)")
    next_line("robust", output)
    print(output)
