"""The frame reader: order, times, rotation, damage, and what is refused."""

from __future__ import annotations

import shutil
import subprocess
import sys
from fractions import Fraction
from itertools import islice

import av
import numpy as np
import pytest
from tests.clips import (
    coded_frame,
    flat,
    noise,
    spoil,
    tone,
    without_duration_tags,
    write_frames,
    write_luma,
    write_sound,
)

from rushes.core.errors import MediaError
from rushes.media import AudioTrack, ClipReader, probe, read_audio, write_clip
from rushes.media.opening import open_media, open_to_decode


def _values(path, **settings) -> list[int]:
    with ClipReader(path, **settings) as reader:
        return [int(frame.luma.values[0, 0]) for frame in reader]


def test_frames_come_in_presentation_order_with_their_times(tmp_path):
    clip = write_clip(tmp_path / "clip.mp4", [flat(v, size=(64, 64)) for v in range(0, 250, 10)], fps=25)
    with ClipReader(clip) as reader:
        frames = list(reader)
    luma = [frame.luma.full_range().mean() for frame in frames]
    assert luma == sorted(luma) and len(luma) == 25
    assert [frame.index for frame in frames] == list(range(25))
    assert [frame.time_ms for frame in frames] == [40.0 * i for i in range(25)]
    assert reader.measured_duration_ms == 1000.0
    assert reader.decode_failures == 0


def test_variable_frame_rate_times_are_the_timestamps(tmp_path):
    times = [0, 40, 140, 150, 400]
    clip = write_luma(
        tmp_path / "vfr.mkv", [flat(v) for v in range(5)], "gray", times=times, time_base=Fraction(1, 1000)
    )
    with ClipReader(clip) as reader:
        assert [frame.time_ms for frame in reader] == times


def test_a_16_frame_gif_is_16_frames(tmp_path):
    clip = write_clip(tmp_path / "clip.gif", [flat(v * 15) for v in range(16)], fps=10, codec="gif", pix_fmt="gray")
    with ClipReader(clip) as reader:
        frames = [(f.time_ms, int(f.luma.values[0, 0])) for f in reader]
    assert frames == [(100.0 * v, v * 15) for v in range(16)]
    assert reader.measured_duration_ms == 1600.0
    assert reader.facts.video.fps == 10


def test_a_clip_that_starts_late_starts_at_zero(tmp_path):
    clip = write_luma(tmp_path / "late.mkv", [flat(v) for v in range(3)], "gray", times=[50, 51, 52])
    with ClipReader(clip) as reader:
        assert [frame.time_ms for frame in reader] == [0.0, 40.0, 80.0]
    assert reader.measured_duration_ms == 120.0


def test_negative_dts_from_b_frames_does_not_shift_times(tmp_path):
    frames = [coded_frame(f, "yuv420p") for f in noise(12, size=(64, 48))]
    clip = write_frames(tmp_path / "b.mp4", frames, codec="libx264", b_frames=3, options={"bf": "3", "qp": "0"})
    with ClipReader(clip) as reader:
        assert [frame.time_ms for frame in reader] == [40.0 * i for i in range(12)]


def test_frames_without_timestamps_follow_one_another(tmp_path):
    frames = [coded_frame(flat(v, size=(64, 48)), "yuv420p") for v in range(50, 60)]
    clip = write_frames(tmp_path / "bare.h264", frames, codec="libx264", rate=25)
    with ClipReader(clip) as reader:
        times = [frame.time_ms for frame in reader]
    assert times == [40.0 * i for i in range(10)]
    assert reader.facts.video.duration_ms == reader.measured_duration_ms == 400.0


def test_a_bare_row_of_jpegs_is_a_clip(tmp_path):
    clip = write_clip(tmp_path / "a.mjpeg", noise(6, size=(64, 48)), codec="mjpeg", pix_fmt="yuvj420p")
    assert len(_values(clip)) == 6


def test_one_frame(tmp_path):
    clip = write_clip(tmp_path / "one.mp4", [flat(90)], fps=25)
    with ClipReader(clip) as reader:
        assert [frame.index for frame in reader] == [0]
    assert reader.measured_duration_ms == 40.0


def test_a_second_loop_finds_nothing(tmp_path):
    clip = write_clip(tmp_path / "clip.mp4", [flat(90)] * 3)
    with ClipReader(clip) as reader:
        assert len(list(reader)) == 3
        assert list(reader) == []
    assert reader.measured_duration_ms == 120.0


