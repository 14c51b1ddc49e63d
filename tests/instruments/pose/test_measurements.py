"""Labels: every number says how it was measured in its signature, and what it is about beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.instruments.pose.figures import walk
from tests.instruments.pose.vectors import THREE_GT, THREE_PRED, frame

from rushes.core import Measurement, difference
from rushes.core.errors import DefinitionMismatch
from rushes.instruments.pose import BoundingBoxDiagonal, PoseBatch, Skeleton, TorsoDiameter, accuracy_report
from rushes.instruments.pose.files.skeletons import COCO_17
from rushes.instruments.pose.measurements import as_measurements, pose_measurements
from rushes.instruments.pose.scores.normalization import parse_norms
from rushes.instruments.pose.scoring import ScoreSettings, score_batch
from rushes.instruments.pose.seed.accuracy import tally_batch


def measured(skeleton: Skeleton, **asked: object) -> tuple[Measurement, ...]:
    how = ScoreSettings(norms=parse_norms("all", skeleton), ks=(5, 20), skeleton=skeleton, **asked)  # type: ignore[arg-type]
    gt = walk(4)
    return pose_measurements(score_batch(PoseBatch(gt + 3, gt, None), how), how, columns=2, areas=False)


def test_a_joint_is_a_place() -> None:
    wrists = [m for m in measured(COCO_17) if m.place.get("joint") == "left_wrist" and m.name == "pck"]
    assert [(m.signature, m.at) for m in wrists] == [
        (f"pck|k:20|norm:{norm}|v:2", (("joint", "left_wrist"),))
        for norm in ("torso-diameter", "bbox-diagonal", "absolute-px(10)")
    ]
    knees = [m for m in measured(COCO_17) if m.place.get("joint") == "left_knee"]
    # The same method, so they compare; each is all right within 20 % of the hips.
    assert difference(wrists[0], knees[0]).place == {"joint": "left_wrist − left_knee"}


@settings(deadline=None, max_examples=8)
@given(st.lists(st.text(min_size=1), min_size=17, max_size=17, unique=True))
def test_no_joint_s_name_is_in_a_signature(joints: list[str]) -> None:
    signatures = {m.signature for m in measured(COCO_17)}
    odd = measured(replace(COCO_17, joints=("100%|A", "k:20|v:1", *joints[2:])))
    assert {m.signature for m in odd} == signatures
    assert [m.place["joint"] for m in odd if m.at][:2] == ["100%|A", "k:20|v:1"]


@pytest.mark.parametrize(
    ("asked", "label"), [({"estimator": "0123abcd"}, "estimator:0123abcd"), ({"unmatched": "wrong"}, "unmatched:wrong")]
)
def test_what_departs_from_the_usual_is_in_every_signature(asked: dict[str, object], label: str) -> None:
    assert all(f"|{label}|" in m.signature for m in measured(COCO_17, **asked))
    assert not any(label in m.signature for m in measured(COCO_17))


def test_a_pose_accuracy_as_measurements_and_nothing_compares_across_norms() -> None:
    frames = [frame(THREE_GT, THREE_PRED)]
    batch = PoseBatch(frames[0].pred[None], frames[0].gt[None], frames[0].visibility[None])
    rows = []
    for norm in (TorsoDiameter(), BoundingBoxDiagonal()):
        tally = tally_batch(batch, ks=[20], norms=[norm])
        rows.append(as_measurements(accuracy_report(frames, [20], norm), tally)[0])
    assert [(m.signature, m.value, m.count) for m in rows] == [
        ("pck|k:20|norm:torso-diameter|v:2", 0.5, 4),
        ("pck|k:20|norm:bbox-diagonal|v:2", 1.0, 4),
    ]
    with pytest.raises(DefinitionMismatch, match="norm is torso-diameter in one and bbox-diagonal in the other"):
        difference(*rows)
