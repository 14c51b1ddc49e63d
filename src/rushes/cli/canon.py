"""`rushes canon`: the canonical form of a clip."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rushes.cli.console import print_json


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
    from dataclasses import asdict

    from rushes.decode import canonicalize, probe

    written = canonicalize(clip, output, audio=audio, fps=fps)
    facts = asdict(probe(written))
    if as_json:
        facts["video"]["fps"] = str(facts["video"]["fps"])
        print_json({"path": str(written), "source": str(clip), "facts": facts})
        return
    video, sound = facts["video"], facts["audio"]
    heard = f"{sound['codec']} {sound['channels']} ch, {sound['duration_ms']:.0f} ms" if sound else "no sound"
    size = f"{video['width']}×{video['height']}"
    print(f"{video['codec']} {size}, {video['fps']} fps, {video['duration_ms']:.0f} ms; {heard}")
    print(written)
