"""What a backbone is: the network behind a distance, everything Rushes must know about it in one object.

A backbone is one file that ends in a `Backbone` (`networks/i3d.py` is the model to follow). Protocols,
definitions, weights, extractors and the command line read it here. A package of your own adds one by an entry point:

    [project.entry-points."rushes.backbones"]
    toy = "toy_network:BACKBONE"

Needs no torch: names are listed without it, and a backbone's file is imported when its network is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rushes.core.registry import Registry

if TYPE_CHECKING:
    from torch import nn

    from rushes.instruments.distribution.clips.preparation import Resizer
    from rushes.instruments.distribution.networks.fast import FastNetwork
    from rushes.instruments.distribution.protocols import Recipe


@dataclass(frozen=True, slots=True)
class Published:
    """A weights file that papers and protocols name."""

    file: str
    sha256: str | None = None
    git_blob: str | None = None
    content: str | None = None
    """`weights.content_digest` of a network that `rushes models pull` gets: known in whatever file it lies. Then `file`
    is its name in the cache, and `sha256` that of the package's own file."""

    @property
    def known_as(self) -> str:
        return self.file.removesuffix(".npz")

    @property
    def digest(self) -> str:
        return f"sha256 {self.sha256}" if self.sha256 else f"git blob {self.git_blob}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Backbone:
    """A network that turns a clip into one vector of features.

    A network that sees single frames fits too: `build` wraps it in a module that takes the frames apart, runs them and
    pools over time, and `pool` names that pooling ("frame-mean").
    """

    name: str
    """In signatures, and at the command line."""
    label: str
    """In the result keys of the specification: "3DInception" of "FVD-3DInception"."""
    features: Mapping[str, int]
    """Layers that may be read and how many numbers each gives; the first is used where a protocol names none."""
    build: Callable[[Recipe], nn.Module]
    """The network of a recipe, untrained: clips (N, 3, T, S, S), normalised, to features (N, D)."""
    recognised_by: str
    """Parameters whose names begin so are in its state dict, and in hardly any other's; the layout decides."""
    published: tuple[Published, ...] = ()
    """Known weights files, the one to look for first."""
    parallel_layout: bool = False
    """Whether the published file keeps its names with `module.` under `state_dict`."""
    bn_eps: float | str = "none"
    pool: str = "none"
    size: int = 224
    resize: Resizer | None = None
    """None: the protocol's."""
    normalise: str = "x/127.5-1"
    frames: int | None = None
    """Frames of one pass; None: the protocol's 16."""
    least_frames: int = 1
    """Frames it must be given to give features."""
    protocols: tuple[str, ...] = ("genhoi",)
    """Protocols that lend it their cutting of clips and their covariance, where they have no constants of their own for
    it. The preprocessing is then what stands above."""
    fast: Callable[..., FastNetwork] | None = None
    """The quick path, `fast(network, operations, deepened=…, multiple=…)`; None: the plain network runs, everywhere."""
    gpu_multiple: int = 1
    """On a GPU the quick path's first convolution gets channels of zeros up to a multiple of this."""
    random_scale: Callable[[str], float] = lambda name: 1.0
    """What a parameter's random values are multiplied by, where He's rule alone makes features grow or vanish."""


BACKBONES: Registry[Backbone] = Registry(
    "backbone",
    group="rushes.backbones",
    built_in={
        name: f"rushes.instruments.distribution.networks.{name}:BACKBONE" for name in ("i3d", "r3d50", "inception")
    },
)
