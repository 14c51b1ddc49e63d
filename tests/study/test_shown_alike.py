"""The form in which clips are shown: one declared rule, each clip made once, the same bytes for any number of jobs."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from rushes.core.errors import InputError
from rushes.media import AudioTrack, probe, write_clip
from rushes.media.frames import ClipReader
from rushes.study.material import evening
from rushes.study.material.clips import equally_long, ready_clips
from rushes.study.material.evening import clip_shape, even_clips, even_name, fitted
from rushes.study.material.shown_form import AlikeForm, ClipShape, ShownForm, check_alike, shown_forms, shown_rate


def shape(size: tuple[int, int] = (64, 36), fps: int = 10, seconds: str = "2", **more: str) -> ClipShape:
    return ClipShape(size=size, fps=Fraction(fps), seconds=Fraction(seconds), **more)


SAME_SAMPLE = {"a": "p1", "b": "p1"}


def test_clips_that_agree_stay_as_they_are() -> None:
    assert shown_forms({"a": shape(), "b": shape()}, SAME_SAMPLE, "auto") == {}
    # shapes may differ between samples: nothing there names a system
    assert shown_forms({"a": shape(), "b": shape((32, 32))}, {"a": "p1", "b": "p2"}, "auto") == {}


@pytest.mark.parametrize("other", [shape((32, 32)), shape(fps=12), shape(seconds="1.9"), shape(coding="another")])
def test_one_difference_is_enough(other: ClipShape) -> None:
    assert len(shown_forms({"a": shape(), "b": other}, SAME_SAMPLE, "auto")) == 2
    assert shown_forms({"a": shape(), "b": other}, SAME_SAMPLE, "off") == {}


def test_lengths_are_those_of_each_samples_shortest_clip() -> None:
    clips = {"a": shape(seconds="2"), "b": shape(seconds="1.5"), "c": shape(seconds="3"), "d": shape(seconds="2.5")}
    forms = shown_forms(clips, {"a": "p1", "b": "p1", "c": "p2", "d": "p2"}, "auto")
    assert [float(forms[key].form.seconds) for key in "abcd"] == [1.5, 1.5, 2.5, 2.5]
    declared = shown_forms(clips, {"a": "p1", "b": "p1", "c": "p2", "d": "p2"}, "32x18@10,1.8s")
    assert [float(declared[key].form.seconds) for key in "abcd"] == [1.5, 1.5, 1.8, 1.8]


@pytest.mark.parametrize("fps", [1, 7, 24, 60])
@pytest.mark.parametrize("frames", [1, 2, 17, 59, 600])
def test_a_forms_frames_are_whole(fps: int, frames: int) -> None:
    """⌈⌊1000 n / fps⌋ / 1000 · fps⌉ = n: the length in whole milliseconds loses no frame and adds none."""
    clips = {"a": shape(fps=fps, seconds=str(Fraction(frames, fps))), "b": shape((2, 2), fps=fps, seconds="900")}
    assert shown_forms(clips, SAME_SAMPLE, "auto")["a"].form.frames == frames


def test_no_frame_is_dropped_up_to_sixty() -> None:
    for rates in ([8, 24], [10, 24], [25, 30], [59, 7]):
        assert shown_rate(map(Fraction, rates)) >= max(rates)


def test_a_form_that_cannot_be_shown() -> None:
    for text in ("63x36@10,2s", "64x36@120,2s", "large"):
        with pytest.raises(InputError):
            check_alike(text)


def test_bars_and_crop() -> None:
    picture = np.full((10, 20, 3), 200, np.uint8)
    assert fitted(picture, AlikeForm.parse("20x20@8,1s,bars"))[[0, 9, 19], 10, 0].tolist() == [0, 200, 0]
    assert fitted(picture, AlikeForm.parse("20x20@8,1s,crop")).min() == 200


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("uneven")
    tone = AudioTrack.of((0.2 * np.sin(np.arange(8_000) / 5)).astype(np.float32), 16_000)
    made = []
    for number, (size, fps, frames) in enumerate((((36, 64), 10, 10), ((40, 40), 25, 40), ((48, 32), 12, 15))):
        path = folder / f"{number}.mp4"
        pictures = [np.full((*size, 3), 10 * k % 256, np.uint8) for k in range(frames)]
        write_clip(path, pictures, fps=fps, audio=tone if number else None)
        made.append(path)
    return made


def wanted(clips: list[Path], folder: Path) -> dict[Path, tuple[Path, ShownForm]]:
    forms = shown_forms({path: clip_shape(path, probe(path)) for path in clips}, dict.fromkeys(clips, "p"), "auto")
    return {folder / f"{path.stem}-{even_name(forms[path])}": (path, forms[path]) for path in clips}


def test_the_same_bytes_for_any_number_of_jobs_and_nothing_twice(clips, tmp_path, monkeypatch) -> None:
    one, four = wanted(clips, tmp_path / "one"), wanted(clips, tmp_path / "four")
    for folder in ("one", "four"):
        (tmp_path / folder).mkdir()
    even_clips(one, jobs=1)
    even_clips(dict(list(four.items())[:2]), jobs=4)  # as if it had been interrupted
    made: list[Path] = []
    write = evening.even_clip
    monkeypatch.setattr(evening, "even_clip", lambda source, *rest: (made.append(source), write(source, *rest)))
    even_clips(four, jobs=4)
    assert made == [clips[2]]
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in four]


def test_equal_in_all_but_picture_and_sound(clips, tmp_path) -> None:
    places = wanted(clips, tmp_path)
    even_clips(places)
    facts = [probe(path) for path in places]
    assert len({(one.video.width, one.video.height, one.video.fps, one.duration_ms) for one in facts}) == 1
    assert [one.audio is not None for one in facts] == [False, True, True]  # sound is a part of what is judged
    shapes = [clip_shape(path, one) for path, one in zip(places, facts, strict=True)]
    assert len({one.coding for one in shapes}) == 1 and len({one.sound for one in shapes} - {""}) == 1
    for path in places:
        with ClipReader(path) as reader:
            assert sum(1 for _ in reader) == next(iter(places.values()))[1].form.frames


def test_one_size_in_bytes_for_each_sample(two_systems, tmp_path) -> None:
    paths = sorted(two_systems.glob("*_T1_*.mp4"))
    ready = ready_clips(paths, media=tmp_path, hide=[])
    samples = {path: path.stem.partition("_")[2] for path in paths}
    padded = equally_long(ready, samples)
    for sample in set(samples.values()):
        sizes = {padded[path].padded for path in paths if samples[path] == sample}
        assert len(sizes) == 1 and min(sizes) >= 64 + max(ready[p].size for p in paths if samples[p] == sample)
