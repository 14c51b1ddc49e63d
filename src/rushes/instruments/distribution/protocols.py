"""Locked, named protocols. Two Fréchet video distances compare only under the same one, so every constant is a field,
every field is in the signature, and a preset cannot be half-changed.

`stylegan-v` is the default: the protocol that papers cite most, 16 frames of each clip and no padding. `genhoi` is
the specification's (segments of `sample_duration` frames, features averaged per video), and the default of what the
other does not define (FID-VID). The others are what published code does; `videogpt`, `cd-fvd` and `common-metrics-
videogpt` keep that code's batch-norm epsilon of 1e-5, because their numbers were made with it. A backbone that no
preset names takes a protocol's cutting and covariance and its own preprocessing.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from rushes.instruments.distribution.clips.segments import Cut, Rows, Windows

if TYPE_CHECKING:
    from rushes.instruments.distribution.clips.preparation import Resizer  # numpy stays out of the command line's start
    from rushes.vision.networks.picture import Picture

Metric: TypeAlias = Literal["fvd", "fid-vid", "kvd", "fid", "kid", "precision", "recall", "density", "coverage"]
ProtocolName: TypeAlias = Literal[
    "genhoi",
    "disco",
    "stylegan-v",
    "stylegan-v-128",
    "stylegan-v-128-subsample8",
    "videogpt",
    "cd-fvd",
    "google-tf",
    "common-metrics-styleganv",
    "common-metrics-videogpt",
    "all",
]
"""A protocol, or every one in turn but the `LONG` ones."""
Covariance: TypeAlias = Literal["1/N", "1/(N-1)"]
Arithmetic: TypeAlias = Literal["fp64-qr-nuclear", "fp32-svd"]
"""fp32-svd is that of VideoGPT's code, whose last digits hang on the processor (0.06 % between three kernels of one
library). No protocol uses it, because a signature stands for one number; exact arithmetic was within 6e-5 of that
code's own on three pairs of sets with trained weights, and 9e-4 from it on noise."""
Timing: TypeAlias = Literal["stored", "constant"]
"""Which frames a video file of variable rate has. stored: each frame it holds, once. constant: frames repeated or left
out until they come at a constant rate, as ffmpeg's command line does."""
Side: TypeAlias = Literal["gen", "gt"]

METRICS: tuple[Metric, ...] = get_args(Metric)
GivenMetric: TypeAlias = Literal["frechet_distance", "kernel_distance"]
GIVEN_METRICS: tuple[GivenMetric, ...] = get_args(GivenMetric)
"""Distances on features that were given, of whatever extractor."""
SHORTHANDS: dict[str, tuple[Metric, ...]] = {"prdc": ("precision", "recall", "density", "coverage")}
"""Names for several metrics at once."""
OWN_BACKBONE: dict[str, str] = {
    "fvd": "i3d", "fid-vid": "r3d50", "kvd": "i3d", "fid": "inception", "kid": "inception",
    **dict.fromkeys(SHORTHANDS["prdc"], "i3d"),
}  # fmt: skip
"""The network a metric's features come from unless another is asked for."""
FRAME_METRICS: tuple[Metric, ...] = ("fid", "kid")
"""Metrics of single frames: `FRAMES` is their one recipe, whatever protocol the others are under."""
DEFAULT = "stylegan-v"
"""The protocol of every metric that it defines, unless another is named."""
SPECIFICATION = "genhoi"
"""The protocol of the Video Metrics Module: of its own functions, of networks of one's own, and the default of what
`DEFAULT` does not define."""
EACH = "default"
"""Each metric under its default protocol."""
ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What a caller may ask for beside a protocol; None leaves it to the protocol. The signature names each."""

    backbone: str | None = None
    """The network of every metric; None: each metric's own."""
    sample_duration: int | None = None
    """Frames of a window, where the protocol leaves that open."""
    stride: int | None = None
    """Windows begin every so many frames, all along each video, in place of the protocol's cut."""
    rows: Rows | None = None
    """What such windows count as."""
    vfr: Timing | None = None


