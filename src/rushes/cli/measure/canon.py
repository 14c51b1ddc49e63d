"""`rushes canon`: the canonical form of a clip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rushes.present.terminal.console import print_json
from rushes.present.terminal.options import Json
from rushes.present.terminal.progress import progress_bars

if TYPE_CHECKING:
    from rushes.media import MediaFacts


def canon(
    clip: Annotated[str, typer.Argument(metavar="IN", help="The clip to bring into canonical form, here or s3://.")],
    output: Annotated[
        str, typer.Option("-o", "--out", "--output", metavar="FILE", help="Where to write it, here or s3://; an .mp4.")
    ] = "output_canon.mp4",
    audio: Annotated[
        str | None, typer.Option("--audio", help="Sound to use instead of the clip's own; the result ends with it.")
    ] = None,
    fps: Annotated[
        str | None,
        typer.Option("--fps", metavar="RATE", help="Constant frame rate: 25, 30000/1001; by default the clip's own."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the canonical form: H.264 yuv420p, constant rate, AAC, upright, faststart; the same bytes every time.

    Example: rushes canon take.mov --audio speech.wav -o output_canon.mp4
    """
    from contextlib import ExitStack

    from rushes.core.errors import InputError
    from rushes.core.media_facts import exact_rate
    from rushes.media import canonicalize, probe
    from rushes.storage.remote.address import is_remote
    from rushes.storage.remote.transfer import local_copy, upload_on_exit

    rate = None if fps is None else exact_rate(fps)
    if is_remote(output) and output in (clip, audio):
        raise InputError(f"{output}: is one of the inputs and would be overwritten; choose another output with -o")
    with ExitStack() as stack:
        target = stack.enter_context(upload_on_exit(output))
        source = stack.enter_context(local_copy(clip)).path
        sound = stack.enter_context(local_copy(audio)).path if audio is not None else None
        with progress_bars() as progress:
            facts = probe(canonicalize(source, target, audio=sound, fps=rate, progress=progress))
    if as_json:
        print_json({"path": output, "source": clip, "facts": facts.plain()})
        return
    print(_summary(facts))
    print(output)


def _summary(facts: MediaFacts) -> str:
    video, sound = facts.video, facts.audio
    assert video is not None
    seen = f"{video.codec} {video.width}×{video.height}, {video.fps} fps, {video.duration_ms:.0f} ms"
    heard = f"{sound.codec} {sound.channels} ch, {sound.duration_ms:.0f} ms" if sound else "no sound"
    return f"{seen}; {heard}"
