"""Bodies for tests: a walking figure in pixels, the same every time."""

from __future__ import annotations

import numpy as np

from rushes.instruments.pose.files.skeletons import COCO_17, Skeleton


def walk(frames: int, *, skeleton: Skeleton = COCO_17, columns: int = 2) -> np.ndarray:
    """A figure of about 400 px that walks to the right and swings its limbs; frames × joints × columns."""
    t = np.arange(frames)[:, None]
    layout = np.array(skeleton.layout)
    left = np.array([1.0 if name.startswith("left") else -1.0 for name in skeleton.joints])
    swing = 12 * np.sin(t / 4) * left * layout[:, 1]
    points = np.stack([200 + 3 * t + 200 * layout[:, 0] + swing, 60 + 200 * layout[:, 1] + 0 * t], axis=-1)
    if columns == 3:
        depth = 20 * np.cos(t / 5) * left * layout[:, 1]
        points = np.concatenate([points, depth[..., None]], axis=-1)
    return points
