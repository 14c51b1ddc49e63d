"""Small clips damaged in known ways, each case decided by (seed, number), and what measuring one comes to.

Used by `fuzz_clips.py` (`make fuzz`) for many thousand cases and by the tests for some.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rushes.core.canonical import canonical_json
from rushes.instruments.clip.bundle import KEYS
from rushes.instruments.clip.evaluate import evaluate_clip
from rushes.media import AudioTrack, write_clip

KINDS: tuple[tuple[str, dict[str, object]], ...] = (
    ("a.mp4", {}),
    ("b.mkv", {"codec": "ffv1", "pix_fmt": "gray"}),
    ("c.webm", {"codec": "libvpx-vp9", "options": {"deadline": "realtime", "cpu-used": "8"}}),
    ("d.avi", {"codec": "mpeg4"}),
    ("e.gif", {"codec": "gif"}),
    ("f.mpg", {"codec": "mpeg1video"}),
)
_SILENT = {"e.gif", "f.mpg"}
_HEADER = 600
"""Bytes at the start where every container here keeps what it says about itself."""
_EXTREMES = (0x00000000, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 0x00000001, 0x0000FFFF)


@dataclass(frozen=True, slots=True)
class Case:
    """One damaged clip to measure; travels to a worker process."""

    folder: str
    seed: int
    number: int

    @property
    def source(self) -> Path:
        return Path(self.folder) / KINDS[self.number % len(KINDS)][0]

    def damaged(self) -> bytes:
        """The clip after one to three kinds of damage, always the same for this case."""
        rng = np.random.default_rng([self.seed, self.number])
        data = bytearray(self.source.read_bytes())
        for _ in range(int(rng.integers(1, 4))):
            data = DAMAGES[int(rng.integers(0, len(DAMAGES)))](data, rng)
        return bytes(data)


def write_sources(folder: Path) -> None:
    """The undamaged clips: one second or less, 64×48, with sound where the container takes it."""
    rng = np.random.default_rng(0)
    frames = [rng.integers(0, 256, (48, 64), dtype=np.uint8) for _ in range(12)]
    sound = AudioTrack.of(rng.uniform(-0.5, 0.5, 8000).astype(np.float32), 16000)
    for name, settings in KINDS:
        write_clip(folder / name, frames, audio=None if name in _SILENT else sound, **settings)  # type: ignore[arg-type]


def measure_damaged(case: Case) -> tuple[str, str]:
    """("pass" | "flagged" | "reject", "") as `evaluate_clip` says, or ("surprise", traceback)."""
    path = Path(case.folder) / f"damaged-{case.seed}-{case.number}{case.source.suffix}"
    path.write_bytes(case.damaged())
    try:
        result = evaluate_clip(path)
        error = str(result.facts.get("error", ""))
        assert "\n" not in error, error
        assert tuple(result.bundle()) == KEYS
        canonical_json([m.value for m in result.measurements])  # refuses NaN and infinity
        return result.badge, ""
    except Exception:  # the finding itself: it is reported with its case, and the run goes on
        return "surprise", traceback.format_exc()
    finally:
        path.unlink()


def _truncated(data: bytearray, rng: np.random.Generator) -> bytearray:
    return data[: int(rng.integers(1, len(data) + 1))]


def _header_bytes(data: bytearray, rng: np.random.Generator) -> bytearray:
    for spot in rng.integers(0, min(len(data), _HEADER), int(rng.integers(1, 12))):
        data[int(spot)] = int(rng.integers(0, 256))
    return data


def _extreme_number(data: bytearray, rng: np.random.Generator) -> bytearray:
    """A length, size or count field becomes 0, −1 or the largest: what makes a reader allocate or loop."""
    spot = int(rng.integers(0, min(len(data), _HEADER)))
    size = int(rng.choice([2, 4]))
    number = _EXTREMES[int(rng.integers(0, len(_EXTREMES)))]
    data[spot : spot + size] = number.to_bytes(4, "big" if rng.integers(0, 2) else "little")[:size]
    return data


def _packet_bytes(data: bytearray, rng: np.random.Generator) -> bytearray:
    place = int(rng.integers(0, len(data)))
    length = min(int(rng.integers(1, 200)), len(data) - place)
    data[place : place + length] = rng.bytes(length)
    return data


def _flipped_bits(data: bytearray, rng: np.random.Generator) -> bytearray:
    for spot in rng.integers(0, len(data), int(rng.integers(1, 20))):
        data[int(spot)] ^= 1 << int(rng.integers(0, 8))
    return data


def _piece_moved(data: bytearray, rng: np.random.Generator) -> bytearray:
    """A piece is cut out, or said twice: packets lost and repeated."""
    start, end = sorted(int(n) for n in rng.integers(0, len(data), 2))
    piece = data[start : min(end, start + 400)]
    return data[:start] + piece + data[start:] if rng.integers(0, 2) else data[:start] + data[start + len(piece) + 1 :]


def _foreign_tail(data: bytearray, rng: np.random.Generator) -> bytearray:
    return data[: int(rng.integers(1, len(data) + 1))] + rng.bytes(int(rng.integers(1, 300)))


DAMAGES: tuple[Callable[[bytearray, np.random.Generator], bytearray], ...] = (
    _truncated,
    _header_bytes,
    _extreme_number,
    _packet_bytes,
    _flipped_bits,
    _piece_moved,
    _foreign_tail,
)
