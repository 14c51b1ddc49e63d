/* Sums over whole pictures, and pixels of one made of another's. */
#include "loops.h"

#include <math.h>
#include <string.h>

/* Values of 8 bits whose squared differences add up to less than 2^32. */
enum { SPAN = 32768 };

/* Σ |a − b|, Σ (a − b)² and Σ ((a − b)² mod 256) (see instruments/fidelity/kernels/sums.py). */
EXPORT WIDE void rgb_sums(const uint8_t *a, const uint8_t *b, int64_t count, int64_t *sums) {
    for (int64_t start = 0; start < count; start += SPAN) {
        const int64_t stop = least(count, start + SPAN);
        uint32_t absolute = 0, squared = 0, wrapped = 0;
        for (int64_t j = start; j < stop; j++) {
            const int16_t d = (int16_t)(a[j] - b[j]);
            const uint16_t square = (uint16_t)(d * d);
            absolute += (uint16_t)(d < 0 ? -d : d);
            squared += square;
            wrapped += (uint16_t)(square & 255);
        }
        sums[0] += absolute, sums[1] += squared, sums[2] += wrapped;
    }
}

/* Σ (a − b)² over planes of 16 bits. */
EXPORT WIDE int64_t squared_16(const uint16_t *a, int64_t a_line, const uint16_t *b, int64_t b_line, int64_t h, int64_t w) {
    int64_t total = 0;
    for (int64_t i = 0; i < h; i++)
        for (int64_t j = 0; j < w; j++) {
            const int32_t d = a[i * a_line + j] - b[i * b_line + j];
            total += (uint32_t)(d < 0 ? -d : d) * (uint64_t)(uint32_t)(d < 0 ? -d : d);
        }
    return total;
}

/* See instruments/fidelity/pairs/luma.py. */
EXPORT WIDE void rgb_to_gray(const uint8_t *restrict rgb, int64_t count, uint8_t *restrict gray) {
    for (int64_t j = 0; j < count; j++) {
        const double level =
            0.298936021293775 * rgb[3 * j] + 0.587043074451121 * rgb[3 * j + 1] + 0.114020904255103 * rgb[3 * j + 2];
        gray[j] = (uint8_t)(int32_t)(level + 0.5);
    }
}

/* Along one axis, as `AxisWeights` of media/alike/area.py has it. */
typedef struct {
    const int64_t *first, *start;
    const uint32_t *weights;
    const int64_t *inside;
    int64_t whole;
} Axis;

INLINE void averaged(const void *plane, int64_t line, int wide, int64_t source, Axis rows, int64_t height, Axis columns,
                     int64_t width, int64_t offset, int64_t span, uint32_t *restrict sums, uint8_t *out) {
    const int64_t total = span * rows.whole * columns.whole;
    for (int64_t r = 0; r < height; r++) {
        memset(sums, 0, source * sizeof *sums);
        for (int64_t n = rows.start[r]; n < rows.start[r + 1]; n++) {
            const int64_t place = (rows.first[r] + n - rows.start[r]) * line;
            const uint32_t weight = rows.weights[n];
            if (wide)
                for (int64_t j = 0; j < source; j++) sums[j] += weight * ((const uint16_t *)plane)[place + j];
            else
                for (int64_t j = 0; j < source; j++) sums[j] += weight * ((const uint8_t *)plane)[place + j];
        }
        for (int64_t c = 0; c < width; c++) {
            const uint32_t *from = sums + columns.first[c] - columns.start[c];
            int64_t found = 0;
            for (int64_t n = columns.start[c]; n < columns.start[c + 1]; n++)
                found += (uint64_t)columns.weights[n] * from[n];
            /* below black the quotient may be rounded up, to 0 at most, where it is cut off */
            const int64_t level = (510 * (found - offset * rows.inside[r] * columns.inside[c]) + total) / (2 * total);
            out[r * width + c] = (uint8_t)least(most(level, 0), 255);
        }
    }
}

/* Rows are added up with their weights first, in lanes of 32 bits: at most 65535 · 2 · 16384 fits. `sums` is a line of
 * scratch. */
EXPORT WIDE void area(const void *plane, int64_t line, int64_t wide, int64_t source, const int64_t *row_first,
                      const int64_t *row_start, const uint32_t *row_weights, const int64_t *row_inside, int64_t row_whole,
                      const int64_t *first, const int64_t *start, const uint32_t *weights, const int64_t *inside,
                      int64_t whole, int64_t offset, int64_t span, int64_t height, int64_t width, uint32_t *sums,
                      uint8_t *out) {
    const Axis rows = {row_first, row_start, row_weights, row_inside, row_whole};
    const Axis columns = {first, start, weights, inside, whole};
    if (wide)
        averaged(plane, line, 1, source, rows, height, columns, width, offset, span, sums, out);
    else
        averaged(plane, line, 0, source, rows, height, columns, width, offset, span, sums, out);
}

