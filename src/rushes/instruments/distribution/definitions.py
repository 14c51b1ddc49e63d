"""Every definition of this instrument, in the order the catalogue shows them. Needs no torch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from rushes.core import Definition
from rushes.instruments.distribution.distances.formulas import COEF0, DEGREE, DENSITY_K, PRECISION_K
from rushes.instruments.distribution.distances.intervals import EXTRAPOLATION_REPEATS, EXTRAPOLATION_SIZES
from rushes.instruments.distribution.protocols import OWN_BACKBONE, RARE, GivenMetric, Metric, Recipe

_RUN = ("n_gen", "n_gt", "precision", "weights")
_RECIPE = (
    "asks_n", "bn_eps", "channels", "clips_gen", "clips_gt", "d", "decoder", "frames", "normalise", "pool", "protocol",
    "resize", "seed", "size",
)  # fmt: skip
_GAUSSIAN = ("arithmetic", "covariance")
_RESIZED = "; `resize` names how frames are resized: pil-bicubic-squash does not clip what overshoots 0–255"
"""As DisCo's code does it. Clipping would be a resizer of another name: five clips against five had an FVD of 4555.38,
and 4549.09 clipped."""

FVD = Definition(
    name="fvd",
    unit="squared feature units",
    lowest=0.0,
    highest=None,
    better="lower",
    summary="How far the generated set is from the real one, by Gaussians fitted to I3D features (FVD-3DInception).",
    formula="‖μ₁ − μ₂‖² + tr Σ₁ + tr Σ₂ − 2·tr√(Σ₁Σ₂) over one feature row per video" + _RESIZED,
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
    formula="unbiased squared MMD under k(a, b) = (γ·aᵀb + c)^degree over one feature row per video: within a set "
    "pairs i ≠ j alone" + _RESIZED,
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
FID = replace(
    FVD,
    name="fid",
    summary="How far the frames of the generated set are from real ones, by Gaussians fitted to Inception features.",
    formula="‖μ₁ − μ₂‖² + tr Σ₁ + tr Σ₂ − 2·tr√(Σ₁Σ₂) over one feature row per frame",
    edge_cases="fewer than two frames in a set: error; fewer frames than features: value with a warning in the note",
    reference="Heusel et al. 2017",
    params=(("backbone", "inception"), ("feature", "pool2048")),
    open_params=tuple(sorted((*_RUN, *_RECIPE, *_GAUSSIAN, "rows", "stride"))),
)
KID = replace(
    KVD,
    name="kid",
    summary="Kernel distance between the frames of the sets on Inception features; unbiased, over all frames at once.",
    formula="unbiased squared MMD under k(a, b) = (γ·aᵀb + c)^degree over one feature row per frame: within a set "
    "pairs i ≠ j alone",
    edge_cases="fewer than two frames in a set: error; a little below 0: no difference seen",
    reference="Bińkowski et al. 2018, who average it over random subsets: the same expectation",
    params=(*(p for p in KVD.params if p[0] not in ("backbone", "feature")), *FID.params, ("subsets", "none")),
    open_params=tuple(sorted((*KVD.open_params, "rows", "stride"))),
)
PRECISION = Definition(
    name="precision",
    unit="ratio",
    lowest=0.0,
    highest=1.0,
    better="higher",
    summary="Share of generated clips that look like real ones: features within the balls around the real clips.",
    formula="#{y in gen: ‖y − x‖ ≤ distance from x to its k-th nearest real neighbour, for some x in gt} / N_gen"
    + _RESIZED,
    edge_cases="not more than k clips in the ground-truth set: no value; real outliers raise it",
    reference="Kynkäänniemi et al. 2019",
    params=(("backbone", "i3d"), ("ball", "closed"), ("feature", "logits400"), ("k", str(PRECISION_K))),
    open_params=tuple(sorted((*_RUN, *_RECIPE))),
)
RECALL = replace(
    PRECISION,
    name="recall",
    summary="Share of real clips that the generated set could have made: features within the generated clips' balls.",
    formula="#{x in gt: ‖x − y‖ ≤ distance from y to its k-th nearest generated neighbour, for some y in gen} / N_gt"
    + _RESIZED,
    edge_cases="not more than k clips in the generated set: no value; generated outliers raise it",
)
DENSITY = replace(
    PRECISION,
    name="density",
    highest=None,
    summary="In how many real clips' balls a generated clip lies, over k; 1 is expected of equal distributions.",
    formula="#{(x, y): ‖y − x‖ < distance from x to its k-th nearest real neighbour} / (k · N_gen)" + _RESIZED,
    edge_cases="not more than k clips in the ground-truth set: no value; above 1 where clips crowd the densest places",
    reference="Naeem et al. 2020",
    params=(("backbone", "i3d"), ("ball", "open"), ("feature", "logits400"), ("k", str(DENSITY_K))),
)
COVERAGE = replace(
    DENSITY,
    name="coverage",
    highest=1.0,
    summary="Share of real clips with a generated one nearby; about 1 − 2^−k for equal distributions and sizes.",
    formula="#{x in gt: ‖y − x‖ < distance from x to its k-th nearest real neighbour, for some y in gen} / N_gt"
    + _RESIZED,
    edge_cases="not more than k clips in the ground-truth set: no value; it rises with N_gen",
)
KernelName: TypeAlias = Literal["kid", "jedi"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A polynomial kernel (γ·aᵀb + c)^degree with γ = 1/D, and how its discrepancy is estimated."""

    degree: int
    coef0: float
    unbiased: bool


