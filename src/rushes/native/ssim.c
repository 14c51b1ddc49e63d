/* Three kinds of SSIM (see gaussian.py, blocks.py and boxes.py of instruments/fidelity/kernels). */
#include "loops.h"

#include <string.h>

/* Windows side by side in one tile, and the pixels under them: 128 + 10, rounded up to whole vectors; and the same from
 * top to bottom. A tile's four channels take 74 kB: they stay in the second cache. */
enum { STRIP = 128, ACROSS = 144, BAND = 22, TALL = 32 };

/* A picture's values are of 8 or 16 bits, or floats of 32; what is compared is value · gain − shift. */
typedef struct {
    const void *values;
    int64_t line;
    int64_t bits;
    float gain, shift;
} Side;

INLINE void scaled(Side side, int64_t row, int64_t from, int64_t count, float *restrict to) {
    const int64_t place = row * side.line + from;
    if (side.bits == 8)
        for (int64_t j = 0; j < count; j++) to[j] = ((const uint8_t *)side.values)[place + j] * side.gain - side.shift;
    else if (side.bits == 16)
        for (int64_t j = 0; j < count; j++) to[j] = ((const uint16_t *)side.values)[place + j] * side.gain - side.shift;
    else
        for (int64_t j = 0; j < count; j++) to[j] = ((const float *)side.values)[place + j] * side.gain - side.shift;
}

/* What the tiles of one picture are worked out in; aligned, so that vectors are read whole. */
typedef struct {
    float p[4][TALL][ACROSS], v[4][ACROSS], found[2][STRIP], sides[2][ACROSS];
    double sums[2][STRIP];
} Tile;

/* The window's mean over eleven values, `step` apart, from p on, the outermost first; k begins in the middle. */
INLINE float weighed(const float *p, int64_t step, const float *k) {
    return k[5] * (p[0] + p[10 * step]) + k[4] * (p[step] + p[9 * step]) + k[3] * (p[2 * step] + p[8 * step]) +
           k[2] * (p[3 * step] + p[7 * step]) + k[1] * (p[4 * step] + p[6 * step]) + k[0] * p[5 * step];
}

/* Σ of SSIM and of its contrast over all windows. `constants`: the middle of the scale, C1, C2, and the six weights of the
 * window. `room`: a tile of zeros, and 64 bytes. What lies past the picture's edge is left over from before, and is not
 * summed. */
EXPORT WIDE void gaussian_ssim(const void *a, int64_t a_line, int64_t a_bits, float a_gain, float a_shift, const void *b,
                               int64_t b_line, int64_t b_bits, float b_gain, float b_shift, int64_t height, int64_t width,
                               const float *constants, void *room, double *totals) {
    Tile *restrict t = (Tile *)(((uintptr_t)room + 63) / 64 * 64);
    const Side one = {a, a_line, a_bits, a_gain, a_shift}, other = {b, b_line, b_bits, b_gain, b_shift};
    const float middle = constants[0], c1 = constants[1], c2 = constants[2];
    float k[6];
    memcpy(k, constants + 3, sizeof k);
    for (int64_t x = 0; x < width - 10; x += STRIP) {
        const int64_t across = least(STRIP, width - 10 - x);
        for (int64_t y = 0; y < height - 10; y += BAND) {
            const int64_t down = least(BAND, height - 10 - y);
            for (int64_t i = 0; i < down + 10; i++) {
                scaled(one, y + i, x, across + 10, t->sides[0]);
                scaled(other, y + i, x, across + 10, t->sides[1]);
                for (int64_t j = 0; j < ACROSS; j++) {
                    const float s = t->sides[0][j] + t->sides[1][j], d = t->sides[0][j] - t->sides[1][j];
                    t->p[0][i][j] = s;
                    t->p[1][i][j] = d;
                    t->p[2][i][j] = s * s;
                    t->p[3][i][j] = d * d;
                }
            }
            for (int64_t i = 0; i < down; i++) {
                for (int64_t c = 0; c < 4; c++)
                    for (int64_t j = 0; j < ACROSS; j++) t->v[c][j] = weighed(&t->p[c][i][j], ACROSS, k);
                for (int64_t j = 0; j < STRIP; j++) {
                    const float ms = weighed(&t->v[0][j], 1, k), md = weighed(&t->v[1][j], 1, k);
                    const float vs = weighed(&t->v[2][j], 1, k) - ms * ms, vd = weighed(&t->v[3][j], 1, k) - md * md;
                    const float contrast = ((vs - vd) * 0.5f + c2) / ((vs + vd) * 0.5f + c2);
                    const float lit = (ms + middle) * (ms + middle), dim = md * md;
                    t->found[0][j] = contrast * (((lit - dim) * 0.5f + c1) / ((lit + dim) * 0.5f + c1));
                    t->found[1][j] = contrast;
                }
                for (int64_t c = 0; c < 2; c++)
                    for (int64_t j = 0; j < across; j++) t->sums[c][j] += t->found[c][j];
            }
        }
    }
    for (int64_t c = 0; c < 2; c++) {
        totals[c] = 0;
        for (int64_t j = 0; j < STRIP; j++) totals[c] += t->sums[c][j];
    }
}

