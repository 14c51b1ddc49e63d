/* SSIM under a Gaussian window, and pictures of half the size (see gaussian.py of instruments/fidelity/kernels). */
#include "fused.h"
#include "loops.h"

#include <string.h>

/* A strip of the picture is cut into LANES parts of SEGMENT columns at most, which lie side by side: column j of every part
 * is one vector, so a window moves along the row, as down the column, by whole vectors. BAND rows of windows are found
 * together, from the RING rows under them. A strip's four channels take 150 kB: they stay in the second cache. */
enum { LANES = 16, SEGMENT = 32, HALO = 10, BAND = 8, RING = BAND + HALO, AHEAD = 4 };
enum { COLUMNS = (SEGMENT + HALO + 15) / 16 * 16, REACH = (LANES - 1) * SEGMENT + COLUMNS };

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

/* Sums, differences and their squares of a row (p), their means under the window along the row (h; a vector of room keeps
 * rows that are used together from one place of the cache), and those down the column (v). */
typedef struct {
    float p[4][COLUMNS][LANES], h[4][RING][SEGMENT + 1][LANES], v[4][BAND][LANES], found[2][BAND][LANES];
    float within[SEGMENT][LANES];
    float lanes[2][COLUMNS][LANES], row[REACH];
    uint8_t byte_lanes[2][COLUMNS][LANES], bytes[REACH];
    double sums[2][LANES];
} Strip;

/* The middle of the scale, C1 and C2, all for sums and differences, and the weights from the middle outwards. */
typedef struct {
    float middle, c1, c2, k[6];
} Window;

/* Sixteen columns of all parts: sixteen rows of sixteen, transposed by four perfect shuffles. */
#define SPREAD(NAME, KIND)                                                                                                 \
    INLINE void NAME(const KIND *row, int64_t segment, KIND (*restrict out)[LANES]) {                                      \
        KIND a[16 * LANES], b[16 * LANES];                                                                                 \
        for (int64_t l = 0; l < LANES; l++) memcpy(a + 16 * l, row + segment * l, 16 * sizeof(KIND));                      \
        for (int64_t i = 0; i < 8 * LANES; i++) b[2 * i] = a[i], b[2 * i + 1] = a[i + 8 * LANES];                          \
        for (int64_t i = 0; i < 8 * LANES; i++) a[2 * i] = b[i], a[2 * i + 1] = b[i + 8 * LANES];                          \
        for (int64_t i = 0; i < 8 * LANES; i++) b[2 * i] = a[i], b[2 * i + 1] = a[i + 8 * LANES];                          \
        for (int64_t i = 0; i < 8 * LANES; i++) a[2 * i] = b[i], a[2 * i + 1] = b[i + 8 * LANES];                          \
        memcpy(out, a, sizeof a);                                                                                          \
    }
SPREAD(spread_floats, float)

#if defined(__clang__) || __GNUC__ >= 12
typedef uint8_t Bytes __attribute__((vector_size(16)));
#define MERGED(a, b, from)                                                                                                 \
    __builtin_shufflevector(a, b, from, from + 16, from + 1, from + 17, from + 2, from + 18, from + 3, from + 19,          \
                            from + 4, from + 20, from + 5, from + 21, from + 6, from + 22, from + 7, from + 23)

/* The same in registers. */
INLINE void spread_bytes(const uint8_t *row, int64_t segment, uint8_t (*restrict out)[LANES]) {
    Bytes a[LANES], b[LANES];
    for (int64_t l = 0; l < LANES; l++) memcpy(&a[l], row + l * segment, 16);
    for (int64_t round = 0; round < 4; round++) {
        for (int64_t l = 0; l < 8; l++) b[2 * l] = MERGED(a[l], a[l + 8], 0), b[2 * l + 1] = MERGED(a[l], a[l + 8], 8);
        for (int64_t l = 0; l < LANES; l++) a[l] = b[l];
    }
    for (int64_t j = 0; j < 16; j++) memcpy(out[j], &a[j], 16);
}
#else
SPREAD(spread_bytes, uint8_t)
#endif

/* One row of a side from column x on, all parts of a strip; past the picture's edge lies whatever was there before. */
INLINE void lanes_of_bytes(Side side, int64_t row, int64_t x, int64_t height, int64_t width, int64_t segment, Strip *t,
                           int64_t number) {
    const uint8_t *from = (const uint8_t *)side.values + row * side.line + x;
    const int64_t end = x + REACH; /* what is read past this row's end is the next row's, where there is one */
    for (int64_t j = 0; j < REACH; j += 64) __builtin_prefetch(from + AHEAD * side.line + j);
    if (end > width && (row + 1 == height || end > side.line + width)) {
        memcpy(t->bytes, from, least(REACH, width - x));
        from = t->bytes;
    }
    for (int64_t j = 0; j < segment + HALO; j += 16) spread_bytes(from + j, segment, t->byte_lanes[number] + j);
}

