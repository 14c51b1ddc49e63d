"""Does a degraded copy of a talking head come nearer to real speakers? Faults planted in ADTH-QA's generated clips.

    python benchmarks/degraded_heads.py ADTH [--seconds 6]

Takes the beginning of each clip of three systems, and copies of it: coded at crf 38, blurred, and under noise. Prints
how each distance from real speakers changes: mean, Student's t over clips, and how many copies come out nearer. A fault
that lowers a distance significantly is `fooled_by` of its credential (compare/agreement/credentials), which
`rushes believe RUNS --ratings VOTES --save` wrote.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.compare.planted import PLANTED, Planting, clean, pictures_of

from rushes.core import Measurement
from rushes.instruments.clip.faces.models import AUDIO_RATE
from rushes.instruments.clip.frames.frame_observers import ClipWatch
from rushes.instruments.clip.frames.observe import observe
from rushes.instruments.clip.metrics.face.articulation import articulation_distance
from rushes.instruments.clip.metrics.face.liveliness import head_distance
from rushes.instruments.clip.settings import ClipSettings
from rushes.media import read_audio

SYSTEMS = ("dfa-nerf", "makeittalk", "wav2lip")
FAULTS = ("crf-38", "blur", "noise")
WIDTH = 256


def distances(source: Path, work: Path, how: Planting, *, seconds: float) -> tuple[Measurement, Measurement]:
    """Of lips and head, in the beginning of a clip under one change, held against the clip's own sound."""
    pictures, fps = pictures_of(source, most=round(25 * seconds), width=WIDTH)
    made = how(work / "copy.mp4", pictures, fps, None)
    watch = ClipWatch(ClipSettings.load(tier=1))
    seen = observe(str(made), audio_rate=None, watch=watch.start)
    sound = read_audio(str(source), rate=AUDIO_RATE, at_ms=0.0)
    seen = watch.finish(str(made), replace(seen, audio=sound))
    return articulation_distance(seen), head_distance(seen.faces)  # type: ignore[arg-type]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adth", type=Path)
    parser.add_argument("--seconds", type=float, default=6.0)
    given = parser.parse_args()
    changes: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as work:
        for source in sorted(path for system in SYSTEMS for path in (given.adth / system).glob("*.mp4")):
            every = {name: how for name, how in PLANTED.items() if name in FAULTS}
            plain = distances(source, Path(work), clean, seconds=given.seconds)
            for fault, how in every.items():
                copy = distances(source, Path(work), how, seconds=given.seconds)
                for one, other in zip(plain, copy, strict=True):
                    if one.value is not None and other.value is not None:
                        key = one.definition.name, fault
                        changes.setdefault(key, []).append(float(other.value) - float(one.value))
    for (metric, fault), found in sorted(changes.items()):
        mean, count = statistics.fmean(found), len(found)
        t = f"{mean / (statistics.stdev(found) / math.sqrt(count)):+.2f}" if count > 1 else "–"
        print(f"{metric:24}{fault:8}{mean:+.3f}  t {t}  nearer in {sum(v < 0 for v in found)} of {count}")


if __name__ == "__main__":
    main()