KERNELS: dict[str, Kernel] = {
    "kid": Kernel(degree=3, coef0=1.0, unbiased=True),
    "jedi": Kernel(degree=2, coef0=0.0, unbiased=False),
}
"""Published choices: Bińkowski et al. 2018 (also KVD's); Luo et al. 2024, which reports a hundred times this value."""

# The distances on features that were given: named for what they compute, since nobody here saw the extractor run.
_GIVEN = (("backbone", "given"),)
_GIVEN_OPEN = ("d", "extractor", "n_gen", "n_gt")
FRECHET_DISTANCE = replace(
    FVD,
    name="frechet_distance",
    summary="How far two sets of given features are apart, by Gaussians fitted to them; the extractor is named.",
    formula="‖μ₁ − μ₂‖² + tr Σ₁ + tr Σ₂ − 2·tr√(Σ₁Σ₂) over the rows as they were given",
    edge_cases="fewer than two rows in a set: error; fewer rows than features: value with a warning in the note",
    reference="Dowson & Landau 1982; Heusel et al. 2017",
    params=(*_GIVEN, ("arithmetic", "fp64-qr-nuclear"), ("covariance", "1/(N-1)")),
    open_params=_GIVEN_OPEN,
)
KERNEL_DISTANCE = replace(
    KVD,
    name="kernel_distance",
    summary="Kernel distance between two sets of given features; the extractor and the kernel are named.",
    formula="squared MMD under k(a, b) = (γ·aᵀb + c)^degree over the rows as they were given",
    edge_cases="fewer than two rows in a set: error; unbiased and a little below 0: no difference seen",
    reference="Gretton et al. 2012; Bińkowski et al. 2018; Luo et al. 2024 (JEDi)",
    params=(*_GIVEN, ("gamma", "1/D")),
    open_params=(*_GIVEN_OPEN, "coef0", "degree", "estimator"),
)

