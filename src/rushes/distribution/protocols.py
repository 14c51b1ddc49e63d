"""Locked, named protocols. Two Fréchet video distances compare only under the same one, so every constant is a field,
every field is in the signature, and a preset cannot be half-changed.

`genhoi` is the default (segments of `sample_duration` frames, features averaged per video). The others are what
published code does; `videogpt` and `cd-fvd` keep that code's batch-norm epsilon of 1e-5, because their numbers were
made with it. A backbone that no preset names takes a protocol's cutting and covariance and its own preprocessing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from rushes.distribution.backbones import BACKBONES
from rushes.distribution.segments import Cut, Rows, Windows
from rushes.errors import InputError

if TYPE_CHECKING:
    from rushes.distribution.resize import Resizer  # numpy stays out of the command line's start

Metric: TypeAlias = Literal["fvd", "fid-vid", "kvd", "fid", "kid", "precision", "recall", "density", "coverage"]
ProtocolName: TypeAlias = Literal["genhoi", "disco", "stylegan-v", "videogpt", "cd-fvd", "google-tf", "all"]
"""A protocol, or every one in turn."""
Covariance: TypeAlias = Literal["1/N", "1/(N-1)"]
Arithmetic: TypeAlias = Literal["fp64-qr-nuclear", "fp32-svd"]
Side: TypeAlias = Literal["gen", "gt"]

METRICS: tuple[Metric, ...] = get_args(Metric)
SHORTHANDS: dict[str, tuple[Metric, ...]] = {"prdc": ("precision", "recall", "density", "coverage")}
"""Names for several metrics at once."""
OWN_BACKBONE: dict[str, str] = {
    "fvd": "i3d", "fid-vid": "r3d50", "kvd": "i3d", "fid": "inception", "kid": "inception",
    **dict.fromkeys(SHORTHANDS["prdc"], "i3d"),
}  # fmt: skip
"""The network a metric's features come from unless another is asked for."""
FRAME_METRICS: tuple[Metric, ...] = ("fid", "kid")
"""Metrics of single frames: `FRAMES` is their one recipe, whatever protocol the others are under."""
DEFAULT = "genhoi"
ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one metric of one protocol turns clips into features, and features into a distance."""

    protocol: str
    backbone: str
    feature: str
    d: int
    """Numbers in one feature vector."""
    bn_eps: float | str
    """ "none" for a network without batch norm."""
    pool: str
    size: int
    resize: Resizer
    normalise: str
    """As `rushes.distribution.preparation.normalised` reads it."""
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
    frame_step: int = 1
    """Every how manieth frame is in a window."""
    stride: int = 1
    """Frames from one "sliding" window to the next."""
    rows: Rows = "video-mean"
    """Whether the windows of a video are averaged or each counted."""
    network_frames: int = 1
    """Frames the network must be given to give features; follows from its pool, so no signature names it."""

    @property
    def ddof(self) -> int:
        return 1 if self.covariance == "1/(N-1)" else 0

    def windows(self, side: Side, *, pictures: bool = False) -> Windows:
        """How a clip of that side is cut, given as a video file or as pictures."""
        cut = self.clips_gen if side == "gen" else self.clips_gt
        return Windows(cut=cut, length=self.frames, step=self.frame_step, stride=self.stride, rows=self.rows)

    def params(self) -> dict[str, str | int | float | bool]:
        """Every constant, for the signature."""
        constants = asdict(self)
        for rare in ("network_frames", "frame_step", "stride", "rows"):
            del constants[rare]
        if "whole" in (self.clips_gen, self.clips_gt):
            constants["frames"] = "whole-video"
        return constants | self._cutting() | {"channels": "rgb", "decoder": "pyav"}

    def feature_params(self, side: Side) -> dict[str, object]:
        """What decides a clip's features: what a cache may be keyed by."""
        kept = ("backbone", "feature", "bn_eps", "pool", "size", "resize", "normalise", "frames", "seed")
        constants = asdict(self)
        return {key: constants[key] for key in kept} | self._cutting() | {"cut": self.windows(side).cut}

    def _cutting(self) -> dict[str, int | str]:
        """What is named only where it is not as in most protocols."""
        found: dict[str, int | str] = {} if self.frame_step == 1 else {"frame_step": self.frame_step}
        if "sliding" in (self.clips_gen, self.clips_gt):
            found |= {"stride": self.stride, "rows": self.rows}
        return found


_I3D = Recipe(
    protocol="genhoi",
    backbone="i3d",
    feature="logits400",
    d=400,
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
    d=2048,
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
    network_frames=9,  # the pool spans two steps of eight frames, and the second must have begun
)

