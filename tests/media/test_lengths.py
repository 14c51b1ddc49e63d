"""Lengths are of the stream: what containers state, what they do not, and what is measured in its place."""

from __future__ import annotations

import numpy as np
import pytest
from tests.clips import flat, noise, tone, without_duration_tags, write_av, write_luma

from rushes.media import AudioTrack, ClipReader, probe, write_clip

# Where the container states one length for picture and sound, or one of them alone. A codec's block of samples, and its
# delay, are what the sound may be longer by: 26 ms of MP3, 43 ms of WMA, 20 ms of Opus.
ONE_LENGTH = [
    ("a.flv", ("flv", "libmp3lame"), None),
    ("a.wmv", ("wmv2", "wmav2"), None),
    ("a.ogv", ("libvpx", "libopus"), "ogg"),
    ("a.webm", ("libvpx", "libopus"), None),
    ("a.nut", ("mpeg4", "libmp3lame"), None),
]


def _made(folder, name, codecs, format, *, frames, seconds, **more):
    clip = write_av(folder / name, codecs=codecs, format=format, frames=frames, seconds=seconds, **more)
    return without_duration_tags(clip) if name.endswith(("webm", "mkv")) else clip


@pytest.mark.parametrize(("name", "codecs", "format"), ONE_LENGTH)
@pytest.mark.parametrize(("frames", "seconds"), [(150, 2.0), (50, 6.0)])
def test_a_containers_length_is_not_that_of_each_stream(tmp_path, name, codecs, format, frames, seconds):
    clip = _made(tmp_path, name, codecs, format, frames=frames, seconds=seconds)
    facts = probe(clip)
    assert facts.video.duration_ms == pytest.approx(frames * 40, abs=41)
    assert facts.audio.duration_ms == pytest.approx(seconds * 1000, abs=100)
    with ClipReader(clip) as reader:
        list(reader)
    assert reader.facts.video.duration_ms == pytest.approx(frames * 40, abs=41)
    assert reader.facts.audio.duration_ms == facts.audio.duration_ms


@pytest.mark.parametrize(("name", "codecs", "format"), ONE_LENGTH)
def test_the_length_of_the_sound_is_the_same_whether_it_is_heard_or_not(tmp_path, name, codecs, format):
    clip = _made(tmp_path, name, codecs, format, frames=10, seconds=1.0)
    with ClipReader(clip) as deaf, ClipReader(clip, audio_rate=16000) as hearing:
        assert len(list(deaf)) == len(list(hearing)) == 10
    assert deaf.facts.audio.duration_ms == hearing.facts.audio.duration_ms == hearing.audio.duration_ms
    assert deaf.audio is None and len(hearing.audio.samples) >= 15000


def test_a_matroska_tag_is_the_time_of_the_end(tmp_path):
    # 25 frames of 40 ms that start at 464 ms end at 1464 ms, which is what libavformat's tag says.
    clip = write_av(tmp_path / "a.mkv", codecs=("libvpx", "libopus"), frames=25, seconds=1.0, picture_at_ms=464)
    assert b"00:00:01.4" in clip.read_bytes()
    assert probe(clip).video.duration_ms == pytest.approx(1000.0, abs=1)
    assert probe(clip).audio.duration_ms == pytest.approx(1000.0, abs=21)


def test_a_tag_of_another_muxer_is_the_length_itself(tmp_path):
    clip = write_av(tmp_path / "a.mkv", codecs=("libvpx", "libopus"), frames=25, seconds=1.0, picture_at_ms=464)
    clip.write_bytes(clip.read_bytes().replace(b"Lavf", b"Lxvf"))
    assert probe(clip).video.duration_ms == pytest.approx(1464.0, abs=10)


def test_a_tag_carried_over_from_a_longer_file_promises_nothing(tmp_path):
    clip = write_av(tmp_path / "a.mkv", codecs=("libvpx", "libopus"), frames=25, seconds=1.0)
    clip.write_bytes(clip.read_bytes().replace(b"00:00:01.0", b"00:07:01.0"))
    assert probe(clip).video.duration_ms == pytest.approx(1000.0, abs=21)  # the container's


def test_one_stream_alone_has_the_containers_length(tmp_path):
    clip = without_duration_tags(write_luma(tmp_path / "a.mkv", noise(10), "gray"))
    assert probe(clip).video.duration_ms == 400.0
    late = without_duration_tags(write_luma(tmp_path / "b.mkv", noise(10), "gray", times=range(50, 60)))
    assert probe(late).video.duration_ms == 400.0  # ends at 2400 ms, starts at 2000 ms


def test_cover_art_and_sound_do_not_make_two(tmp_path):
    facts = probe(write_clip(tmp_path / "a.mp4", [flat(90)] * 25, audio=AudioTrack.of(tone(0.5), 16000)))
    assert (facts.video.duration_ms, facts.audio.duration_ms) == (1000.0, 500.0)


def test_mpeg_pictures_are_measured(tmp_path):
    clip = write_av(tmp_path / "a.mpg", codecs=("mpeg2video", "mp2"), frames=50, seconds=1.0)
    with ClipReader(clip) as reader:
        list(reader)
    assert reader.facts.video.duration_ms == reader.measured_duration_ms == pytest.approx(2000.0)
    assert reader.promised_duration_ms is None


def test_the_index_of_an_mp4_says_how_many_frames_there_are(tmp_path):
    clip = write_clip(tmp_path / "a.mp4", noise(30, size=(64, 48)))
    with ClipReader(clip) as reader:
        list(reader)
    assert (reader.promised_frames, reader.promised_duration_ms) == (30, 1200.0)
    with ClipReader(write_luma(tmp_path / "a.mkv", noise(30), "gray")) as reader:
        list(reader)
    assert (reader.promised_frames, reader.promised_duration_ms) == (None, 1200.0)


def test_an_edit_list_hides_frames_that_are_then_not_promised(tmp_path):
    clip = write_clip(tmp_path / "a.mp4", noise(30, size=(64, 48)), fps=25)
    data = bytearray(clip.read_bytes())
    place = data.index(b"elst") + 12  # version and flags, count; then length, media time
    scale = int.from_bytes(data[(head := data.index(b"mvhd")) + 16 : head + 20], "big")
    data[place : place + 4] = (scale * 400 // 1000).to_bytes(4, "big")  # ten frames of the thirty
    clip.write_bytes(data)
    with ClipReader(clip) as reader:
        count = len(list(reader))
    assert count < 30
    assert reader.promised_frames == count
    assert np.isclose(reader.promised_duration_ms, reader.measured_duration_ms, atol=81)