INLINE void lanes_of_floats(Side side, int64_t row, int64_t x, int64_t width, int64_t segment, Strip *t, int64_t number) {
    scaled(side, row, x, least(REACH, width - x), t->row);
    for (int64_t j = 0; j < segment + HALO; j += 16) spread_floats(t->row + j, segment, t->lanes[number] + j);
}

/* The window's mean over eleven values from x[i] on, in the order that leaves most plain pictures exactly as they are: the
 * outermost first, the middle before the two beside it. */
#define WEIGHED(x, i)                                                                                                      \
    F(k[1], x[i + 4] + x[i + 6],                                                                                           \
      F(k[2], x[i + 3] + x[i + 7],                                                                                         \
        F(k[0], x[i + 5],                                                                                                  \
          F(k[3], x[i + 2] + x[i + 8], F(k[4], x[i + 1] + x[i + 9], k[5] * (x[i] + x[i + 10]))))))
#define F(a, b, c) fused(a, b, c, hardware)
#ifdef __clang__
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 18")
#endif

INLINE void maps(Side one, Side other, int64_t segment, int plain, Strip *restrict t) {
    const int32_t shifts = (int32_t)(one.shift + other.shift);
    const uint8_t *restrict a = t->byte_lanes[0][0], *restrict b = t->byte_lanes[1][0];
    const float *restrict u = t->lanes[0][0], *restrict v = t->lanes[1][0];
    float *restrict sums = t->p[0][0], *restrict differences = t->p[1][0];
    float *restrict sums_2 = t->p[2][0], *restrict differences_2 = t->p[3][0];
    INDEPENDENT
    for (int64_t i = 0; i < (segment + HALO) * LANES; i++) {
        const float s = plain ? (float)(a[i] + b[i] - shifts) : u[i] + v[i];
        const float d = plain ? (float)(a[i] - b[i]) : u[i] - v[i];
        sums[i] = s, differences[i] = d, sums_2[i] = s * s, differences_2[i] = d * d;
    }
}

INLINE void along_rows(const float *k, int64_t slot, int64_t segment, int hardware, Strip *restrict t) {
    for (int64_t c = 0; c < 4; c++)
        for (int64_t j = 0; j < segment; j += 4)
            for (int64_t l = 0; l < LANES; l++) {
                float x[4 + HALO];
                UNROLLED for (int64_t i = 0; i < 4 + HALO; i++) x[i] = t->p[c][j + i][l];
                UNROLLED for (int64_t i = 0; i < 4; i++) t->h[c][slot][j + i][l] = WEIGHED(x, i);
            }
}

INLINE void down_columns(const float *k, const int64_t *slots, int64_t j, int hardware, Strip *restrict t) {
    for (int64_t c = 0; c < 4; c++)
        for (int64_t l = 0; l < LANES; l++) {
            float x[RING];
            UNROLLED for (int64_t i = 0; i < RING; i++) x[i] = t->h[c][slots[i]][j][l];
            UNROLLED for (int64_t i = 0; i < BAND; i++) t->v[c][i][l] = WEIGHED(x, i);
        }
}

/* SSIM and, where both are asked for, its contrast, of one column's windows. */
INLINE void similarity(const Window w, int both, int hardware, Strip *restrict t) {
    for (int64_t i = 0; i < BAND; i++)
        for (int64_t l = 0; l < LANES; l++) {
            const float ms = t->v[0][i][l], md = t->v[1][i][l], level = ms + w.middle;
            const float vs = F(-ms, ms, t->v[2][i][l]) + w.c2, vd = F(-md, md, t->v[3][i][l]);
            const float lit = level * level, dim = md * md;
            t->found[0][i][l] = (lit - dim + w.c1) * (vs - vd) / ((lit + dim + w.c1) * (vs + vd));
            if (both) t->found[1][i][l] = (vs - vd) / (vs + vd);
        }
}

/* Two by two over the rows, in floats, and added where this column of a part lies in the picture. */
INLINE void add(int64_t c, int64_t rows, int64_t j, Strip *restrict t) {
    for (int64_t i = rows; i < BAND; i++) memset(t->found[c][i], 0, sizeof t->found[c][i]);
    for (int64_t l = 0; l < LANES; l++) {
        const float upper = (t->found[c][0][l] + t->found[c][1][l]) + (t->found[c][2][l] + t->found[c][3][l]);
        const float lower = (t->found[c][4][l] + t->found[c][5][l]) + (t->found[c][6][l] + t->found[c][7][l]);
        t->sums[c][l] += (upper + lower) * t->within[j][l];
    }
}

