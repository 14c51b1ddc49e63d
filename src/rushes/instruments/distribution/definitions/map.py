"""The numbers of a map of two sets: where each clip lies, how much of the spread an axis holds, what lies far out."""

from __future__ import annotations

from rushes.core import Definition

_OPEN = ("d", "features", "n_gen", "n_gt")
_PARAMS = (("arithmetic", "fp64-svd"), ("centre", "mean-of-both"))
_ROWS = "X has a row for each video of both sets, the mean of its rows of features; X − column means = U·S·Vᵀ"

SET_MAP_COORDINATE = Definition(
    name="set_map_coordinate",
    unit="feature units",
    lowest=None,
    highest=None,
    better="neither",
    summary="Where a clip lies on the map of two sets: its place along a principal component of all their features.",
    formula=f"{_ROWS}; the place on axis k is U_k·S_k, with the sign that makes V_k's entry of largest size positive",
    edge_cases="the first entry counts where two of V_k are of one size; a second component without spread: all at 0; "
    "fewer than three clips, or no two that differ: error",
    reference="Pearson 1901; Hotelling 1933",
    params=(*_PARAMS, ("sign", "largest-loading-positive")),
    open_params=_OPEN,
    places=("axis", "clip", "set"),
)
SET_MAP_VARIANCE_SHARE = Definition(
    name="set_map_variance_share",
    unit="ratio",
    lowest=0.0,
    highest=1.0,
    better="neither",
    summary="How much of the spread of both sets an axis of their map holds; what is missing from 1 is not on the map.",
    formula=f"S_k² / Σ S²; {_ROWS}",
    edge_cases="as for set_map_coordinate",
    reference="Jolliffe 2002",
    params=_PARAMS,
    open_params=_OPEN,
    places=("axis",),
)
SET_MAP_DISTANCE = Definition(
    name="set_map_distance",
    unit="standard deviations",
    lowest=0.0,
    highest=None,
    better="neither",
    summary="How far a clip lies from the real clips on the map, in units of their own spread there.",
    formula="√((z − m)ᵀ C⁻¹ (z − m)), z the clip's place on both axes, m and C mean and covariance (1/(N−1)) of the "
    "real clips' places; a real clip is left out of the m and C that it is held against",
    edge_cases="fewer than four real clips, or real clips on one line of the map: no value. Two axes only: a clip may "
    "be far out in what the map does not show",
    reference="Mahalanobis 1936",
    params=(*_PARAMS, ("against", "real"), ("axes", "2"), ("left_out", "itself")),
    open_params=_OPEN,
    places=("clip", "set"),
)
MAP_DEFINITIONS = (SET_MAP_COORDINATE, SET_MAP_VARIANCE_SHARE, SET_MAP_DISTANCE)
