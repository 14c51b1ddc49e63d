"""Damaged files: the header is whole, the rest is what was asked for."""

from __future__ import annotations

from pathlib import Path

import av
import pytest
from benchmarks.planting.kinds import damage
from benchmarks.planting.source import read_source, write_source
from tests.planting.test_picture import moving


@pytest.mark.parametrize("ending", ["mp4", "mkv", "webm"])
def test_a_truncated_file_states_its_whole_length_and_holds_half_of_it(tmp_path: Path, ending: str) -> None:
    source = moving(100)
    path = damage.truncated(source, tmp_path / f"cut.{ending}", 0.5)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    with av.open(str(path)) as container:
        assert container.duration is not None
        assert container.duration / 1e6 == pytest.approx(4.0, abs=0.1)
    assert 20 <= len(read_source(path).frames) <= 80  # 100 frames were written


def test_corrupt_packets_spoil_a_share_of_the_payload_and_no_header(tmp_path: Path) -> None:
    source = moving(100)
    whole = write_source(source, tmp_path / "whole.mp4").read_bytes()
    spoiled = damage.corrupt_packets(source, tmp_path / "spoiled.mp4", 0.05).read_bytes()
    again = damage.corrupt_packets(source, tmp_path / "again.mp4", 0.05).read_bytes()
    assert spoiled == again and len(spoiled) == len(whole)
    changed = [n for n, (a, b) in enumerate(zip(whole, spoiled, strict=True)) if a != b]
    with av.open(str(tmp_path / "whole.mp4")) as container:
        spans = [(p.pos, p.pos + p.size) for p in container.demux(video=0) if p.size]
    assert all(any(begin <= n < end for begin, end in spans) for n in changed)
    payload = sum(end - begin for begin, end in spans)
    assert 0.03 < len(changed) / payload <= 0.05  # runs overlap now and then, and one byte in 256 stays as it was
