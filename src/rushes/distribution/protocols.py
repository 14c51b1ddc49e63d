"""Locked, named protocols. Two Fréchet video distances compare only under the same one, so every constant is a field,
every field is in the signature, and a preset cannot be half-changed.

`genhoi` is the default (segments of `sample_duration` frames, features averaged per video). The others are what
published code does; `videogpt` and `cd-fvd` keep that code's batch-norm epsilon of 1e-5, because their numbers were
made with it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Literal, TypeAlias

from rushes.distribution.resize import Resizer
from rushes.distribution.segments import Cut
from rushes.errors import InputError

Metric: TypeAlias = Literal["fvd", "fid-vid", "kvd"]
Backbone: TypeAlias = Literal["i3d", "r3d50"]
Normalisation: TypeAlias = Literal["2x/255-1", "(x/255-0.5)*2", "x/127.5-1", "x-[114.7748,107.7354,99.475]"]
Covariance: TypeAlias = Literal["1/N", "1/(N-1)"]
Arithmetic: TypeAlias = Literal["fp64-qr-nuclear", "fp32-svd"]
Side: TypeAlias = Literal["gen", "gt"]

METRICS: tuple[Metric, ...] = ("fvd", "fid-vid", "kvd")
DEFAULT = "genhoi"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one metric of one protocol turns clips into features, and features into a distance."""

    protocol: str
    backbone: Backbone
    feature: Literal["logits400", "avgpool2048"]
    bn_eps: float
    pool: Literal["2x7x7-mean", "1x7x7-mean", "ceil(T/16)x4x4"]
    size: int
    resize: Resizer
    normalise: Normalisation
    clips_gen: Cut
    clips_gt: Cut
    frames: int
    """Frames in one pass through the network; where the whole video goes through at once this is not used."""
    covariance: Covariance
    arithmetic: Arithmetic = "fp64-qr-nuclear"
    asks_n: str = "all"
    """The number of clips the protocol is defined for; other numbers are measured, and the result says so."""
    seed: int = 0
    """Chooses the run of frames where a protocol takes a random one."""

    @property
    def dimensions(self) -> int:
        return 400 if self.backbone == "i3d" else 2048

    @property
    def ddof(self) -> int:
        return 1 if self.covariance == "1/(N-1)" else 0

    @property
    def pool_frames(self) -> int:
        return 2 if self.pool == "2x7x7-mean" else 1

    def cut(self, side: Side) -> Cut:
        return self.clips_gen if side == "gen" else self.clips_gt

    def params(self) -> dict[str, str | int | float | bool]:
        """Every constant, for the signature."""
        constants = asdict(self)
        if "whole" in (self.clips_gen, self.clips_gt):
            constants["frames"] = "whole-video"
        return constants | {"channels": "rgb", "d": self.dimensions, "decoder": "pyav"}

    def feature_params(self, side: Side) -> dict[str, object]:
        """What decides a clip's features: what a cache may be keyed by."""
        kept = ("backbone", "feature", "bn_eps", "pool", "size", "resize", "normalise", "frames", "seed")
        constants = asdict(self)
        return {key: constants[key] for key in kept} | {"cut": self.cut(side)}


_I3D = Recipe(
    protocol="genhoi",
    backbone="i3d",
    feature="logits400",
    bn_eps=1e-3,
    pool="1x7x7-mean",
    size=224,
    resize="pil-bicubic-squash",
    normalise="x/127.5-1",
    clips_gen="segments-repeat-last",
    clips_gt="segments-repeat-last",
    frames=16,
    covariance="1/(N-1)",
)
_R3D = replace(
    _I3D,
    backbone="r3d50",
    feature="avgpool2048",
    bn_eps=1e-5,
    pool="ceil(T/16)x4x4",
    size=112,
    normalise="x-[114.7748,107.7354,99.475]",
)
_TF = replace(
    _I3D,
    protocol="google-tf",
    pool="2x7x7-mean",
    resize="bilinear-squash",
    normalise="2x/255-1",
    clips_gen="whole",
    clips_gt="whole",
    asks_n="multiple-of-16",
)

