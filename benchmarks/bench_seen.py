"""What each network that looks at a clip or hears it costs: seconds of one core for a second of video.

    python benchmarks/bench_seen.py [SIDE] [FPS]
    python benchmarks/bench_seen.py --heads CLIP [--record]

Without a clip: a texture that moves, SIDE × SIDE pixels (256), two seconds at FPS (10) frames a second; definitions'
notes on cost are these numbers. With a clip of somebody who speaks: faces, voice, words and the rest of what a talking
head is asked, each beside tier 0 in the same process, turn by turn; medians of three rounds.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median
from time import process_time

import cv2
import numpy as np

import rushes
from recording import record
from rushes.media import write_clip

FAMILIES = {
    "text": ("text_stability",),
    "subject and background": ("feature_drift", "subject_drift", "subject_sharpness", "subject_flicker"),
    "midframe_likeness": ("midframe_likeness",),
    "dynamic_degree": ("dynamic_degree",),
    "niqe": ("niqe",),
    "brisque": ("brisque",),
}


HEADS: dict[str, dict[str, object]] = {
    "tier 1, all metrics of the face and lip sync": {"tier": 1},
    "`voice_drift`, the voice": {"metrics": ("voice_drift",)},
    "`speech_ratio`, where there is speech": {"metrics": ("speech_ratio",)},
    "`distillmos`": {"metrics": ("distillmos",)},
    "`dnsmos_ovrl`": {"metrics": ("dnsmos_ovrl",)},
    "`words_per_minute`, Whisper": {"metrics": ("words_per_minute",)},
    "`identity_drift`": {"metrics": ("identity_drift",)},
}
"""By what is measured, the settings beside tier 0."""
ROUNDS = 3


def heads(clip: Path, *, keep: bool) -> None:
    """Processor time of each beside tier 0's, for a second of video."""
    seconds = float(rushes.clip.evaluate_clip(clip)["video_duration_ms"].value or 0) / 1000
    rows = []
    for name, settings in HEADS.items():
        rushes.clip.evaluate_clip(clip, **settings)  # loads the network
        spent: dict[str, list[float]] = {"plain": [], "with": []}
        for _ in range(ROUNDS):
            for which, more in (("plain", {}), ("with", settings)):
                start = process_time()
                rushes.clip.evaluate_clip(clip, **more)
                spent[which].append(process_time() - start)
        plain, more_time = median(spent["plain"]), median(spent["with"])
        rows.append((name, "–", f"{(more_time - plain) / seconds:.3f} s, {more_time / plain:.2f}× tier 0"))
        print(" | ".join(rows[-1]), flush=True)
    if keep:
        how = "`benchmarks/bench_seen.py --heads`: processor time for a second of video beside tier 0, in one process."
        record("heads-cost", f"What a talking head's metrics cost ({clip.name}, {seconds:.1f} s)", rows, how=how)


def main(side: int = 256, fps: int = 10) -> None:
    coarse = np.random.default_rng(1).integers(0, 255, (24, 24, 3), dtype=np.uint8)
    texture = cv2.resize(coarse, (2 * side, 2 * side), interpolation=cv2.INTER_CUBIC)
    cv2.putText(texture, "OPEN", (side // 2, side // 2), cv2.FONT_HERSHEY_DUPLEX, side / 160, (255, 255, 255), 3)
    frames = [np.ascontiguousarray(texture[n : n + side, n : n + side]) for n in range(2 * fps)]
    with tempfile.TemporaryDirectory() as folder:
        clip = Path(folder) / "clip.mp4"
        write_clip(clip, frames, fps=fps)
        for family, names in {"": ("text_stability",), **FAMILIES}.items():  # the first pass only warms up
            rushes.clip.evaluate_clip(clip, metrics=names)
            plain, start = process_time(), 0.0
            rushes.clip.evaluate_clip(clip)
            start = process_time()
            rushes.clip.evaluate_clip(clip, metrics=names)
            if family:
                print(f"{family:24} {(process_time() - start - (start - plain)) / 2:6.2f} s for a second of video")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--heads"]:
        heads(Path(sys.argv[2]), keep="--record" in sys.argv)
    else:
        main(*map(int, sys.argv[1:]))
