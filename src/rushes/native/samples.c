/* What a few frames look like in detail (see instruments/clip/frames/picture_samples.py). Blocks are added up as NumPy does
 * it: the values of a row in eight lanes, and the rows one after another. */
#include "pairwise.h"

#include <math.h>
#include <string.h>

INLINE float of_lanes(const float *r) { return ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7])); }

PAIRWISE(sum_of, float)

INLINE float higher(float a, float b) { return a > b ? a : b; }

/* (Y − offset) · scale, of planes of 8 and of 16 bits. */
#define LEVELS(NAME, CODE)                                                                                        \
    EXPORT WIDE void NAME(const CODE *plane, int64_t line, int64_t rows, int64_t columns, float scale, float offset, \
                          float *restrict found) {                                                                \
        for (int64_t i = 0; i < rows; i++)                                                                        \
            for (int64_t j = 0; j < columns; j++)                                                                 \
                found[i * columns + j] = ((float)plane[i * line + j] - offset) * scale;                           \
    }
LEVELS(levels_8, uint8_t)
LEVELS(levels_16, uint16_t)

/* Σ |Y − its right neighbour| of each column, row after row (`right` is 0 at first), and Σ |Y − the one below| of each row.
 * `room` is for a row. */
EXPORT WIDE void neighbour_steps(const float *grey, int64_t line, int64_t rows, int64_t columns, float *restrict right,
                                 float *restrict below, float *restrict room) {
    for (int64_t i = 0; i < rows; i++) {
        const float *here = grey + i * line;
        for (int64_t j = 0; j < columns - 1; j++) right[j] += fabsf(here[j + 1] - here[j]);
        if (i + 1 == rows) break;
        for (int64_t j = 0; j < columns; j++) room[j] = fabsf(here[line + j] - here[j]);
        below[i] = sum_of(room, columns);
    }
}

/* Means over 8 × 8 of |Y ∗ M| and of Y, without the outermost pixels: `found` is 2 × rows × columns, of 0 at first. `lane`
 * is a line of scratch. */
EXPORT WIDE void noise_blocks(const float *grey, int64_t line, int64_t rows, int64_t columns, float *restrict lane,
                              float *restrict found) {
    for (int64_t row = 0; row < 8 * rows; row++) {
        const float *up = grey + row * line, *here = up + line, *down = here + line;
        for (int64_t j = 0; j < 8 * columns; j++) { /* the order of OpenCV's filter: row by row, left to right */
            float value = up[j] - 2 * up[j + 1] + up[j + 2] - 2 * here[j] + 4 * here[j + 1] - 2 * here[j + 2];
            value = value + down[j] - 2 * down[j + 1] + down[j + 2];
            lane[j] = fabsf(value);
        }
        float *response = found + row / 8 * columns, *light = response + rows * columns;
        for (int64_t block = 0; block < columns; block++) {
            response[block] += of_lanes(lane + 8 * block);
            light[block] += of_lanes(here + 8 * block + 1);
        }
    }
    for (int64_t k = 0; k < 2 * rows * columns; k++) found[k] /= 64;
}

/* Mean of the products of two blocks of 16 × 16, and of one block's values. */
INLINE float mean_product(const float *one, const float *other, int64_t line) {
    float total = 0;
    for (int64_t i = 0; i < 16; i++) {
        float r[8];
        for (int64_t k = 0; k < 8; k++) r[k] = one[k] * other[k] + one[k + 8] * other[k + 8];
        total += of_lanes(r);
        one += line, other += line;
    }
    return total / 256;
}

INLINE float mean_value(const float *one, int64_t line) {
    float total = 0;
    for (int64_t i = 0; i < 16; i++) {
        float r[8];
        for (int64_t k = 0; k < 8; k++) r[k] = one[k] + one[k + 8];
        total += of_lanes(r);
        one += line;
    }
    return total / 256;
}

/* Blocks with at least this variance whose covariances with the pixels beside are at most `share` of it. */
EXPORT WIDE int64_t static_blocks(const float *grey, int64_t line, int64_t rows, int64_t columns, float spread,
                                  float share) {
    int64_t found = 0;
    for (int64_t y = 0; y < rows; y++)
        for (int64_t x = 0; x < columns; x++) {
            const float *here = grey + 16 * (y * line + x), *right = here + 1, *below = here + line;
            const float middle = mean_value(here, line);
            const float variance = mean_product(here, here, line) - middle * middle;
            if (!(variance >= spread)) continue;
            if (!(mean_product(here, right, line) - middle * mean_value(right, line) <= share * variance)) continue;
            found += mean_product(here, below, line) - middle * mean_value(below, line) <= share * variance;
        }
    return found;
}

