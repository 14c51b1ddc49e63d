"""What the common form costs: a suite measured with it, over the same suite without it.

    python benchmarks/bench_alike.py [../shared/suites/fetv] [--clips 6]

Both are measured in this process, clip by clip and in turn, so that whatever else the machine does hits both alike; the
figure is processor time. The form is the one that `rushes suite init` chooses.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from recording import record
from rushes.core.alike_form import AlikeForm
from rushes.instruments.clip.measure import measure
from rushes.instruments.clip.settings import ClipSettings
from rushes.media.find.endings import is_clip
from rushes.suite.common_form import clip_shape, common_form

FETV = Path(__file__).parents[2] / "shared" / "suites" / "fetv"
QUESTIONS = {
    "tier 0": {},
    "with motion": {"motion": True},
    "with motion and temporal_disorder": {"motion": True, "metrics": ["temporal_disorder"]},
}


def found(folder: Path, most: int) -> dict[str, list[Path]]:
    systems = sorted(path for path in folder.iterdir() if path.is_dir())
    return {path.name: sorted(clip for clip in path.iterdir() if is_clip(clip))[:most] for path in systems}


def seconds(clip: Path, settings: ClipSettings) -> float:
    start = time.process_time()
    measure(str(clip), settings)
    return time.process_time() - start


def ratio(clips: list[Path], form: AlikeForm, *, rounds: int = 3, **question: object) -> tuple[float, float]:
    """Seconds of all clips as they are, and how many times that they take with the form: medians over rounds."""
    plain = ClipSettings.load(**question)  # type: ignore[arg-type]
    both = ClipSettings.load(**question, alike=form)  # type: ignore[arg-type]
    measure(str(clips[0]), both)  # kernels and models are loaded
    times = [[(seconds(clip, plain), seconds(clip, both)) for clip in clips] for _ in range(rounds)]
    sums = [(sum(one for one, _ in row), sum(two for _, two in row)) for row in times]
    return statistics.median(one for one, _ in sums), statistics.median(two / one for one, two in sums)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=FETV)
    parser.add_argument("--clips", type=int, default=6, help="Clips of each system.")
    given = parser.parse_args()
    if not given.folder.is_dir():
        print(f"{given.folder}: not here; the common form is not measured")
        return
    systems = found(given.folder, given.clips)
    shapes = {name: {c.stem: shape for c in row if (shape := clip_shape(c))} for name, row in systems.items()}
    form = common_form(shapes)
    if form is None:
        raise SystemExit(f"{given.folder}: its systems need no common form")
    clips = [clip for row in systems.values() for clip in row]
    rows = []
    for name, question in QUESTIONS.items():
        once, times = ratio(clips, form, **question)
        rows.append((f"{name}: raw and alike over raw ({once:.1f} s)", "≤ 1.5", f"{times:.2f}"))
    record("alike", f"Measured alike ({form.spelling})", rows, how=HOW.format(clips=len(clips), systems=len(systems)))


HOW = (
    "`python benchmarks/bench_alike.py FETV`: {clips} clips of {systems} systems, processor time in one process, raw "
    "and alike in turn; medians of three rounds."
)

if __name__ == "__main__":
    main()
