"""COCO's key point AP and AR: every detection of everybody in a set, ranked by score and matched by OKS.

The numbers are those of pycocotools' COCOeval for `keypoints`, worked out over all images of one shape at a time.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rushes.core import Measurement, signature_params
from rushes.core.definition import ratio_definition
from rushes.instruments.pose.files.coco_people import CocoPeople, id_order
from rushes.instruments.pose.pairing.people import alike_images, by_image
from rushes.instruments.pose.scores.geometry import Flags, Floats
from rushes.instruments.pose.scores.oks import COCO_SIGMAS

MAX_DETECTIONS = 20
THRESHOLDS = np.linspace(0.5, 0.95, 10)
RECALLS = np.linspace(0.0, 1.0, 101)
AREAS = {"all": (0.0, 1e10), "medium": (32.0**2, 96.0**2), "large": (96.0**2, 1e10)}
"""Squared pixels, both ends included."""

_of_people = partial(
    ratio_definition,
    better="higher",
    edge_cases="crowds and people without a labelled joint, and those outside the area's range, are neither right nor "
    "wrong; the 20 best-scored detections of an image count; of equal scores the one in the image with the lesser id "
    "comes first, within an image the one that is first in the file; of equally similar people the later is matched; "
    "an image that the truth does not list is left out, or where it lists none is one without people; no person in "
    "range: null",
    reference="COCO key point evaluation (pycocotools 2.0, COCOeval, iouType keypoints)",
    params=signature_params(max_dets=MAX_DETECTIONS, sigmas="coco-17"),
    open_params=("area", "oks"),
)
KEYPOINT_AP = _of_people(
    name="keypoint_ap",
    summary="Average precision of detected people: found where they are, ranked by how sure the model is.",
    formula="detections matched to people greedily by score, a match from OKS `oks` on; precision made non-increasing, "
    "its mean over 101 recalls from 0 to 1 (0 where a recall is not reached), then over the OKS thresholds 0.50, 0.55 "
    "… 0.95",
)
KEYPOINT_AR = _of_people(
    name="keypoint_ar",
    summary="Average recall of detected people: how many of them are found at all.",
    formula="matched people / people, matched as in keypoint_ap; mean over the OKS thresholds",
)


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Images with as many detections and as many people as each other."""

    dets: NDArray[np.int64]
    """images × detections: rows of the prediction, best-scored first."""
    truths: NDArray[np.int64]
    flat: NDArray[np.int64]
    """images × detections: where each detection stands among those of all images, in order."""
    similar: Floats
    """images × detections × people."""


def ap_measurements(pred: CocoPeople, gt: CocoPeople) -> Iterator[Measurement]:
    """AP and AR, each over all OKS thresholds, at 0.50 and 0.75, and for medium and large people."""
    tables = [_evaluate(pred, gt, category) for category in sorted(set(gt.categories), key=id_order)]
    curves = [{area: table[area][:2] for area in table} for table in tables]
    wanted = (("0.50-0.95", "all"), ("0.50", "all"), ("0.75", "all"), ("0.50-0.95", "medium"), ("0.50-0.95", "large"))
    for definition, which in ((KEYPOINT_AP, 0), (KEYPOINT_AR, 1)):
        for oks, area in wanted:
            rows = slice(None) if "-" in oks else slice(*_row(float(oks)))
            found = [table[area][which][rows] for table in curves if area in table]
            people = sum(table[area][2] for table in tables if area in table)
            labelled = definition.with_params(area=area, oks=oks)
            if found:
                mean = float(np.mean(np.stack(found)))
                yield Measurement(definition=labelled, value=mean, count=people)
            else:
                yield Measurement.missing(labelled, f"no person of {area} area" if area != "all" else "no person")


def _row(threshold: float) -> tuple[int, int]:
    row = int(np.argmin(np.abs(THRESHOLDS - threshold)))
    return row, row + 1


def _evaluate(pred: CocoPeople, gt: CocoPeople, category: Hashable) -> dict[str, tuple[Floats, Floats, int]]:
    """For each area with people in it: precision (thresholds × recalls), recall (thresholds), people."""
    groups, scores = _groups(pred, gt, category)
    order = np.argsort(-scores, kind="stable")
    sizes = _detected_areas(pred)
    found = {}
    for name, (low, high) in AREAS.items():
        matched = np.zeros((len(THRESHOLDS), len(scores)), dtype=bool)
        ignored = np.zeros_like(matched)
        people = 0
        outside = gt.ignored | (gt.areas < low) | (gt.areas > high)
        for group in groups:
            aside = outside[group.truths]
            people += int(np.count_nonzero(~aside))
            if not group.dets.size:
                continue
            hit, past = _match(group.similar, aside, gt.crowd[group.truths])
            size = sizes[group.dets]
            past |= ~hit & ((size < low) | (size > high))[:, np.newaxis]
            matched[:, group.flat] = np.moveaxis(hit, 1, 0)
            ignored[:, group.flat] = np.moveaxis(past, 1, 0)
        if people:
            found[name] = (*_curves(matched[:, order], ignored[:, order], people), people)
    return found


def _curves(matched: Flags, ignored: Flags, people: int) -> tuple[Floats, Floats]:
    right = np.cumsum(matched & ~ignored, axis=1).astype(np.float64)
    wrong = np.cumsum(~matched & ~ignored, axis=1).astype(np.float64)
    precision = np.zeros((len(THRESHOLDS), len(RECALLS)))
    if not right.shape[1]:
        return precision, np.zeros(len(THRESHOLDS))
    recall = right / people
    exact = right / (wrong + right + np.spacing(1))
    falling = np.maximum.accumulate(exact[:, ::-1], axis=1)[:, ::-1]
    for row in range(len(THRESHOLDS)):
        at = np.searchsorted(recall[row], RECALLS, side="left")
        reached = at < right.shape[1]
        precision[row, reached] = falling[row, at[reached]]
    return precision, recall[:, -1]