PROTOCOLS: dict[str, dict[str, Recipe]] = {
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

FRAMES = replace(
    _I3D,
    protocol="fid",
    backbone="inception",
    feature="pool2048",
    d=2048,
    pool="8x8-mean",
    size=299,
    resize="tf1-bilinear-squash",
    normalise="x-[128,128,128]",  # the network divides by 128, which rounds nothing
    clips_gen="sliding",
    clips_gt="sliding",
    frames=1,
    rows="window",
)
"""FID and KID as Heusel et al. and Bińkowski et al. compute them: every frame is a picture, every picture a row."""

_ADJUSTABLE = {"genhoi", "disco", "videogpt"}


def recipe(protocol: str, metric: Metric, *, backbone: str | None = None, sample_duration: int | None = None) -> Recipe:
    """The recipe of a metric under a protocol; `sample_duration` only where the protocol leaves it open.

    `backbone` computes the metric on another network's features than its own.

    >>> recipe("genhoi", "fvd").bn_eps, recipe("cd-fvd", "kvd").seed, recipe("genhoi", "fvd", backbone="r3d50").d
    (0.001, 42, 2048)
    """
    if protocol not in PROTOCOLS:
        raise InputError(f"expected a protocol out of {', '.join(PROTOCOLS)}; got {protocol!r}")
    if metric not in METRICS:
        raise InputError(f"expected a metric out of {', '.join(METRICS)}; got {metric!r}")
    if metric in FRAME_METRICS:
        if backbone not in (None, FRAMES.backbone):
            raise InputError(f"{metric} is defined on {FRAMES.backbone} features; on {backbone} it is fvd or kvd")
        return FRAMES
    if backbone == FRAMES.backbone:
        raise InputError(f"on {backbone} features the metrics are {' and '.join(FRAME_METRICS)}; got {metric}")
    found = _on_backbone(protocol, backbone or OWN_BACKBONE[metric])
    if found is None:
        having = [name for name in PROTOCOLS if _on_backbone(name, backbone or OWN_BACKBONE[metric])]
        what = f"{metric} on {backbone}" if backbone else metric
        raise InputError(f"protocol {protocol} does not define {what}; these do: {', '.join(having)}")
    if sample_duration is None or sample_duration == found.frames:
        return found
    if protocol not in _ADJUSTABLE:
        raise InputError(
            f"protocol {protocol} is defined for {found.frames} frames; got sample_duration {sample_duration}"
        )
    least = 1 if "whole" in (found.clips_gen, found.clips_gt) else found.network_frames
    if sample_duration < least:
        raise InputError(f"sample_duration is a number of frames from {least}; got {sample_duration}")
    return replace(found, frames=sample_duration)


def recipes(
    protocol: str, metrics: Sequence[Metric], *, backbone: str | None = None, sample_duration: int | None = None
) -> list[tuple[Metric, Recipe]]:
    """Every metric under the protocol, or under each where it is "all": one that lacks a metric is then passed over."""
    if not metrics:
        raise InputError(f"expected at least one metric: {', '.join(METRICS)}; got none")
    if protocol != ALL:
        return [(m, recipe(protocol, m, backbone=backbone, sample_duration=sample_duration)) for m in metrics]
    if sample_duration not in (None, 16):
        raise InputError(f"--protocol all uses each protocol's own 16 frames; got {sample_duration}")
    of_frames = [(metric, recipe(DEFAULT, metric, backbone=backbone)) for metric in metrics if metric in FRAME_METRICS]
    return of_frames + [
        (metric, recipe(name, metric, backbone=backbone))
        for name in PROTOCOLS
        for metric in metrics
        if metric not in FRAME_METRICS and _on_backbone(name, backbone or OWN_BACKBONE[metric])
    ]


def _on_backbone(protocol: str, name: str) -> Recipe | None:
    """The preset of a backbone, or the protocol's cutting and covariance with the backbone's own preprocessing."""
    presets = PROTOCOLS[protocol]
    if name == FRAMES.backbone:
        return None
    if name in presets or any(name in kinds for kinds in PROTOCOLS.values()):
        return presets.get(name)
    backbone = BACKBONES[name]
    if protocol not in backbone.protocols:
        return None
    feature, dimensions = next(iter(backbone.features.items()))
    rules = presets["i3d"]
    return replace(
        rules,
        backbone=name,
        feature=feature,
        d=dimensions,
        bn_eps=backbone.bn_eps,
        pool=backbone.pool,
        size=backbone.size,
        resize=backbone.resize or rules.resize,
        normalise=backbone.normalise,
        frames=backbone.frames or rules.frames,
        network_frames=backbone.least_frames,
    )


def least_frames(recipe: Recipe, windows: Windows) -> int:
    """Frames a clip must have: a window that is not padded must be whole, and the network's pool must have enough."""
    if windows.cut == "whole":
        return recipe.network_frames
    return 1 if windows.cut == "segments-repeat-last" else windows.span


def count_remark(recipe: Recipe, count: int) -> str:
    """What a reader must know when the number of clips is not the protocol's; "" when it is."""
    if recipe.asks_n == "all" or recipe.asks_n == str(count):
        return ""
    if recipe.asks_n == "multiple-of-16":
        return "" if count % 16 == 0 else f"{recipe.protocol} asks for a multiple of 16 clips, got {count}"
    return f"{recipe.protocol} asks for {recipe.asks_n} clips, got {count}"