# The numbers of a map of two sets: where each clip lies, how much of the spread an axis holds, what lies far out.
_MAP_OPEN = ("d", "features", "n_gen", "n_gt")
_MAP_PARAMS = (("arithmetic", "fp64-svd"), ("centre", "mean-of-both"))
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
    params=(*_MAP_PARAMS, ("sign", "largest-loading-positive")),
    open_params=_MAP_OPEN,
    places=("axis", "clip", "set"),
)
SET_MAP_VARIANCE_SHARE = replace(
    SET_MAP_COORDINATE,
    name="set_map_variance_share",
    unit="ratio",
    lowest=0.0,
    highest=1.0,
    summary="How much of the spread of both sets an axis of their map holds; what is missing from 1 is not on the map.",
    formula=f"S_k² / Σ S²; {_ROWS}",
    edge_cases="as for set_map_coordinate",
    reference="Jolliffe 2002",
    params=_MAP_PARAMS,
    places=("axis",),
)
SET_MAP_DISTANCE = replace(
    SET_MAP_COORDINATE,
    name="set_map_distance",
    unit="standard deviations",
    lowest=0.0,
    summary="How far a clip lies from the real clips on the map, in units of their own spread there.",
    formula="√((z − m)ᵀ C⁻¹ (z − m)), z the clip's place on both axes, m and C mean and covariance (1/(N−1)) of the "
    "real clips' places; for a real clip, m and C are those of the other real clips (leave-one-out)",
    edge_cases="fewer than four real clips, or real clips on one line of the map: no value. Two axes only: a clip may "
    "be far out in what the map does not show",
    reference="Mahalanobis 1936",
    params=(*_MAP_PARAMS, ("against", "real"), ("axes", "2"), ("left_out", "itself")),
    places=("clip", "set"),
)

_BY_METRIC = {metric.name: metric for metric in (FVD, FID_VID, KVD, FID, KID, PRECISION, RECALL, DENSITY, COVERAGE)}

Family: TypeAlias = Literal["frechet", "kernel", "neighbours"]
"""frechet: Gaussians are fitted, and the value falls with N. kernel: unbiased. neighbours: shares, by nearest clips."""


def family(metric: str) -> Family:
    """How a metric is computed from features.

    >>> family("fvd"), family("kvd"), family("recall")
    ('frechet', 'kernel', 'neighbours')
    """
    params = dict(_BY_METRIC[metric].params)
    if "k" in params:
        return "neighbours"
    return "kernel" if "degree" in params else "frechet"


def higher_is_better(metric: str) -> bool:
    """The direction of a metric by its name; a difference's is its metric's."""
    return _BY_METRIC[metric.removesuffix("_difference")].better == "higher"


def extrapolated_definition(base: Definition) -> Definition:
    """A metric's value at infinitely many clips, as a metric of its own."""
    return replace(
        base,
        name=f"{base.name}_extrapolated",
        lowest=None,
        summary=f"{base.name} at infinitely many clips: what is left when the bias in 1/N is taken off.",
        formula=f"intercept of least squares of d(N) over 1/N, {EXTRAPOLATION_SIZES} N evenly from D to the smaller "
        f"set (rounded), {EXTRAPOLATION_REPEATS} random subsets of N videos of each set (RandomState of the seed)",
        edge_cases="not more clips than features in each set: error, since the bias is not a line in 1/N there",
        reference="Chong & Forsyth 2020 (FID∞)",
        params=(*base.params, ("repeats", str(EXTRAPOLATION_REPEATS)), ("sizes", str(EXTRAPOLATION_SIZES))),
        open_params=(*base.open_params, "extrapolation_seed"),
    )


def difference_definition(base: Definition) -> Definition:
    """A metric of two generated sets against one ground truth, the first less the second, as a metric of its own."""
    biased = family(base.name) == "frechet"
    bias = ", less the bias of both: the mean of (N − n)/n · (Δ without a group of n − Δ) for each set"
    off = f"{bias}, over g groups (videos i, i + g, …), g = 20 or N where that is less" if biased else ""
    least = "; N not above D: no verdict, since the bias is not a line in 1/N there" if biased else ""
    return replace(
        base,
        name=f"{base.name}_difference",
        lowest=None,
        highest=None,
        better="neither",
        summary=f"{base.name} of the first generated set less that of the second, against one ground truth.",
        formula=f"Δ = {base.name}(A, R) − {base.name}(B, R){off}",
        edge_cases="fewer than three clips in a set: error; the interval holds 0: no significant difference" + least,
        reference="Quenouille 1956; Tukey 1958; Arvesen 1969",
        params=(*base.params, ("bias", "jackknife-off" if biased else "none")),
        open_params=(*base.open_params, "cut", "n_versus"),
        places=("first", "versus"),
    )


