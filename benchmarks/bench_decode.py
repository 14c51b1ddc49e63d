"""What the reader costs over bare PyAV decoding of the same file, one thread."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import av
import numpy as np

from recording import record
from rushes.media import ClipReader, write_clip

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


def _compare(path: Path) -> list[tuple[float, float]]:
    """CPU seconds of (bare, reader), alternating, after one warm-up of each."""
    _bare(path), _reader(path)
    return [(_cpu(_bare, path), _cpu(_reader, path)) for _ in range(ROUNDS)]


def main() -> None:
    """Medians of the ratios; and, on a tiny clip where decoding is cheap, the reader's own cost per frame."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for side, count in ((512, 200), (1088, 60)):
            clip = write_clip(Path(folder) / f"{side}.mp4", _moving(count, side), fps=25, crf=23)
            ratio = statistics.median(reader / bare for bare, reader in _compare(clip))
            rows.append((f"reader with luma views / bare decode, {side}²", "≤ 1.03", f"{ratio:.3f}"))
        tiny = write_clip(Path(folder) / "64.mp4", _moving(2000, 64), fps=25, crf=23)
        cost = statistics.median(reader - bare for bare, reader in _compare(tiny)) / 2000
        rows.append(("reader's own cost per frame, luma view included", "–", f"{cost * 1e6:.1f} µs"))
    record("decode", "The frame reader", rows, how=f"CPU time, one thread, medians of {ROUNDS} alternating runs.")


if __name__ == "__main__":
    main()
