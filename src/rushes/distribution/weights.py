"""Finding, recognising and loading a backbone's weights.

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
from rushes.distribution.backbones import BACKBONES, Backbone, Published
from rushes.distribution.protocols import DEFAULT, FRAMES, Recipe, recipe
from rushes.errors import WeightsError

if TYPE_CHECKING:
    import torch
    from torch import nn

SEED_FOLDER = Path("tools/eval_fvd")
"""Where the specification puts the files."""


@dataclass(frozen=True)
class Weights:
    """A checkpoint that was read, and what it is."""

    path: Path
    backbone: str
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
        published = BACKBONES[self.backbone].published
        return "" if self.known_as or not published else f"weights are not the published {published[0].file}"

    def network(self, recipe: Recipe) -> nn.Module:
        """The plain network of a recipe with these weights, in evaluation mode."""
        network = BACKBONES[self.backbone].build(recipe)
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
    """Read a checkpoint and tell which network it is for; `WeightsError` when it is for none."""
    from rushes.distribution.random_weights import random_seed_of

    file = Path(path)
    if not file.is_file():
        raise WeightsError(f"{file}: expected a weights file; nothing is there")
    sha256 = file_digest(file)
    content = _loaded(file, sha256)
    state = _plain_state(file, content, sha256)
    backbone = _recognised(file, state, sha256)
    known = next((p for p in backbone.published if _is_published(file, sha256, p)), None)
    seed = random_seed_of(content, state)
    label = short_digest((known and (known.sha256 or known.git_blob)) or sha256)
    if seed is not None:
        label = f"random-seed{seed}"
    return Weights(file, backbone.name, sha256, label, known.file if known else None, state)


def _is_published(file: Path, sha256: str, published: Published) -> bool:
    return sha256 == published.sha256 or (published.git_blob is not None and git_blob(file) == published.git_blob)


def find_weights(backbone: str, given: Sequence[Path | str], *, root: Path | None = None) -> Weights:
    """The weights of a network: among the files given, else at the place the specification names.

    Looks in `tools/eval_fvd/` under `root` and the working directory, and in the folder RUSHES_WEIGHTS names.
    """
    wrong = []
    for path in given:
        weights = read_weights(path)
        if weights.backbone == backbone:
            return weights
        wrong.append(f"{path} (that is {weights.backbone})")
    published = BACKBONES[backbone].published
    if not wrong:
        folders = [folder / SEED_FOLDER for folder in (root, Path()) if folder is not None]
        if os.environ.get("RUSHES_WEIGHTS"):
            folders.append(Path(os.environ["RUSHES_WEIGHTS"]))
        for place in [folder / wanted.file for folder in folders for wanted in published]:
            if place.is_file():
                return _expected(read_weights(place), backbone)
    expected = "; ".join(f"expected {wanted.file} ({wanted.digest})" for wanted in published[:1])
    got = f"got {', '.join(wrong)}" if wrong else ""
    place_it = f"place it at {SEED_FOLDER / published[0].file}, or " if published else ""
    why = "; ".join(part for part in (expected, got, f"{place_it}give --weights FILE") if part)
    raise WeightsError(
        f"weights for {backbone} are missing: {why}; to try things out: "
        f"rushes models make-random {backbone} -o {backbone}-random.pt"
    )


def _expected(weights: Weights, backbone: str) -> Weights:
    if weights.backbone != backbone:
        raise WeightsError(f"{weights.path}: expected weights for {backbone}; these are for {weights.backbone}")
    return weights


def _loaded(file: Path, sha256: str) -> object:
    import torch

    try:
        return torch.load(file, map_location="cpu", weights_only=True)
    except (RuntimeError, pickle.UnpicklingError, EOFError, ValueError, KeyError, zipfile.BadZipFile, OSError) as error:
        reason = " ".join(str(error).split())[:120]
        raise WeightsError(f"{file}: cannot be read as a checkpoint ({reason}){_digests(sha256)}") from None


def _plain_state(file: Path, content: object, sha256: str) -> Mapping[str, torch.Tensor]:
    """The state dict inside a checkpoint: unwrapped from `state_dict`, without the `module.` of parallel training."""
    import torch

    if isinstance(content, Mapping) and isinstance(content.get("state_dict"), Mapping):
        content = content["state_dict"]
    if not isinstance(content, Mapping) or not all(isinstance(value, torch.Tensor) for value in content.values()):
        raise WeightsError(f"{file}: expected a state dict of tensors{_digests(sha256)}")
    return {str(name).removeprefix("module."): value for name, value in content.items()}


def _recognised(file: Path, state: Mapping[str, torch.Tensor], sha256: str) -> Backbone:
    """The backbone whose layout this is; the error is about the first that it looks like."""
    alike = [b for _, b in BACKBONES.items() if any(name.startswith(b.recognised_by) for name in state)]
    misfits = {backbone.name: _misfit(backbone, state) for backbone in alike}
    for backbone in alike:
        if not misfits[backbone.name]:
            return backbone
    if not alike:
        raise WeightsError(f"{file}: not the layout of any of {', '.join(BACKBONES)}{_digests(sha256)}")
    raise WeightsError(f"{file}: {misfits[alike[0].name]}{_digests(sha256, alike[0])}")


def _misfit(backbone: Backbone, state: Mapping[str, torch.Tensor]) -> str:
    """How a state dict differs from a backbone's layout; "" when it does not."""
    layout = _layout(backbone)
    missing = [name for name in layout if name not in state and not name.endswith("num_batches_tracked")]
    strange = [name for name in state if name not in layout]
    if missing or strange:
        first = f"has no {missing[0]}" if missing else f"has {strange[0]}"
        of = backbone.published[0].file if backbone.published else backbone.name
        return f"not the layout of {of} ({first})"
    for name, shape in layout.items():
        if name in state and tuple(state[name].shape) != shape:
            return f"{name} is {tuple(state[name].shape)}, expected {shape}"
    return ""


def _layout(backbone: Backbone) -> dict[str, tuple[int, ...]]:
    import torch

    with torch.device("meta"):
        network = backbone.build(default_recipe(backbone))
    return {name: tuple(value.shape) for name, value in network.state_dict().items()}


def default_recipe(backbone: Backbone) -> Recipe:
    """A recipe to build the network under where any will do: its parameters have one layout under all."""
    if backbone.name == FRAMES.backbone:
        return FRAMES
    protocol = DEFAULT if DEFAULT in backbone.protocols else backbone.protocols[0]
    return recipe(protocol, "fvd", backbone=backbone.name)


def _digests(sha256: str, backbone: Backbone | None = None) -> str:
    kinds = [backbone] if backbone else [kind for _, kind in BACKBONES.items()]
    wanted = " or ".join(f"{file.file} ({file.digest})" for kind in kinds for file in kind.published[:1])
    return f"; wanted {wanted}, got sha256 {sha256}" if wanted else f"; got sha256 {sha256}"
