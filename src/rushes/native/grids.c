/* Sums over the blocks of pictures (see instruments/clip/frames/grid_kernels.py), added up as NumPy does it. */
#include "pairwise.h"

PAIRWISE(sum_of, double)

/* Σ a b of all pairs of rows, which hold whole numbers: every sum is exact, in whichever order it is made. */
EXPORT WIDE void dot_products(const double *values, int64_t rows, int64_t count, double *found) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k <= i; k++) {
            const double *one = values + i * count, *other = values + k * count;
            double r[32] = {0}, total = 0;
            int64_t j = 0;
            for (; j + 32 <= count; j += 32)
                for (int64_t lane = 0; lane < 32; lane++) r[lane] += one[j + lane] * other[j + lane];
            for (; j < count; j++) total += one[j] * other[j];
            for (int64_t lane = 0; lane < 32; lane++) total += r[lane];
            found[i * rows + k] = found[k * rows + i] = total;
        }
}

/* Of each pair of rows Σ (a − b)²; `room` is for a row. */
EXPORT WIDE void square_sums(const double *one, int64_t one_line, const double *other, int64_t other_line, int64_t rows,
                        int64_t count, double *restrict room, double *found) {
    for (int64_t i = 0; i < rows; i++, one += one_line, other += other_line) {
        for (int64_t j = 0; j < count; j++) room[j] = (one[j] - other[j]) * (one[j] - other[j]);
        found[i] = sum_of(room, count);
    }
}

INLINE void centred(const double *values, int64_t count, double *restrict found) {
    const double middle = sum_of(values, count) / (double)count;
    for (int64_t j = 0; j < count; j++) found[j] = values[j] - middle;
}

INLINE double product_sum(const double *one, const double *other, int64_t count, double *restrict room) {
    for (int64_t j = 0; j < count; j++) room[j] = one[j] * other[j];
    return sum_of(room, count);
}

/* Of each pair of rows Σ a b and Σ a² · Σ b², both less their means; `room` is for three rows. */
EXPORT WIDE void correlation_sums(const double *one, const double *other, int64_t rows, int64_t count, double *room,
                             double *both, double *each) {
    double *a = room, *b = room + count, *scratch = room + 2 * count;
    for (int64_t i = 0; i < rows; i++) {
        centred(one + i * count, count, a);
        centred(other + i * count, count, b);
        each[i] = product_sum(a, a, count, scratch) * product_sum(b, b, count, scratch);
        both[i] = product_sum(a, b, count, scratch);
    }
}

/* One region, its rows one after another. */
INLINE void gathered(const double *plane, int64_t line, int64_t tall, int64_t wide, double *room, double *found) {
    for (int64_t i = 0; i < tall; i++)
        for (int64_t j = 0; j < wide; j++) room[i * wide + j] = plane[i * line + j];
    centred(room, tall * wide, found);
}

/* How far each region of each step moves (see `displacements` in shake.py): from planes of gradients downwards and to the
 * right and of changes, with `faint` added to a gradient's square; `moves` are steps × down × across × 2, and `room` is for
 * four regions. */
EXPORT WIDE void region_moves(const double *downwards, const double *rightwards, const double *changes, int64_t steps,
                         int64_t height, int64_t width, int64_t down, int64_t across, double faint, double *room,
                         double *moves) {
    const int64_t tall = height / down, wide = width / across, count = tall * wide;
    double *g = room, *h = g + count, *e = h + count, *scratch = e + count;
    const double added = (double)count * faint;
    for (int64_t step = 0; step < steps; step++)
        for (int64_t y = 0; y < down; y++)
            for (int64_t x = 0; x < across; x++, moves += 2) {
                const int64_t place = (step * height + y * tall) * width + x * wide;
                gathered(downwards + place, width, tall, wide, scratch, g);
                gathered(rightwards + place, width, tall, wide, scratch, h);
                gathered(changes + place, width, tall, wide, scratch, e);
                const double gg = product_sum(g, g, count, scratch) + added;
                const double hh = product_sum(h, h, count, scratch) + added;
                const double gh = product_sum(g, h, count, scratch);
                const double ge = product_sum(g, e, count, scratch), he = product_sum(h, e, count, scratch);
                const double scale = gg * hh - gh * gh;
                moves[0] = (gh * he - hh * ge) / scale;
                moves[1] = (gh * ge - gg * he) / scale;
            }
}
