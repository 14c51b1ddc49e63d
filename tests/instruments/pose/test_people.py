"""Several people in an image: who is whose prediction, COCO's AP and AR, and people who turn into one another."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.instruments.pose.figures import walk
from tests.oracle.keypoint_ap import NAMES, SEEDS, coco_numbers, people_set

from rushes import score_pose
from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.instruments.pose import PoseEvaluation
from rushes.instruments.pose.files.coco_people import coco_people
from rushes.instruments.pose.files.poses import read_poses
from rushes.instruments.pose.scores.average_precision import ap_measurements

GOLDEN = Path(__file__).parents[2] / "goldens" / "keypoint_ap.json"


def numbers(truth: dict[str, Any], results: list[dict[str, Any]]) -> list[float]:
    gt, pred = coco_people(truth["annotations"], truth["images"]), coco_people(results, None)
    assert gt is not None and pred is not None
    return [-1.0 if m.value is None else float(m.value) for m in ap_measurements(pred, gt)]


@pytest.mark.parametrize("seed", SEEDS)
def test_ap_and_ar_are_pycocotools_own(seed: int) -> None:
    golden = json.loads(GOLDEN.read_text())[str(seed)]
    assert numbers(*people_set(seed)) == pytest.approx([golden[name] for name in NAMES], abs=1e-9)


def test_ap_and_ar_where_pycocotools_is_installed() -> None:
    pytest.importorskip("pycocotools")
    for seed in range(10, 22):
        truth, results = people_set(seed, images=1 + seed % 7 * 3)
        if results and truth["annotations"]:
            ours = numbers(truth, results)
            assert ours == pytest.approx(coco_numbers(copy.deepcopy(truth), results), abs=1e-9), seed


def test_ap_by_hand() -> None:
    # Two people, both found exactly; a third detection, the best-scored, far from both. Ranked: wrong, right, right.
    # Precision 0, 1/2, 2/3 made non-increasing: 2/3 at every recall. AP = 2/3 at every threshold, AR = 1.
    a, b = walk(1)[0], walk(1)[0] + 1000
    truth = {"images": [{"id": 1}], "annotations": [_person(1, a), _person(1, b)]}
    results = [_person(1, p, score=s) for p, s in ((a, 0.8), (b, 0.7), (a + 5000, 0.9))]
    assert numbers(truth, results) == pytest.approx([2 / 3, 2 / 3, 2 / 3, -1, 2 / 3, 1, 1, 1, -1, 1], abs=1e-12)


def _person(image: int, pose: np.ndarray, **more: object) -> dict[str, Any]:
    area = float(np.prod(np.ptp(pose, axis=0)))
    flat = np.c_[pose, np.full(17, 2)].ravel().tolist()
    return {"image_id": image, "category_id": 1, "keypoints": flat, "area": area} | more


def scored(folder: Path, results: list[dict[str, Any]], truth: list[dict[str, Any]], **asked: Any) -> PoseEvaluation:
    (folder / "p.json").write_text(json.dumps(results))
    (folder / "g.json").write_text(json.dumps({"annotations": truth}))
    asked = {"norms": "bbox-diagonal", "ks": 20, "run": folder / "run", "overwrite": True} | asked
    return score_pose(folder / "p.json", folder / "g.json", **asked)


@pytest.fixture
def two(tmp_path: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Two people in each of three images, both predicted exactly; the smaller one is the surer prediction."""
    results, truth = [], []
    for image in range(3):
        large, small = walk(1)[0], walk(1)[0] / 2 + 600
        truth += [_person(image, large, track_id=1), _person(image, small, track_id=2)]
        results += [_person(image, small, score=0.9, track_id=20), _person(image, large, score=0.5, track_id=10)]
    return results, truth


