"""`rushes canon`: the canonical form of a clip."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rushes.cli.console import print_json, progress

if TYPE_CHECKING:
    from rushes.decode import MediaFacts


def canon(
    clip: Annotated[Path, typer.Argument(metavar="IN", help="The clip to bring into canonical form.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write it; an .mp4.")] = Path(
        "output_canon.mp4"
    ),
    audio: Annotated[
        Path | None, typer.Option("--audio", help="Sound to use instead of the clip's own; the result ends with it.")
    ] = None,
    fps: Annotated[float, typer.Option("--fps", help="Constant frame rate of the result.")] = 30,
    as_json: Annotated[bool, typer.Option("--json", help="JSON alone on stdout.")] = False,
) -> None:
    """Write the canonical form: H.264 yuv420p, constant rate, AAC, upright, faststart; the same bytes every time.

    Example: rushes canon take.mov --audio speech.wav -o output_canon.mp4
    """
    from rushes.decode import canonicalize, probe

    video = probe(clip).video
    expected = round((video.duration_ms or 0) * fps / 1000) if video else 0
    with progress(clip.name, expected, "frames") as advance:
        written = canonicalize(clip, output, audio=audio, fps=fps, on_frame=advance)
    facts = probe(written)
    if as_json:
        print_json({"path": str(written), "source": str(clip), "facts": facts.plain()})
        return
    print(_summary(facts))
    print(written)


def _summary(facts: MediaFacts) -> str:
    video, sound = facts.video, facts.audio
    assert video is not None
    seen = f"{video.codec} {video.width}×{video.height}, {video.fps} fps, {video.duration_ms:.0f} ms"
    heard = f"{sound.codec} {sound.channels} ch, {sound.duration_ms:.0f} ms" if sound else "no sound"
    return f"{seen}; {heard}"
