"""Finding, recognising and loading the two networks' weights.

A file is known by its digest, never by its name. Loading is `weights_only`, so a file cannot run code.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rushes.core.provenance import file_digest, short_digest
from rushes.distribution.protocols import Backbone, Recipe
from rushes.errors import WeightsError

if TYPE_CHECKING:
    import torch

    from rushes.distribution.networks.i3d import I3D
    from rushes.distribution.networks.resnet3d import ResNet3D50

SEED_FOLDER = Path("tools/eval_fvd")
"""Where the specification puts the files."""


@dataclass(frozen=True)
class Published:
    """A file the protocols name."""

    file: str
    sha256: str | None
    git_blob: str | None

    @property
    def digest(self) -> str:
        return f"sha256 {self.sha256}" if self.sha256 else f"git blob {self.git_blob}"


PUBLISHED: dict[Backbone, Published] = {
    "i3d": Published("i3d_pretrained_400.pt", None, "a867b87ac3a9097d200598b1d48a1b890d8ec744"),
    "r3d50": Published(
        "resnet-50-kinetics.pth", "69b6a070ed1004c3b28a1751d5bc60f7dfd24d145425db32719989544d6dafc9", None
    ),
}


@dataclass(frozen=True)
class Weights:
    """A checkpoint that was read, and what it is."""

    path: Path
    backbone: Backbone
    sha256: str
    label: str
    """As the signature shows it: the published digest's first 12 digits, `random-seedN`, or the sha256's."""
    known_as: str | None
    """The published file's name when the digest is that file's."""
    state: Mapping[str, torch.Tensor]

    @property
    def is_random(self) -> bool:
        return self.label.startswith("random-seed")

    @property
    def remark(self) -> str:
        """What a reader must know about these weights; "" for the published file."""
        if self.is_random:
            return "random weights: this number compares only with itself"
        if self.known_as:
            return ""
        return f"weights are not the published {PUBLISHED[self.backbone].file}"

    def network(self, recipe: Recipe) -> I3D | ResNet3D50:
        """The plain network of a recipe with these weights, in evaluation mode."""
        from rushes.distribution.networks.i3d import I3D
        from rushes.distribution.networks.resnet3d import ResNet3D50

        network: I3D | ResNet3D50
        if self.backbone == "i3d":
            network = I3D(bn_eps=recipe.bn_eps, pool_frames=recipe.pool_frames)
        else:
            network = ResNet3D50(bn_eps=recipe.bn_eps, frames=recipe.frames)
        network.load_state_dict(dict(self.state))
        return network.eval()


def git_blob(path: Path) -> str:
    """The id git gives this file: sha1 of "blob SIZE\\0" and its bytes."""
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def read_weights(path: Path | str) -> Weights:
    """Read a checkpoint and tell which network it is for; `WeightsError` when it is for neither."""
    from rushes.distribution.random_weights import random_seed_of

    file = Path(path)
    if not file.is_file():
        raise WeightsError(f"{file}: expected a weights file; nothing is there")
    sha256 = file_digest(file)
    state = _plain_state(file, sha256)
    backbone = _backbone(file, state, sha256)
    wanted = PUBLISHED[backbone]
    known = sha256 == wanted.sha256 or (wanted.git_blob is not None and git_blob(file) == wanted.git_blob)
    seed = random_seed_of(state)
    label = short_digest(sha256)
    if seed is not None:
        label = f"random-seed{seed}"
    elif known:
        label = short_digest(wanted.sha256 or wanted.git_blob or sha256)
    return Weights(file, backbone, sha256, label, wanted.file if known else None, state)


def find_weights(backbone: Backbone, given: Sequence[Path | str], *, root: Path | None = None) -> Weights:
    """The weights of a network: among the files given, else at the place the specification names.

    Looks in `tools/eval_fvd/` under `root` and the working directory, and in the folder RUSHES_WEIGHTS names.
    """
    wrong = []
    for path in given:
        weights = read_weights(path)
        if weights.backbone == backbone:
            return weights
        wrong.append(f"{path} (that is {weights.backbone})")
    wanted = PUBLISHED[backbone]
    if not wrong:
        folders = [folder / SEED_FOLDER for folder in (root, Path()) if folder is not None]
        if os.environ.get("RUSHES_WEIGHTS"):
            folders.append(Path(os.environ["RUSHES_WEIGHTS"]))
        for folder in folders:
            if (folder / wanted.file).is_file():
                return _expected(read_weights(folder / wanted.file), backbone)
    got = f"; got {', '.join(wrong)}" if wrong else ""
    raise WeightsError(
        f"weights for {backbone} are missing: expected {wanted.file} ({wanted.digest}){got}; place it at "
        f"{SEED_FOLDER / wanted.file}, or give --weights FILE; to try things out: "
        f"rushes models make-random {backbone} -o {backbone}-random.pt"
    )


def _expected(weights: Weights, backbone: Backbone) -> Weights:
    if weights.backbone != backbone:
        raise WeightsError(f"{weights.path}: expected weights for {backbone}; these are for {weights.backbone}")
    return weights


def _plain_state(file: Path, sha256: str) -> Mapping[str, torch.Tensor]:
    """The state dict inside a checkpoint: unwrapped from `state_dict`, without the `module.` of parallel training."""
    import torch

    try:
        content = torch.load(file, map_location="cpu", weights_only=True)
    except (RuntimeError, pickle.UnpicklingError, EOFError, ValueError, KeyError, zipfile.BadZipFile, OSError) as error:
        reason = " ".join(str(error).split())[:120]
        raise WeightsError(f"{file}: cannot be read as a checkpoint ({reason}){_digests(sha256)}") from None
    if isinstance(content, Mapping) and isinstance(content.get("state_dict"), Mapping):
        content = content["state_dict"]
    if not isinstance(content, Mapping) or not all(isinstance(value, torch.Tensor) for value in content.values()):
        raise WeightsError(f"{file}: expected a state dict of tensors{_digests(sha256)}")
    return {str(name).removeprefix("module."): value for name, value in content.items()}


def _backbone(file: Path, state: Mapping[str, torch.Tensor], sha256: str) -> Backbone:
    backbone: Backbone = "i3d" if any(name.startswith("Mixed_") for name in state) else "r3d50"
    layout = _layout(backbone)
    missing = [name for name in layout if name not in state and not name.endswith("num_batches_tracked")]
    strange = [name for name in state if name not in layout]
    if missing or strange:
        first = f"has no {missing[0]}" if missing else f"has {strange[0]}"
        raise WeightsError(
            f"{file}: not the layout of {PUBLISHED[backbone].file} ({first}){_digests(sha256, backbone)}"
        )
    for name, shape in layout.items():
        if name in state and tuple(state[name].shape) != shape:
            raise WeightsError(
                f"{file}: {name} is {tuple(state[name].shape)}, expected {shape}{_digests(sha256, backbone)}"
            )
    return backbone


def _layout(backbone: Backbone) -> dict[str, tuple[int, ...]]:
    import torch

    from rushes.distribution.networks.i3d import I3D
    from rushes.distribution.networks.resnet3d import ResNet3D50

    with torch.device("meta"):
        network = I3D() if backbone == "i3d" else ResNet3D50()
    return {name: tuple(value.shape) for name, value in network.state_dict().items()}


def _digests(sha256: str, backbone: Backbone | None = None) -> str:
    kinds = [PUBLISHED[backbone]] if backbone else list(PUBLISHED.values())
    wanted = " or ".join(f"{kind.file} ({kind.digest})" for kind in kinds)
    return f"; wanted {wanted}, got sha256 {sha256}"