@pytest.mark.parametrize("assign", ["oks-hungarian", "oks-greedy", "iou-hungarian"])
def test_people_that_are_all_predicted_exactly_are_all_right(tmp_path: Path, two: Any, assign: str) -> None:
    everybody = scored(tmp_path, *two, duplicates="match", assign=assign)
    assert (everybody.one("pck", joint=None).value, everybody["mpjpe"].value) == (1.0, 0.0)
    assert everybody.pairing.frames == 6 and everybody["oks"].value == 1.0
    labels = dict(everybody["mpjpe"].definition.params)
    assert (labels["assign"], labels["duplicates"], labels["pair"]) == (assign, "match", "image-id")
    best = scored(tmp_path, *two, duplicates="keep-best", assign=assign)
    assert (best.one("pck", joint=None).value, best["mpjpe"].value, best.pairing.frames) == (1.0, 0.0, 3)
    assert any("3 people beside the largest of their image left out" in line for line in best.warnings)
    ap = everybody.one("keypoint_ap", area="all", oks="0.50-0.95")
    assert ap.signature == "keypoint_ap|area:all|max_dets:20|oks:0.50-0.95|sigmas:coco-17|v:1" and ap.value == 1.0


def test_two_poses_in_an_image_are_refused_with_both_ways_out(tmp_path: Path, two: Any) -> None:
    with pytest.raises(
        InputError, match="p.json: image 0 has two poses.*duplicates='match' scores all of them, keep-best"
    ):
        scored(tmp_path, *two)
    with pytest.raises(InputError, match="assign is oks-hungarian"):
        scored(tmp_path, *two, duplicates="match", assign="luck")


def test_a_bad_prediction_is_one_and_somebody_nobody_saw_is_counted(tmp_path: Path, two: Any) -> None:
    results, truth = two
    far = [_person(0, walk(1)[0] + 5000, score=0.3)]
    done = scored(tmp_path, far, truth[:1], duplicates="match")
    assert done.pairing.frames == 1 and done.one("pck", joint=None).value == 0.0
    alone = scored(tmp_path, results[1:2], truth[:2], duplicates="match")
    assert (alone.pairing.frames, len(alone.pairing.gt_only)) == (1, 1)
    wrong = scored(tmp_path, results[1:2], truth[:2], duplicates="match", unmatched="wrong")
    assert wrong.one("pck", joint=None).value == 0.5


def test_switches_are_counted(tmp_path: Path, two: Any) -> None:
    results, truth = two
    assert scored(tmp_path, results, truth, duplicates="match")["identity_switches"].value == 0
    swapped = [r | {"track_id": {10: 20, 20: 10}[r["track_id"]]} if r["image_id"] == 1 else r for r in results]
    switches = scored(tmp_path, swapped, truth, duplicates="match")["identity_switches"]
    # Image 1 exchanges both people and image 2 exchanges them back: two switches each.
    assert (switches.value, switches.count) == (4, 6)
    assert "|match:0.5|" in switches.signature and "|assign:oks-hungarian|" in switches.signature
    # Out of order in the file, the same: images go by their ids.
    assert scored(tmp_path, swapped[::-1], truth[::-1], duplicates="match")["identity_switches"].value == 4
    gone = [r for r in results if r["image_id"] != 1]
    assert scored(tmp_path, gone, truth, duplicates="match")["identity_switches"].value == 0


def test_hungarian_and_greedy_can_differ(tmp_path: Path) -> None:
    """One prediction between two people, surer than the one that only fits the first: greedy gives away the first."""
    a = walk(1)[0]
    b = a + [60, 0]
    between, on_a = a + [25, 0], a - [30, 0]
    truth = [_person(1, a), _person(1, b)]
    results = [_person(1, between, score=0.9), _person(1, on_a, score=0.1)]
    errors = {
        assign: scored(tmp_path, results, truth, duplicates="match", assign=assign)["mpjpe"].value
        for assign in ("oks-hungarian", "oks-greedy")
    }
    # Hungarian: between–b 35 and on_a–a 30, mean 32.5. Greedy: between–a 25, on_a–b 90, mean 57.5.
    assert errors == {"oks-hungarian": pytest.approx(32.5), "oks-greedy": pytest.approx(57.5)}


