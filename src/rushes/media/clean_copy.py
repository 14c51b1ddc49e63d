"""A clip without what its maker wrote beside picture and sound: the packets are copied, nothing is encoded again.

Kept      the one picture and the one sound that are played, packet for packet, with their times, their turn (rotation)
          and their colour tags.
Dropped   titles, comments, dates, encoder and handler names, chapters, attachments, cover art, data and text tracks,
          further picture and sound tracks; and in H.264 the messages that an encoder adds for programs to read (SEI
          `user_data_unregistered`, where x264 writes its settings, and `user_data_registered`). The coded pictures
          themselves stay as they are, so every decoder shows the same frames.
Stays     what is part of the coded picture and sound: profile, level, group structure, and the name that some sound
          encoders hide in their first packet. Only encoding again removes those.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
from av.packet import Packet
from av.stream import Stream

from rushes.core.errors import MediaError
from rushes.media.encode import replacing, writing
from rushes.media.opening import DEMUX_ERRORS, need_video, open_media, pick_audio
from rushes.media.probe import probe
from rushes.media.pyav import ratio

_SEI = 6
_FOR_PROGRAMS = frozenset({4, 5})
"""SEI payloads: user_data_registered_itu_t_t35 and user_data_unregistered (ISO/IEC 14496-10, D.1)."""
_MOST_DRIFT_MS = 1.0
_MOST_CUT_MS = 100.0
"""Of sound, after the clip's start: encoders pad the last packet and cut the padding by an edit list."""


def copy_without_metadata(source: Path, target: Path) -> str:
    """Write the clip's own packets to `target`, MP4 or WebM by its ending; the same bytes for the same clip.

    Returns "" when it is done, else why it cannot be copied so, in words; then nothing is written. `MediaError` for a
    file that cannot be read.
    """
    try:
        with replacing(target) as part:
            why = _copy(source, part, target) or _difference(source, part)
            if why:
                raise _CannotCopy(why)
    except _CannotCopy as refusal:
        return str(refusal)
    return ""


class _CannotCopy(Exception):
    """Leaves `replacing` without a file."""


def _copy(source: Path, part: Path, target: Path) -> str:
    options = {"movflags": "+faststart"} if target.suffix == ".mp4" else {}
    with open_media(source) as container, writing(part, target, options) as out:
        picture, sound = need_video(container, source), pick_audio(container)
        streams = [stream for stream in (picture, sound) if stream is not None]
        made = {stream.index: out.add_stream_from_template(stream) for stream in streams}
        prefix, cut_ms = _length_prefix(picture), 0.0
        try:
            for packet in container.demux(*streams):
                if packet.dts is None and packet.pts is None and not packet.size:
                    continue  # the end
                if packet.is_corrupt or packet.dts is None:
                    return "parts of it are damaged or without a time"
                cut_ms += _cut_ms(packet)
                if cut_ms > _MOST_CUT_MS:
                    return "parts of it are cut by an edit list"
                if prefix and packet.stream.index == picture.index:
                    packet = _quiet(packet, prefix)
                packet.stream = made[packet.stream.index]
                out.mux(packet)
        except DEMUX_ERRORS as error:
            raise MediaError(f"{source}: cannot be read to its end ({error}); export it again") from None
    return ""


def _cut_ms(packet: Packet[Stream]) -> float:
    """How much of a packet an edit list hides that a copy would show. What lies before time zero stays hidden: the
    sound encoder's lead-in, and pictures that others refer to."""
    base = ratio(packet.time_base)
    if not packet.is_discard or packet.pts is None or base is None or packet.pts < 0:
        return 0.0
    shown = float((packet.duration or 0) * base * 1000)
    return shown if packet.stream.type == "audio" else shown + _MOST_CUT_MS


def _length_prefix(stream: Stream) -> int:
    """Bytes before each NAL unit of an H.264 stream that hold its length; 0 for any other stream."""
    extra = stream.codec_context.extradata
    if stream.codec_context.name != "h264" or not extra or len(extra) < 7 or extra[0] != 1:
        return 0
    return (extra[4] & 3) + 1


def _quiet(packet: Packet[Stream], prefix: int) -> Packet[Stream]:
    """The packet without SEI units that carry text for programs; the very same packet where there is none."""
    data = bytes(packet)
    units = list(nal_units(data, prefix))
    kept = [unit for unit in units if not _speaks(unit[prefix:])]
    if len(kept) == len(units) or sum(map(len, units)) != len(data) or not kept:
        return packet
    fresh = Packet(b"".join(kept))
    fresh.stream, fresh.time_base = packet.stream, packet.time_base
    fresh.pts, fresh.dts, fresh.duration = packet.pts, packet.dts, packet.duration
    fresh.is_keyframe = packet.is_keyframe
    return fresh


def nal_units(data: bytes, prefix: int) -> Iterator[bytes]:
    """The NAL units of a packet, each with its length before it; what is left over at the end comes last."""
    place = 0
    while place + prefix <= len(data):
        end = place + prefix + int.from_bytes(data[place : place + prefix], "big")
        yield data[place:end]
        place = end
    if place < len(data):
        yield data[place:]


def _speaks(unit: bytes) -> bool:
    """Whether a NAL unit is an SEI with a message for programs.

    Payload types and sizes are sums of bytes, 255 meaning "and more"; types below 255 need one byte. The unit is read
    without undoing its emulation prevention, so messages after the first are looked at only where lengths still fit.
    """
    if not unit or unit[0] & 31 != _SEI:
        return False
    place = 1
    while place + 1 < len(unit) and unit[place] != 0x80:
        kind = size = 0
        while place < len(unit) and unit[place] == 255:
            kind, place = kind + 255, place + 1
        if place >= len(unit):
            break
        kind, place = kind + unit[place], place + 1
        while place < len(unit) and unit[place] == 255:
            size, place = size + 255, place + 1
        if place >= len(unit):
            break
        size, place = size + unit[place], place + 1
        if kind in _FOR_PROGRAMS:
            return True
        place += size
    return False


def _difference(source: Path, copy: Path) -> str:
    """What a player would show differently; "" where the copy plays as the clip does."""
    before, after = probe(source), probe(copy)
    one, other = before.video, after.video
    if (
        one is None
        or other is None
        or (one.width, one.height, one.rotation) != (other.width, other.height, other.rotation)
    ):
        return "its size or turn would be lost"
    if abs((before.duration_ms or 0) - (after.duration_ms or 0)) > _MOST_DRIFT_MS and _times(source) != _times(copy):
        return "its times would be lost"
    return "" if (before.audio is None) == (after.audio is None) else "its sound would be lost"


def _times(path: Path) -> list[tuple[str, Fraction]]:
    """When each packet is shown, seconds after the first."""
    with av.open(f"file:{path}") as container:
        found = [
            (packet.stream.type, packet.pts * packet.time_base)
            for packet in container.demux(*(s for s in (need_video(container, path), pick_audio(container)) if s))
            if packet.pts is not None
        ]
    start = min((at for _, at in found), default=Fraction(0))
    return sorted((kind, at - start) for kind, at in found)
