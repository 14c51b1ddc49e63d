"""Does the face express what the reference's does: e_fid and expression_distance, on MediaPipe's 52 blendshapes.

Papers on talking heads print E-FID, the Fréchet distance between the expressions of generated and of real frames (Tian
et al. 2024, EMO), there on coefficients of a 3-D face model (Deng et al. 2019) over a whole test set. That model's
weights are not free, so here the expression is MediaPipe's, and the distance is taken clip by clip: values do not
compare with published ones, and `features` and `over` say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.core.errors import MissingDependency
from rushes.core.machine.installing import not_installed
from rushes.instruments.fidelity.metric import Observer, PairContext, PairMetric, Seen
from rushes.instruments.fidelity.metrics.identity import absence_note, mean_of_faces
from rushes.instruments.fidelity.pairs.picture import FramePair
from rushes.stats.frechet import frechet_distance
from rushes.vision.landmarks.choice import SAME_PLACE, Box
from rushes.vision.landmarks.expression import FILE, GROUP, SHAPES, expression_networks
from rushes.vision.models.cache import is_pulled, pull_command
from rushes.vision.models.catalogue import group_named, licence_of

LEAST = 10
"""Frames with a face on either side below which no covariance is taken."""
_GEN, _GT = "gen_shape_", "gt_shape_"
_EDGES = (
    "Of several faces the reference's largest, and in the generated frame the one in its place (overlap ≥ "
    f"{SAME_PLACE}), else the largest. Frames without a face are left out, and the note counts them."
)
_HOW: dict[str, str] = {"features": "mediapipe-blendshapes-52", "face": "largest-of-reference"}

E_FID = Definition(
    name="expression_frechet",
    unit="1",
    lowest=0,
    highest=None,
    better="lower",
    summary="How far the face's expressions are from the reference's, as a distribution over the clip (E-FID).",
    formula="‖μ − μ′‖² + tr Σ + tr Σ′ − 2 tr√(ΣΣ′); μ, Σ mean and covariance (1/(N−1)) of the 52 blendshapes over the "
    "generated frames with a face, μ′, Σ′ over the reference's",
    edge_cases=f"{_EDGES} Fewer than {LEAST} frames with a face on either side: no value. The order of frames does not "
    "count. A short clip's covariance is uncertain: compare clips of one length.",
    reference="E-FID of Tian et al. 2024 (EMO), there on Deng et al. 2019's 3-D face coefficients over a whole set: "
    f"values do not compare. {licence_of(GROUP)}",
    params=signature_params(over="clip", covariance="1/(N-1)", **_HOW),
    open_params=("weights",),
    depends_on=("frame_size", "duration"),
)
EXPRESSION_DISTANCE = Definition(
    name="expression_distance",
    unit="1",
    lowest=0,
    highest=None,
    better="lower",
    summary="How far the face's expression is from the reference's, frame by frame.",
    formula="mean over pairs of frames with a face on both sides of ‖e − e′‖₂; e, e′ the 52 blendshapes",
    edge_cases=f"{_EDGES} No pair with both: no value.",
    reference="as the average expression distance of Ren et al. 2021 (PIRenderer), there on 3-D face coefficients. "
    f"{licence_of(GROUP)}",
    params=signature_params(**_HOW),
    open_params=("weights",),
    depends_on=("frame_size",),
)


class ExpressionObserver:
    """The blendshapes of one face of either side, pair by pair."""

    def __init__(self, given: str | None) -> None:
        self._networks = expression_networks(given)
        self._gen: list[NDArray[np.float32]] = []
        self._gt: list[NDArray[np.float32]] = []

    def add(self, pair: FramePair) -> None:
        theirs, place = self._look(pair.gt.rgb, None)
        ours, _ = self._look(pair.gen.rgb, place)
        self._gen.append(ours)
        self._gt.append(theirs)

    def _look(self, rgb: NDArray[np.uint8], near: Box | None) -> tuple[NDArray[np.float32], Box | None]:
        found, place = self._networks.look(rgb, near)
        return (np.full(SHAPES, np.nan, np.float32) if found is None else found), place

    def finish(self) -> Seen:
        gen, gt = (np.array(side, np.float64).reshape(-1, SHAPES) for side in (self._gen, self._gt))
        distance = np.sqrt(((gen - gt) ** 2).sum(axis=1))
        lost = [int(np.isnan(side[:, 0]).sum()) for side in (gen, gt)]
        note = absence_note(len(gen), gen=lost[0], gt=lost[1])
        columns = {f"{head}{n}": side[:, n] for head, side in ((_GEN, gen), (_GT, gt)) for n in range(SHAPES)}
        return Seen(
            series={"expression_distance": distance, **columns},
            params={"weights": self._networks.digest},
            notes={"expression_distance": note},
        )


def between_sets(definition: Definition, seen: Seen, series: str) -> Measurement:
    """The Fréchet distance of the two sides' blendshapes."""
    gen, gt = (_matrix(seen, head) for head in (_GEN, _GT))
    note = seen.notes.get(series, "")
    if min(len(gen), len(gt)) < LEAST:
        return Measurement.missing(definition, note or f"fewer than {LEAST} frames with a face")
    return Measurement(definition=definition, value=frechet_distance(gen, gt), count=min(len(gen), len(gt)), note=note)


def _matrix(seen: Seen, head: str) -> NDArray[np.float64]:
    """Frames with a face × blendshapes."""
    every = np.stack([seen.series[f"{head}{number}"] for number in range(SHAPES)], axis=1)
    kept: NDArray[np.float64] = every[np.isfinite(every[:, 0])]
    return kept


def watch_expression(context: PairContext) -> Observer:
    """Finds the expression of every pair of frames, once for both metrics."""
    return ExpressionObserver(context.models.get(GROUP))


def require_expression(models: Mapping[str, str]) -> None:
    """Raise `MissingDependency`, with the command that gets it, where the model or LiteRT is not here."""
    if GROUP not in models and not is_pulled(group_named(GROUP)):
        raise MissingDependency(f"expressions need {FILE}, which is not installed; run: {pull_command(GROUP)}")
    if find_spec("ai_edge_litert") is None:
        raise not_installed("expressions need LiteRT", extra="face")


E_FID_METRIC = PairMetric(
    definition=E_FID,
    label="E-FID",
    observe=watch_expression,
    series="expression_distance",
    pool=between_sets,
    require=require_expression,
)
EXPRESSION_DISTANCE_METRIC = PairMetric.with_lane(
    EXPRESSION_DISTANCE,
    "expression",
    watch_expression,
    (0.0, 1.0),
    series="expression_distance",
    pool=mean_of_faces,
    require=require_expression,
)
