"""Sample clips with known faults, and what `rushes clip` finds in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rushes.core.instrument import DemoPart
from rushes.instruments.clip.evaluate import evaluate_clips
from rushes.media import write_clip
from rushes.media.scenes import FPS, HEIGHT, SCENES, WIDTH, Frame
from rushes.media.scenes.sound import surf
from rushes.storage.runs import Entry

FRAMES = 75


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A sample clip: its scene, what is wrong with it, and the metric that its review signal must name."""

    name: str
    scene: str
    fault: str
    look: int = 0
    metric: str = ""
    """"" where nothing is wrong, and the clip must pass."""
    change: Callable[[list[Frame]], list[Frame]] = lambda frames: frames
    extra_sound_s: float = 0.0
    corrupt: bool = False

    def clean_frames(self) -> list[Frame]:
        """The scene before anything was put in."""
        return list(SCENES[self.scene].frames(FRAMES, look=self.look))


def _freeze(frames: list[Frame]) -> list[Frame]:
    return [*frames[:25], *[frames[25]] * 35, *frames[60:]]


def _flicker(frames: list[Frame]) -> list[Frame]:
    gains = (1.0, 0.9)
    return [np.rint(frame * gains[t // 2 % 2]).astype(np.uint8) for t, frame in enumerate(frames)]


def _cut(frames: list[Frame]) -> list[Frame]:
    return [*frames[:40], *list(SCENES["waves"].frames(FRAMES))[40:]]


def _glitch(frames: list[Frame]) -> list[Frame]:
    torn = np.roll(255 - frames[50], (HEIGHT // 4, WIDTH // 3), axis=(0, 1))
    return [*frames[:50], torn, *frames[51:]]


def _soften(frames: list[Frame]) -> list[Frame]:
    import cv2

    return [np.asarray(cv2.GaussianBlur(frame, (0, 0), 4.0), dtype=np.uint8) for frame in frames]


SAMPLES = (
    Sample(name="ball", scene="ball", fault="nothing"),
    Sample(
        name="walker_freeze",
        scene="walker",
        fault="35 frames stand still",
        metric="longest_freeze_ms",
        change=_freeze,
    ),
    Sample(
        name="waves_flicker",
        scene="waves",
        look=1,
        fault="every other pair of frames is 10 % darker",
        metric="luma_alternation",
        change=_flicker,
    ),
    Sample(name="hills_cut", scene="hills", look=1, fault="the sea from frame 40 on, which is no fault", change=_cut),
    Sample(
        name="ball_glitch",
        scene="ball",
        look=2,
        fault="one torn, inverted frame",
        metric="odd_frame_score",
        change=_glitch,
    ),
    Sample(name="hills_soft", scene="hills", fault="out of focus", metric="sharpness", change=_soften),
    Sample(
        name="waves_long_sound",
        scene="waves",
        fault="the sound runs 0.9 s longer",
        metric="av_duration_delta_ms",
        extra_sound_s=0.9,
    ),
    Sample(
        name="walker_corrupt",
        scene="walker",
        look=1,
        fault="the file breaks off in its header",
        metric="decode_ok",
        corrupt=True,
    ),
)


def make_samples(folder: Path, samples: Sequence[Sample] = SAMPLES) -> list[Path]:
    """Write the sample clips; the same bytes every time."""
    return [write_sample(folder, sample, sample.clean_frames()) for sample in samples]


def write_sample(folder: Path, sample: Sample, clean: list[Frame]) -> Path:
    """Write one sample clip, with its fault put into these frames."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{sample.name}.mp4"
    write_clip(path, sample.change(clean), fps=FPS, audio=surf(FRAMES / FPS + sample.extra_sound_s))
    if sample.corrupt:
        path.write_bytes(path.read_bytes()[:600])
    return path


def run(folder: Path) -> DemoPart:
    """Make the clips, measure them, and check that each fault is flagged and nothing else."""
    found = evaluate_clips([str(path) for path in make_samples(folder / "clips")], run=folder / "clip", overwrite=True)
    pairs = list(zip(SAMPLES, found.entries, strict=True))
    wrong = [sample.name for sample, entry in pairs if not _told(sample, entry)]
    faults = sum(bool(sample.metric) for sample in SAMPLES)
    summary = f"{faults} clips with a planted fault and {len(SAMPLES) - faults} without; " + (
        f"WRONG: {', '.join(wrong)}" if wrong else "every fault is flagged for its own reason, and nothing else is."
    )
    return DemoPart(
        title="Clips: free of freezes and glitches?",
        run=found.path,
        found=summary,
        header=("clip", "what was put in", "review signal", "why"),
        rows=[_row(sample, entry) for sample, entry in pairs],
        as_expected=not wrong,
    )


def _told(sample: Sample, entry: Entry) -> bool:
    """Whether the review signal says what was put in, and nothing besides."""
    reasons = entry.subject.reasons
    if not sample.metric:
        return entry.subject.badge == "pass"
    return len(reasons) == 1 and f"{sample.metric}=" in reasons[0]


def _row(sample: Sample, entry: Entry) -> list[str]:
    return [sample.name, sample.fault, entry.subject.badge or "", "; ".join(entry.subject.reasons)]
