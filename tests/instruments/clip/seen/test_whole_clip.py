"""upside_down_score, negative_score and red_blue_swapped_score: by hand, on a portrait, and on real clips."""

from __future__ import annotations

from importlib import resources
from itertools import islice
from pathlib import Path

import cv2
import numpy as np
import pytest

import rushes
from rushes.core.errors import MissingDependency
from rushes.core.machine.provenance import bytes_digest, short_digest
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.metrics.seen import whole_clip as metrics
from rushes.instruments.clip.metrics.seen.whole_clip import (
    NEGATIVE_SCORE,
    RED_BLUE_SWAPPED_SCORE,
    UPSIDE_DOWN_SCORE,
    whole_clip_score,
)
from rushes.instruments.clip.seen import whole_clip as look
from rushes.instruments.clip.seen.whole_clip import CHANGES, bands, picture_scores, probe_weights, second_hue
from rushes.instruments.clip.signals.profile import load_profile
from rushes.media import ClipReader, write_clip
from rushes.vision.mobilenet import CHANNELS
from rushes.vision.models.cache import is_pulled, model_path
from rushes.vision.models.catalogue import group_named

here = all(is_pulled(group_named(name)) for name in ("mobilenet", "astronaut"))
pulled = pytest.mark.skipif(not here, reason="rushes models pull mobilenet astronaut")
NAMES = [f"{name}_score" for name in CHANGES]


def _portrait() -> np.ndarray:
    return np.ascontiguousarray(cv2.imread(str(model_path("astronaut.png")))[..., ::-1])


def test_the_mean_of_the_looks_that_say_something() -> None:
    scores = np.array([np.nan, -3.0, 1.0, -1.0])
    found = whole_clip_score(UPSIDE_DOWN_SCORE, scores)
    assert (found.value, found.count) == (-1.0, 3)
    alone = whole_clip_score(NEGATIVE_SCORE, np.array([4.0]))
    assert alone.value is None and alone.note == "the clip is too short or too plain"
    grey = whole_clip_score(RED_BLUE_SWAPPED_SCORE, np.full(8, np.nan))
    assert grey.value is None and "grey" in grey.note


def test_bands_of_rows() -> None:
    # Fourteen rows: two sevenths are four of them, the middle has six.
    rows = np.arange(14, dtype=np.float32)[None, :, None]
    assert bands(np.concatenate([rows, 2 * rows])).tolist() == [[1.5, 3.0], [6.5, 13.0], [11.5, 23.0]]


def test_how_far_from_a_single_hue() -> None:
    assert second_hue(np.full((4, 4, 3), 90, np.uint8)) == 0.0
    # A tint: every pixel is grey plus so much of one colour.
    assert second_hue(np.array([[[20, 10, 0], [60, 40, 20], [7, 7, 7]]], np.uint8)) == 0.0
    # Less their means: (2, −1, −1), and (0, 1, −1) at right angles to it. Over two pixels √(2 / 2) is the smaller.
    assert second_hue(np.array([[[3, 0, 0], [5, 6, 4]]], np.uint8)) == 1.0


def test_the_changes_undo_themselves() -> None:
    picture = np.random.default_rng(1).integers(0, 256, (6, 8, 3), np.uint8)
    for change in CHANGES.values():
        assert not np.array_equal(change(picture), picture)
        np.testing.assert_array_equal(change(change(picture)), picture)


def test_the_weights_are_those_of_the_signature() -> None:
    content = (resources.files("rushes.instruments.clip.seen") / look.PROBE).read_bytes()
    assert short_digest(bytes_digest(content)) == metrics.PROBE
    assert {name: len(values) for name, values in probe_weights().items()} == dict.fromkeys(CHANGES, 3 * sum(CHANNELS))


def test_the_definition_says_what_the_look_does() -> None:
    assert (metrics.RATE, metrics.MOST) == (look.RATE, look.MOST)
    assert (metrics.PLAIN, metrics.TINTED) == (look.PLAIN, look.TINTED)
    assert [name.removesuffix("_score") for name in metrics._ORDER] == list(CHANGES)


