"""RAFT's own code on one pair of pictures, for tests/goldens/raft.json.

    python tests/oracle/raft.py RAFT_CHECKOUT RAFT_THINGS.npz tests/goldens/raft.json

The checkout is github.com/princeton-vl/RAFT at 2888e15; the weights are what `rushes models pull raft` keeps. The
pictures are 131 × 157, so that the padding shows.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

ITERATIONS = 12
ROWS, COLUMNS = slice(5, None, 24), slice(3, None, 30)


def pictures() -> tuple[np.ndarray, np.ndarray]:
    """A smooth coloured texture, and the same moved by (3.25, −1.5) pixels: made of waves, so that it is exact."""
    rng = np.random.default_rng(7)
    waves = rng.uniform(-0.35, 0.35, (3, 24, 2)), rng.uniform(0, 2 * np.pi, (3, 24))
    y, x = np.mgrid[0:131, 0:157].astype(np.float64)

    def seen(dx: float, dy: float) -> np.ndarray:
        phases = waves[0][..., 0, None, None] * (x - dx) + waves[0][..., 1, None, None] * (y - dy)
        planes = np.sin(phases + waves[1][..., None, None]).sum(1) * 14 + 128
        return np.clip(np.rint(planes.transpose(1, 2, 0)), 0, 255).astype(np.uint8)

    return seen(0, 0), seen(3.25, -1.5)


def main() -> None:
    checkout, weights, out = sys.argv[1:]
    sys.path.insert(0, str(Path(checkout) / "core"))
    import torch
    from raft import RAFT
    from utils.utils import InputPadder

    network = RAFT(argparse.Namespace(small=False, mixed_precision=False, alternate_corr=False))
    stored = np.load(weights)
    network.load_state_dict({name.removeprefix("module."): torch.from_numpy(stored[name]) for name in stored.files})
    one, other = (torch.from_numpy(picture).permute(2, 0, 1).float()[None] for picture in pictures())
    padder = InputPadder(one.shape)
    one, other = padder.pad(one, other)
    found = {}
    with torch.no_grad():
        for name, pair in (("there", (one, other)), ("back", (other, one))):
            flow = padder.unpad(network.eval()(*pair, iters=ITERATIONS, test_mode=True)[1])[0].permute(1, 2, 0).numpy()
            found[name] = flow[ROWS, COLUMNS].astype(np.float64).round(5).tolist()
    Path(out).write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
