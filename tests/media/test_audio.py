"""Sound as mono samples, in step with the picture."""

from __future__ import annotations

from contextlib import ExitStack
from fractions import Fraction

import av
import numpy as np
import pytest
from tests.clips import flat, noise, spoil, tone, write_av, write_luma, write_sound

from rushes.core.errors import MediaError
from rushes.media import ClipReader, probe, read_audio, write_clip
from rushes.media.audio import AudioTrack, MonoCollector, _silence_like, require_sound


def _frame(samples: np.ndarray, *, rate: int, layout: str = "mono", pts: int = 0) -> av.AudioFrame:
    frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples, np.float32), format="fltp", layout=layout)
    frame.sample_rate, frame.pts, frame.time_base = rate, pts, Fraction(1, rate)
    return frame


def test_a_mono_file_at_its_own_rate_comes_back_as_it_is(tmp_path):
    samples = tone(0.5)
    track = read_audio(write_sound(tmp_path / "a.wav", samples[None]), 16000)
    assert (track.rate, track.duration_ms, track.samples.dtype, len(track.samples)) == (16000, 500.0, np.float32, 8000)
    assert np.abs(track.samples - samples).max() <= 1 / 32768  # 16-bit PCM


def test_stereo_becomes_the_mean_of_both(tmp_path):
    left, right = tone(0.2, hz=300), np.zeros(3200, np.float32)
    track = read_audio(write_sound(tmp_path / "a.wav", np.stack([left, right])))
    assert np.abs(track.samples - left / 2).max() <= 2 / 32768


def test_another_rate_keeps_length_and_tone(tmp_path):
    track = read_audio(write_sound(tmp_path / "a.wav", tone(1.0, rate=44100)[None], rate=44100), 16000)
    assert abs(len(track.samples) - 16000) <= 1
    assert np.abs(track.samples[500:15500] - tone(1.0)[500:15500]).max() < 0.01


def test_the_same_samples_every_time(tmp_path):
    path = write_sound(tmp_path / "a.wav", tone(1.0, rate=44100)[None], rate=44100)
    assert read_audio(path).samples.tobytes() == read_audio(path).samples.tobytes()


def test_reading_a_clip_gives_the_same_sound_either_way(tmp_path):
    clip = write_clip(tmp_path / "c.mp4", [flat(90)] * 25, audio=AudioTrack.of(tone(1.0), 16000))
    with ClipReader(clip, audio_rate=16000) as reader:
        list(reader)
    alone = read_audio(clip, 16000)
    np.testing.assert_array_equal(reader.audio.samples, alone.samples)
    assert reader.audio.duration_ms == alone.duration_ms


def test_sound_that_starts_late_is_led_in_by_silence():
    collector = MonoCollector(16000, Fraction(0))
    collector.add(_frame(tone(0.1)[None], rate=16000, pts=800))  # 50 ms late
    track = collector.track(None)
    assert track.samples[:800].any() == np.False_
    np.testing.assert_array_equal(track.samples[800:], tone(0.1))
    assert track.duration_ms == 100.0  # the sound's own, without the silence


def test_a_damaged_packet_leaves_silence_and_moves_nothing(tmp_path):
    click = np.zeros(16000, np.float32)
    click[12000:12400] = 0.8
    clip = write_clip(tmp_path / "c.mp4", [flat(90)] * 25, audio=AudioTrack.of(click, 16000))
    whole = read_audio(clip).samples
    spoil(clip, "audio", [3, 5])
    damaged = read_audio(clip).samples
    assert len(damaged) == len(whole)
    assert abs(int(np.abs(damaged).argmax()) - int(np.abs(whole).argmax())) <= 1


def test_holes_shorter_than_half_a_frame_are_rounding():
    collector = MonoCollector(16000, Fraction(0))
    collector.add(_frame(tone(0.1)[None], rate=16000, pts=0))
    collector.add(_frame(tone(0.1)[None], rate=16000, pts=1600 + 79))  # 4.9 ms
    assert len(collector.track(None).samples) == 3200


def test_absurd_start_times_are_not_filled():
    collector = MonoCollector(16000, Fraction(0))
    collector.add(_frame(tone(0.1)[None], rate=16000, pts=16000 * 3600))
    assert len(collector.track(None).samples) == 1600


def test_a_change_of_rate_and_layout_in_mid_stream():
    collector = MonoCollector(16000, None)
    collector.add(_frame(tone(0.5)[None], rate=16000))
    collector.add(_frame(np.stack([tone(0.5, rate=48000)] * 2), rate=48000, layout="stereo"))
    track = collector.track(None)
    assert abs(len(track.samples) - 16000) <= 2
    assert np.abs(track.samples).max() <= 1


def test_loud_floats_are_held_to_one():
    collector = MonoCollector(16000, None)
    collector.add(_frame(np.full((1, 100), 3.0), rate=16000))
    assert collector.track(None).samples.max() == 1.0


def test_a_clip_without_sound_is_refused(tmp_path):
    clip = write_clip(tmp_path / "silent.mp4", [flat(90)] * 2)
    with pytest.raises(MediaError, match=r"silent\.mp4: expected sound; the file has no audio track"):
        read_audio(clip)