@pulled
def test_a_picture_and_its_change_have_opposite_scores() -> None:
    right = look.reduced(_portrait())
    before = picture_scores(right)
    assert before is not None and (before < 0).all()
    for n, change in enumerate(CHANGES.values()):
        after = picture_scores(np.ascontiguousarray(change(right)))
        assert after is not None and after[n] == pytest.approx(-before[n], rel=1e-4)


@pulled
def test_a_plain_picture_says_nothing_and_a_grey_one_nothing_about_colours() -> None:
    assert picture_scores(np.full((100, 80, 3), 90, np.uint8)) is None
    grey = np.repeat(_portrait().mean(axis=2).astype(np.uint8)[..., None], 3, axis=2)
    found = picture_scores(grey)
    assert found is not None and np.isfinite(found[:2]).all() and np.isnan(found[2])


@pulled
def test_a_clip_is_looked_at_twice_a_second_by_all_three_together(tmp_path: Path) -> None:
    small = cv2.resize(_portrait(), (256, 256), interpolation=cv2.INTER_AREA)
    write_clip(tmp_path / "a.mp4", [np.ascontiguousarray(small[::-1, ::-1])] * 11, fps=10)
    found = rushes.clip.evaluate_clip(tmp_path / "a.mp4", metrics=NAMES)
    assert [found[name].count for name in NAMES] == [3, 3, 3]  # at 0, 0.5 and 1 s
    assert found["upside_down_score"].value > 0 > found["negative_score"].value
    assert np.isfinite(found.series["negative_score"]).sum() == 3


@pulled
def test_a_long_clip_is_looked_at_six_times(tmp_path: Path) -> None:
    small = cv2.resize(_portrait(), (64, 64), interpolation=cv2.INTER_AREA)
    write_clip(tmp_path / "a.mp4", [np.ascontiguousarray(small)] * 60, fps=5)
    found = rushes.clip.evaluate_clip(tmp_path / "a.mp4", metrics=NAMES[:1])
    assert found["upside_down_score"].count == 6
    assert np.flatnonzero(np.isfinite(found.series["upside_down_score"])).tolist() == [0, 10, 20, 30, 40, 50]


def test_without_the_network_the_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path))
    for name in NAMES:
        with pytest.raises(MissingDependency, match="rushes models pull mobilenet"):
            METRICS[name].require()
    with pytest.raises(MissingDependency, match="rushes models pull mobilenet"):
        rushes.evaluate_clips(tmp_path, run=tmp_path / "run", profile="thorough")


def test_thorough_has_the_rules_of_generated_and_these() -> None:
    known, more = load_profile("generated").rules, load_profile("thorough").rules
    assert [rule for rule in more if rule.metric not in NAMES] == list(known)
    assert [rule.metric for rule in more if rule not in known] == NAMES


def test_a_talking_head_is_asked_the_same_where_the_network_is_here() -> None:
    asked = {(r.metric, r.comparison, r.threshold): r for r in load_profile("talking-head").rules}
    for rule in load_profile("thorough").rules:
        if rule.metric in NAMES:
            assert asked[rule.metric, rule.comparison, rule.threshold].optional


@pulled
@pytest.mark.shared
@pytest.mark.parametrize("name", ["face_LivePortrait_d12.mp4", "face_LipNet_bbaf2n.mpg"])
def test_real_clips_and_their_changes(shared: Path, tmp_path: Path, name: str) -> None:
    with ClipReader(shared / "clips" / name) as reader:
        frames = [frame.rgb().copy() for frame in islice(reader, 26)]
    limits = {rule.metric: rule.threshold for rule in load_profile("thorough").rules}
    for place, change in enumerate([lambda rgb: rgb, *CHANGES.values()]):
        path = tmp_path / f"{place}.mp4"
        write_clip(path, [np.ascontiguousarray(change(frame)) for frame in frames], fps=25)
        scores = rushes.clip.evaluate_clip(path, metrics=NAMES)
        assert [n for n, key in enumerate(NAMES, 1) if scores[key].value > limits[key]] == ([place] if place else [])
