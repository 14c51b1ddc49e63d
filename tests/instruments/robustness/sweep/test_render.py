"""Perturbed copies of a clip."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.core.errors import InputError, MediaError
from rushes.instruments.robustness.sweep.render import check_source, render
from rushes.media import ClipReader, probe, read_audio, write_clip


def made(clip, folder, name="out.mp4", seed=1, **values):
    target = folder / name
    render(clip, target, values, seed=seed, clip_sha256="aa")
    return target


def mean_level(path):
    with ClipReader(path) as reader:
        return float(np.mean([frame.rgb().mean() for frame in reader]))


def test_the_same_values_give_the_same_bytes(clip, tmp_path):
    values = {"gaussian_noise": 8.0, "audio_noise": 0.05, "crf": 30}
    one, other = made(clip, tmp_path, "a.mp4", **values), made(clip, tmp_path, "b.mp4", **values)
    assert one.read_bytes() == other.read_bytes()
    assert made(clip, tmp_path, "c.mp4", seed=2, **values).read_bytes() != one.read_bytes()


def test_without_noise_the_seed_changes_nothing(clip, tmp_path):
    one = made(clip, tmp_path, "a.mp4", brightness=0.8, seed=1)
    assert one.read_bytes() == made(clip, tmp_path, "b.mp4", brightness=0.8, seed=2).read_bytes()


def test_brightness_and_contrast(clip, tmp_path):
    assert abs(mean_level(made(clip, tmp_path, brightness=0.5)) - mean_level(clip) / 2) < 2
    assert abs(mean_level(made(clip, tmp_path, contrast=0.0)) - 128) < 2


def test_resize_and_fps(clip, tmp_path):
    video = probe(made(clip, tmp_path, resize=0.5, fps=50.0)).video
    assert (video.width, video.height, video.fps) == (32, 24, 50)
    with ClipReader(tmp_path / "out.mp4") as reader:
        assert sum(1 for _ in reader) == 20  # 0.4 s


def test_crf_costs_detail(clip, tmp_path):
    sizes = [made(clip, tmp_path, crf=crf, gaussian_noise=20.0).stat().st_size for crf in (10, 40)]
    assert sizes[1] < sizes[0] / 2


def test_audio_shift_moves_the_sound(clip, tmp_path):
    before, after = read_audio(clip, 16000).samples, read_audio(made(clip, tmp_path, audio_shift=200.0), 16000).samples
    loud = 0.1
    assert np.abs(before[800:1600]).max() > loud
    assert np.abs(after[:2400]).max() < loud < np.abs(after[4000:5600]).max()


def test_a_clip_without_sound_and_with_an_odd_size(silent_clip, tmp_path):
    facts = probe(made(silent_clip, tmp_path, brightness=0.8))
    assert (facts.video.width, facts.video.height, facts.audio) == (63, 47, None)


def test_sound_axes_need_sound(silent_clip):
    with pytest.raises(InputError, match="has no sound, which axis audio_shift needs"):
        check_source(silent_clip, probe(silent_clip), ["audio_shift", "crf"])
    check_source(silent_clip, probe(silent_clip), ["crf"])


def test_a_rotated_clip_comes_out_upright(tmp_path):
    picture = np.zeros((32, 64, 3), np.uint8)
    picture[:, :32] = 255
    source = write_clip(tmp_path / "turned.mp4", [picture] * 3, rotation=90)
    video = probe(made(source, tmp_path, brightness=1.0)).video
    assert (video.width, video.height, video.rotation) == (32, 64, 0)


def test_what_is_no_clip_is_refused(tmp_path):
    path = tmp_path / "text.mp4"
    path.write_text("not a clip")
    with pytest.raises(MediaError, match=r"text\.mp4"):
        made(path, tmp_path, crf=20)
