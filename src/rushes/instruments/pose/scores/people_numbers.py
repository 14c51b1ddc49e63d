"""What is told about sets with several people beside the joints' errors: AP, AR, switches, who was left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rushes.core import Measurement
from rushes.instruments.pose.files.batch import PoseSet
from rushes.instruments.pose.files.coco_people import CocoPeople
from rushes.instruments.pose.measurements import variant
from rushes.instruments.pose.pairing.people import PeoplePairing
from rushes.instruments.pose.scores.average_precision import ap_measurements
from rushes.instruments.pose.scores.identity import identity_switches
from rushes.instruments.pose.scoring import ScoreSettings

_OF_PAIRS = ("pair", "duplicates", "assign")
"""Labels that say how one prediction was chosen for each person; AP and AR look at all of them."""


def people_measurements(
    pred: PoseSet, gt: PoseSet, settings: ScoreSettings, people: PeoplePairing | None
) -> Iterator[Measurement]:
    """AP and AR of two COCO files with COCO's joints, and switches where both sides have tracks."""
    found, true = pred.people, gt.people
    if found is not None and true is not None and settings.similarity and not _why_no_ap(pred, gt):
        kept = tuple((key, value) for key, value in settings.labels if key not in _OF_PAIRS)
        own = replace(settings, labels=kept, unmatched="skip")
        for row in ap_measurements(found, true):
            yield variant(row, own, 2)
    if people is not None and (switches := identity_switches(pred, gt, people)) is not None:
        yield variant(switches, settings, 2)


def people_warnings(pred: PoseSet, gt: PoseSet, people: PeoplePairing | None) -> Iterator[str]:
    """Who was left out, and why there is no AP where somebody might look for it."""
    if people is not None and people.left_out:
        yield f"{gt.path}: {people.left_out} people beside the largest of their image left out (--duplicates keep-best)"
    if people is not None and pred.people is not None and gt.people is not None and (why := _why_no_ap(pred, gt)):
        yield f"no AP and AR: {why}"
    if pred.people is not None and gt.people is not None and gt.people.listed is not None:
        known = set(gt.people.listed)
        if beyond := sum(image not in known for image in pred.people.images):
            yield f"{pred.path}: {beyond} predictions of images that {gt.path} does not list are not in AP and AR"


def _why_no_ap(pred: PoseSet, gt: PoseSet) -> str:
    found, true = pred.people, gt.people
    if not (isinstance(found, CocoPeople) and isinstance(true, CocoPeople)):
        return "both files have to be COCO's"
    if found.keypoints.shape[1] != 17 or true.keypoints.shape[1] != 17:
        return "they are about COCO's 17 joints"
    if np.isnan(found.scores).any():
        return f"{int(np.isnan(found.scores).sum())} of {len(found)} predictions in {pred.path} have no score"
    if np.isnan(true.areas[~true.crowd]).any():
        return f"annotations in {gt.path} have no area"
    return ""
