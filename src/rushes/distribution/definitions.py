"""Every definition of this instrument, in the order the catalogue shows them. Needs no torch."""

from __future__ import annotations

from dataclasses import replace

from rushes.core import Definition
from rushes.distribution.kvd import COEF0, DEGREE
from rushes.distribution.protocols import OWN_BACKBONE, RARE, Metric, Recipe
from rushes.distribution.statistics import EXTRAPOLATION_REPEATS, EXTRAPOLATION_SIZES

_RUN = ("n_gen", "n_gt", "precision", "weights")
_RECIPE = (
    "asks_n", "bn_eps", "channels", "clips_gen", "clips_gt", "d", "decoder", "frames", "normalise", "pool", "protocol",
    "resize", "seed", "size",
)  # fmt: skip
_GAUSSIAN = ("arithmetic", "covariance")

FVD = Definition(
    name="fvd",
    unit="squared feature units",
    lowest=0.0,
    highest=None,
    better="lower",
    summary="How far the generated set is from the real one, by Gaussians fitted to I3D features (FVD-3DInception).",
    formula="‖μ₁ − μ₂‖² + tr Σ₁ + tr Σ₂ − 2·tr√(Σ₁Σ₂) over one feature row per video",
    edge_cases="fewer than two clips in a set: error; fewer clips than features: value with a warning in the note",
    reference="Unterthiner et al. 2018; the protocol names whose constants these are",
    params=(("backbone", "i3d"), ("feature", "logits400")),
    open_params=tuple(sorted((*_RUN, *_RECIPE, *_GAUSSIAN))),
)
FID_VID = replace(
    FVD,
    name="fid-vid",
    summary="The same distance on 3D ResNet-50 features (FVD-3DRN50).",
    reference="Wang et al. 2023 (DisCo); Hara et al. 2018 for the network",
    params=(("backbone", "r3d50"), ("feature", "avgpool2048")),
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
_BY_METRIC: dict[Metric, Definition] = {"fvd": FVD, "fid-vid": FID_VID, "kvd": KVD}


def extrapolated_definition(base: Definition) -> Definition:
    """A metric's value at infinitely many clips, as a metric of its own."""
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
        open_params=(*base.open_params, "extrapolation_seed"),
    )


DEFINITIONS = (FVD, FID_VID, KVD, extrapolated_definition(FVD), extrapolated_definition(FID_VID))


def bound_definition(
    metric: Metric, recipe: Recipe, *, weights: str, precision: str, n_gen: int, n_gt: int
) -> Definition:
    """The metric's definition on the recipe's backbone, with every parameter of this run in it.

    >>> from rushes.distribution.protocols import recipe
    >>> r = recipe("genhoi", "fvd")
    >>> d = bound_definition("fvd", r, weights="a867b87ac3a9", precision="fp32", n_gen=256, n_gt=256)
    >>> d.signature[:36], d.signature[-24:]
    ('fvd|arithmetic:fp64-qr-nuclear|asks_', 'weights:a867b87ac3a9|v:1')
    """
    base = _BY_METRIC[metric]
    if recipe.backbone != OWN_BACKBONE[metric]:
        base = replace(base, summary=f"How far the generated set is from the real one, by {recipe.backbone} features.")
    settings = recipe.params()
    if metric == "kvd":  # no Gaussian is fitted, so these move nothing
        settings = {key: value for key, value in settings.items() if key not in _GAUSSIAN}
    rare = {key: settings.pop(key) for key in RARE if key in settings}
    bound = base.with_params(**settings, weights=weights, precision=precision, n_gen=n_gen, n_gt=n_gt)
    return bound.add_params(**rare)