# A picture with its top-left quarter bright. After a clockwise turn of 90 degrees that quarter is top right, after 180
# bottom right, after 270 bottom left.
@pytest.mark.parametrize(("rotation", "corner"), [(0, (0, 0)), (90, (0, 1)), (180, (1, 1)), (270, (1, 0))])
def test_pictures_are_upright(tmp_path, rotation, corner):
    picture = np.zeros((32, 64, 3), np.uint8)
    picture[:16, :32] = 255
    clip = write_clip(tmp_path / "turned.mp4", [picture] * 2, rotation=rotation)
    with ClipReader(clip) as reader:
        frame = next(iter(reader))
        rgb, bgr = frame.rgb(), frame.bgr()
    assert reader.facts.video.rotation == rotation
    assert rgb.shape == ((32, 64, 3) if rotation % 180 == 0 else (64, 32, 3))
    assert rgb.flags.c_contiguous and bgr.flags.c_contiguous
    half = np.array(rgb.shape[:2]) // 2
    quarters = rgb.reshape(2, half[0], 2, half[1], 3).mean(axis=(1, 3, 4))
    assert np.unravel_index(quarters.argmax(), (2, 2)) == corner
    assert frame.luma.values.shape == (32, 64)  # luma stays as coded
    np.testing.assert_array_equal(rgb, bgr[:, :, ::-1])


@pytest.mark.skipif(not shutil.which("ffmpeg"), reason="ffmpeg is not installed")
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize(("hflip", "vflip"), [(False, False), (True, False), (False, True), (True, True)])
def test_every_orientation_is_that_of_ffmpeg(tmp_path, rotation, hflip, vflip):
    blocks = np.kron(noise(1, size=(8, 6))[0], np.ones((8, 8), np.uint8))
    clip = write_frames(
        tmp_path / "c.mp4",
        [coded_frame(blocks, "yuv420p") for _ in range(2)],
        codec="libx264",
        options={"qp": "0"},
        rotation=rotation,
        hflip=hflip,
        vflip=vflip,
    )
    command = ["ffmpeg", "-v", "quiet", "-i", str(clip), "-frames:v", "1", "-pix_fmt", "rgb24", "-f", "rawvideo", "-"]
    theirs = subprocess.run(command, capture_output=True, check=True).stdout
    with ClipReader(clip) as reader:
        ours = next(iter(reader)).rgb()
    difference = np.frombuffer(theirs, np.uint8).reshape(ours.shape).astype(int) - ours
    assert np.abs(difference).mean() < 2  # two versions of swscale may round apart


def test_8k(tmp_path):
    frame = np.kron(noise(1, size=(96, 54))[0], np.ones((80, 80), np.uint8))
    clip = write_clip(tmp_path / "8k.mkv", [frame], codec="libx264", options={"preset": "ultrafast"})
    with ClipReader(clip) as reader:
        assert [f.luma.values.shape for f in reader] == [(4320, 7680)]


def test_colours_keep_their_order(tmp_path):
    picture = np.zeros((16, 16, 3), np.uint8)
    picture[:] = (200, 100, 50)
    clip = write_clip(tmp_path / "colour.mkv", [picture], codec="ffv1", pix_fmt="bgr0")
    with ClipReader(clip) as reader:
        frame = next(iter(reader))
        assert frame.rgb()[0, 0].tolist() == [200, 100, 50]
        assert frame.bgr()[0, 0].tolist() == [50, 100, 200]
        assert frame.luma.converted


def test_a_truncated_file_gives_the_frames_it_has(tmp_path):
    whole = write_luma(tmp_path / "whole.mkv", noise(40, size=(64, 48)), "gray")
    torn = tmp_path / "torn.mkv"
    torn.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    seen = _values(torn)
    assert 0 < len(seen) < 40
    assert seen == _values(whole)[: len(seen)]


@pytest.mark.parametrize(
    ("name", "settings"),
    [("c.mov", {"codec": "mjpeg", "pix_fmt": "yuvj420p"}), ("c.mp4", {}), ("d.mp4", {"codec": "mpeg4"})],
)
@pytest.mark.parametrize("fill", [0, 255])
def test_corrupt_packets_are_counted_and_decoding_goes_on(tmp_path, name, settings, fill):
    clip = write_clip(tmp_path / name, noise(10, size=(64, 48)), audio=AudioTrack.of(tone(1.0), 16000), **settings)
    spoil(clip, "video", [3, 5], fill=fill)
    spoil(clip, "audio", [2, 4, 6], fill=fill)
    with ClipReader(clip, audio_rate=16000) as reader:
        assert [frame.index for frame in reader] == list(range(8))
    assert (reader.decode_failures, reader.audio_failures) == (2, 3)


