"""TensorFlow 1's bilinear resizer on random pictures: digests of its output, kept in tests/goldens/tf1_resize.json.

python tests/oracle/tf1_resize.py tests/goldens/tf1_resize.json      # needs: pip install tensorflow-cpu
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import numpy as np

SIZES = [(48, 64), (64, 48), (300, 220), (224, 224), (37, 91), (720, 1280), (1, 5)]
OUT = [224, 112, 299]


def picture(height: int, width: int) -> np.ndarray:
    """The picture that the tests make as well."""
    return np.random.RandomState(height * 1000 + width).randint(0, 256, (1, height, width, 3)).astype(np.uint8)


def main() -> None:
    import tensorflow as tf

    found: dict[str, object] = {"tensorflow": tf.__version__}
    for height, width in SIZES:
        for out in OUT:
            resized = tf.compat.v1.image.resize_bilinear(picture(height, width), (out, out)).numpy()
            assert resized.dtype == np.float32
            found[f"{height}x{width}-{out}"] = {
                "sha256": hashlib.sha256(resized.tobytes()).hexdigest(),
                "corner": [round(float(value), 4) for value in resized[0, -1, -1]],
                "mean": round(float(resized.mean(dtype=np.float64)), 6),
            }
    Path(sys.argv[1]).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
