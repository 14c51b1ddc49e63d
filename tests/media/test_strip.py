"""A clip without its metadata: the same packets, the same frames, none of what was written beside them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import av
import numpy as np
import pytest

from rushes.media import AudioTrack, ClipReader, probe, write_clip
from rushes.media.clean_copy import copy_without_metadata, nal_units

SECRETS = (b"WanVideo 2.1 seed 42", b"secret model", b"A chapter of Wan", b"ComfyUI")


def frames(count: int = 12) -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    return [rng.integers(0, 255, (48, 64, 3), np.uint8) for _ in range(count)]


def signed(path: Path, *, sound: bool = True, sei: bool = False) -> Path:
    """A clip as generators write them: title, comment, stream title, a data file attached; with x264's own words."""
    plain = path.with_name(f"plain_{path.name}")
    track = AudioTrack(samples=np.zeros(12_000, np.float32), rate=24_000, duration_ms=500.0) if sound else None
    write_clip(plain, frames(), fps=25, audio=track, codec="libvpx-vp9" if path.suffix == ".webm" else "libx264")
    with av.open(str(plain)) as source, av.open(str(path), "w", options={"movflags": "use_metadata_tags"}) as out:
        out.metadata.update({"title": "WanVideo 2.1 seed 42", "comment": "prompt: secret model", "workflow": "ComfyUI"})
        made = {stream.index: out.add_stream_from_template(stream) for stream in source.streams}
        for stream in made.values():
            stream.metadata["title"] = "WanVideo 2.1 seed 42"
            stream.metadata["handler_name"] = "ComfyUI"
        for packet in source.demux():
            if packet.dts is None:
                continue
            data, stream = bytes(packet), made[packet.stream.index]
            if sei and packet.stream.type == "video" and packet.pts == 0:
                text = b"\x05" + bytes([16 + len(SECRETS[1])]) + bytes(16) + SECRETS[1] + b"\x80"
                unit = b"\x06" + text
                fresh = av.Packet(len(unit).to_bytes(4, "big") + unit + data)
                fresh.pts, fresh.dts, fresh.time_base = packet.pts, packet.dts, packet.time_base
                fresh.duration, fresh.is_keyframe = packet.duration, True
                packet = fresh
            packet.stream = stream
            out.mux(packet)
    return path


def packet_hashes(path: Path, kind: str, *, quiet: bool = False) -> list[str]:
    """A digest of every packet; with `quiet`, of its NAL units other than SEI."""
    found = []
    with av.open(str(path)) as container:
        for packet in container.demux(next(s for s in container.streams if s.type == kind)):
            data = bytes(packet)
            if quiet:
                data = b"".join(unit for unit in nal_units(data, 4) if unit[4] & 31 != 6)
            if data:
                found.append(hashlib.sha256(data).hexdigest())
    return found


def shown(path: Path) -> list[bytes]:
    with ClipReader(path) as reader:
        return [frame.rgb().tobytes() for frame in reader]


@pytest.mark.parametrize("ending", [".mp4", ".mov", ".webm"])
def test_no_word_is_left_and_every_packet_is_the_same(tmp_path: Path, ending: str) -> None:
    source = signed(tmp_path / f"clip{ending}")
    assert SECRETS[0] in source.read_bytes(), "the clip tells where it comes from"
    target = tmp_path / f"out{'.webm' if ending == '.webm' else '.mp4'}"
    assert copy_without_metadata(source, target) == ""
    assert not [secret for secret in SECRETS if secret in target.read_bytes()]
    quiet = ending != ".webm"
    assert packet_hashes(source, "video", quiet=quiet) == packet_hashes(target, "video", quiet=quiet)
    assert packet_hashes(source, "audio") == packet_hashes(target, "audio")
    assert shown(source) == shown(target)
    with av.open(str(target)) as container:
        assert set(container.metadata) <= {"major_brand", "minor_version", "compatible_brands", "encoder", "ENCODER"}
        kept = [value for s in container.streams for key, value in s.metadata.items() if key.lower() != "duration"]
    assert set(kept) <= {"und", "eng", "VideoHandler", "SoundHandler", "[0][0][0][0]"}, kept


def test_words_in_the_h264_stream_go_too(tmp_path: Path) -> None:
    """An SEI with user data carries x264's settings, or whatever a generator likes."""
    source, target = signed(tmp_path / "clip.mp4", sei=True), tmp_path / "out.mp4"
    assert SECRETS[1] in source.read_bytes()
    assert copy_without_metadata(source, target) == ""
    data = target.read_bytes()
    assert SECRETS[1] not in data and b"x264" not in data
    assert shown(source) == shown(target)
    assert packet_hashes(source, "video", quiet=True) == packet_hashes(target, "video", quiet=True)


def test_turn_and_length_stay(tmp_path: Path) -> None:
    source, target = tmp_path / "turned.mp4", tmp_path / "out.mp4"
    write_clip(source, frames(), fps=25, rotation=90)
    assert copy_without_metadata(source, target) == ""
    before, after = probe(source), probe(target)
    assert before.video is not None and after.video is not None and after.video.rotation == before.video.rotation == 90
    assert after.duration_ms == before.duration_ms


def test_the_same_clip_gives_the_same_bytes_whoever_signed_it(tmp_path: Path) -> None:
    """Two systems with the same packets cannot be told apart by their files."""
    one = signed(tmp_path / "one.mp4")
    plain = tmp_path / "plain_one.mp4"
    assert copy_without_metadata(one, tmp_path / "a.mp4") == copy_without_metadata(plain, tmp_path / "b.mp4") == ""
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()