def test_ap_is_not_there_where_it_cannot_be(tmp_path: Path, two: Any) -> None:
    results, truth = two
    unsure = [{key: value for key, value in r.items() if key != "score"} for r in results]
    done = scored(tmp_path, unsure, truth, duplicates="match")
    assert not done.select("keypoint_ap") and any("6 of 6 predictions" in line for line in done.warnings)
    assert isinstance(done["mpjpe"], Measurement)


def test_the_quick_reader_and_the_careful_one_agree(tmp_path: Path, two: Any) -> None:
    results, _ = two
    (tmp_path / "quick.json").write_text(json.dumps(results))
    huge = copy.deepcopy(results)
    huge[0]["score"] = 10**400  # only the careful one reads it
    (tmp_path / "careful.json").write_text(json.dumps(huge))
    quick, careful = (read_poses(tmp_path / f"{name}.json", duplicates="match") for name in ("quick", "careful"))
    assert quick.people is not None and careful.people is None
    np.testing.assert_array_equal(quick.points, careful.points)
    for name in ("ids", "tracks", "unit", "sequence"):
        assert getattr(quick, name) == getattr(careful, name)
    assert careful.scores is not None and np.isinf(careful.scores[0])
    for name in ("visibility", "areas"):
        np.testing.assert_array_equal(getattr(quick, name), getattr(careful, name))


def test_numbers_that_only_look_like_key_points_are_read_as_json(tmp_path: Path, two: Any) -> None:
    """The quick reader takes lists of numbers out before it reads the rest; nothing else may be mistaken for them."""
    results, _ = two
    odd = [r | {"caption": 'said "keypoints": [1, 2, 3] aloud', "extra": {"keypoints": [1, 2, 3]}} for r in results]
    (tmp_path / "odd.json").write_text(json.dumps(odd))
    (tmp_path / "plain.json").write_text(json.dumps(results))
    one, other = (read_poses(tmp_path / f"{name}.json", duplicates="match") for name in ("odd", "plain"))
    np.testing.assert_array_equal(one.points, other.points)
    (tmp_path / "bad.json").write_text(json.dumps(results).replace("700.0", "7-0.0", 1))
    with pytest.raises(InputError, match="bad.json: not JSON"):
        read_poses(tmp_path / "bad.json", duplicates="match")
    (tmp_path / "mark.json").write_text(json.dumps([results[0] | {"keypoints": "\x00row 0"}]))
    with pytest.raises(InputError, match="x, y, v for each joint"):
        read_poses(tmp_path / "mark.json")


def test_the_assignment_adds_up_highest_of_all(rng: np.random.Generator) -> None:
    """Against scipy on the whole table of each image, crowded on purpose."""
    from scipy.optimize import linear_sum_assignment

    from rushes.instruments.pose.files.batch import PoseSet
    from rushes.instruments.pose.pairing.people import pair_people
    from rushes.instruments.pose.scores.oks import bbox_areas, oks_per_frame

    counts = rng.integers(1, 5, (60, 2))
    ids = [tuple(int(image) for image in np.repeat(np.arange(60), counts[:, side])) for side in (0, 1)]
    points = [walk(1)[0] + rng.normal(0, 40, (len(own), 1, 2)) for own in ids]
    pred, gt = (PoseSet(path="a", points=each, ids=own) for each, own in zip(points, ids, strict=True))
    found = pair_people(pred, gt, assign="oks-hungarian", largest_only=False)
    total = 0.0
    for image in range(60):
        ours, theirs = (np.flatnonzero(np.array(own) == image) for own in ids)
        seen = np.ones((len(theirs), 17), dtype=bool)
        areas = bbox_areas(points[1][theirs], seen)
        pose = np.repeat(points[0][ours], len(theirs), axis=0)
        table = oks_per_frame(
            pose,
            np.tile(points[1][theirs], (len(ours), 1, 1)),
            np.tile(seen, (len(ours), 1)),
            np.tile(areas, len(ours)),
        )
        table = table.reshape(len(ours), len(theirs))
        total += table[linear_sum_assignment(table, maximize=True)].sum()
    assert found.similarity.sum() == pytest.approx(total, abs=1e-9)
    assert found.pairing.frames == int(counts.min(axis=1).sum())
