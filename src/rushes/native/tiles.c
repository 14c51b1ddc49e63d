/* Tiles of the quick convolution to Winograd's points and back, max pools, and heads (see
 * instruments/fidelity/networks/tiles.py). Pictures are N × H × W × C; channels are worked on in blocks. */
#include "loops.h"

#include <math.h>
#include <string.h>

/* Outputs of a tile, down and across; channels that are worked on at a time; lanes of a sum over channels, of which there are
 * two at a time. */
enum { SIDE = 4, BLOCK = 64, LANES = 16 };

/* Only inlined functions are given them, so it makes no difference how they would be passed. */
#pragma GCC diagnostic ignored "-Wpsabi"
typedef float Lanes __attribute__((vector_size(64)));
typedef float Half __attribute__((vector_size(32)));
typedef float Quarter __attribute__((vector_size(16)));

/* Rows of `side` numbers, `apart` from each other, to as many points, in place. */
INLINE void to_points(int side, float *b, int64_t apart, int64_t count) {
    float *restrict b0 = b, *restrict b1 = b + apart, *restrict b2 = b + 2 * apart, *restrict b3 = b + 3 * apart;
    float *restrict b4 = b + 4 * apart, *restrict b5 = b + 5 * apart;
    if (side == 8) {
        float *restrict b6 = b + 6 * apart, *restrict b7 = b + 7 * apart;
        for (int64_t o = 0; o < count; o++) {
            const float d0 = b0[o], d1 = b1[o], d2 = b2[o], d3 = b3[o], d4 = b4[o], d5 = b5[o], d6 = b6[o], d7 = b7[o];
            const float even1 = d2 + d6 - 4.25f * d4, odd1 = d1 + d5 - 4.25f * d3;
            const float even2 = d6 + 0.25f * d2 - 1.25f * d4, odd2 = 0.5f * d1 - 2.5f * d3 + 2 * d5;
            const float even3 = d6 + 4 * d2 - 5 * d4, odd3 = 2 * d1 - 2.5f * d3 + 0.5f * d5;
            b0[o] = d6 - d0 + (d2 - d4) * 5.25f, b7[o] = d7 - d1 + (d3 - d5) * 5.25f;
            b1[o] = even1 + odd1, b2[o] = even1 - odd1;
            b3[o] = even2 + odd2, b4[o] = even2 - odd2;
            b5[o] = even3 + odd3, b6[o] = even3 - odd3;
        }
    } else {
        for (int64_t o = 0; o < count; o++) {
            const float d0 = b0[o], d1 = b1[o], d2 = b2[o], d3 = b3[o], d4 = b4[o], d5 = b5[o];
            const float even1 = d4 - 4 * d2, odd1 = d3 - 4 * d1, even2 = d4 - d2, odd2 = 2 * (d3 - d1);
            b0[o] = 4 * d0 - 5 * d2 + d4, b5[o] = 4 * d1 - 5 * d3 + d5;
            b1[o] = even1 + odd1, b2[o] = even1 - odd1;
            b3[o] = even2 + odd2, b4[o] = even2 - odd2;
        }
    }
}

/* Products at `side` points to four outputs, in place. */
INLINE void from_points(int side, float *b, int64_t apart, int64_t count) {
    float *restrict b0 = b, *restrict b1 = b + apart, *restrict b2 = b + 2 * apart, *restrict b3 = b + 3 * apart;
    const float *restrict b4 = b + 4 * apart, *restrict b5 = b + 5 * apart;
    if (side == 8) {
        const float *restrict b6 = b + 6 * apart, *restrict b7 = b + 7 * apart;
        for (int64_t o = 0; o < count; o++) {
            const float s1 = b1[o] + b2[o], d1 = b1[o] - b2[o], s2 = b3[o] + b4[o], d2 = b3[o] - b4[o];
            const float s3 = b5[o] + b6[o], d3 = b5[o] - b6[o];
            b0[o] = b0[o] + s1 + s2 + s3;
            b1[o] = d1 + 2 * d2 + 0.5f * d3;
            b2[o] = s1 + 4 * s2 + 0.25f * s3;
            b3[o] = d1 + 8 * d2 + 0.125f * d3 + b7[o];
        }
    } else {
        for (int64_t o = 0; o < count; o++) {
            const float s1 = b1[o] + b2[o], d1 = b1[o] - b2[o], s2 = b3[o] + b4[o], d2 = b3[o] - b4[o];
            b0[o] = b0[o] + s1 + s2;
            b1[o] = d1 + 2 * d2;
            b2[o] = s1 + 4 * s2;
            b3[o] = d1 + 8 * d2 + b5[o];
        }
    }
}

