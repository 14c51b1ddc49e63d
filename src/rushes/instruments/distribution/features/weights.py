"""Finding, recognising and loading a backbone's weights.

A file is known by the tensors in it, never by its name; loading it cannot run code.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from rushes.core.errors import MissingDependency, WeightsError, WeightsNotFound
from rushes.core.machine.provenance import file_digest, short_digest
from rushes.core.words.options import option
from rushes.instruments.distribution.features.backbones import BACKBONES, Backbone, Published
from rushes.instruments.distribution.protocols import FRAMES, SPECIFICATION, Recipe
from rushes.instruments.distribution.recipes import recipe
from rushes.storage.numpy_files import FAULTS, load_npz, reason
from rushes.vision.models.cache import model_path, pull_command
from rushes.vision.models.catalogue import file_named

if TYPE_CHECKING:
    import torch
    from torch import nn

SEED_FOLDER = Path("tools/eval_fvd")
"""Where the specification puts the files."""
_SOURCE = Path(__file__).resolve().parents[5]
CHECKOUT = _SOURCE if (_SOURCE / "tools" / "video_metrics").is_dir() else None
"""The checkout that this code runs from; None where Rushes is installed without one."""
ENDINGS = (".pt", ".pth", ".npz", ".ckpt", ".bin")
"""Files that are looked into in the folder that RUSHES_WEIGHTS names."""
COUNTERS = "num_batches_tracked"
"""What batch norms count in training; no forward pass reads it."""


@dataclass(frozen=True)
class Weights:
    """A checkpoint that was read, and what it is."""

    path: Path
    backbone: str
    sha256: str
    label: str
    """As the signature shows it: 12 digits of the published file's digest, `random-seedN`, or 12 digits of
    `content_digest`, so that the same tensors have one label in whatever file they lie."""
    known_as: str | None
    """The published network's name when these are its weights."""
    state: Mapping[str, torch.Tensor]

    @property
    def is_random(self) -> bool:
        return self.label.startswith("random-seed")

    @property
    def remark(self) -> str:
        """What a reader must know about these weights; "" for the published ones."""
        if self.is_random:
            return "random weights: this value is comparable only with values of the same weights"
        published = self.kind.published
        return "" if self.known_as or not published else f"weights are not the published {published[0].file}"

    @property
    def kind(self) -> Backbone:
        """The backbone that they are of."""
        return BACKBONES[self.backbone]

    def network(self, recipe: Recipe) -> nn.Module:
        """The plain network of a recipe with these weights, in evaluation mode."""
        import torch

        with torch.device("meta"):  # nothing is drawn at random that is replaced at once
            network = self.kind.build(recipe)
        network.load_state_dict(dict(self.state), assign=True)
        return network.eval()


def git_blob(path: Path) -> str:
    """The id git gives this file: sha1 of "blob SIZE\\0" and its bytes."""
    head = f"blob {path.stat().st_size}\0".encode()
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.sha1(head, usedforsecurity=False)).hexdigest()


