"""What the reader costs over bare PyAV decoding of the same file, one thread."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import av
import numpy as np

from recording import record
from rushes.decode import ClipReader, write_clip

ROUNDS = 9


def _bare(path: Path) -> int:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_count = 1
        stream.thread_type = "NONE"
        return sum(1 for packet in container.demux(stream) for _ in packet.decode())


def _reader(path: Path) -> int:
    with ClipReader(path) as reader:
        return sum(frame.luma.values.shape[0] > 0 for frame in reader)


def _moving(count: int, side: int) -> list[np.ndarray]:
    """A textured picture sliding by two pixels a frame: ordinary work for a decoder."""
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 256, (side // 16 + 16, side // 16 + 16), dtype=np.uint8)
    texture = np.kron(coarse, np.ones((16, 16), np.uint8)) // 2 + rng.integers(0, 64, (side + 256,) * 2, dtype=np.uint8)
    return [texture[2 * (i % 100) : 2 * (i % 100) + side, :side].copy() for i in range(count)]


def _cpu(job, path: Path) -> float:
    start = time.process_time()
    job(path)
    return time.process_time() - start


def main() -> None:
    """Alternate the two, take the median of the ratios."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for side, count in ((256, 400), (512, 200), (1088, 60)):
            clip = write_clip(Path(folder) / f"{side}.mp4", _moving(count, side), fps=25, crf=23)
            _bare(clip), _reader(clip)
            ratios = []
            for _ in range(ROUNDS):
                bare = _cpu(_bare, clip)
                ratios.append(_cpu(_reader, clip) / bare)
            rows.append(
                (f"reader with luma views / bare decode, {side}²", "≤ 1.03", f"{statistics.median(ratios):.3f}")
            )
    record("decode", "The frame reader", rows, how=f"CPU time, one thread, medians of {ROUNDS} alternating runs.")


if __name__ == "__main__":
    main()
