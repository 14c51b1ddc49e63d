"""Identity switches: how often somebody who is followed through a clip turns into somebody else."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from rushes.core import Definition, Measurement
from rushes.instruments.pose.files.batch import PoseSet
from rushes.instruments.pose.files.coco_people import id_order
from rushes.instruments.pose.pairing.people import PeoplePairing

MATCH_FROM = 0.5

IDENTITY_SWITCHES = Definition(
    name="identity_switches",
    unit="switches",
    lowest=0.0,
    highest=None,
    better="lower",
    summary="How often a person's predicted track changes to another one.",
    formula="over each true track, images in order of their ids: times that its matched prediction has another "
    "track_id than at the person's match before; matched when paired under `assign` with a similarity of at "
    "least `match`",
    edge_cases="images without a match are skipped, so a gap is no switch; needs track_id on both sides; nobody "
    "matched: null",
    reference="ID switches of Bernardin and Stiefelhagen 2008 (CLEAR MOT), each image assigned by itself",
    params=(("match", str(MATCH_FROM)),),
)


def identity_switches(pred: PoseSet, gt: PoseSet, found: PeoplePairing) -> Measurement | None:
    """The count, or None where a side has no tracks."""
    if pred.tracks is None or gt.tracks is None or gt.ids is None:
        return None
    rows, partners = (np.asarray(side) for side in (found.pairing.gt, found.pairing.pred))
    matched = [
        (id_order(gt.ids[row]), gt.tracks[row], pred.tracks[partner])
        for row, partner, alike in zip(rows.tolist(), partners.tolist(), found.similarity.tolist(), strict=True)
        if partner >= 0 and alike >= MATCH_FROM
    ]
    if not matched:
        return Measurement.missing(IDENTITY_SWITCHES, f"nobody is matched with a similarity of {MATCH_FROM} or more")
    last: dict[Hashable, Hashable] = {}
    switches = 0
    for _, person, track in sorted(matched, key=lambda row: row[0]):
        switches += person in last and last[person] != track
        last[person] = track
    return Measurement(definition=IDENTITY_SWITCHES, value=switches, count=len(matched))
