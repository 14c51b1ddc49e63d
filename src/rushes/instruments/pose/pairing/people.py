"""Several people in one image: which prediction is of which person, image by image, by a declared rule.

`oks-hungarian` takes the pairs whose OKS add up highest (Kuhn 1955); `oks-greedy` lets predictions choose by falling
score, each the person most like it that is left, as COCO's evaluation does; `iou-hungarian` goes by the overlap of the
boxes around the joints, which any skeleton has. A prediction and a person that are left over are a pair however far
apart they lie: a bad prediction is one, and is not to vanish. Only where there are more of one than of the other is
somebody left without a partner.

Where both sides follow people through a clip, identity switches count how often somebody turns into somebody else.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement
from rushes.core.errors import InputError
from rushes.core.words.options import option
from rushes.instruments.pose.files.batch import PoseSet
from rushes.instruments.pose.files.coco_people import id_order
from rushes.instruments.pose.files.skeletons import COCO_17, Skeleton
from rushes.instruments.pose.pairing.assignment import best_columns
from rushes.instruments.pose.pairing.files import Pairing, Unmatched
from rushes.instruments.pose.scores.geometry import Floats, seen_joints
from rushes.instruments.pose.scores.oks import bbox_areas, oks_per_frame

Assign: TypeAlias = Literal["oks-hungarian", "oks-greedy", "iou-hungarian"]
Whole: TypeAlias = NDArray[np.int64]

_PAIRS_AT_ONCE = 65_536
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PeoplePairing:
    """Who was paired with whom, and how alike they are."""

    pairing: Pairing
    similarity: Floats
    """Of each pair, in the pairing's order; NaN for a person nobody predicted."""
    left_out: int = 0
    """People beside the largest of their image, where only that one is scored."""


def assignment_rule(asked: Assign | None, skeleton: Skeleton) -> Assign:
    """The rule asked for, or the default: by OKS where its sigmas fit the joints, else by boxes."""
    coco = skeleton.name == COCO_17.name
    if asked is not None and asked not in ("oks-hungarian", "oks-greedy", "iou-hungarian"):
        raise InputError(f"{option('--assign')} is oks-hungarian, oks-greedy or iou-hungarian; got {asked!r}")
    if asked is not None and asked.startswith("oks") and not coco:
        raise InputError(
            f"{option(f'--assign {asked}')} needs COCO's 17 joints; {skeleton.name} is assigned by boxes: iou-hungarian"
        )
    return asked or ("oks-hungarian" if coco else "iou-hungarian")


def pair_people(
    pred: PoseSet, gt: PoseSet, *, assign: Assign, largest_only: bool, unmatched: Unmatched = "skip"
) -> PeoplePairing:
    """Pair everybody with a prediction, or where `largest_only` the largest person of each image with theirs."""
    if pred.ids is None or gt.ids is None:
        bare = pred if pred.ids is None else gt
        raise InputError(f"{bare.path}: several people in an image need image ids; the file has none")
    images = {key: place for place, key in enumerate(dict.fromkeys((*gt.ids, *pred.ids)))}
    ours, theirs = (by_image([images[key] for key in ids], len(images)) for ids in (pred.ids, gt.ids))
    if not ((ours.counts > 0) & (theirs.counts > 0)).any():
        raise InputError(
            f"{pred.path} and {gt.path}: no image id is in both (the first are {pred.ids[0]!r} and {gt.ids[0]!r})"
        )
    partner = np.full(len(gt), -1, dtype=np.int64)
    alike = np.full(len(gt), np.nan)
    for p, g in alike_images(ours, theirs):
        width, people = p.shape[1], g.shape[1]
        if not width or not people:
            continue
        pairs = np.repeat(p, people, axis=1).ravel(), np.tile(g, (1, width)).ravel()
        similar = _similarities(pred, gt, *pairs, boxes=assign.startswith("iou")).reshape(-1, width, people)
        plain: NDArray[np.bool_] = np.zeros(len(similar), dtype=bool)
        if width == 1 or (assign != "oks-greedy" and width <= people):
            # Where everybody's best is another person, no assignment adds up higher: as nearly every image is.
            best = similar.argmax(axis=2)
            plain = np.asarray((np.diff(np.sort(best, axis=1), axis=1) > 0).all(axis=1))
            theirs_best = np.take_along_axis(g[plain], best[plain], axis=1)
            partner[theirs_best], alike[theirs_best] = p[plain], similar[plain].max(axis=2)
        left, own, their = similar[~plain], p[~plain], g[~plain]
        chosen = _greedy_columns(left, own, pred.scores) if assign == "oks-greedy" else best_columns(left)
        image, row = np.nonzero(chosen >= 0)
        column = chosen[image, row]
        matched = their[image, column]
        partner[matched], alike[matched] = own[image, row], left[image, row, column]
    kept = np.arange(len(gt)) if not largest_only else _largest(gt, theirs)
    return _as_pairing(pred, gt, partner, alike, kept, unmatched)


@dataclass(frozen=True, slots=True, eq=False)
class ByImage:
    """Rows of one side, sorted by image, and how many each image has."""

    order: Whole
    counts: Whole
    starts: Whole

    def rows_of(self, images: Whole, number: int) -> Whole:
        """images × number: the rows of images that have so many."""
        rows: Whole = self.order[self.starts[images][:, np.newaxis] + np.arange(number)]
        return rows


