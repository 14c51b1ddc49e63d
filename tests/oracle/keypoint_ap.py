"""COCO's own AP and AR of small made-up sets of people, for `tests/goldens/keypoint_ap.json`.

    python -m venv VENV && VENV/bin/pip install pycocotools==2.0.11
    VENV/bin/python tests/oracle/keypoint_ap.py tests/goldens/keypoint_ap.json

The sets hold what the rules are about: crowds, people without a labelled joint, images without people or without
predictions, more than twenty predictions in an image, equal scores, hidden joints, people of every size.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

SEEDS = (1, 2, 3)
NAMES = ("AP", "AP50", "AP75", "AP_M", "AP_L", "AR", "AR50", "AR75", "AR_M", "AR_L")


def people_set(seed: int, images: int = 14) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Truth and results in COCO's form; whole numbers, so that a file holds them exactly."""
    rng = np.random.Generator(np.random.PCG64(seed))
    annotations: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for image in range(1, images + 1):
        for _ in range(int(rng.integers(0, 6))):
            size = int(rng.choice([20, 60, 140, 300]))
            place = rng.integers(0, 400, 2)
            points = place + rng.integers(0, size, (17, 2))
            seen = np.where(rng.random(17) < 0.25, 0, rng.integers(1, 3, 17))
            crowd = int(rng.random() < 0.1)
            if rng.random() < 0.1:
                seen[:] = 0
            low, high = points.min(axis=0), points.max(axis=0)
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": image,
                    "category_id": 1,
                    "iscrowd": crowd,
                    "num_keypoints": int((seen > 0).sum()),
                    "keypoints": np.c_[np.where(seen[:, None] > 0, points, 0), seen].ravel().tolist(),
                    "bbox": [*map(int, low), *map(int, high - low)],
                    "area": float(np.prod(high - low) * 0.6),
                }
            )
            for _ in range(int(rng.choice([0, 1, 1, 2]))):
                shake = rng.integers(-1, 2, (17, 2)) * int(rng.choice([0, 1, 3, 8, 20])) * size // 100
                results.append(_result(image, points + shake, rng))
        for _ in range(25 if image == 3 else int(rng.integers(0, 3))):
            results.append(_result(image, rng.integers(0, 500, (17, 2)), rng))
    truth = {
        "images": [{"id": image} for image in range(1, images + 1)],
        "categories": [{"id": 1, "name": "person"}],
        "annotations": annotations,
    }
    return truth, [results[place] for place in rng.permutation(len(results))]


def _result(image: int, points: Any, rng: np.random.Generator) -> dict[str, Any]:
    score = float(rng.integers(1, 10)) / 10  # ties on purpose
    return {
        "image_id": image,
        "category_id": 1,
        "keypoints": np.c_[points, np.ones(17)].ravel().tolist(),
        "score": score,
    }


def coco_numbers(truth: dict[str, Any], results: list[dict[str, Any]]) -> list[float]:
    """pycocotools' ten numbers, in its order; −1 where it has none."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        gt = COCO()
        gt.dataset = truth
        gt.createIndex()
        evaluation = COCOeval(gt, gt.loadRes(results), "keypoints")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return [float(value) for value in evaluation.stats]


def main() -> None:
    found = {str(seed): dict(zip(NAMES, coco_numbers(*people_set(seed)), strict=True)) for seed in SEEDS}
    Path(sys.argv[1]).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