/* Of blocks of 16 × 16 that differ by `moves` or more: distance of lines over distance of the lines around them. Returns
 * how many there are. */
EXPORT WIDE int64_t comb_ratios(const float *grey, int64_t line, const float *before, int64_t before_line, int64_t rows,
                                int64_t columns, float moves, float *ratios) {
    int64_t found = 0;
    for (int64_t y = 0; y < rows; y++)
        for (int64_t x = 0; x < columns; x++) {
            const float *up = grey + 16 * (y * line + x), *then = before + 16 * (y * before_line + x) + before_line;
            float moved = 0, lines = 0, fields = 0, r[8], q[8];
            for (int64_t i = 0; i < 16; i++) {
                const float *now = up + (i + 1) * line, *was = then + i * before_line;
                for (int64_t k = 0; k < 8; k++) r[k] = fabsf(now[k] - was[k]) + fabsf(now[k + 8] - was[k + 8]);
                moved += of_lanes(r);
            }
            if (moved / 256 < moves) continue;
            for (int64_t i = 0; i < 16; i++) {
                const float *a = up + i * line, *now = a + line, *b = now + line;
                for (int64_t k = 0; k < 8; k++) {
                    r[k] = fabsf(now[k] - (a[k] + b[k]) / 2) + fabsf(now[k + 8] - (a[k + 8] + b[k + 8]) / 2);
                    q[k] = fabsf(b[k] - a[k]) + fabsf(b[k + 8] - a[k + 8]);
                }
                lines += of_lanes(r), fields += of_lanes(q);
            }
            ratios[found++] = (lines / 256) / (fields / 256 + 1);
        }
    return found;
}

INLINE int32_t stands_out(float a, float b, float c, float d, float e, float f, float by) {
    const float beside = higher(higher(fabsf(b - a), fabsf(c - b)), higher(fabsf(e - d), fabsf(f - e)));
    return fabsf(d - c) - beside > by;
}

/* For each column but two on either side: rows in which the step to the next stands out from the two beside it. `counts`
 * are 0 at first. */
EXPORT WIDE void seam_rows(const float *grey, int64_t line, int64_t rows, int64_t columns, float by,
                           int32_t *restrict counts) {
    for (int64_t i = 0; i < rows; i++) {
        const float *v = grey + i * line;
        for (int64_t j = 0; j < columns - 5; j++)
            counts[j] += stands_out(v[j], v[j + 1], v[j + 2], v[j + 3], v[j + 4], v[j + 5], by);
    }
}

/* The same of rows, in all columns. */
EXPORT WIDE void seam_columns(const float *grey, int64_t line, int64_t rows, int64_t columns, float by, int32_t *counts) {
    for (int64_t i = 0; i < rows - 5; i++) {
        const float *a = grey + i * line, *b = a + line, *c = b + line, *d = c + line, *e = d + line, *f = e + line;
        int32_t found = 0;
        for (int64_t j = 0; j < columns; j++) found += stands_out(a[j], b[j], c[j], d[j], e[j], f[j], by);
        counts[i] = found;
    }
}

/* How often each channel has each level (`counts`: 3 × 256, of 0 at first), pixels being `step` bytes apart and channels
 * `next`. Returns how many pixels have one channel at 250 or more and another at 8 or less. Neighbours are counted apart:
 * waiting for the last count to be written would take the time. */
EXPORT int64_t colour_counts(const uint8_t *rgb, int64_t line, int64_t step, int64_t next, int64_t rows,
                             int64_t columns, int64_t *counts) {
    uint32_t found[2][3][256];
    int64_t burnt = 0;
    memset(found, 0, sizeof found);
    for (int64_t i = 0; i < rows; i++) {
        const uint8_t *pixel = rgb + i * line;
        for (int64_t j = 0; j < columns; j++, pixel += step) {
            const uint8_t red = pixel[0], green = pixel[next], blue = pixel[2 * next];
            uint32_t(*turn)[256] = found[j % 2];
            turn[0][red]++, turn[1][green]++, turn[2][blue]++;
            burnt += most(most(red, green), blue) >= 250 && least(least(red, green), blue) <= 8;
        }
    }
    for (int64_t c = 0; c < 3; c++)
        for (int64_t v = 0; v < 256; v++) counts[c * 256 + v] = (int64_t)found[0][c][v] + found[1][c][v];
    return burnt;
}