INLINE void strip(Side one, Side other, int64_t x, int64_t height, int64_t width, int64_t segment, const Window w, int plain,
                  int both, int hardware, Strip *restrict t) {
    const int64_t down = height - HALO;
    int64_t row = 0, slots[RING];
    for (int64_t j = 0; j < segment; j++)
        for (int64_t l = 0; l < LANES; l++) t->within[j][l] = x + l * segment + j < width - HALO;
    for (int64_t top = 0; top < down; top += BAND) {
        for (; row < least(top + RING, height); row++) {
            if (plain) {
                lanes_of_bytes(one, row, x, height, width, segment, t, 0);
                lanes_of_bytes(other, row, x, height, width, segment, t, 1);
            } else {
                lanes_of_floats(one, row, x, width, segment, t, 0);
                lanes_of_floats(other, row, x, width, segment, t, 1);
            }
            maps(one, other, segment, plain, t);
            along_rows(w.k, row % RING, segment, hardware, t);
        }
        for (int64_t i = 0; i < RING; i++) slots[i] = (top + i) % RING;
        for (int64_t j = 0; j < segment; j++) {
            down_columns(w.k, slots, j, hardware, t);
            similarity(w, both, hardware, t);
            add(0, least(BAND, down - top), j, t);
            if (both) add(1, least(BAND, down - top), j, t);
        }
    }
}

INLINE void picture(Side one, Side other, int64_t height, int64_t width, const Window w, int plain, int both, int hardware,
                    Strip *restrict t) {
    const int64_t windows = width - HALO, strips = (windows + LANES * SEGMENT - 1) / (LANES * SEGMENT);
    const int64_t segment = (windows + LANES * strips - 1) / (LANES * strips);
    for (int64_t x = 0; x < windows; x += LANES * segment)
        strip(one, other, x, height, width, segment, w, plain, both, hardware, t);
}

/* The same loops for each processor, kind of picture and number of results. */
#define PICTURES(NAME, TARGET, HARDWARE)                                                                                   \
    TARGET static void NAME(Side one, Side other, int64_t height, int64_t width, Window w, int both, Strip *t) {           \
        const float twice = 2 * one.shift;                                                                                 \
        const int plain = one.bits == 8 && other.bits == 8 && one.gain == 1 && other.gain == 1 &&                          \
                          one.shift == other.shift && twice == (int32_t)twice;                                             \
        if (plain && both)                                                                                                 \
            picture(one, other, height, width, w, 1, 1, HARDWARE, t);                                                      \
        else if (plain)                                                                                                    \
            picture(one, other, height, width, w, 1, 0, HARDWARE, t);                                                      \
        else                                                                                                               \
            picture(one, other, height, width, w, 0, 1, HARDWARE, t);                                                      \
    }
PICTURES(on_baseline, , FUSED_BASELINE)
PICTURES(on_256, FUSED_OF_256, 1)
PICTURES(on_512, FUSED_OF_512, 1)

EXPORT int64_t gaussian_vectors(void) { return fused_vectors(); }

/* Σ of SSIM over all windows, and of its contrast if `both`. `vectors`: no wider ones than these (see fused.h). `room`: for a
 * strip, and 64 bytes. */
EXPORT void gaussian_ssim(const void *a, int64_t a_line, int64_t a_bits, float a_gain, float a_shift, const void *b,
                          int64_t b_line, int64_t b_bits, float b_gain, float b_shift, int64_t height, int64_t width,
                          const float *constants, int64_t vectors, int64_t both, void *room, double *totals) {
    Strip *t = (Strip *)(((uintptr_t)room + 63) / 64 * 64);
    const Side one = {a, a_line, a_bits, a_gain, a_shift}, other = {b, b_line, b_bits, b_gain, b_shift};
    Window w;
    memcpy(&w, constants, sizeof w);
    memset(t->sums, 0, sizeof t->sums); /* and what is read past the picture's edge is a number, whose weight is 0 */
    memset(t->row, 0, sizeof t->row);
    memset(t->bytes, 0, sizeof t->bytes);
    vectors = least(vectors, fused_vectors());
    (vectors == 2 ? on_512 : vectors == 1 ? on_256 : on_baseline)(one, other, height, width, w, both != 0, t);
    for (int64_t c = 0; c < 2; c++) {
        totals[c] = 0;
        for (int64_t l = 0; l < LANES; l++) totals[c] += t->sums[c][l];
    }
}

EXPORT int64_t gaussian_room(void) { return sizeof(Strip) + 64; }

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
