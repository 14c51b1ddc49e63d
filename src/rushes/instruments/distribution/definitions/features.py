"""The distances on features that were given: named for what they compute, since nobody here saw the extractor run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from rushes.core import Definition

GivenMetric: TypeAlias = Literal["frechet_distance", "kernel_distance"]
KernelName: TypeAlias = Literal["kid", "jedi"]
GIVEN_METRICS: tuple[GivenMetric, ...] = get_args(GivenMetric)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A polynomial kernel (γ·aᵀb + c)^degree with γ = 1/D, and how its discrepancy is estimated."""

    degree: int
    coef0: float
    unbiased: bool


KERNELS: dict[KernelName, Kernel] = {
    "kid": Kernel(degree=3, coef0=1.0, unbiased=True),
    "jedi": Kernel(degree=2, coef0=0.0, unbiased=False),
}
"""Published choices: Bińkowski et al. 2018 (also KVD's); Luo et al. 2024, which reports a hundred times this value."""

_GIVEN = (("backbone", "given"),)
_OPEN = ("d", "extractor", "n_gen", "n_gt")

FRECHET_DISTANCE = Definition(
    name="frechet_distance",
    unit="squared feature units",
    lowest=0.0,
    highest=None,
    better="lower",
    summary="How far two sets of given features are apart, by Gaussians fitted to them; the extractor is named.",
    formula="‖μ₁ − μ₂‖² + tr Σ₁ + tr Σ₂ − 2·tr√(Σ₁Σ₂) over the rows as they were given",
    edge_cases="fewer than two rows in a set: error; fewer rows than features: value with a warning in the note",
    reference="Dowson & Landau 1982; Heusel et al. 2017",
    params=(*_GIVEN, ("arithmetic", "fp64-qr-nuclear"), ("covariance", "1/(N-1)")),
    open_params=_OPEN,
)
KERNEL_DISTANCE = Definition(
    name="kernel_distance",
    unit="kernel units",
    lowest=None,
    highest=None,
    better="lower",
    summary="Kernel distance between two sets of given features; the extractor and the kernel are named.",
    formula="squared MMD under k(a, b) = (γ·aᵀb + c)^degree over the rows as they were given",
    edge_cases="fewer than two rows in a set: error; unbiased and a little below 0: no difference seen",
    reference="Gretton et al. 2012; Bińkowski et al. 2018; Luo et al. 2024 (JEDi)",
    params=(*_GIVEN, ("gamma", "1/D")),
    open_params=(*_OPEN, "coef0", "degree", "estimator"),
)


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