_FRECHET = tuple(definition for name, definition in _BY_METRIC.items() if family(name) == "frechet")
DEFINITIONS = (
    *_BY_METRIC.values(),
    FRECHET_DISTANCE,
    KERNEL_DISTANCE,
    *map(extrapolated_definition, (*_FRECHET, FRECHET_DISTANCE)),
    *map(difference_definition, _BY_METRIC.values()),
    *(SET_MAP_COORDINATE, SET_MAP_VARIANCE_SHARE, SET_MAP_DISTANCE),
)


def names() -> Iterator[tuple[str, Definition]]:
    """The result keys of the specification (`result_key` makes those of every backbone)."""
    yield from (("FVD-3DInception", FVD), ("FVD-3DRN50", FID_VID), ("KVD-3DInception", KVD))


def bound_definition(
    metric: Metric, recipe: Recipe, *, weights: str, precision: str, n_gen: int, n_gt: int
) -> Definition:
    """The metric's definition on the recipe's backbone, with every parameter of this run in it.

    >>> from rushes.instruments.distribution.recipes import recipe
    >>> r = recipe("genhoi", "fvd")
    >>> d = bound_definition("fvd", r, weights="a867b87ac3a9", precision="fp32", n_gen=256, n_gt=256)
    >>> d.signature[:36], d.signature[-24:]
    ('fvd|arithmetic:fp64-qr-nuclear|asks_', 'weights:a867b87ac3a9|v:1')
    """
    base = _BY_METRIC[metric]
    if recipe.backbone != OWN_BACKBONE[metric] and family(metric) != "neighbours":
        base = replace(base, summary=f"How far the generated set is from the real one, by {recipe.backbone} features.")
    settings = recipe.params()
    if family(metric) != "frechet":  # no Gaussian is fitted, so these move nothing
        settings = {key: value for key, value in settings.items() if key not in _GAUSSIAN}
    rare = {key: settings.pop(key) for key in RARE if key in settings}
    if family(metric) == "kernel" and recipe.kernel_name != "kid":
        base = _with_kernel(base, KERNELS[recipe.kernel_name])
    bound = base.with_params(**settings, weights=weights, precision=precision, n_gen=n_gen, n_gt=n_gt)
    return bound.add_params(**rare, **recipe.own_params())


def _with_kernel(base: Definition, kernel: Kernel) -> Definition:
    """A kernel distance under another kernel."""
    estimator = "unbiased" if kernel.unbiased else "biased"
    every = "over all pairs" if not kernel.unbiased else "within a set pairs i ≠ j alone"
    named = replace(base, formula=f"{estimator} squared MMD under k(a, b) = (γ·aᵀb + c)^degree, {every}")
    return named.with_params(degree=kernel.degree, coef0=kernel.coef0, estimator=estimator)


def given_definition(
    metric: GivenMetric, kernel: Kernel, *, extractor: str, d: int, n_gen: int, n_gt: int
) -> Definition:
    """The metric with every parameter of this comparison in it.

    >>> given_definition("kernel_distance", KERNELS["jedi"], extractor="v-jepa", d=8, n_gen=9, n_gt=7).signature
    'kernel_distance|backbone:given|coef0:0.0|d:8|degree:2|estimator:biased|extractor:v-jepa|gamma:1/D|n_gen:9|n_gt:7|v:1'
    """
    common: dict[str, str | int] = {"extractor": extractor, "d": d, "n_gen": n_gen, "n_gt": n_gt}
    if metric == "frechet_distance":
        return FRECHET_DISTANCE.with_params(**common)
    estimator = "unbiased" if kernel.unbiased else "biased"
    return KERNEL_DISTANCE.with_params(**common, degree=kernel.degree, coef0=kernel.coef0, estimator=estimator)
