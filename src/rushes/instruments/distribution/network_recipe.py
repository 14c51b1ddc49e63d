"""A network of the user's own as the backbone of a distance: its manifest says which frames, and how they are prepared.

JEDi is `kvd` with the kernel "jedi" on V-JEPA's features; a Fréchet distance on any network's features is `fvd`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from rushes.core.errors import InputError
from rushes.instruments.distribution.features.backbones import Backbone
from rushes.instruments.distribution.features.weights import Weights
from rushes.instruments.distribution.protocols import (
    FRAME_METRICS,
    PROTOCOLS,
    SPECIFICATION,
    Choices,
    Metric,
    Recipe,
    Side,
)
from rushes.vision.networks.files import load_manifest
from rushes.vision.networks.manifest import Manifest, reduce_label

if TYPE_CHECKING:
    from torch import nn

    from rushes.vision.networks.picture import Picture

KernelName: TypeAlias = Literal["kid", "jedi"]
NAME = "network"
"""What signatures have in the place of a protocol."""
_TRIED = 224
"""Pixels of the picture that a network without a size of its own is tried with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRecipe(Recipe):
    """How clips become features of a network of the user's own."""

    manifest: Manifest
    kernel: KernelName = "kid"

    @property
    def kernel_name(self) -> str:
        return self.kernel

    def params(self) -> dict[str, str | int | float | bool]:
        found = {key: value for key, value in Recipe.params(self).items() if key not in ("manifest", "kernel")}
        return found | {"channels": self.manifest.input.order, "frames": self.manifest.frames.label}

    def own_params(self) -> dict[str, str | int | float | bool]:
        every = self.manifest.params()
        own = {key: every[key] for key in ("runtime", "layout", "external") if key in every}
        return own | {"window": self.manifest.frames.window}

    def feature_params(self, side: Side) -> dict[str, object]:
        kept = {
            key: value for key, value in Recipe.feature_params(self, side).items() if key not in ("manifest", "kernel")
        }
        return kept | self.own_params() | {"frames": self.manifest.frames.label}

    @property
    def picture(self) -> Picture:
        return self.manifest.input


@dataclass(frozen=True)
class NetworkWeights(Weights):
    """A network's file in the place of weights that Rushes builds a network around."""

    manifest: Manifest

    @property
    def remark(self) -> str:
        return ""

    @property
    def kind(self) -> Backbone:
        name = self.manifest.name
        return Backbone(
            name=name, label=name, features={"output": 0}, build=lambda recipe: self.network(recipe), recognised_by=""
        )

    def network(self, recipe: Recipe) -> nn.Module:
        return _module(self.manifest)


def network_weights(manifest: Manifest) -> NetworkWeights:
    """The file behind a manifest, with what signatures say of it."""
    path, sha256 = manifest.located(manifest.network.file), manifest.network.sha256
    return NetworkWeights(path, manifest.name, sha256, manifest.digest, None, {}, manifest)


def read_network(path: Path | str) -> Manifest:
    """A manifest whose network gives features; `InputError` for one that gives scores."""
    manifest = load_manifest(path)
    if manifest.kind == "quality":
        raise InputError(f"{path}: a distance needs features; this network is of kind quality")
    if manifest.frames.take == "rate":
        raise InputError(f"{path}, [frames]: a distance takes frames by number; use take all, first or uniform")
    return manifest


def network_recipes(
    manifest: Manifest, metrics: Sequence[Metric], *, protocol: str, choices: Choices, kernel: KernelName
) -> list[tuple[Metric, Recipe]]:
    """Every metric on the network's features.

    Raises `InputError` for a metric that is defined on another network, and for choices that the manifest makes.
    """
    if protocol != SPECIFICATION:
        raise InputError(f"a network's manifest says how clips are read; leave out protocol {protocol}")
    for option in ("backbone", "sample_duration", "stride"):
        if (value := getattr(choices, option)) is not None:
            raise InputError(f"{manifest.path} says which frames the network sees; got {option} {value} as well")
    for metric in metrics:
        if metric in (*FRAME_METRICS, "fid-vid"):
            raise InputError(f"{metric} has a network of its own; with {manifest.name}, use fvd or kvd")
    chosen = _recipe(manifest, kernel, rows=choices.rows)
    return [(metric, replace(chosen, vfr=choices.vfr or chosen.vfr)) for metric in metrics]


def _recipe(manifest: Manifest, kernel: KernelName, *, rows: Any) -> NetworkRecipe:
    frames, picture = manifest.frames, manifest.input
    cut: Any = {"all": "sliding", "first": "first", "uniform": "whole"}[frames.take]
    if rows == "window" and cut != "sliding":
        raise InputError(f"{manifest.path}, [frames]: rows window is for take all; got take {frames.take}")
    rules = PROTOCOLS[SPECIFICATION]["i3d"]
    return NetworkRecipe(
        protocol=NAME,
        backbone=manifest.name,
        feature=f"{manifest.output.name or manifest.output.index}-{reduce_label(manifest.output)}",
        d=_dimensions(manifest),
        bn_eps="none",
        pool="none" if frames.take != "all" and frames.window == frames.count else "window-mean",
        size=picture.fixed[0] if picture.fixed else 0,
        resize=picture.label,  # type: ignore[arg-type]
        normalise=picture.normalise,
        clips_gen=cut,
        clips_gt=cut,
        frames=frames.count if frames.take == "first" else frames.window,
        covariance=rules.covariance,
        frame_step=frames.step,
        stride=frames.window * frames.step,
        rows=rows or "video-mean",
        manifest=manifest,
        kernel=kernel,
    )


def _dimensions(manifest: Manifest) -> int:
    """How many numbers the network gives, by trying it on a black window."""
    import numpy as np

    from rushes.vision.networks.tower import Tower

    height, width = manifest.input.fixed or (_TRIED, _TRIED)
    black = np.zeros((1, manifest.frames.window, height, width, 3), np.float32)
    return int(Tower(manifest)(black).shape[1])


def _module(manifest: Manifest) -> nn.Module:
    """The network as torch's extractors call it: clips (N, 3, T, H, W), prepared, to features (N, D)."""
    import numpy as np
    import torch
    from torch import nn

    from rushes.vision.networks.tower import Tower

    tower, frames = Tower(manifest), manifest.frames

    class Module(nn.Module):
        def forward(self, clips: torch.Tensor) -> torch.Tensor:
            return torch.stack([self._one(clip.permute(1, 2, 3, 0).cpu().numpy()) for clip in clips]).to(clips.device)

        def _one(self, clip: Any) -> torch.Tensor:
            chosen = clip[frames.spread(len(clip))] if frames.take == "uniform" else clip
            windows = chosen[: len(chosen) // frames.window * frames.window]
            vectors = tower(np.ascontiguousarray(windows).reshape(-1, frames.window, *windows.shape[1:]))
            return torch.from_numpy(vectors.mean(axis=0, dtype=np.float64).astype(np.float32))

    return Module().eval()
