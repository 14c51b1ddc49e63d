"""Damage to a written file: cut off, or bytes of its video packets overwritten. The header stays whole."""

from __future__ import annotations

import zlib
from pathlib import Path

import av
import numpy as np

from ..source import Source, write_source

_RUN = 32
"""Bytes overwritten in a row: a slice is spoiled, not a single bit."""
WEBM = {"codec": "libvpx-vp9", "crf": 24, "options": {"deadline": "realtime", "cpu-used": "8"}}


def truncated(source: Source, path: Path, share: float) -> Path:
    """The first `share` of the file's bytes; an mp4 has its index in front, as those made for the web do."""
    whole = path.with_name(f"whole-{path.name}")
    write_source(source, whole, **(WEBM if path.suffix == ".webm" else {}))
    if path.suffix == ".mp4":
        whole = _index_first(whole)
    data = whole.read_bytes()
    whole.unlink()
    path.write_bytes(data[: round(len(data) * share)])
    return path


def _index_first(path: Path) -> Path:
    """The same packets with the index before them."""
    out = path.with_name(f"web-{path.name}")
    with av.open(str(path)) as given, av.open(str(out), "w", options={"movflags": "+faststart"}) as made:
        streams = {stream.index: made.add_stream_from_template(stream) for stream in given.streams}
        for packet in given.demux():
            if packet.dts is not None:
                packet.stream = streams[packet.stream.index]
                made.mux(packet)
    path.unlink()
    return out


def corrupt_packets(source: Source, path: Path, share: float) -> Path:
    """This share of the bytes of the video packets, in short runs at places decided by the clip's name, is noise."""
    write_source(source, path)
    data = bytearray(path.read_bytes())
    with av.open(str(path)) as given:
        spans = [(p.pos, p.size) for p in given.demux(video=0) if p.size and p.pos is not None]
    places = np.concatenate([np.arange(begin, begin + size) for begin, size in spans])
    rng = np.random.default_rng(zlib.crc32(source.name.encode()))
    for start in rng.integers(0, max(1, len(places) - _RUN), max(1, round(len(places) * share / _RUN))):
        for place, value in zip(places[start : start + _RUN], rng.bytes(_RUN), strict=False):
            data[int(place)] = value
    path.write_bytes(bytes(data))
    return path


def starved(source: Source, path: Path, strength: str) -> Path:
    """The clip's own encoder with far too few bits."""
    return write_source(source, path, **source.encoder.settings(strength))