EXPORT int64_t gaussian_room(void) { return sizeof(Tile) + 64; }

/* Of 8 bits, by far the most frequent, without a row of floats in between. */
INLINE void halved_bytes(const uint8_t *values, int64_t line, float gain, float shift, int64_t height, int64_t width,
                         float *restrict out) {
    for (int64_t i = 0; i < (height + 1) / 2; i++, out += (width + 1) / 2) {
        const uint8_t *restrict u = values + 2 * i * line, *restrict l = values + least(2 * i + 1, height - 1) * line;
        for (int64_t j = 0; j < width / 2; j++) {
            const float upper = (u[2 * j] * gain - shift) + (u[2 * j + 1] * gain - shift);
            const float lower = (l[2 * j] * gain - shift) + (l[2 * j + 1] * gain - shift);
            out[j] = (upper + lower) * 0.25f;
        }
        if (width % 2) {
            const float upper = u[width - 1] * gain - shift, lower = l[width - 1] * gain - shift;
            out[width / 2] = ((upper + upper) + (lower + lower)) * 0.25f;
        }
    }
}

/* Means of 2 × 2 pixels; the last row or column counts twice where it is alone. `room` is for two rows. */
EXPORT WIDE void halved(const void *values, int64_t line, int64_t bits, float gain, float shift, int64_t height,
                        int64_t width, float *restrict room, float *restrict out) {
    const Side side = {values, line, bits, gain, shift};
    const int64_t columns = (width + 1) / 2;
    if (bits == 8) {
        halved_bytes(values, line, gain, shift, height, width, out);
        return;
    }
    float *restrict upper = room, *restrict lower = room + width + 1;
    for (int64_t i = 0; i < (height + 1) / 2; i++) {
        scaled(side, 2 * i, 0, width, upper);
        scaled(side, least(2 * i + 1, height - 1), 0, width, lower);
        upper[width] = upper[width - 1], lower[width] = lower[width - 1];
        INDEPENDENT
        for (int64_t j = 0; j < columns; j++)
            out[i * columns + j] =
                ((upper[2 * j] + upper[2 * j + 1]) + (lower[2 * j] + lower[2 * j + 1])) * 0.25f;
    }
}

/* Of the four blocks of 4 × 4 in one of 8 × 8. */
#define FOUR(j) (old[j] + old[(j) + 1] + now[j] + now[(j) + 1])

#define NAME block_ssim_8
#define CODE uint8_t
#define KIND int32_t
#include "block_ssim.h"
#undef NAME
#undef CODE
#undef KIND

#define NAME block_ssim_16
#define CODE uint16_t
#define KIND int64_t
#include "block_ssim.h"

INLINE int32_t seven(const int32_t *p) { return p[0] + p[1] + p[2] + p[3] + p[4] + p[5] + p[6]; }

/* Σ over the windows of 7 × 7. `room`: 4 × width whole numbers of 32 bits (Σ a, Σ b, Σ a² + b² and Σ ab over the seven rows
 * of a window, a column each), `sums`: width − 6; both of 0 at first. */
EXPORT WIDE double box_ssim(const uint8_t *a, int64_t a_line, const uint8_t *b, int64_t b_line, int64_t height,
                            int64_t width, double c1, double c2, int32_t *room, double *restrict sums) {
    int32_t *restrict first = room, *restrict second = room + width;
    int32_t *restrict squares = second + width, *restrict products = squares + width;
    const double area = 49, norm = 49.0 * 48.0;
    for (int64_t i = 0; i < height; i++) {
        const uint8_t *in_a = a + i * a_line, *in_b = b + i * b_line;
        INDEPENDENT
        for (int64_t j = 0; j < width; j++) {
            const int32_t x = in_a[j], y = in_b[j];
            first[j] += x, second[j] += y, squares[j] += x * x + y * y, products[j] += x * y;
        }
        if (i >= 7) {
            const uint8_t *out_a = in_a - 7 * a_line, *out_b = in_b - 7 * b_line;
            INDEPENDENT
            for (int64_t j = 0; j < width; j++) {
                const int32_t x = out_a[j], y = out_b[j];
                first[j] -= x, second[j] -= y, squares[j] -= x * x + y * y, products[j] -= x * y;
            }
        }
        if (i < 6) continue;
        for (int64_t j = 0; j < width - 6; j++) {
            const int32_t ss = seven(squares + j), sab = seven(products + j);
            const double fa = seven(first + j), fb = seven(second + j);
            const double covariance = (area * sab - fa * fb) / norm;
            const double variances = (area * ss - fa * fa - fb * fb) / norm;
            const double ma = fa / area, mb = fb / area;
            const double top = (2.0 * ma * mb + c1) * (2.0 * covariance + c2);
            sums[j] += top / ((ma * ma + mb * mb + c1) * (variances + c2));
        }
    }
    double total = 0;
    for (int64_t j = 0; j < width - 6; j++) total += sums[j];
    return total;
}
