"""Bodies and hands: every number worked out by hand on planted joints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import rushes
from rushes.core.errors import MissingDependency
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.metrics.seen import body as metrics
from rushes.instruments.clip.metrics.seen.body import extra_hands, height_of, longest_limb, wrists_without_hand
from rushes.instruments.clip.seen.body import BodyLookedAt, BodyObservation, around

NAMES = ("extra_hand_ratio", "unseen_hand_ratio", "limb_stretch")


def standing() -> np.ndarray:
    """33 joints of a person 1000 px tall: shoulders 259 apart, trunk 288, each limb of its length."""
    joints = np.zeros((33, 2))
    joints[[11, 12]] = (629.5, 200), (370.5, 200)
    joints[[13, 14]] = (629.5, 386), (370.5, 386)
    joints[[15, 16]] = (629.5, 532), (370.5, 532)
    joints[[23, 24]] = (560, 488), (440, 488)
    joints[[25, 26]] = (560, 733), (440, 733)
    joints[[27, 28]] = (560, 979), (440, 979)
    return joints


def hand_at(x: float, y: float, length: float = 40.0) -> np.ndarray:
    points = np.full((21, 2), (x, y))
    points[9] = x, y + length
    return points


LOOK = BodyLookedAt(frame=0, joints=standing(), visibility=np.ones(33), people=1, hands=(), size=(1000, 1000))


def test_a_person_of_average_proportions_has_stretch_1() -> None:
    assert height_of(LOOK.joints) == pytest.approx(1000)
    assert longest_limb(LOOK) == pytest.approx(1)


def test_a_forearm_half_as_long_again() -> None:
    joints = standing()
    joints[15] = 629.5, 386 + 1.5 * 146
    assert longest_limb(replace(LOOK, joints=joints)) == pytest.approx(1.5)
    # Nobody sees the wrist: the other limbs are measured, all of them of their length.
    hidden = np.ones(33)
    hidden[15] = 0.69
    assert longest_limb(replace(LOOK, joints=joints, visibility=hidden)) == pytest.approx(1)
    assert np.isnan(longest_limb(replace(LOOK, visibility=np.zeros(33))))


def test_a_joint_outside_the_frame_is_not_measured() -> None:
    joints = standing()
    joints[15] = 1400, 386
    assert longest_limb(replace(LOOK, joints=joints)) == pytest.approx(1)


def test_more_hands_than_the_people_have() -> None:
    three = tuple(hand_at(x, 500) for x in (100, 200, 300))
    assert extra_hands(replace(LOOK, hands=three[:2])) == 0
    assert extra_hands(replace(LOOK, hands=three)) == 1
    assert extra_hands(replace(LOOK, hands=three, people=2)) == 0


def test_each_hand_belongs_to_one_wrist() -> None:
    # Wrists at x = 629.5 and 370.5. A hand of 40 px reaches max(60, 100) px.
    assert wrists_without_hand(LOOK) == [True, True]
    assert wrists_without_hand(replace(LOOK, hands=(hand_at(540, 532),))) == [False, True]
    assert wrists_without_hand(replace(LOOK, hands=(hand_at(500, 532),))) == [True, True]
    two = (hand_at(640, 532), hand_at(600, 532))
    assert wrists_without_hand(replace(LOOK, hands=two)) == [False, True]
    # A wrist that is hardly visible is not asked.
    hidden = np.ones(33)
    hidden[16] = 0.5
    assert wrists_without_hand(replace(LOOK, visibility=hidden)) == [True]


def collected(name: str, looks: tuple[BodyLookedAt, ...] | str, looked: int = 0) -> rushes.core.Measurement:
    seen = looks if isinstance(looks, str) else BodyObservation(looks, looked or len(looks))
    facts = SimpleNamespace()
    collector = METRICS[name].start(facts)
    return replace(collector, look=SimpleNamespace(finish=lambda: seen, latest=9)).finish()


def test_shares_over_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rushes.instruments.clip.seen.body.stride_of", lambda facts, rate: 1)
    three = replace(LOOK, hands=tuple(hand_at(x, 500) for x in (100, 629, 371)))
    looks = (three, three, LOOK, LOOK, LOOK)
    assert collected("extra_hand_ratio", looks).value == pytest.approx(0.4)
    # Five looks have two wrists each; two looks have a hand at both.
    assert collected("unseen_hand_ratio", looks).value == pytest.approx(0.6)
    assert collected("limb_stretch", looks).value == pytest.approx(1)
    assert collected("extra_hand_ratio", looks, 8).note == "a body in 5 of 8 looks"
    few = collected("extra_hand_ratio", looks[:4], 6)
    assert few.value is None and few.note == "seen in 4 looks of 6: too few"
    assert collected("limb_stretch", "no body was found").note == "no body was found"


def test_the_square_around_a_body_is_cut_at_the_edges() -> None:
    points = np.zeros((33, 3), np.float32)
    points[:4, :2] = (100, 100), (200, 100), (100, 300), (200, 300)
    visibility = np.zeros(33, np.float32)
    visibility[:4] = 1
    # 100 × 200 around (150, 200): the longer side and a quarter of it on each side, 150 each way.
    body = SimpleNamespace(points=points, visibility=visibility)
    assert around(body, 1000, 1000) == (0, 50, 300, 350)
    assert around(body, 250, 320) == (0, 50, 250, 320)


def test_without_the_networks_it_says_what_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path))
    with pytest.raises(MissingDependency, match="rushes models pull pose hands"):
        metrics.require_body()