def content_digest(state: Mapping[str, torch.Tensor]) -> str:
    """sha256 over names, kinds of number, shapes and values of a state dict, sorted by name; counters are left out."""
    import torch

    digest = hashlib.sha256()
    for name in sorted(name for name in state if not name.endswith(COUNTERS)):
        tensor = state[name].detach().cpu().contiguous()
        digest.update(f"{name}\0{str(tensor.dtype).removeprefix('torch.')}\0{tuple(tensor.shape)}\0".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def read_weights(path: Path | str) -> Weights:
    """Read a checkpoint (`torch.save`, or `.npz` of arrays) and tell which network it is for.

    Raises `WeightsNotFound` where there is no file, `WeightsError` where it is for no network that is known.
    """
    from rushes.instruments.distribution.features.random_weights import random_seed_of

    file = Path(path)
    if file.is_dir():
        raise WeightsError(
            f"{file}: expected a weights file; that is a folder: give a file in it, or set RUSHES_WEIGHTS to it"
        )
    if not file.is_file():
        raise WeightsNotFound(f"{file}: expected a weights file; found nothing")
    sha256 = file_digest(file)
    content = _loaded(file, sha256)
    state = _plain_state(file, content, sha256)
    backbone = _recognised(file, state, sha256)
    tensors = content_digest(state)
    known = _published(file, sha256, tensors, backbone.published)
    seed = random_seed_of(content, state, backbone=backbone.name, digest=tensors)
    label = short_digest((known and (known.sha256 or known.git_blob)) or tensors)
    if seed is not None:
        label = f"random-seed{seed}"
    return Weights(file, backbone.name, sha256, label, known.known_as if known else None, state)


def _published(file: Path, sha256: str, tensors: str, among: Sequence[Published]) -> Published | None:
    """The published file that this is; only where its digests are nobody's is the file read again for git's id."""
    by_digest = (p for p in among if (p.sha256 == sha256 if p.content is None else p.content == tensors))
    by_blob = (p for p in among if p.content is None and p.git_blob is not None and git_blob(file) == p.git_blob)
    return next(chain(by_digest, by_blob), None)


def find_weights(backbone: str, given: Sequence[Path | str], *, root: Path | None = None) -> Weights:
    """The weights of a network, from the first of these places that has them.

    1. The files given; one of another network is skipped, since several may be wanted.
    2. The folder (or the file) that RUSHES_WEIGHTS names, whatever its files are called.
    3. `tools/eval_fvd/`, where the specification puts them: under `root`, then in the checkout that Rushes runs from,
       then in the working directory. Only this last folder depends on where a command is run.
    4. The cache that `rushes models pull` fills.

    Raises `WeightsNotFound`, which names the places and says how to get the file.
    """
    wrong = []
    for path in given:
        weights = read_weights(path)
        if weights.backbone == backbone:
            return weights
        wrong.append(f"{path} (that is {weights.backbone})")
    named = _named_folder()
    if named is not None and (found := _in_folder(named, backbone)) is not None:
        return found
    for folder in _seed_folders(root):
        if (found := _published_in(folder, backbone)) is not None:
            return found
    if (pulled := pulled_weights(backbone)) is not None:
        return read_weights(pulled)
    raise WeightsNotFound(_how_to_get(backbone, wrong, root))


def weights_folders(root: Path | None = None) -> list[Path]:
    """The folders that a network's file is looked for in where none is given, first one first; they need not exist."""
    return [folder for folder in (_named_folder(), *_seed_folders(root)) if folder is not None]


def _named_folder() -> Path | None:
    name = os.environ.get("RUSHES_WEIGHTS")
    return Path(name).expanduser() if name else None


def _seed_folders(root: Path | None) -> list[Path]:
    """`tools/eval_fvd/` under the root, in the checkout and in the working directory, each folder once."""
    bases: dict[Path, Path] = {}
    for base in (root, CHECKOUT, Path()):
        if base is not None:
            bases.setdefault(base.resolve(), base)
    return [base / SEED_FOLDER for base in bases.values()]


def _published_in(folder: Path, backbone: str) -> Weights | None:
    """The weights in the file of the published name; `WeightsError` where that file holds another network."""
    for published in BACKBONES[backbone].published:
        if (place := folder / published.file).is_file():
            if (weights := read_weights(place)).backbone != backbone:
                raise WeightsError(f"{place}: expected weights for {backbone}; these are for {weights.backbone}")
            return weights
    return None


def pulled_weights(backbone: str) -> Path | None:
    """The file of a network in the cache of pulled models, checked by its digest; None where it is not there.

    Raises `WeightsError` for a file that is not as pinned.
    """
    for published in BACKBONES[backbone].published:
        if published.content is not None:
            try:
                return model_path(published.file)
            except MissingDependency:
                continue
    return None


def _in_folder(place: Path, backbone: str) -> Weights | None:
    """The file of the published name, else the first by name that holds the network; a file may be named itself."""
    if place.is_file():
        weights = read_weights(place)
        return weights if weights.backbone == backbone else None
    if not place.is_dir():
        raise WeightsNotFound(f"RUSHES_WEIGHTS is {place}: expected a folder with weights; found nothing")
    if (published := _published_in(place, backbone)) is not None:
        return published
    for file in sorted(file for file in place.iterdir() if file.suffix.lower() in ENDINGS and file.is_file()):
        try:
            weights = read_weights(file)
        except WeightsError:  # another network's, or no checkpoint: a folder may hold anything
            continue
        if weights.backbone == backbone:
            return weights
    return None


def _how_to_get(backbone: str, wrong: Sequence[str], root: Path | None) -> str:
    published = BACKBONES[backbone].published
    pullable = next((file_named(p.file)[0].name for p in published if p.content is not None), None)
    parts = [f"expected {published[0].file} ({published[0].digest})"] if published else []
    parts += [f"got {', '.join(wrong)}"] if wrong else []
    if pullable:
        parts.append(f"run: {pull_command(pullable)}")
    elif published:
        parts.append("not downloadable; put the file there yourself")
    place = f"put it at {SEED_FOLDER / published[0].file}, or " if published else ""
    parts.append(f"{'or ' if pullable else ''}{place}give {option('--weights FILE')}")
    looked = ", ".join(str(folder.absolute()) for folder in weights_folders(root))
    return (
        f"weights for {backbone} are missing: {'; '.join(parts)}; looked in {looked} and the cache of pulled models; "
        f"to try things out: rushes models make-random {backbone} -o {backbone}-random.pt"
    )


def _loaded(file: Path, sha256: str) -> object:
    """What a file holds: arrays of an `.npz`, or what `torch.load` makes of it."""
    import torch

    names = _zip_names(file)
    if any(name.endswith("/constants.pkl") for name in names):
        raise WeightsError(
            f"{file}: this is a TorchScript program; expected a state dict of tensors. StyleGAN-V's i3d_torchscript.pt "
            f"is the same network as the one that `{pull_command('i3d')}` gets{_digests(sha256)}"
        )
    if file.suffix.lower() == ".npz" or any(name.endswith(".npy") for name in names):
        try:
            arrays, _ = load_npz(file)
            return {name: torch.from_numpy(values) for name, values in arrays.items()}
        except FAULTS as error:
            why = "not an archive of plain arrays" if "pickle" in str(error) or not names else reason(error)[:120]
            raise WeightsError(f"{file}: cannot be read as weights ({why}){_digests(sha256)}") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(file, map_location="cpu", weights_only=True)
    except (RuntimeError, pickle.UnpicklingError, EOFError, ValueError, KeyError, zipfile.BadZipFile, OSError) as error:
        raise WeightsError(f"{file}: cannot be read as a checkpoint ({_why(file, error)}){_digests(sha256)}") from None


def _zip_names(file: Path) -> list[str]:
    try:
        with zipfile.ZipFile(file) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return []


def _why(file: Path, error: Exception) -> str:
    """Why torch could not read a file, in a few words: what it is, where that can be seen."""
    with open(file, "rb") as opened:
        head = opened.read(512)
    if not head:
        return "the file is empty"
    if head.startswith(b"version https://git-lfs"):
        return "a Git LFS pointer; fetch the file itself"
    if head.isascii() and head.decode("ascii").replace("\n", " ").replace("\r", " ").replace("\t", " ").isprintable():
        return f"a text, beginning {' '.join(head.decode('ascii').split())[:40]!r}"
    if head.startswith(b"PK"):
        return "damaged or cut off"
    if isinstance(error, pickle.UnpicklingError) and "weights_only" in str(error).lower():
        return "it holds more than tensors, and was not loaded"
    return reason(error)[:80]


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
    for _, backbone in BACKBONES.items():
        if prefix := _prefix(backbone, state):
            raise WeightsError(
                f"{file}: every name begins with {prefix!r}, and without it this is {backbone.name}: save the state "
                f"dict without the prefix{_digests(sha256, backbone)}"
            )
    if not alike:
        raise WeightsError(f"{file}: not the layout of any of {', '.join(BACKBONES)}{_digests(sha256)}")
    raise WeightsError(f"{file}: {misfits[alike[0].name]}{_digests(sha256, alike[0])}")


def _prefix(backbone: Backbone, state: Mapping[str, torch.Tensor]) -> str:
    """What stands before every name of a state dict that is otherwise this backbone's; "" where it is not."""
    for name in state:
        before, found, _ = name.partition(f".{backbone.recognised_by}")
        if found:
            bare = {key.removeprefix(f"{before}."): value for key, value in state.items()}
            return "" if len(bare) != len(state) or _misfit(backbone, bare) else f"{before}."
    return ""


def _misfit(backbone: Backbone, state: Mapping[str, torch.Tensor]) -> str:
    """How a state dict differs from a backbone's layout; "" when it does not."""
    expected = layout(backbone)
    missing = [name for name in expected if name not in state and not name.endswith(COUNTERS)]
    strange = [name for name in state if name not in expected]
    if missing or strange:
        first = f"has no {missing[0]}" if missing else f"has {strange[0]}"
        of = backbone.published[0].file if backbone.published else backbone.name
        return f"not the layout of {of} ({first})"
    for name, shape in expected.items():
        if name in state and tuple(state[name].shape) != shape:
            return f"{name} is {tuple(state[name].shape)}, expected {shape}"
    return ""


def layout(backbone: Backbone) -> dict[str, tuple[int, ...]]:
    """Names and shapes of a backbone's parameters; no memory is taken for them."""
    import torch

    with torch.device("meta"):
        network = backbone.build(default_recipe(backbone))
    return {name: tuple(value.shape) for name, value in network.state_dict().items()}


def default_recipe(backbone: Backbone) -> Recipe:
    """A recipe to build the network under where any will do: its parameters have one layout under all."""
    if backbone.name == FRAMES.backbone:
        return FRAMES
    protocol = SPECIFICATION if SPECIFICATION in backbone.protocols else backbone.protocols[0]
    return recipe(protocol, "fvd", backbone=backbone.name)


def _digests(sha256: str, backbone: Backbone | None = None) -> str:
    kinds = [backbone] if backbone else [kind for _, kind in BACKBONES.items()]
    wanted = " or ".join(f"{file.file} ({file.digest})" for kind in kinds for file in kind.published[:1])
    return f"; expected {wanted}, got sha256 {sha256}" if wanted else f"; got sha256 {sha256}"
