"""A manifest: a few lines of TOML beside a network's file that say everything which can move its numbers.

```toml
name = "nima"                    # its metrics begin with it
kind = "quality"                 # quality, features or two-tower
summary = "How people would rate the frames, 1 to 10."
licence = "Apache-2.0"
reference = "Talebi & Milanfar 2018"

[network]
file = "nima.onnx"               # beside the manifest
sha256 = "…"                     # pinned: another file is refused

[input]                          # from a frame to the network: see `picture.py`
size = [224, 224]                # height, width
resize = "squash"
mean = [0.485, 0.456, 0.406]
std = [0.229, 0.224, 0.225]

[frames]                         # which frames: see `choice.py`
take = "uniform"
count = 8

[output]
reduce = "distribution"          # ten shares, their mean is the frame's score
values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
pool = "mean"

[metric]
better = "higher"
unit = "opinion score"
lowest = 1
highest = 10
```

Two towers have [text], [tokenizer] and [alignment] as well. Every key is a field below; any other key is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from rushes.core.definition import Better
from rushes.core.machine.provenance import short_digest
from rushes.vision.networks.choice import Frames
from rushes.vision.networks.picture import Picture

Kind: TypeAlias = Literal["quality", "features", "two-tower"]
Runtime: TypeAlias = Literal["onnx", "torchscript"]
Reduce: TypeAlias = Literal["none", "distribution", "softmax-distribution", "first-token", "token-mean", "patch-mean"]
Pool: TypeAlias = Literal["mean", "median", "min", "max", "p10"]
Squash: TypeAlias = Literal["none", "sigmoid"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkFile:
    """A file that is run, and the digest that it must have."""

    file: str
    """Beside the manifest, or a path from there."""
    sha256: str = ""
    """64 hex digits. Where it is left out, Rushes prints the line to paste and stops."""
    runtime: Runtime | None = None
    """By default the ending says it: .onnx, or .pt, .pth, .ts and .torchscript."""
    external: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Files of weights beside an ONNX file that names them, each with its sha256."""
    obtain: str = ""
    """How to get the file, for the error where it is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """From what the network returns to the numbers of one frame."""

    name: str = ""
    """Of an ONNX output; by default the one at `index`."""
    index: int = 0
    reduce: Reduce = "none"
    """none: as it is. distribution: shares of `values`, their mean; softmax-distribution: logits of them. Of tokens
    (N, L, D) first-token: the first; token-mean: the mean of all; patch-mean: of all but the first."""
    values: tuple[float, ...] = ()
    pool: Pool = "mean"
    """From the frames' scores, or alignments, to the clip's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What the number means to a reader."""

    better: Better = "neither"
    unit: str = "1"
    lowest: float | None = None
    highest: float | None = None
    raised_by: tuple[str, ...] = ()
    """What raises it though nothing got better, in words."""
    lowered_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTower:
    """The tower that reads the prompt."""

    network: NetworkFile
    input: str = ""
    """Name of the ONNX input that takes the ids; by default the first."""
    mask: str = ""
    """Name of the input that takes 1 for each id and 0 for padding; "" where there is none."""
    output: Output = field(default_factory=Output)
    context: int = 77
    """Ids in one text."""
    pad: int = 0
    truncate: bool = True
    """Whether a longer text is cut, its last id then the end's; if not, the clip has no value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerFile:
    """CLIP's byte-pair encoding: `bpe_simple_vocab_16e6.txt.gz`, a list of merges, or a `tokenizer.json`."""

    file: str
    sha256: str = ""
    kind: Literal["clip-bpe"] = "clip-bpe"
    vocabulary: int = 49408
    """Ids of a list of merges: 512 of bytes, one of each merge that is used, start and end."""
    obtain: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """From the cosine of a frame and a text to their alignment: squash(scale · cosine + bias)."""

    scale: float = 1.0
    bias: float = 0.0
    squash: Squash = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A network of the user's own, read and checked; its files have been found but not run."""

    path: Path
    name: str
    kind: Kind
    summary: str = ""
    licence: str = ""
    reference: str = ""
    network: NetworkFile
    input: Picture
    frames: Frames
    output: Output
    metric: Described
    text: TextTower | None = None
    tokenizer: TokenizerFile | None = None
    alignment: Alignment = field(default_factory=Alignment)

    @property
    def digest(self) -> str:
        """The first 12 digits of the network's file, as signatures have them."""
        return short_digest(self.network.sha256)

    def located(self, file: str) -> Path:
        """A file of the manifest, seen from its folder."""
        return self.path.parent / file

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that a worker reads."""
        networks = (self.network, *(() if self.text is None else (self.text.network,)))
        named = [name for one in networks for name in (one.file, *one.external)]
        return tuple(map(self.located, (*named, *(() if self.tokenizer is None else (self.tokenizer.file,)))))

    def params(self) -> dict[str, str | int | float | bool]:
        """What moves the numbers, for the signature of every metric of this network."""
        found: dict[str, str | int | float | bool] = {
            "network": self.digest,
            "runtime": runtime_of(self.network),
            "precision": "as-in-file",
            "resize": self.input.label,
            "normalise": self.input.normalise,
            "layout": self.input.layout,
            "frames": self.frames.label,
            "output": self.output.name or self.output.index,
            "reduce": reduce_label(self.output),
        }
        if self.network.external:
            found["external"] = "+".join(short_digest(digest) for _, digest in sorted(self.network.external.items()))
        return found | ({"window": self.frames.window} if self.frames.window > 1 else {})

    def text_params(self) -> dict[str, str | int | float | bool]:
        """What else moves the alignment with a text."""
        text, tokenizer, alignment = self.text, self.tokenizer, self.alignment
        assert text is not None and tokenizer is not None
        return {
            "text": short_digest(text.network.sha256),
            "text_output": f"{text.output.name or text.output.index}-{reduce_label(text.output)}",
            "tokenizer": f"{tokenizer.kind}-{tokenizer.vocabulary}-{short_digest(tokenizer.sha256)}",
            "context": f"{text.context}-{'cut' if text.truncate else 'refuse'}-pad{text.pad}",
            "scale": float(alignment.scale),
            "bias": float(alignment.bias),
            "squash": alignment.squash,
        }


_ENDINGS: dict[str, Runtime] = {
    ".onnx": "onnx",
    **dict.fromkeys((".pt", ".pth", ".ts", ".torchscript"), "torchscript"),
}


def runtime_of(network: NetworkFile) -> str:
    """Who runs the file: as declared, else by its ending; "" where neither says."""
    return network.runtime or str(_ENDINGS.get(Path(network.file).suffix.lower(), ""))


def reduce_label(output: Output) -> str:
    """How an output is reduced, as signatures have it.

    >>> reduce_label(Output(reduce="distribution", values=(1.0, 2.5)))
    'distribution-1,2.5'
    """
    return output.reduce + (f"-{_numbers(output.values)}" if output.values else "")


def _numbers(values: Sequence[float]) -> str:
    return ",".join(f"{value:g}" for value in values)
