"""Every definition of this instrument, in the order the catalogue shows them. Needs no torch."""

from __future__ import annotations

from rushes.core import Definition
from rushes.distribution.kvd import COEF0, DEGREE
from rushes.distribution.protocols import Metric, Recipe
from rushes.distribution.statistics import (
    EXTRAPOLATION_REPEATS,
    EXTRAPOLATION_SIZES,
    JACKKNIFE_GROUPS,
    LEVEL,
    SUBSAMPLES,
    IntervalMethod,
)

_RUN = ("n_gen", "n_gt", "precision", "weights")
_RECIPE = (
    "asks_n", "bn_eps", "channels", "clips_gen", "clips_gt", "d", "decoder", "frames", "normalise", "pool", "protocol",
    "resize", "seed", "size",
)  # fmt: skip
_GAUSSIAN = ("arithmetic", "covariance")
_FRECHET = "‖μ₁ − μ₂‖² + tr Σ₁ + tr Σ₂ − 2·tr√(Σ₁Σ₂) over one feature row per video"
_EDGE = "fewer than two clips in a set: error; fewer clips than features: value with a warning in the note"

FVD = Definition(
    name="fvd",
    unit="squared feature units",
    lowest=0.0,
    highest=None,
    better="lower",
    summary="How far the generated set is from the real one, by Gaussians fitted to I3D features (FVD-3DInception).",
    formula=_FRECHET,
    edge_cases=_EDGE,
    reference="Unterthiner et al. 2018; the protocol names whose constants these are",
    params=(("backbone", "i3d"), ("feature", "logits400")),
    open_params=tuple(sorted((*_RUN, *_RECIPE, *_GAUSSIAN))),
)
FID_VID = Definition(
    name="fid-vid",
    unit="squared feature units",
    lowest=0.0,
    highest=None,
    better="lower",
    summary="The same distance on 3D ResNet-50 features (FVD-3DRN50).",
    formula=_FRECHET,
    edge_cases=_EDGE,
    reference="Wang et al. 2023 (DisCo); Hara et al. 2018 for the network",
    params=(("backbone", "r3d50"), ("feature", "avgpool2048")),
    open_params=tuple(sorted((*_RUN, *_RECIPE, *_GAUSSIAN))),
)
KVD = Definition(
    name="kvd",
    unit="kernel units",
    lowest=None,
    highest=None,
    better="lower",
    summary="Kernel distance between the sets on I3D features; unbiased, so it can be read at small N.",
    formula="unbiased squared MMD under k(a, b) = (γ·aᵀb + c)^degree over one feature row per video",
    edge_cases="fewer than two clips in a set: error; a little below 0: no difference seen",
    reference="Bińkowski et al. 2018; Unterthiner et al. 2018",
    params=(
        ("backbone", "i3d"),
        ("coef0", repr(COEF0)),
        ("degree", str(DEGREE)),
        ("estimator", "unbiased"),
        ("feature", "logits400"),
        ("gamma", "1/D"),
    ),
    open_params=tuple(sorted((*_RUN, *_RECIPE))),
)
_BY_METRIC: dict[str, Definition] = {"fvd": FVD, "fid-vid": FID_VID, "kvd": KVD}


def _end(base: Definition, end: str) -> Definition:
    return Definition(
        name=f"{base.name}_{end}",
        unit=base.unit,
        lowest=None,
        highest=None,
        better="neither",
        summary=f"{'Lower' if end == 'low' else 'Upper'} end of the 95 % interval of {base.name}.",
        formula="subsampling: d + quantile of (d_b − mean d_b) over random halves; jackknife: d ± 1.96·se over groups",
        edge_cases="subsampling needs four clips in each set, the jackknife three: error",
        reference="Politis, Romano & Wolf 1999; Arvesen 1969",
        params=(*base.params, ("level", repr(LEVEL))),
        open_params=(*base.open_params, "interval"),
    )


def _extrapolated(base: Definition) -> Definition:
    return Definition(
        name=f"{base.name}_extrapolated",
        unit=base.unit,
        lowest=None,
        highest=None,
        better="lower",
        summary=f"{base.name} at infinitely many clips: what is left when the bias in 1/N is taken off.",
        formula="intercept of least squares of d(N) over 1/N, N from D to the smaller set",
        edge_cases="not more clips than features in each set: error, since the bias is no line there",
        reference="Chong & Forsyth 2020 (FID∞)",
        params=(*base.params, ("repeats", str(EXTRAPOLATION_REPEATS)), ("sizes", str(EXTRAPOLATION_SIZES))),
        open_params=base.open_params,
    )


DEFINITIONS: tuple[Definition, ...] = (
    FVD,
    FID_VID,
    KVD,
    *(_end(base, end) for base in (FVD, FID_VID, KVD) for end in ("low", "high")),
    _extrapolated(FVD),
    _extrapolated(FID_VID),
)


def settled(metric: Metric, recipe: Recipe, *, weights: str, precision: str, n_gen: int, n_gt: int) -> Definition:
    """The metric's definition with every parameter of this run in it.

    >>> from rushes.distribution.protocols import recipe
    >>> d = settled("fvd", recipe("genhoi", "fvd"), weights="a867b87ac3a9", precision="fp32", n_gen=256, n_gt=256)
    >>> d.signature[:36], d.signature[-24:]
    ('fvd|arithmetic:fp64-qr-nuclear|asks_', 'weights:a867b87ac3a9|v:1')
    """
    base = _BY_METRIC[metric]
    wanted = {key: value for key, value in recipe.params().items() if key in {*base.open_params, *dict(base.params)}}
    return base.add_params(**wanted, weights=weights, precision=precision, n_gen=n_gen, n_gt=n_gt)


def interval_ends(whole: Definition, method: IntervalMethod, seed: int) -> tuple[Definition, Definition]:
    """Definitions of the two ends of a settled metric's interval."""
    how = f"subsampling-halves-{SUBSAMPLES}-seed{seed}" if method == "subsampling" else f"jackknife-{JACKKNIFE_GROUPS}"
    low, high = (_end(whole, end).add_params(interval=how) for end in ("low", "high"))
    return low, high


def extrapolated_definition(whole: Definition, seed: int) -> Definition:
    """Definition of a settled metric's value at infinitely many clips."""
    return _extrapolated(whole).add_params(extrapolation_seed=seed)