def test_a_file_that_breaks_off_gives_what_the_decoder_still_holds(tmp_path, monkeypatch):
    clip = write_clip(tmp_path / "c.mp4", noise(12, size=(64, 48)))  # B-frames: the decoder holds some back

    class Breaking:
        """A container whose disk fails after eight packets."""

        def __init__(self, container):
            self._container = container

        def __getattr__(self, name):
            return getattr(self._container, name)

        def demux(self, *streams):
            yield from islice(self._container.demux(*streams), 8)
            raise av.error.OSError(5, "Input/output error", str(clip))

    monkeypatch.setattr("rushes.media.frames.open_to_decode", lambda path: Breaking(open_media(path)))
    with ClipReader(clip) as reader:
        assert len(list(reader)) == 8
    assert reader.decode_failures == 1


def test_a_stream_that_turns_up_midway_ends_in_no_traceback(tmp_path, monkeypatch):
    """PyAV hands out every packet and then raises IndexError: it flushes streams it never knew of."""
    clip = write_clip(tmp_path / "c.mkv", noise(12, size=(64, 48)), audio=AudioTrack.of(tone(0.5), 16000))

    class Growing:
        def __init__(self, container):
            self._container = container

        def __getattr__(self, name):
            return getattr(self._container, name)

        def __enter__(self):
            return self

        def __exit__(self, *_error):
            self._container.close()

        def demux(self, *streams):
            yield from self._container.demux(*streams)
            raise IndexError("list index out of range")

    for module in ("frames", "probe", "audio"):
        home = sys.modules[f"rushes.media.{module}"]  # by name, `rushes.media.probe` is the function
        monkeypatch.setattr(home, "open_media", lambda path, **_: Growing(open_media(path)))
    with ClipReader(clip, audio_rate=16000) as reader:
        assert len(list(reader)) == 12
    assert (reader.decode_failures, len(reader.audio.samples) > 7000) == (0, True)
    assert len(read_audio(clip).samples) == len(reader.audio.samples)
    without_duration_tags(clip)
    assert probe(clip).video.duration_ms == 480.0


def test_zero_frames_is_an_empty_loop_not_an_error(tmp_path):
    clip = write_clip(tmp_path / "clip.mp4", noise(3, size=(64, 48)))
    data = bytearray(clip.read_bytes())
    body = data.index(b"mdat")
    end = data.index(b"moov", body) - 4
    data[body + 4 : end] = bytes(end - body - 4)
    clip.write_bytes(data)
    with ClipReader(clip) as reader:
        assert list(reader) == []
        assert reader.measured_duration_ms is None
        assert reader.decode_failures > 0
        assert (reader.facts.video.width, reader.facts.video.height) == (64, 48)


def test_a_change_of_size_is_refused_in_one_line(tmp_path):
    small = write_clip(tmp_path / "a.h264", noise(4, size=(64, 48)))
    large = write_clip(tmp_path / "b.h264", noise(4, size=(96, 64)))
    both = tmp_path / "both.h264"
    both.write_bytes(small.read_bytes() + large.read_bytes())
    with pytest.raises(MediaError, match=r"both\.h264: the size changes from 64×48 to 96×64 at frame 4"):
        _values(both)


def test_sound_is_collected_in_the_same_pass(tmp_path):
    track = AudioTrack.of(tone(1.0), 16000)
    clip = write_clip(tmp_path / "clip.mp4", [flat(90)] * 25, audio=track)
    with ClipReader(clip, audio_rate=16000) as reader:
        assert reader.audio is None
        assert len(list(reader)) == 25
    assert reader.audio.rate == 16000
    assert reader.audio.duration_ms == 1000.0
    assert reader.audio.samples.dtype == np.float32
    # AAC is lossy; the tone comes back in place and in size.
    assert np.abs(reader.audio.samples[1000:15000] - track.samples[1000:15000]).max() < 0.05


def test_no_sound_asked_or_none_there(tmp_path):
    silent = write_clip(tmp_path / "silent.mp4", [flat(90)] * 2)
    with ClipReader(silent, audio_rate=16000) as reader:
        list(reader)
    assert reader.audio is None and reader.facts.audio is None


