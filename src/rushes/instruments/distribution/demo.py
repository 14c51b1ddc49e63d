"""Two small sets, a near one and a far one, and what `rushes fvd` says about them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rushes.core import Measurement
from rushes.core.instrument import DemoPart
from rushes.core.selection import keys_of
from rushes.core.words.definition_text import value_text
from rushes.instruments.distribution.evaluate import compare_sets
from rushes.instruments.distribution.features.random_weights import write_random_checkpoint
from rushes.instruments.distribution.features.weights import pulled_weights
from rushes.media import write_clip
from rushes.media.scenes import Frame, scene_of

CLIPS = 3
FRAMES = 8
WIDTH, HEIGHT = 128, 96
METRICS = ("fvd", "kvd")
_TRAINED = "The weights are the trained I3D's; three clips are far too few for a number to be quoted."
_RANDOM = (
    "The weights are random here, so these values are comparable only with each other; `rushes "
    "models pull i3d` gets trained "
    "ones."
)


def frames(number: int, *, warmth: float, speed: float) -> Iterator[Frame]:
    """A scene of the demo; sets differ in how warm and how fast they are."""
    scene, look = scene_of(number)
    tint = np.array((warmth, 0.0, -warmth))
    for frame in scene.frames(FRAMES, look=look, width=WIDTH, height=HEIGHT, speed=speed):
        yield np.clip(np.rint(frame + tint), 0, 255).astype(np.uint8)


def make_set(folder: Path, *, first: int, warmth: float, speed: float) -> Path:
    """Write one set of clips."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(CLIPS):
        pictures = frames(first + number, warmth=warmth, speed=speed)
        write_clip(folder / f"clip{number + 1}.mp4", pictures, fps=25)
    return folder


def run(folder: Path) -> DemoPart:
    """Compare a near and a far set with the same ground truth: by the trained I3D where it has been pulled, else by a
    random one, and the text says which."""
    folder = folder / "distribution"
    truth = make_set(folder / "real", first=0, warmth=0.0, speed=1.0)
    near = make_set(folder / "near", first=0, warmth=4.0, speed=1.1)
    far = make_set(folder / "far", first=1, warmth=70.0, speed=5.0)
    trained = pulled_weights("i3d")
    weights = trained or write_random_checkpoint("i3d", folder / "i3d-random.pt")
    how = {"metrics": METRICS, "weights": weights, "device": "cpu", "jobs": 0, "sample_duration": FRAMES}
    how["protocol"] = "genhoi"  # which leaves the number of frames open, and has FID-VID
    statistics = folder / "real.npz"
    closer = compare_sets(near, truth, **how, save_gt=statistics)  # type: ignore[arg-type]
    further = compare_sets(far, statistics, **how, run=folder / "run", overwrite=True, keep_features=True)  # type: ignore[arg-type]
    rows = [
        (name, m.name, value_text(m), str(FRAMES), keys_of(m)["weights"])
        for name, compared in (("near", closer), ("far", further))
        for m in compared.measurements
    ]
    apart = all(_value(closer[metric]) < _value(further[metric]) for metric in METRICS)
    return DemoPart(
        title="Distribution: does this set look like the real one?",
        run=folder / "run",
        found="The set that was made to differ is further from the real one, by FVD and by KVD, over clips of "
        f"{FRAMES} frames. " + (_TRAINED if trained else _RANDOM),
        header=("set", "metric", "value", "frames", "weights"),
        rows=rows,
        as_expected=apart,
    )


def _value(distance: Measurement) -> float:
    return float("nan") if distance.value is None else float(distance.value)
