"""Takes with known faults, and what `rushes clip` finds in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rushes.core.instrument import DemoPart
from rushes.instruments.clip.evaluate import evaluate_clips
from rushes.media import AudioTrack, write_clip
from rushes.storage.runs import Entry

FPS = 25
FRAMES = 75
WIDTH, HEIGHT = 320, 240
RATE = 16000

Frame = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """A sample clip: how its frames differ from the good one, and the reading that its badge must name."""

    name: str
    fault: str
    metric: str = ""
    """"" where nothing is wrong, and the badge must be a pass."""
    change: Callable[[list[Frame]], list[Frame]] = lambda frames: frames
    extra_sound_s: float = 0.0
    corrupt: bool = False


def scene(number: int, frames: int = FRAMES) -> Iterator[Frame]:
    """A textured scene that drifts, now faster, now slower, grayscale; another number gives another texture.

    The texture is a sum of fixed waves, so every machine draws the same frames; its mean stays put while it drifts.
    """
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)
    waves = [(7 + number, 3, 34.0), (2, 9 + 2 * number, 30.0), (53, 37 + number, 18.0)]
    for t in range(frames):
        picture = np.full((HEIGHT, WIDTH), 120.0)
        drift = 0.2 * t + 1.5 * np.sin(t / 8)
        for across, down, height in waves:
            # Whole periods over the frame keep the mean luma constant whatever the phase.
            phase = 2 * np.pi * (across * (x - drift) / WIDTH + down * (y + drift / 3) / HEIGHT)
            picture += height * np.sin(phase)
        yield np.clip(np.rint(picture), 0, 255).astype(np.uint8)


def hum(seconds: float) -> AudioTrack:
    """A quiet 220 Hz tone that swells once a second."""
    t = np.arange(round(seconds * RATE)) / RATE
    return AudioTrack.of((0.2 * np.sin(440 * np.pi * t) * (0.6 + 0.4 * np.sin(2 * np.pi * t))).astype(np.float32), RATE)


def _freeze(frames: list[Frame]) -> list[Frame]:
    return [*frames[:25], *[frames[25]] * 35, *frames[60:]]


def _flicker(frames: list[Frame]) -> list[Frame]:
    gains = (1.0, 0.78)
    return [np.rint(frame * gains[t // 2 % 2]).astype(np.uint8) for t, frame in enumerate(frames)]


def _cut(frames: list[Frame]) -> list[Frame]:
    return [*frames[:40], *list(scene(5))[40:]]


def _glitch(frames: list[Frame]) -> list[Frame]:
    torn = np.roll(255 - frames[50], WIDTH // 3, axis=1)
    return [*frames[:50], torn, *frames[51:]]


def _soften(frames: list[Frame]) -> list[Frame]:
    import cv2

    return [np.asarray(cv2.GaussianBlur(frame, (0, 0), 4.0), dtype=np.uint8) for frame in frames]


TAKES = (
    Take(name="take_good", fault="nothing"),
    Take(name="take_freeze", fault="35 frames stand still", metric="longest_freeze_ms", change=_freeze),
    Take(
        name="take_flicker",
        fault="every other pair of frames is 22 % darker",
        metric="luma_alternation",
        change=_flicker,
    ),
    Take(name="take_cut", fault="another scene from frame 40, which is no fault", change=_cut),
    Take(name="take_glitch", fault="one torn, inverted frame", metric="odd_frame_score", change=_glitch),
    Take(name="take_soft", fault="out of focus", metric="sharpness", change=_soften),
    Take(
        name="take_long_sound",
        fault="the sound runs 0.9 s longer",
        metric="av_duration_delta_ms",
        extra_sound_s=0.9,
    ),
    Take(name="take_corrupt", fault="the file breaks off in its header", metric="decode_ok", corrupt=True),
)


def make_takes(folder: Path, takes: Sequence[Take] = TAKES) -> list[Path]:
    """Write the sample takes; the same bytes every time."""
    folder.mkdir(parents=True, exist_ok=True)
    good = list(scene(0))
    paths = []
    for take in takes:
        path = folder / f"{take.name}.mp4"
        write_clip(path, take.change(good), fps=FPS, audio=hum(FRAMES / FPS + take.extra_sound_s))
        if take.corrupt:
            path.write_bytes(path.read_bytes()[:600])
        paths.append(path)
    return paths


def run(folder: Path) -> DemoPart:
    """Make the takes, measure them, and check that each badge names its fault and that nothing else is flagged."""
    found = evaluate_clips([str(path) for path in make_takes(folder / "takes")], run=folder / "clip", overwrite=True)
    pairs = list(zip(TAKES, found.entries, strict=True))
    wrong = [take.name for take, entry in pairs if not _told(take, entry)]
    faults = sum(bool(take.metric) for take in TAKES)
    summary = f"{faults} clips with a planted fault and {len(TAKES) - faults} without; " + (
        f"WRONG: {', '.join(wrong)}" if wrong else "every fault is flagged for its own reason, and nothing else is."
    )
    return DemoPart(
        title="Clips: free of freezes and glitches?",
        run=found.path,
        found=summary,
        header=("clip", "what was put in", "review signal", "why"),
        rows=[_row(take, entry) for take, entry in pairs],
        as_expected=not wrong,
    )


def _told(take: Take, entry: Entry) -> bool:
    """Whether the badge says what was put in, and nothing besides."""
    reasons = entry.subject.reasons
    if not take.metric:
        return entry.subject.badge == "pass"
    return len(reasons) == 1 and f"{take.metric}=" in reasons[0]


def _row(take: Take, entry: Entry) -> list[str]:
    return [take.name, take.fault, entry.subject.badge or "", "; ".join(entry.subject.reasons)]
