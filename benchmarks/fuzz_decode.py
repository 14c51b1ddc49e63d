"""Damaged clips by the thousand: reading one gives frames or a `MediaError`, never anything else.

    python benchmarks/fuzz_decode.py [SECONDS] [SEED] [CLIP …]

Without clips it damages small ones it makes itself. Prints what it did; exits 1 at a surprise and keeps the file.
"""

from __future__ import annotations

import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import numpy as np

from rushes.core.errors import MediaError
from rushes.media import AudioTrack, ClipReader, probe, read_audio, write_clip

KINDS = (
    ("a.mp4", {}),
    ("b.mkv", {"codec": "ffv1", "pix_fmt": "gray"}),
    ("c.webm", {"codec": "libvpx-vp9", "options": {"deadline": "realtime", "cpu-used": "8"}}),
    ("d.avi", {"codec": "mpeg4"}),
    ("e.gif", {"codec": "gif"}),
    ("f.ts", {}),
    ("g.mov", {"codec": "mjpeg", "pix_fmt": "yuvj420p"}),
)


def _seeds(folder: Path) -> list[Path]:
    rng = np.random.default_rng(0)
    frames = [rng.integers(0, 256, (48, 64), dtype=np.uint8) for _ in range(12)]
    sound = AudioTrack.of(rng.uniform(-0.5, 0.5, 8000).astype(np.float32), 16000)
    return [write_clip(folder / name, frames, audio=None if name == "e.gif" else sound, **kw) for name, kw in KINDS]


def _damage(data: bytes, rng: np.random.Generator) -> bytes:
    """Cut the end off, overwrite a run, flip single bytes, or swap two halves."""
    out = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        place, length = int(rng.integers(0, len(out))), int(rng.integers(1, 200))
        match int(rng.integers(0, 4)):
            case 0:
                del out[max(place, 1) :]
            case 1:
                out[place : place + length] = rng.bytes(min(length, len(out) - place))
            case 2:
                for spot in rng.integers(0, len(out), length // 10 + 1):
                    out[int(spot)] ^= 1 << int(rng.integers(0, 8))
            case _:
                out = out[place:] + out[:place]
    return bytes(out)


def _read(path: Path) -> str:
    try:
        probe(path)
        with ClipReader(path, audio_rate=16000) as reader:
            count = sum(frame.luma.values.size > 0 and frame.rgb().ndim == 3 for frame in reader)
        if reader.facts.audio:
            read_audio(path)
        return (
            "damage counted" if reader.decode_failures + reader.corrupt_frames else f"read {'some' if count else 'no'}"
        )
    except MediaError as error:
        assert "\n" not in str(error) and str(path) in str(error), error
        return "refused"


def main() -> None:
    """Damage and read until the time is up."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    rng, seen, end = np.random.default_rng(seed), Counter[str](), time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        clips = [Path(p) for p in sys.argv[3:]] or _seeds(Path(folder))
        while time.monotonic() < end:
            source = clips[int(rng.integers(0, len(clips)))]
            path = Path(folder) / f"damaged{source.suffix}"
            path.write_bytes(_damage(source.read_bytes(), rng))
            try:
                seen[_read(path)] += 1
            except Exception:
                kept = Path(f"surprise{source.suffix}").absolute()
                kept.write_bytes(path.read_bytes())
                traceback.print_exc()
                sys.exit(f"a surprise, kept as {kept}")
    print(f"{seen.total()} damaged clips: " + ", ".join(f"{kind} {n}" for kind, n in sorted(seen.items())))


if __name__ == "__main__":
    main()
