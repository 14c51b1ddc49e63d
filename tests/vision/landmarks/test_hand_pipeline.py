"""The hand pipeline: MediaPipe's own points are the reference, the region is worked out by hand.

    python tests/vision/landmarks/test_hand_pipeline.py SHARED FOLDER

writes the frames that `tests/oracle/hands_0_10_21.py` reads.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rushes.core.errors import MissingDependency
from rushes.media import ClipReader
from rushes.vision.landmarks.crop import Roi
from rushes.vision.landmarks.hand_pipeline import HandPipeline, _overlap, region_of_hand
from rushes.vision.models.pulling import pull

FRAMES = {
    "ground-truth_p272": (0, 20),
    "ground-truth_p060": (0, 9),
    "modelscope_p060": (12,),
    "zeroscope_p060": (0, 4, 18),
    "cogvideo_p017": (5,),
}
"""Frames of FETV's clips: three hands, one, two, none."""


def _frames(shared: Path, name: str) -> NDArray[np.uint8]:
    system, clip = name.split("_")
    with ClipReader(shared / "suites" / "fetv" / system / f"{clip}.mp4") as reader:
        every = [frame.rgb().copy() for frame in reader]
    return np.stack([every[number] for number in FRAMES[name]])


@pytest.fixture(scope="module")
def hands() -> HandPipeline:
    try:
        pull("hands")
    except MissingDependency as missing:
        pytest.skip(str(missing))
    return HandPipeline()


def test_points_are_mediapipe_s(hands: HandPipeline, shared: Path) -> None:
    golden = json.loads(Path(__file__).with_name("goldens").joinpath("hands.json").read_text(encoding="utf-8"))
    counts = []
    for name in FRAMES:
        for frame, want in zip(_frames(shared, name), golden[name], strict=True):
            found = hands.observe(frame)
            counts.append(len(found))
            assert len(found) == len(want), name
            for hand, theirs in zip(found, np.array(want).reshape(-1, 21, 3), strict=True):
                # Two runtimes round the networks differently: hundredths of a pixel on a hand of 20 to 200.
                assert np.abs(hand.points - theirs).max() < 0.05, name
                assert hand.score >= 0.5 and hand.presence > 0.5
    assert 0 in counts and max(counts) == 3


def test_nobody_has_no_hand(hands: HandPipeline) -> None:
    assert hands.observe(np.full((240, 320, 3), 90, np.uint8)) == ()


def test_missing_models_say_what_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path))
    with pytest.raises(MissingDependency, match="rushes models pull hands"):
        HandPipeline()


def _row(
    left: float, top: float, right: float, bottom: float, wrist: tuple[float, float], knuckle: tuple[float, float]
) -> NDArray[np.float32]:
    row = np.zeros(18, np.float32)
    row[:4], row[4:6], row[8:10] = (left, top, right, bottom), wrist, knuckle
    return row


def test_the_region_of_an_upright_palm() -> None:
    # A square frame of 200, a palm of 40 × 30 around (100, 100), fingers up: turned by nothing, moved up by half of 30,
    # and 2.6 · 40 = 104 a side.
    row = _row(0.4, 0.425, 0.6, 0.575, (0.5, 0.6), (0.5, 0.4))
    region = region_of_hand(row, 200, 200).in_pixels(200, 200)
    assert (region.center_x, region.center_y) == pytest.approx((100, 85), abs=1e-4)
    assert (region.width, region.height) == pytest.approx((104, 104), abs=1e-4)
    assert region.rotation == pytest.approx(0, abs=1e-6)


def test_fingers_to_the_right_turn_the_region_and_move_it_right() -> None:
    # The middle finger points along +x: a quarter turn clockwise, and the shift of half the height goes to the right.
    region = region_of_hand(_row(0.4, 0.4, 0.6, 0.6, (0.4, 0.5), (0.6, 0.5)), 200, 200).in_pixels(200, 200)
    assert region.rotation == pytest.approx(math.pi / 2, abs=1e-6)
    assert (region.center_x, region.center_y) == pytest.approx((120, 100), abs=1e-3)


def test_a_wide_frame_is_letterboxed() -> None:
    # 200 × 100: the square's share 0.5 ± 0.1 is ±20 px both ways, so the same palm is 40 × 40 px and its region 104.
    region = region_of_hand(_row(0.4, 0.4, 0.6, 0.6, (0.5, 0.6), (0.5, 0.4)), 200, 100).in_pixels(200, 100)
    assert (region.center_x, region.center_y) == pytest.approx((100, 30), abs=1e-3)
    assert (region.width, region.height) == pytest.approx((104, 104), abs=1e-3)


def test_overlap_of_regions() -> None:
    def roi(x: float) -> Roi:
        return Roi(*(np.float32(value) for value in (x, 0.5, 0.2, 0.2, 1.0)))

    assert _overlap(roi(0.5), roi(0.5)) == pytest.approx(1)
    assert _overlap(roi(0.5), roi(0.6)) == pytest.approx(1 / 3, rel=1e-5)
    assert _overlap(roi(0.1), roi(0.9)) == 0


if __name__ == "__main__":
    for clip in FRAMES:
        np.save(Path(sys.argv[2]) / f"{clip}.npy", _frames(Path(sys.argv[1]), clip))
