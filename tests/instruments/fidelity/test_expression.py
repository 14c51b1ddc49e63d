"""e_fid and expression_distance: planted blendshapes whose distances are worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rushes.core.errors import MissingDependency
from rushes.instruments.fidelity.arrays import paired_arrays
from rushes.instruments.fidelity.measure import Scored, score_frames
from rushes.instruments.fidelity.metric import PairContext
from rushes.instruments.fidelity.metrics import METRICS, expression
from rushes.vision.landmarks.choice import Box

PLACE: Box = (0.0, 0.0, 10.0, 10.0)


class Planted:
    """In place of the networks: the first pixel says how far the jaw is open, in percent; 255 is nobody."""

    digest = "0123456789ab"

    def look(self, rgb: np.ndarray, near: Box | None = None) -> tuple[np.ndarray | None, Box | None]:
        level = int(rgb[0, 0, 0])
        if level == 255:
            return None, None
        shapes = np.zeros(52, np.float32)
        shapes[25] = level / 100
        return shapes, PLACE


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expression, "expression_networks", lambda given: Planted())


def scored(gen: Sequence[int], gt: Sequence[int]) -> Scored:
    clips = (np.array(codes, np.uint8)[:, None, None, None] + np.zeros((1, 4, 4, 3), np.uint8) for codes in (gen, gt))
    context = PairContext(gen="gen", gt="gt", gen_facts=None, gt_facts=None, size=(4, 4))
    return score_frames(
        paired_arrays(*clips), context, {name: METRICS[name] for name in ("e_fid", "expression_distance")}
    )


def test_by_hand(planted: None) -> None:
    # One shape moves: 0 and 20 % in turn against 10 and 50 %. Means 0.1 and 0.3; variances (1/(N−1), N = 10)
    # 0.01·10/9 and 0.04·10/9. (0.2)² + (√0.04·10/9 − √0.01·10/9)² = 0.04 + 0.01·10/9.
    found = scored([0, 20] * 5, [10, 50] * 5).measurements
    assert found["e_fid"].value == pytest.approx(0.04 + 0.1 / 9, rel=1e-5)
    assert found["expression_distance"].value == pytest.approx((0.1 + 0.3) / 2, rel=1e-5)
    assert found["e_fid"].count == found["expression_distance"].count == 10


def test_the_order_of_frames_counts_for_the_distance_alone(planted: None) -> None:
    found = scored([0, 20] * 5, [20, 0] * 5).measurements
    assert found["e_fid"].value == pytest.approx(0, abs=1e-9)
    assert found["expression_distance"].value == pytest.approx(0.2, rel=1e-5)


def test_frames_without_a_face_are_left_out_and_counted(planted: None) -> None:
    found = scored([0, 20] * 5 + [255, 255], [0, 20] * 6).measurements
    assert found["e_fid"].count == 10 and found["expression_distance"].count == 10
    for name in found:
        assert found[name].note == "no face in 2 of 12 frames of the generated clip"


def test_too_few_faces_have_no_covariance(planted: None) -> None:
    found = scored([0, 20] * 4 + [255], [0, 20] * 4 + [10]).measurements
    assert found["e_fid"].value is None and found["expression_distance"].value == pytest.approx(0)
    assert scored([0] * 9, [0] * 9).measurements["e_fid"].note == "fewer than 10 frames with a face"


def test_missing_models_say_what_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path))
    with pytest.raises(MissingDependency, match="rushes models pull face-landmarker"):
        METRICS["e_fid"].require({})
