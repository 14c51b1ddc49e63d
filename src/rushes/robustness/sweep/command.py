"""`rushes sweep`: judge a clip again and again while it is perturbed."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from rushes.terminal.console import print_json, progress, say
from rushes.terminal.engine_options import AddressOption, EngineOption, chosen_engine

if TYPE_CHECKING:
    from rushes.robustness.sweep.endpoint import EndpointJudge
    from rushes.robustness.sweep.judges import CommandJudge

_USUAL_TIMEOUT_S = 120.0
_AXES_HELP = (
    "name=value,value; once per axis. Names: brightness, contrast, gaussian_blur, gaussian_noise, resize, crf, fps, "
    "audio_shift, audio_noise."
)


def sweep(
    clips: Annotated[list[str], typer.Argument(help="Clips, folders or globs, here or in a store (s3://, gs://).")],
    output: Annotated[
        str,
        typer.Option("-o", "--output", help="The sweep directory, here or s3://; one below it per clip if several."),
    ],
    axis: Annotated[list[str], typer.Option("--axis", help=_AXES_HELP)],
    seeds: Annotated[str, typer.Option(help="Whole numbers with commas; noise is drawn anew for each.")] = "1",
    profile: Annotated[str, typer.Option(help="Thresholds of the clip bundle: a name or a TOML file.")] = "general",
    command: Annotated[
        str | None, typer.Option(help="Your own judge: 'CMD {clip}', printing JSON with output and justification.")
    ] = None,
    judge: Annotated[str, typer.Option(help="bundle, or openai:MODEL for an OpenAI-compatible endpoint.")] = "bundle",
    base_url: Annotated[str, typer.Option(help="The endpoint, with openai:MODEL.")] = "https://api.openai.com/v1",
    question: Annotated[str, typer.Option(help="What to ask the model about the clip.")] = "",
    frames: Annotated[int, typer.Option(min=1, max=64, help="Frames the model sees.")] = 4,
    api_key_env: Annotated[
        str, typer.Option(help="Environment variable that holds the endpoint's key.")
    ] = "OPENAI_API_KEY",
    timeout: Annotated[
        float | None,
        typer.Option(min=0.01, help="Seconds a run may take; 120 for a program or a model unless given."),
    ] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", min=1, help="Runs at a time; all cores unless given.")] = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    keep_clips: Annotated[bool, typer.Option(help="Keep each perturbed clip in its run's folder.")] = False,
    retry_failed: Annotated[bool, typer.Option(help="Judge again where the judge failed before.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON alone on stdout.")] = False,
) -> None:
    """Perturb clips along axes and record what a judge says to each version; `rushes robust` measures the result.

    Example: rushes sweep take.mp4 --axis brightness=0.8,1.0,1.2 --axis crf=18,28,38 --seeds 1,2 -o sweep
    """
    from rushes.robustness.sweep.axes import checked_grid, parse_axis, parse_seeds
    from rushes.robustness.sweep.evaluate import sweep_clips

    grid = checked_grid(parse_axis(text) for text in axis)
    chosen = _judge(command, judge, base_url, question, frames, api_key_env, timeout or _USUAL_TIMEOUT_S)
    with ExitStack() as stack:
        outcome = sweep_clips(
            clips,
            axes=grid,
            seeds=parse_seeds(seeds),
            output=output,
            judge=chosen,
            profile=profile,
            jobs=jobs,
            timeout=timeout,
            keep_clips=keep_clips,
            retry_failed=retry_failed,
            engine=chosen_engine(engine, address),
            progress=lambda total, done: stack.enter_context(progress("judging", total - done, "runs")),
        )
    if as_json:
        paths = [str(path) for path in outcome.sweeps]
        print_json({"sweeps": paths, "runs": outcome.runs, "kept": outcome.kept, "failed": outcome.failed})
        return
    if outcome.failed:
        say(f"the judge failed in {outcome.failed} runs; each is recorded as judge-error with its reason")
    print(f"{outcome.runs} runs, {outcome.kept} of them from before; next: rushes robust {output}")
    print(output)


def _judge(
    command: str | None, judge: str, base_url: str, question: str, frames: int, api_key_env: str, timeout: float
) -> CommandJudge | EndpointJudge | None:
    """The judge asked for, checked; None for the clip bundle."""
    from rushes.errors import InputError
    from rushes.robustness.sweep.endpoint import EndpointJudge
    from rushes.robustness.sweep.judges import CommandJudge

    kind, _, model = judge.partition(":")
    if command is not None:
        if judge != "bundle":
            raise InputError("give --command or --judge, not both")
        program = CommandJudge(command=command, timeout_s=timeout)
        program.check()
        return program
    if judge == "bundle":
        return None
    if kind != "openai":
        raise InputError(f"--judge is bundle or openai:MODEL; got {judge!r}")
    endpoint = EndpointJudge(
        model=model,
        base_url=base_url,
        question=question,
        frames=frames,
        api_key_env=api_key_env,
        timeout_s=timeout,
    )
    endpoint.check()
    return endpoint