def _match(similar: Floats, aside: Flags, crowd: Flags) -> tuple[Flags, Flags]:
    """Which detections are matched at each threshold, and which of those to people that do not count.

    Images × detections × people in; images × thresholds × detections out. People that count come first; a detection
    takes the most similar free one, the later of equals, and one that does not count only where none that does is near.
    """
    order = np.argsort(aside, axis=1, kind="stable")
    similar = np.take_along_axis(similar, order[:, np.newaxis], axis=2)
    aside, crowd = (np.take_along_axis(flags, order, axis=1) for flags in (aside, crowd))
    images, dets, people = similar.shape
    taken = np.zeros((images, len(THRESHOLDS), people), dtype=bool)
    hit = np.zeros((images, len(THRESHOLDS), dets), dtype=bool)
    past = np.zeros_like(hit)
    for d in range(dets):
        best = np.broadcast_to(np.minimum(THRESHOLDS, 1 - 1e-10), hit.shape[:2]).copy()
        chosen = np.full(hit.shape[:2], -1)
        chosen_aside = np.zeros(hit.shape[:2], dtype=bool)
        for g in range(people):
            free = ~taken[..., g] | crowd[:, g, np.newaxis]
            settled = (chosen >= 0) & ~chosen_aside & aside[:, g, np.newaxis]
            better = free & ~settled & (similar[:, d, g, np.newaxis] >= best)
            best = np.where(better, similar[:, d, g, np.newaxis], best)
            chosen[better] = g
            chosen_aside = np.where(better, aside[:, g, np.newaxis], chosen_aside)
        hit[..., d], past[..., d] = chosen >= 0, chosen_aside
        image, threshold = np.nonzero(chosen >= 0)
        taken[image, threshold, chosen[image, threshold]] = True
    return hit, past


def _groups(pred: CocoPeople, gt: CocoPeople, category: Hashable) -> tuple[list[_Group], Floats]:
    """Images by shape, and the scores of all their detections in the order of images."""
    sides = [_of_category(side, category) for side in (pred, gt)]
    known = set(gt.listed) if gt.listed is not None else {image for side in sides for image in side.values()}
    rank = {image: place for place, image in enumerate(sorted(known, key=id_order))}
    (dets, det_place), (truths, truth_place) = (
        np.array([(row, rank[image]) for row, image in side.items() if image in rank], np.int64).reshape(-1, 2).T
        for side in sides
    )
    sure = np.lexsort((-pred.scores[dets], det_place))  # by image, then by falling score; of equals as in the file
    dets, det_place = dets[sure], det_place[sure]
    first = np.arange(len(dets)) - np.searchsorted(det_place, det_place) < MAX_DETECTIONS
    dets, det_place = dets[first], det_place[first]
    groups = []
    for flat, people in alike_images(*(by_image(each, len(rank)) for each in (det_place, truth_place))):
        if flat.size or people.size:
            own, own_people = dets[flat], truths[people]
            groups.append(_Group(own, own_people, flat, _similarities(pred, gt, own, own_people)))
    return groups, pred.scores[dets]


def _of_category(side: CocoPeople, category: Hashable) -> dict[int, Hashable]:
    """The image of every row of this category."""
    return {
        row: image
        for row, (image, kind) in enumerate(zip(side.images, side.categories, strict=True))
        if kind == category
    }


def _similarities(pred: CocoPeople, gt: CocoPeople, dets: NDArray[np.int64], truths: NDArray[np.int64]) -> Floats:
    """OKS of every detection with every person of its image; of one without labelled joints, by its widened box."""
    result = np.empty((*dets.shape, truths.shape[1]))
    for g in range(truths.shape[1]):
        person = truths[:, g]
        place = gt.keypoints[person][:, np.newaxis]
        labelled = place[..., 2] > 0
        some = labelled.any(axis=2, keepdims=True)
        x, y, width, height = (side[:, np.newaxis, np.newaxis] for side in gt.boxes[person].T)
        for d in range(dets.shape[1]):
            found = pred.keypoints[dets[:, d]][:, np.newaxis]
            with np.errstate(invalid="ignore", over="ignore"):
                steps = []
                for column, low, span in ((0, x, width), (1, y, height)):
                    outside = np.maximum(0, low - span - found[..., column])
                    outside = outside + np.maximum(0, found[..., column] - (low + span * 2))
                    steps.append(np.where(some, found[..., column] - place[..., column], outside))
                area = gt.areas[person][:, np.newaxis, np.newaxis]
                exponent = (steps[0] ** 2 + steps[1] ** 2) / _VARIANCES / (area + np.spacing(1)) / 2
                near = np.where(np.isfinite(exponent), np.exp(-exponent), 0.0)
            counted = labelled | ~some
            result[:, d, g] = (np.where(counted, near, 0.0).sum(axis=2) / counted.sum(axis=2))[:, 0]
    return result


_VARIANCES = (2 * np.asarray(COCO_SIGMAS)) ** 2


def _detected_areas(pred: CocoPeople) -> Floats:
    """The area of the box around each detection's joints, as pycocotools takes it."""
    x, y = pred.keypoints[..., 0], pred.keypoints[..., 1]
    return np.asarray((x.max(axis=1) - x.min(axis=1)) * (y.max(axis=1) - y.min(axis=1)))