def test_only_sound_is_refused(tmp_path):
    sound = write_sound(tmp_path / "sound.wav", tone(0.2)[None])
    with pytest.raises(MediaError, match=r"sound\.wav: expected a video, the file has only sound"):
        ClipReader(sound)


def test_spaces_and_other_alphabets_in_a_path(tmp_path):
    folder = tmp_path / "übung 1: späte Züge"
    folder.mkdir()
    clip = write_clip(folder / "日本語 take #2 100%d.mp4", [flat(90)] * 2)
    assert len(_values(clip)) == 2


def test_the_same_frames_every_time(tmp_path):
    clip = write_clip(tmp_path / "clip.mp4", noise(10, size=(64, 48)))
    with ClipReader(clip) as one, ClipReader(clip) as two:
        for a, b in zip(one, two, strict=True):
            np.testing.assert_array_equal(a.luma.values, b.luma.values)
            np.testing.assert_array_equal(a.rgb(), b.rgb())


def _moving(frames: int = 30) -> list[np.ndarray]:
    """Grain over a drift: x264 codes some of these as B-frames."""
    draw, slope = np.random.default_rng(7), np.tile(np.arange(96) * 2.0, (64, 1))
    return [
        np.clip(np.roll(slope, n, axis=1) + draw.normal(0, 4, slope.shape), 0, 255).astype(np.uint8)
        for n in range(frames)
    ]


@pytest.mark.parametrize("reordered", [True, False])
def test_what_opening_does_not_decode_is_known_from_the_first_frame(tmp_path, monkeypatch, reordered):
    """H.264 in MP4 whose index shows that frames are reordered is opened without decoding one; the rest as ever."""
    clip = write_clip(tmp_path / "clip.mp4", _moving(), options={"bf": "3" if reordered else "0"})
    with open_to_decode(clip) as container:
        assert (container.streams.video[0].codec_context.pix_fmt is None) == reordered

    def read() -> tuple[object, ...]:
        with ClipReader(clip) as reader:
            frames = [(frame.time_ms, frame.luma.values.tobytes()) for frame in reader]
        return reader.facts, reader.pixel_aspect, reader.promised_frames, frames

    found = read()
    monkeypatch.setattr("rushes.media.frames.open_to_decode", open_media)
    assert found == read()
    assert found[0].video.pix_fmt == "yuv420p" and len(found[3]) == 30


def test_the_shape_of_pixels_is_that_of_the_stream(tmp_path):
    """Of H.264 it may be stated in the stream alone, which a decoded frame tells."""
    clip = write_clip(tmp_path / "clip.mp4", _moving())
    told = tmp_path / "told.mp4"
    sar = "h264_metadata=sample_aspect_ratio=4/3"
    with av.open(str(clip)) as given, av.open(str(told), "w") as made:
        stream = made.add_stream_from_template(given.streams.video[0])
        chain = av.bitstream.BitStreamFilterContext(sar, given.streams.video[0], stream)
        for packet in given.demux(video=0):
            for filtered in chain.filter(packet):
                filtered.stream = stream
                made.mux(filtered)
    with ClipReader(told) as reader:
        assert reader.pixel_aspect == Fraction(4, 3)


def test_a_clip_of_which_nothing_decodes_has_the_facts_that_opening_finds(tmp_path, monkeypatch):
    clip = write_clip(tmp_path / "clip.mp4", _moving(), fps=25)
    data = bytearray(clip.read_bytes())
    start = data.find(b"mdat") + 4
    data[start : data.find(b"moov") - 4] = bytes(data.find(b"moov") - 4 - start)
    clip.write_bytes(data)

    def read() -> tuple[object, ...]:
        with ClipReader(clip) as reader:
            assert not list(reader)
        return reader.facts, reader.decode_failures

    found = read()
    monkeypatch.setattr("rushes.media.frames.open_to_decode", open_media)
    assert found == read()
    assert found[0].video.width == 96


def test_an_mp4_that_opens_only_with_a_look_at_its_frames_opens(tmp_path, monkeypatch):
    clip = write_clip(tmp_path / "clip.mp4", _moving())
    plain = av.open

    def opening(*args: object, **how: object) -> object:
        if "stream_options" in how:
            raise ValueError("stream_options were provided, but this format has streams that turn up later")
        return plain(*args, **how)

    monkeypatch.setattr("rushes.media.opening.av.open", opening)
    with ClipReader(clip) as reader:
        assert len(list(reader)) == 30
