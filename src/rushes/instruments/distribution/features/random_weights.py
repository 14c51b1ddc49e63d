"""Seeded random checkpoints in the published layouts, for the demo and the tests where the trained files are not.

A number made with them compares only with itself. The layout is exactly the published one: the mark that says
"random, seed N" sits in two `num_batches_tracked` counters, which no forward pass reads. A network without such
counters is written under `state_dict`, with the mark beside it. Whoever reads the mark holds every value against the
seed before believing it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from rushes.core.errors import InputError
from rushes.instruments.distribution.features.backbones import BACKBONES
from rushes.instruments.distribution.features.weights import COUNTERS, content_digest, layout

# "RUSHES" as a number: a training run does not stop at exactly this many batches.
_MARK = int.from_bytes(b"RUSHES", "big")
_SEED = "rushes_random_seed"
SEED_0 = {
    "i3d": "bd2a0c0f2fa58702b198ae9949210c1c3ac2bb9f01c24a43b582dee0c83509fc",
    "r3d50": "c53402ffbe3652850dfeb1ead6d0886253d3a6ed13fe6da23d62667f3ad09564",
}
"""Content of the usual seed: drawing tens of millions of numbers again takes longer than reading them."""


def random_state(backbone: str, seed: int) -> dict[str, torch.Tensor]:
    """A state dict with He-normal convolutions and mild batch norms, the same on every machine for one seed."""
    if not 0 <= seed < 2**32:
        raise InputError(f"a seed is a whole number from 0 to 4294967295; got {seed}")
    kind = BACKBONES[backbone]
    draw = np.random.RandomState(seed)  # its streams are frozen by numpy, unlike those of newer generators
    state: dict[str, torch.Tensor] = {}
    for name, shape in layout(kind).items():
        counts = name.endswith(COUNTERS)
        state[name] = torch.tensor(0 if counts else _values(draw, name, shape, kind.random_scale(name)))
    if len(counters := _counters(state)) > 1:
        state[counters[0]], state[counters[1]] = torch.tensor(_MARK), torch.tensor(seed)
    return state


def _values(draw: np.random.RandomState, name: str, shape: tuple[int, ...], scale: float) -> np.ndarray:
    if len(shape) > 1:
        spread = np.sqrt(2.0 / np.prod(shape[1:])) * scale
        return np.asarray(draw.standard_normal(shape) * spread, np.float32)
    if name.endswith(("running_var", "weight", ".var")):
        return (scale * draw.uniform(0.8, 1.2, shape)).astype(np.float32)
    return (0.1 * draw.standard_normal(shape)).astype(np.float32)


def _counters(state: Mapping[str, torch.Tensor]) -> list[str]:
    return [name for name in state if name.endswith(COUNTERS)]


def random_seed_of(
    content: object, state: Mapping[str, torch.Tensor], *, backbone: str, digest: str | None = None
) -> int | None:
    """The seed when every value of `state`, the state dict of this checkpoint, is the one that seed gives; else None.

    The mark alone proves nothing: a copy in half precision, or one trained further, keeps it. `digest` is
    `content_digest(state)` where it is known.
    """
    seed = _claimed_seed(content, state)
    if seed is None or not 0 <= seed < 2**32:
        return None
    found = digest or content_digest(state)
    return seed if (seed == 0 and found == SEED_0.get(backbone)) or found == _digest_of_seed(backbone, seed) else None


@lru_cache(maxsize=16)
def _digest_of_seed(backbone: str, seed: int) -> str:
    return content_digest(random_state(backbone, seed))


def _claimed_seed(content: object, state: Mapping[str, torch.Tensor]) -> int | None:
    """The seed that a checkpoint's mark names."""
    if isinstance(content, Mapping) and isinstance(content.get(_SEED), int):
        return int(content[_SEED])
    counters = _counters(state)
    if len(counters) < 2 or any(state[name].numel() != 1 for name in counters[:2]) or int(state[counters[0]]) != _MARK:
        return None
    return int(state[counters[1]])


def write_random_checkpoint(backbone: str, path: Path | str, *, seed: int = 0) -> Path:
    """Write a random checkpoint laid out as the published file: a plain state dict, or `module.` under `state_dict`."""
    state = random_state(backbone, seed)
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    content: dict[str, object] = dict(state)
    if BACKBONES[backbone].parallel_layout:
        content = {"state_dict": {f"module.{name}": value for name, value in state.items()}}
    if len(_counters(state)) < 2:
        content = {"state_dict": content.get("state_dict", state), _SEED: seed}
    torch.save(content, target)
    return target