/* Where each output pixel of a crop reads (see vision/landmarks/crop.py): whole pixels (x in the low half, y in the high
 * one) and steps of 1/32 px. Each sum is in OpenCV's order, so that ties fall the same way. */
EXPORT WIDE void crop_positions(const double *m, int64_t size, int32_t *whole, uint16_t *steps) {
    /* 1.5 · 2^52: adding and taking it away rounds to the nearest whole number, ties to even */
    const double rounding = 6755399441055744.0;
    for (int64_t row = 0; row < size; row++)
        for (int64_t start = 0; start < size; start += 64) {
            const double x0 = (m[0] * (double)start + m[1] * (double)row) + m[2];
            const double y0 = (m[3] * (double)start + m[4] * (double)row) + m[5];
            const double w0 = (m[6] * (double)start + m[7] * (double)row) + m[8];
            int32_t *restrict whole_block = whole + row * size + start;
            uint16_t *restrict steps_block = steps + row * size + start;
            /* The divisor is 1 but for a last bit, which can decide a tie; mostly it is the same for a whole block. */
            const int same = w0 + m[6] * 63 == w0;
            const double scale = 32.0 / w0;
            for (int32_t across = 0; across < 64; across++) {
                const double by = same ? scale : 32.0 / (w0 + m[6] * across);
                const int32_t x = (int32_t)(((x0 + m[0] * across) * by + rounding) - rounding);
                const int32_t y = (int32_t)(((y0 + m[3] * across) * by + rounding) - rounding);
                whole_block[across] = (int32_t)((uint32_t)(y >> 5) << 16) | ((x >> 5) & 65535);
                steps_block[across] = (uint16_t)(((y & 31) << 5) | (x & 31));
            }
        }
}

INLINE int64_t within(double place, double last) {
    return (int64_t)(place > 0 ? (place < last ? place : last) : 0);
}

/* The next picture taken back along the flow (see instruments/clip/flow/warp_sums.py): Σ d², Σ |d| over pixels and
 * channels; returns how many pixels both pictures show. */
EXPORT WIDE int64_t warp_sums(const uint8_t *one, const uint8_t *other, const float *there, const float *back, int64_t h,
                         int64_t w, double edge_share, double edge_floor, double agree_share, double agree_floor,
                         double *sums) {
    double squared = 0, absolute = 0;
    int64_t seen = 0;
    for (int64_t y = 0; y < h; y++) {
        double row_squared = 0, row_absolute = 0;
        for (int64_t x = 0; x < w; x++) {
            const float *f = there + 2 * (y * w + x);
            const double fx = f[0], fy = f[1], moved = fx * fx + fy * fy;
            double edge = 0;
            if (x + 1 < w) {
                const double dx = f[2] - fx, dy = f[3] - fy;
                edge += dx * dx + dy * dy;
            }
            if (y + 1 < h) {
                const double dx = f[2 * w] - fx, dy = f[2 * w + 1] - fy;
                edge += dx * dx + dy * dy;
            }
            if (!(edge <= edge_share * moved + edge_floor)) continue;
            const double px = (double)x + fx, py = (double)y + fy, left = floor(px), top = floor(py);
            const double a = px - left, b = py - top, right = (double)(w - 1), bottom = (double)(h - 1);
            const int64_t x0 = within(left, right), x1 = within(left + 1, right);
            const int64_t y0 = within(top, bottom), y1 = within(top + 1, bottom);
            const int64_t p00 = y0 * w + x0, p01 = y0 * w + x1, p10 = y1 * w + x0, p11 = y1 * w + x1;
            const double k00 = (1 - a) * (1 - b), k01 = a * (1 - b), k10 = (1 - a) * b, k11 = a * b;
            const double bx = k00 * back[2 * p00] + k01 * back[2 * p01] + k10 * back[2 * p10] + k11 * back[2 * p11];
            const double by =
                k00 * back[2 * p00 + 1] + k01 * back[2 * p01 + 1] + k10 * back[2 * p10 + 1] + k11 * back[2 * p11 + 1];
            const double miss = (fx + bx) * (fx + bx) + (fy + by) * (fy + by);
            if (miss > agree_share * (moved + bx * bx + by * by) + agree_floor) continue;
            seen++;
            for (int64_t c = 0; c < 3; c++) {
                const double warped = k00 * other[3 * p00 + c] + k01 * other[3 * p01 + c] + k10 * other[3 * p10 + c] +
                                      k11 * other[3 * p11 + c];
                const double d = one[3 * (y * w + x) + c] - warped;
                row_squared += d * d;
                row_absolute += fabs(d);
            }
        }
        squared += row_squared;
        absolute += row_absolute;
    }
    sums[0] = squared, sums[1] = absolute;
    return seen;
}
