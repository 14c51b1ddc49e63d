"""From the vectors that a network gives of a clip's frames to numbers about the clip. Pure numpy, in float64."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rushes.vision.networks.manifest import Alignment, Pool

Array = NDArray[np.float64]


def pooled(scores: Array, how: Pool) -> float:
    """One number of the frames' scores; p10 is the tenth percentile, with linear interpolation.

    >>> pooled(np.array([1.0, 2.0, 6.0]), "mean"), pooled(np.array([1.0, 2.0, 6.0]), "median")
    (3.0, 2.0)
    """
    if how == "p10":
        return float(np.percentile(scores, 10))
    if how == "median":
        return float(np.median(scores))
    return float(scores.mean() if how == "mean" else scores.min() if how == "min" else scores.max())


def unit(vectors: Array) -> Array:
    """Vectors of length 1; one of zeros has no direction and stays so, its cosine with anything is 0."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    directions: Array = vectors / np.where(lengths == 0, 1.0, lengths)
    return directions


def similarities(vectors: Array) -> tuple[Array, Array]:
    """Cosine of each vector from the second on with the one before it, and with the first; below 0 counts as 0.

    Formula     p_t = max(0, cos(f_t, f_{t−1})),  s_t = max(0, cos(f_t, f_1)),  t = 2 … T
    Reference   Huang et al. 2024 (VBench), subject_consistency

    >>> [part.round(6).tolist() for part in similarities(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]))]
    [[0.707107, 0.707107], [0.707107, 0.0]]
    """
    directions = unit(vectors)
    before = np.maximum(0.0, (directions[1:] * directions[:-1]).sum(axis=1))
    first = np.maximum(0.0, directions[1:] @ directions[0])
    return before, first


def alignments(vectors: Array, text: Array, how: Alignment) -> Array:
    """How far each frame agrees with a text: squash(scale · cos(f_t, text) + bias).

    >>> alignments(np.array([[3.0, 4.0]]), np.array([1.0, 0.0]), Alignment(scale=100.0)).round(6).tolist()
    [60.0]
    """
    values: Array = how.scale * (unit(vectors) @ unit(text)) + how.bias
    return 1.0 / (1.0 + np.exp(-values)) if how.squash == "sigmoid" else values