NO_CHOICES = Choices()


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
    """As `rushes.instruments.distribution.clips.preparation.normalised` reads it."""
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
    clips_pictures: Cut | None = None
    """How a sequence of pictures is cut where a video file is cut otherwise; each window is then a row of its own."""
    stride: int = 1
    """Frames from one "sliding" window to the next."""
    rows: Rows = "video-mean"
    """Whether the windows of a video are averaged or each counted."""
    vfr: Timing = "stored"
    network_frames: int = 1
    """Frames a whole video must have: the network's pool needs them, or the published code asks for them. Shorter clips
    are left out and named, so no signature has it."""

    @property
    def ddof(self) -> int:
        return 1 if self.covariance == "1/(N-1)" else 0

    def windows(self, side: Side, *, pictures: bool = False) -> Windows:
        """How a clip of that side is cut, given as a video file or as pictures."""
        if pictures and self.clips_pictures:
            return Windows(cut=self.clips_pictures, length=self.frames, step=self.frame_step, rows="window")
        cut = self.clips_gen if side == "gen" else self.clips_gt
        return Windows(cut=cut, length=self.frames, step=self.frame_step, stride=self.stride, rows=self.rows)

    def params(self) -> dict[str, str | int | float | bool]:
        """Every constant, for the signature."""
        constants = {key: value for key, value in asdict(self).items() if key not in ("network_frames", *RARE)}
        if "whole" in (self.clips_gen, self.clips_gt):
            constants["frames"] = "whole-video"
        return constants | self._rare() | {"channels": "rgb", "decoder": "pyav"}

    def feature_params(self, side: Side) -> dict[str, object]:
        """What decides a clip's features, so what a cache is keyed by: every field that is not in `NOT_IN_FEATURES`."""
        kept = {key: value for key, value in asdict(self).items() if key not in (*NOT_IN_FEATURES, *RARE)}
        return kept | self._rare() | {"cut": self.windows(side).cut}

    @property
    def picture(self) -> Picture | None:
        """Of a network of the user's own, as the next two are: see `network_recipe.py`."""
        return None

    @property
    def kernel_name(self) -> str:
        return "kid"

    def own_params(self) -> dict[str, str | int | float | bool]:
        return {}

    def _rare(self) -> dict[str, str | int]:
        """What is named only where it is not as in most protocols, so that their signatures stay as they were."""
        found: dict[str, str | int] = {}
        if self.frame_step != 1:
            found["frame_step"] = self.frame_step
        if self.clips_pictures:
            found["clips_pictures"] = f"{self.clips_pictures}-{self.frames}-row-per-window"
        if "sliding" in (self.clips_gen, self.clips_gt):
            found |= {"stride": self.stride, "rows": self.rows}
        if self.vfr != "stored":
            found["vfr"] = self.vfr
        if "random" in (self.clips_gen, self.clips_gt):
            found["random_by"] = "file"
        return found


RARE = ("frame_step", "clips_pictures", "stride", "rows", "vfr", "random_by")
"""Fields that a signature names only where they are not as in most protocols."""
NOT_IN_FEATURES = (
    *("protocol", "asks_n", "network_frames", "covariance", "arithmetic"),
    "d",  # `feature` says it
    *("clips_gen", "clips_gt"),  # a side's own is in the key as `cut`
)
"""Fields that move no clip's features: names, what is required of the set, and what is done with the features."""

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


def like(base: Recipe, protocol: str, clips: Cut | None = None, **changes: Any) -> Recipe:
    """A recipe as another one is, but for these constants; `clips` cuts both sides so."""
    both: dict[str, Any] = {} if clips is None else {"clips_gen": clips, "clips_gt": clips}
    return replace(base, protocol=protocol, **both, **changes)


_TF = like(
    _I3D,
    "google-tf",
    "whole",
    pool="2x7x7-mean",
    resize="tf1-bilinear-squash",
    normalise="2x/255-1",
    asks_n="multiple-of-16",
    network_frames=9,  # the pool spans two steps of eight frames, and the second must have begun
)
_STYLEGAN = like(
    _TF,
    "stylegan-v",
    clips_gen="first",
    clips_gt="random",
    resize="bilinear-squash",
    covariance="1/N",
    asks_n="2048",
)
_VIDEOGPT = like(
    _TF, "videogpt", "first", bn_eps=1e-5, resize="bilinear-short-crop", normalise="(x/255-0.5)*2", asks_n="256"
)
_COMMON = like(_VIDEOGPT, "common-metrics-videogpt", "whole", asks_n="all", network_frames=10)  # it refuses fewer
_CD_FVD = like(
    _TF, "cd-fvd", "random", bn_eps=1e-5, resize="bilinear-aa256up-uint8", covariance="1/N", asks_n="2048", seed=42
)
_PRESETS = (
    _I3D,
    _R3D,
    like(_I3D, "disco", "whole", clips_pictures="sliding", vfr="constant"),
    like(_R3D, "disco", clips_pictures="sliding", vfr="constant"),
    _STYLEGAN,
    like(_STYLEGAN, "stylegan-v-128", frames=128),
    like(_STYLEGAN, "stylegan-v-128-subsample8", frame_step=8),
    _VIDEOGPT,
    _CD_FVD,
    _TF,
    like(_COMMON, "common-metrics-styleganv", bn_eps=1e-3),
    _COMMON,
)
PROTOCOLS: dict[str, dict[str, Recipe]] = {
    name: {preset.backbone: preset for preset in presets}
    for name, presets in groupby(_PRESETS, key=lambda preset: preset.protocol)
}
"""Presets of each protocol, by backbone."""

FRAMES = like(
    _I3D,
    "fid",
    "sliding",
    backbone="inception",
    feature="pool2048",
    d=2048,
    pool="8x8-mean",
    size=299,
    resize="tf1-bilinear-squash",
    normalise="x-[128,128,128]",  # the network divides by 128, which rounds nothing
    frames=1,
    rows="window",
)
"""FID and KID as Heusel et al. and Bińkowski et al. compute them: every frame is a picture, every picture a row."""

LONG = ("stylegan-v-128", "stylegan-v-128-subsample8")
"""Protocols for clips of 128 frames. "all" passes them over: most sets have no such clip."""