PROTOCOLS: dict[str, dict[Backbone, Recipe]] = {
    "genhoi": {"i3d": _I3D, "r3d50": _R3D},
    "disco": {
        "i3d": replace(_I3D, protocol="disco", clips_gen="whole", clips_gt="whole"),
        "r3d50": replace(_R3D, protocol="disco"),
    },
    "stylegan-v": {
        "i3d": replace(
            _TF, protocol="stylegan-v", clips_gen="first", clips_gt="random", covariance="1/N", asks_n="2048"
        )
    },
    "videogpt": {
        "i3d": replace(
            _TF,
            protocol="videogpt",
            bn_eps=1e-5,
            resize="bilinear-short-crop",
            normalise="(x/255-0.5)*2",
            clips_gen="first",
            clips_gt="first",
            arithmetic="fp32-svd",
            asks_n="256",
        )
    },
    "cd-fvd": {
        "i3d": replace(
            _TF,
            protocol="cd-fvd",
            bn_eps=1e-5,
            resize="bilinear-aa256-uint8",
            clips_gen="random",
            clips_gt="random",
            covariance="1/N",
            asks_n="2048",
            seed=42,
        )
    },
    "google-tf": {"i3d": _TF},
}

_ADJUSTABLE = {"genhoi", "disco", "videogpt"}
_BACKBONE: dict[Metric, Backbone] = {"fvd": "i3d", "kvd": "i3d", "fid-vid": "r3d50"}


def backbone_of(metric: Metric) -> Backbone:
    """The network a metric's features come from."""
    return _BACKBONE[metric]


def recipe(protocol: str, metric: Metric, *, sample_duration: int | None = None) -> Recipe:
    """The recipe of a metric under a protocol; `sample_duration` only where the protocol leaves it open.

    >>> recipe("genhoi", "fvd").bn_eps, recipe("cd-fvd", "kvd").seed
    (0.001, 42)
    """
    if protocol not in PROTOCOLS:
        raise InputError(f"expected a protocol out of {', '.join(PROTOCOLS)}; got {protocol!r}")
    if metric not in METRICS:
        raise InputError(f"expected a metric out of {', '.join(METRICS)}; got {metric!r}")
    found = PROTOCOLS[protocol].get(backbone_of(metric))
    if found is None:
        having = [name for name, kinds in PROTOCOLS.items() if backbone_of(metric) in kinds]
        raise InputError(f"protocol {protocol} does not define {metric}; these do: {', '.join(having)}")
    if sample_duration is None or sample_duration == found.frames:
        return found
    if protocol not in _ADJUSTABLE:
        raise InputError(
            f"protocol {protocol} is defined for {found.frames} frames; got sample_duration {sample_duration}"
        )
    if sample_duration < 1:
        raise InputError(f"sample_duration is a number of frames from 1; got {sample_duration}")
    return replace(found, frames=sample_duration)


def least_frames(recipe: Recipe, side: Side) -> int:
    """Frames a clip must have: a run that is not padded must be whole, and a temporal pool must have two to pool."""
    if recipe.cut(side) in ("first", "random"):
        return recipe.frames
    return 9 if recipe.pool == "2x7x7-mean" else 1


def count_remark(recipe: Recipe, count: int) -> str:
    """What a reader must know when the number of clips is not the protocol's; "" when it is."""
    if recipe.asks_n == "all" or recipe.asks_n == str(count):
        return ""
    if recipe.asks_n == "multiple-of-16":
        return "" if count % 16 == 0 else f"{recipe.protocol} asks for a multiple of 16 clips, got {count}"
    return f"{recipe.protocol} asks for {recipe.asks_n} clips, got {count}"
