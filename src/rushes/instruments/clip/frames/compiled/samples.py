"""What `picture_samples` looks at, compiled: the same bytes as numpy's, several times as fast.

numpy adds the values of a row of a block in eight lanes, (r₀ + r₁) + (r₂ + r₃) + …, and the rows one after another, in
32 bits. So does this, and it leaves out blocks that decide nothing. A process that does not load numba (`luma_sums`)
has the functions of `picture_samples` alone; a test holds both equal to the last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rushes.media.numba_cache import kernel


def _noise_blocks(grey: Any) -> Any:
    """Means over 8 × 8 of |Y ∗ M| and of Y, without the outermost pixels: 2 × blocks."""
    height, width = (grey.shape[0] - 2) // 8, (grey.shape[1] - 2) // 8
    found = np.zeros((2, height * width), np.float32)
    lane = np.zeros(8 * width, np.float32)
    two, four = np.float32(2), np.float32(4)
    for row in range(8 * height):
        up, here, down = grey[row], grey[row + 1], grey[row + 2]
        for j in range(8 * width):  # the order of OpenCV's filter: row by row, left to right
            value = up[j] - two * up[j + 1] + up[j + 2] - two * here[j] + four * here[j + 1] - two * here[j + 2]
            lane[j] = abs(value + down[j] - two * down[j + 1] + down[j + 2])
        for block in range(width):
            r, place = lane[8 * block : 8 * block + 8], row // 8 * width + block
            found[0, place] += ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
            r = here[8 * block + 1 : 8 * block + 9]
            found[1, place] += ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
    return found / np.float32(64)


def _static_blocks(grey: Any, spread: Any, most: Any) -> Any:
    """Blocks of 16 × 16 with at least this variance whose covariances with both neighbours are at most `most` of it."""
    area = np.float32(256)
    height, width = (grey.shape[0] - 1) // 16, (grey.shape[1] - 1) // 16

    def mean(one: Any, other: Any) -> Any:
        total = np.float32(0)
        r = np.empty(8, np.float32)
        for i in range(16):
            for k in range(8):
                r[k] = one[i, k] * other[i, k] + one[i, k + 8] * other[i, k + 8]
            total += ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
        return total / area

    def plain(one: Any) -> Any:
        total = np.float32(0)
        r = np.empty(8, np.float32)
        for i in range(16):
            for k in range(8):
                r[k] = one[i, k] + one[i, k + 8]
            total += ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
        return total / area

    found = 0
    for y in range(0, 16 * height, 16):
        for x in range(0, 16 * width, 16):
            here = grey[y : y + 16, x : x + 16]
            middle = plain(here)
            variance = mean(here, here) - middle * middle
            if variance >= spread:
                right, below = grey[y : y + 16, x + 1 : x + 17], grey[y + 1 : y + 17, x : x + 16]
                if mean(here, right) - middle * plain(right) <= most * variance:
                    found += mean(here, below) - middle * plain(below) <= most * variance
    return found, height * width


def _comb_ratios(grey: Any, before: Any, least: Any) -> Any:
    """Of blocks of 16 × 16 that differ by `least` or more: distance of lines over distance of the lines around them."""
    area, two = np.float32(256), np.float32(2)
    height, width = (grey.shape[0] - 2) // 16, grey.shape[1] // 16
    ratios = np.empty(height * width, np.float32)
    r = np.empty(8, np.float32)
    q = np.empty(8, np.float32)
    found = 0
    for y in range(0, 16 * height, 16):
        for x in range(0, 16 * width, 16):
            moved = np.float32(0)
            now, then = grey[y + 1 : y + 17, x : x + 16], before[y + 1 : y + 17, x : x + 16]
            for i in range(16):
                for k in range(8):
                    r[k] = abs(now[i, k] - then[i, k]) + abs(now[i, k + 8] - then[i, k + 8])
                moved += ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
            if moved / area < least:
                continue
            lines, fields = np.float32(0), np.float32(0)
            up, down = grey[y : y + 16, x : x + 16], grey[y + 2 : y + 18, x : x + 16]
            for i in range(16):
                for k in range(8):
                    r[k] = abs(now[i, k] - (up[i, k] + down[i, k]) / two) + abs(
                        now[i, k + 8] - (up[i, k + 8] + down[i, k + 8]) / two
                    )
                    q[k] = abs(down[i, k] - up[i, k]) + abs(down[i, k + 8] - up[i, k + 8])
                lines += ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
                fields += ((q[0] + q[1]) + (q[2] + q[3])) + ((q[4] + q[5]) + (q[6] + q[7]))
            ratios[found] = (lines / area) / (fields / area + np.float32(1))
            found += 1
    return ratios[:found]


def _seam_rows(grey: Any, every: Any, least: Any) -> Any:
    """For each column but two on either side: rows in which the step to the next stands out from the two beside it."""
    columns = grey.shape[1] - 5
    counts = np.zeros(columns, np.int64)
    part = np.zeros(columns, np.int16)
    steps = np.empty(columns + 4, np.float32)
    for row in range(0, grey.shape[0], every):
        line = grey[row]
        for j in range(columns + 4):
            steps[j] = abs(line[j + 1] - line[j])
        for j in range(columns):
            beside = max(max(steps[j], steps[j + 1]), max(steps[j + 3], steps[j + 4]))
            part[j] += np.int16(steps[j + 2] - beside > least)
        if row // every % 16384 == 16383:
            counts += part
            part[:] = 0
    return counts + part


def _seam_columns(grey: Any, least: Any) -> Any:
    """The same of rows, in all columns."""
    rows, width = grey.shape[0] - 5, grey.shape[1]
    counts = np.zeros(rows, np.int64)
    steps = np.empty((5, width), np.float32)
    for row in range(grey.shape[0] - 1):
        for j in range(width):
            steps[row % 5, j] = abs(grey[row + 1, j] - grey[row, j])
        if row >= 4:
            a, b, c = steps[(row + 1) % 5], steps[(row + 2) % 5], steps[(row + 3) % 5]
            d, e = steps[(row + 4) % 5], steps[row % 5]
            found = np.int32(0)
            for j in range(width):
                found += np.int32(c[j] - max(max(a[j], b[j]), max(d[j], e[j])) > least)
            counts[row - 4] = found
    return counts


def _colour_counts(rgb: Any, every: Any) -> Any:
    """How often each channel has each level in every so many rows and columns, and pixels with one at 250 or more and
    another at 8 or less. Neighbours are counted apart: waiting for the last count to be written would take the time."""
    counts = np.zeros((2, 3, 256), np.int64)
    burnt = 0
    for i in range(0, rgb.shape[0], every):
        for j in range(0, rgb.shape[1], every):
            red, green, blue = rgb[i, j, 0], rgb[i, j, 1], rgb[i, j, 2]
            turn = j // every % 2
            counts[turn, 0, red] += 1
            counts[turn, 1, green] += 1
            counts[turn, 2, blue] += 1
            burnt += (max(max(red, green), blue) >= 250) & (min(min(red, green), blue) <= 8)
    return counts[0] + counts[1], burnt


noise_blocks, static_blocks = kernel(_noise_blocks), kernel(_static_blocks)
comb_ratios, seam_rows = kernel(_comb_ratios), kernel(_seam_rows)
seam_columns, colour_counts = kernel(_seam_columns), kernel(_colour_counts)


def load() -> None:
    """Compile all of them, or take them from numba's cache, for the arrays that frames come in."""
    grey, least = np.zeros((48, 48), np.float32), np.float32(1)
    noise_blocks()(grey)
    static_blocks()(grey, least, least)
    comb_ratios()(grey, grey, least)
    seam_rows()(grey, 3, least)
    seam_columns()(grey, least)
    colour_counts()(np.zeros((8, 8, 3), np.uint8), 2)