def by_image(places: Sequence[int] | Whole, images: int) -> ByImage:
    """Rows by the number of the image that each is in."""
    numbers = np.asarray(places, dtype=np.int64)
    counts = np.bincount(numbers, minlength=images)
    return ByImage(np.argsort(numbers, kind="stable"), counts, np.cumsum(counts) - counts)


def alike_images(ours: ByImage, theirs: ByImage) -> Iterator[tuple[Whole, Whole]]:
    """Images with as many rows of each side together: images × our rows, images × theirs; either may have none."""
    for own, other in sorted(set(zip(ours.counts.tolist(), theirs.counts.tolist(), strict=True))):
        images = np.flatnonzero((ours.counts == own) & (theirs.counts == other))
        yield ours.rows_of(images, own), theirs.rows_of(images, other)


def _largest(gt: PoseSet, theirs: ByImage) -> Whole:
    """The largest person of each image; of equals the first in the file."""
    areas = _areas(gt)
    starts = theirs.starts[theirs.counts > 0]
    pieces = np.split(theirs.order, starts[1:])
    return np.array(sorted(int(rows[np.argmax(areas[rows])]) for rows in pieces), dtype=np.int64)


def _as_pairing(
    pred: PoseSet, gt: PoseSet, partner: Whole, alike: Floats, kept: Whole, unmatched: Unmatched
) -> PeoplePairing:
    scored = kept if unmatched == "wrong" else kept[partner[kept] >= 0]
    unused = np.ones(len(pred), dtype=bool)
    unused[partner[partner >= 0]] = False
    pairing = Pairing(
        by="image id",
        pred=partner[scored],
        gt=scored,
        frames=len(scored),
        pred_only=tuple(pred.frame_name(n) for n in np.flatnonzero(unused).tolist()),
        gt_only=tuple(gt.frame_name(n) for n in kept[partner[kept] < 0].tolist()),
    )
    return PeoplePairing(pairing=pairing, similarity=alike[scored], left_out=len(gt) - len(kept))


def _greedy_columns(tables: Floats, own: Whole, scores: Floats | None) -> Whole:
    """The column that each row chooses, the surest prediction first; −1 for a row that finds none left."""
    chosen = np.full(own.shape, -1, dtype=np.int64)
    for table, rows, columns in zip(tables, own, chosen, strict=True):
        sureness = np.zeros(len(table)) if scores is None else np.nan_to_num(scores[rows])
        left = list(range(table.shape[1]))
        for row in np.argsort(-sureness, kind="stable")[: len(left)].tolist():
            columns[row] = max(left, key=lambda column: table[row, column])
            left.remove(columns[row])
    return chosen


def _areas(gt: PoseSet) -> Floats:
    """Areas as annotated; where there is none, of the box around the joints; 0 where there is no box."""
    points = np.asarray(gt.points, dtype=np.float64)
    own = bbox_areas(points, seen_joints(points, gt.visibility))
    if gt.areas is not None:
        own = np.where(np.isnan(gt.areas), own, gt.areas)
    return np.nan_to_num(own)


def _similarities(pred: PoseSet, gt: PoseSet, ours: Whole, theirs: Whole, *, boxes: bool) -> Floats:
    found = np.empty(len(ours))
    areas = None if boxes else _areas(gt)
    for start in range(0, len(ours), _PAIRS_AT_ONCE):
        piece = slice(start, start + _PAIRS_AT_ONCE)
        one = np.asarray(pred.points[ours[piece]], dtype=np.float64)
        other = np.asarray(gt.points[theirs[piece]], dtype=np.float64)
        seen = seen_joints(other, None if gt.visibility is None else gt.visibility[theirs[piece]])
        if areas is None:
            placed: NDArray[np.bool_] = np.asarray(np.isfinite(one).all(axis=2))
            if pred.visibility is not None:  # zeros with confidence 0 are no place
                placed = placed & ~((pred.visibility[ours[piece]] == 0) & (one == 0).all(axis=2))
            found[piece] = _overlaps(_boxes(one, placed), _boxes(other, seen))
        else:
            found[piece] = oks_per_frame(one, other, seen, areas[theirs[piece]])
    return np.nan_to_num(found)


def _boxes(points: Floats, placed: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Lower and upper corners of the boxes around the joints; empty where there are none."""
    flags = (placed & np.isfinite(points[..., :2]).all(axis=2))[..., np.newaxis]
    low = np.where(flags, points[..., :2], np.inf).min(axis=1)
    high = np.where(flags, points[..., :2], -np.inf).max(axis=1)
    return low, high


def _overlaps(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> Floats:
    """Intersection over union of boxes; 0 where one has no area."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        sides = np.clip(np.minimum(one[1], other[1]) - np.maximum(one[0], other[0]), 0, None)
        common = sides[:, 0] * sides[:, 1]
        areas = [np.clip(high - low, 0, None).prod(axis=1) for low, high in (one, other)]
        return np.where(common > 0, common / (areas[0] + areas[1] - common), 0.0)


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