def test_a_given_sound_starts_where_it_is_put(tmp_path):
    wav = write_sound(tmp_path / "a.wav", tone(0.1)[None])
    track = read_audio(wav, at_ms=50.0)  # 50 ms are 800 samples
    assert len(track.samples) == 800 + 1600 and not track.samples[:800].any()
    np.testing.assert_array_equal(track.samples[800:], read_audio(wav).samples)
    assert track.duration_ms == 100.0  # the sound's own, without the silence


def test_a_given_clips_own_offset_is_not_kept(tmp_path):
    # Sound that starts 464 ms before its own picture, or after: as a given sound it starts with the other picture.
    clip = write_av(tmp_path / "a.mkv", codecs=("libvpx", "libopus"), frames=25, seconds=1.0, picture_at_ms=464)
    np.testing.assert_array_equal(read_audio(clip, at_ms=0.0).samples, read_audio(clip).samples)
    late = write_luma(tmp_path / "b.mkv", [flat(90)] * 2, "gray")
    with pytest.raises(MediaError, match=r"b\.mkv: expected sound"):
        read_audio(late, at_ms=0.0)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("still.png", "expected sound, got a still image; give a sound file"),
        ("empty.wav", "expected sound, got an empty file"),
        ("text.wav", "expected sound, got something that cannot be read"),
        ("silent.mp4", "expected sound; the file has no audio track"),
        ("missing.wav", "no such file"),
        ("spoilt.mp4", "holds no sound that can be decoded"),
    ],
)
def test_what_cannot_be_heard_is_one_clear_line(tmp_path, name, words):
    write_clip(tmp_path / "still.png", [flat(90, channels=3)], codec="png", pix_fmt="rgb24")
    (tmp_path / "empty.wav").touch()
    (tmp_path / "text.wav").write_text("la la la")
    write_clip(tmp_path / "silent.mp4", [flat(90)] * 2)
    spoilt = write_clip(tmp_path / "spoilt.mp4", [flat(90)] * 5, audio=AudioTrack.of(tone(0.2), 16000))
    with av.open(str(spoilt)) as container:
        packets = sum(1 for packet in container.demux(audio=0) if packet.size)
    spoil(spoilt, "audio", range(packets), fill=255)
    with pytest.raises(MediaError) as caught:
        require_sound(tmp_path / name)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / name}: ") and words in message and "\n" not in message


def test_what_can_be_heard_is_no_error(tmp_path):
    require_sound(write_sound(tmp_path / "a.wav", tone(0.1)[None]))
    require_sound(write_clip(tmp_path / "a.mp4", [flat(90)] * 5, audio=AudioTrack.of(tone(0.2), 16000)))


def _with_cover(tmp_path, clip=None):
    """An MP4 of sound, and of a clip's packets where one is given, with an attached picture."""
    picture = write_clip(tmp_path / "art.png", [flat(90, channels=3)], codec="png", pix_fmt="rgb24")
    target = tmp_path / "covered.mp4"
    with av.open(str(target), "w") as container, av.open(str(picture)) as art, ExitStack() as stack:
        cover = container.add_stream_from_template(art.streams.video[0])
        cover.disposition = av.stream.Disposition.attached_pic
        sound = container.add_stream("aac", rate=16000, layout="mono")
        source = stack.enter_context(av.open(str(clip))) if clip else None
        moving = container.add_stream_from_template(source.streams.video[0]) if source else None
        for packet in sound.encode(_frame(tone(0.5)[None], rate=16000)) + sound.encode(None):
            container.mux(packet)
        for origin, stream in ((art, cover), (source, moving)):
            for packet in origin.demux() if origin else ():
                if packet.size:
                    packet.stream = stream
                    container.mux(packet)
    return target


def test_cover_art_is_no_video(tmp_path):
    song = _with_cover(tmp_path)
    facts = probe(song)
    assert facts.video is None and facts.video_streams == 0 and facts.audio.codec == "aac"
    with pytest.raises(MediaError, match="only sound"):
        ClipReader(song)


def test_a_clip_with_cover_art_is_the_clip(tmp_path):
    clip = _with_cover(tmp_path, write_clip(tmp_path / "clip.mp4", noise(5, size=(64, 48))))
    with ClipReader(clip, audio_rate=16000) as reader:
        assert len(list(reader)) == 5
    assert reader.facts.video_streams == 1
    assert (reader.facts.video.width, reader.facts.video.height, reader.decode_failures) == (64, 48, 0)
    assert len(reader.audio.samples) > 7000


def test_a_hole_in_eight_planes_is_filled_with_packed_silence():
    """PyAV crashes where the planes of such a frame are touched."""
    frame = av.AudioFrame(format="fltp", layout="7.1", samples=1024)
    frame.sample_rate, frame.time_base = 48000, Fraction(1, 48000)
    quiet = _silence_like(frame, 100)
    assert quiet.format.name == "flt" and quiet.to_ndarray().shape == (1, 800) and not quiet.to_ndarray().any()