/* Picture, row and column where a tile begins. */
typedef struct {
    int64_t picture, y, x;
} Corner;

INLINE Corner corner_of(int64_t tile, int64_t down, int64_t across) {
    const int64_t place = tile % (down * across);
    return (Corner){tile / (down * across), place / across * SIDE, place % across * SIDE};
}

INLINE void tiles_to_points(int side, const float *pictures, int64_t tall, int64_t wide, int64_t channels, int64_t first,
                            int64_t count, float *points) {
    const int64_t row = side * BLOCK, size = side * side;
    float b[8 * 8 * BLOCK] __attribute__((aligned(64)));
    for (int64_t t = 0; t < count; t++) {
        const Corner at = corner_of(first + t, (tall - side) / SIDE + 1, (wide - side) / SIDE + 1);
        for (int64_t c = 0; c < channels; c += BLOCK) {
            for (int64_t p = 0; p < size; p++) {
                const int64_t place = (at.picture * tall + at.y + p / side) * wide + at.x + p % side;
                memcpy(b + p * BLOCK, pictures + place * channels + c, BLOCK * sizeof *b);
            }
            to_points(side, b, row, row);
            for (int64_t i = 0; i < side; i++) to_points(side, b + i * row, BLOCK, BLOCK);
            for (int64_t p = 0; p < size; p++)
                memcpy(points + (t * size + p) * channels + c, b + p * BLOCK, BLOCK * sizeof *b);
        }
    }
}

/* Tiles from number `first` on at `side` × `side` points, T × side² × C. */
EXPORT WIDE void points(int64_t side, const float *pictures, int64_t tall, int64_t wide, int64_t channels, int64_t first,
                        int64_t count, float *found) {
    if (side == 8)
        tiles_to_points(8, pictures, tall, wide, channels, first, count, found);
    else
        tiles_to_points(6, pictures, tall, wide, channels, first, count, found);
}

INLINE void points_to_outputs(int side, const float *products, int64_t first, int64_t count, const float *bias, int64_t c,
                              float *out, int64_t tall, int64_t wide, int64_t channels, int64_t pad, int64_t rows,
                              int64_t cols) {
    const int64_t row = side * BLOCK, size = side * side;
    float b[8 * 8 * BLOCK] __attribute__((aligned(64)));
    for (int64_t t = 0; t < count; t++) {
        const Corner at = corner_of(first + t, (rows + SIDE - 1) / SIDE, (cols + SIDE - 1) / SIDE);
        memcpy(b, products + t * size * BLOCK, size * BLOCK * sizeof *b);
        from_points(side, b, row, row);
        for (int64_t i = 0; i < SIDE; i++) from_points(side, b + i * row, BLOCK, BLOCK);
        for (int64_t i = 0; i < least(SIDE, rows - at.y); i++)
            for (int64_t j = 0; j < least(SIDE, cols - at.x); j++) {
                const int64_t place = (at.picture * tall + pad + at.y + i) * wide + pad + at.x + j;
                float *restrict to = out + place * channels + c;
                const float *from = b + (side * i + j) * BLOCK;
                for (int64_t k = 0; k < BLOCK; k++) {
                    const float value = from[k] + bias[c + k];
                    to[k] = value > 0 ? value : 0;
                }
            }
    }
}

/* Products of tiles (T × side² × block) into channels of `out` from `c` on, `pad` pixels from its border. */
EXPORT WIDE void outputs(int64_t side, const float *products, int64_t first, int64_t count, const float *bias, int64_t c,
                         float *out, int64_t tall, int64_t wide, int64_t channels, int64_t pad, int64_t rows,
                         int64_t cols) {
    if (side == 8)
        points_to_outputs(8, products, first, count, bias, c, out, tall, wide, channels, pad, rows, cols);
    else
        points_to_outputs(6, products, first, count, bias, c, out, tall, wide, channels, pad, rows, cols);
}

/* Max over each `window` × `window` with a step of 2, `inset` pixels from the border, into `out`, `pad` from its; nothing
 * is below 0. */
EXPORT WIDE void pooled(const float *pictures, int64_t count, int64_t tall, int64_t wide, int64_t channels,
                        int64_t inset, int64_t window, float *out, int64_t out_tall, int64_t out_wide, int64_t pad,
                        int64_t rows, int64_t cols) {
    for (int64_t n = 0; n < count; n++)
        for (int64_t y = 0; y < rows; y++)
            for (int64_t x = 0; x < cols; x++) {
                float *to = out + ((n * out_tall + pad + y) * out_wide + pad + x) * channels;
                for (int64_t c = 0; c < channels; c += BLOCK) {
                    float highest[BLOCK] = {0};
                    for (int64_t i = 0; i < window; i++)
                        for (int64_t j = 0; j < window; j++) {
                            const int64_t row = inset + 2 * y + i, col = inset + 2 * x + j;
                            const float *from = pictures + ((n * tall + row) * wide + col) * channels + c;
                            for (int64_t k = 0; k < BLOCK; k++) highest[k] = from[k] > highest[k] ? from[k] : highest[k];
                        }
                    memcpy(to + c, highest, sizeof highest);
                }
            }
}

INLINE Lanes lanes_of(const float *x, int64_t count) {
    Lanes lanes = {0};
    memcpy(&lanes, x, count * sizeof *x);
    return lanes;
}

/* The sum of all lanes, folded in halves. */
INLINE float folded(const Lanes *lanes) {
    Half halves[2];
    Quarter quarters[2];
    memcpy(halves, lanes, sizeof halves);
    const Half eight = halves[0] + halves[1];
    memcpy(quarters, &eight, sizeof quarters);
    const Quarter four = quarters[0] + quarters[1];
    return (four[0] + four[2]) + (four[1] + four[3]);
}

/* Σ x². */
INLINE float squared_length(const float *x, int64_t channels) {
    Lanes even = {0}, odd = {0};
    int64_t k = 0;
    for (; k + 2 * LANES <= channels; k += 2 * LANES) {
        const Lanes one = lanes_of(x + k, LANES), other = lanes_of(x + k + LANES, LANES);
        even += one * one, odd += other * other;
    }
    for (; k < channels; k += LANES) {
        const Lanes rest = lanes_of(x + k, least(LANES, channels - k));
        even += rest * rest;
    }
    even += odd;
    return folded(&even);
}

INLINE Lanes step_of(const float *a, float a_scale, const float *b, float b_scale, const float *head, int64_t count) {
    const Lanes step = lanes_of(a, count) * a_scale - lanes_of(b, count) * b_scale;
    return lanes_of(head, count) * step * step;
}

/* Σ head · (a · its scale − b · its scale)²; of equals it is 0, as both products are rounded alike. */
INLINE float apart(const float *a, float a_scale, const float *b, float b_scale, const float *head, int64_t channels) {
    Lanes even = {0}, odd = {0};
    int64_t k = 0;
    for (; k + 2 * LANES <= channels; k += 2 * LANES) {
        even += step_of(a + k, a_scale, b + k, b_scale, head + k, LANES);
        odd += step_of(a + k + LANES, a_scale, b + k + LANES, b_scale, head + k + LANES, LANES);
    }
    for (; k < channels; k += LANES)
        even += step_of(a + k, a_scale, b + k, b_scale, head + k, least(LANES, channels - k));
    even += odd;
    return folded(&even);
}

/* Add a layer's distance of picture n and picture n + half: the plain mean, and that of the enlarged map. */
EXPORT WIDE void distances(const float *features, int64_t half, int64_t tall, int64_t wide, int64_t channels, int64_t pad,
                           const float *head, const double *down, int64_t rows, const double *across, int64_t cols,
                           double *plain, double *spread) {
    for (int64_t n = 0; n < half; n++) {
        double total = 0, weighted = 0;
        for (int64_t y = 0; y < rows; y++)
            for (int64_t x = 0; x < cols; x++) {
                const float *one = features + ((n * tall + pad + y) * wide + pad + x) * channels;
                const float *other = one + half * tall * wide * channels;
                const float a_scale = 1 / (sqrtf(squared_length(one, channels)) + 1e-10f);
                const float b_scale = 1 / (sqrtf(squared_length(other, channels)) + 1e-10f);
                const float distance = apart(one, a_scale, other, b_scale, head, channels);
                total += distance;
                weighted += distance * down[y] * across[x];
            }
        plain[n] += total / (double)(rows * cols);
        spread[n] += weighted;
    }
}
