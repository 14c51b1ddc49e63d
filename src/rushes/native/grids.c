/* Sums over the blocks of pictures (see instruments/clip/frames/grid_kernels.py), added up as NumPy does it. */
#include "pairwise.h"

PAIRWISE(sum_of, double, one[i])
PAIRWISE(product_sum, double, one[i] * other[i])

/* Σ a b and Σ (a − b)² of two rows of whole numbers: every sum is exact, in whichever order it is made. */
#define EXACT(NAME, VALUE)                                                                       \
    INLINE double NAME(const double *one, const double *other, int64_t count) {                  \
        double r[32] = {0}, total = 0;                                                           \
        int64_t j = 0;                                                                           \
        for (; j + 32 <= count; j += 32)                                                         \
            for (int64_t k = 0; k < 32; k++) {                                                   \
                const double a = one[j + k], b = other[j + k];                                   \
                r[k] += VALUE;                                                                   \
            }                                                                                    \
        for (; j < count; j++) {                                                                 \
            const double a = one[j], b = other[j];                                               \
            total += VALUE;                                                                      \
        }                                                                                        \
        for (int64_t k = 0; k < 32; k++) total += r[k];                                          \
        return total;                                                                            \
    }
EXACT(dot_product, a * b)
EXACT(square_sum, (a - b) * (a - b))

/* Σ a b of all pairs of rows of whole numbers. */
EXPORT WIDE void dot_products(const double *values, int64_t rows, int64_t count, double *found) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k <= i; k++)
            found[i * rows + k] = found[k * rows + i] = dot_product(values + i * count, values + k * count, count);
}

/* Of each pair of rows of whole numbers Σ (a − b)². */
EXPORT WIDE void square_sums(const double *one, int64_t one_line, const double *other, int64_t other_line, int64_t rows,
                             int64_t count, double *found) {
    for (int64_t i = 0; i < rows; i++) found[i] = square_sum(one + i * one_line, other + i * other_line, count);
}

/* Of each row of whole numbers but the last `most` the largest Σ (a − b)² against the 1 to `most` rows after it. */
EXPORT WIDE void largest_ahead(const double *values, int64_t rows, int64_t count, int64_t most, double *found) {
    for (int64_t i = 0; i < rows - most; i++) {
        found[i] = 0;
        for (int64_t lag = 1; lag <= most; lag++) {
            const double here = square_sum(values + i * count, values + (i + lag) * count, count);
            if (here > found[i]) found[i] = here;
        }
    }
}

INLINE void centred(const double *values, int64_t count, double *restrict found) {
    const double middle = sum_of(values, values, count) / (double)count;
    for (int64_t j = 0; j < count; j++) found[j] = values[j] - middle;
}

/* Of each pair of rows Σ a b and Σ a² · Σ b², both less their means; `room` is for two rows. */
EXPORT WIDE void correlation_sums(const double *one, const double *other, int64_t rows, int64_t count, double *room,
                                  double *both, double *each) {
    double *a = room, *b = room + count;
    for (int64_t i = 0; i < rows; i++) {
        centred(one + i * count, count, a);
        centred(other + i * count, count, b);
        each[i] = product_sum(a, a, count) * product_sum(b, b, count);
        both[i] = product_sum(a, b, count);
    }
}

/* One region, its rows one after another. */
INLINE void gathered(const double *plane, int64_t line, int64_t tall, int64_t wide, double *restrict room,
                     double *restrict found) {
    for (int64_t i = 0; i < tall; i++)
        for (int64_t j = 0; j < wide; j++) room[i * wide + j] = plane[i * line + j];
    centred(room, tall * wide, found);
}

/* Of two pictures one after the other the gradient of their mean downwards and to the right, as numpy.gradient has it, and
 * what they differ by; of a single row or column the later picture in place of both gradients. */
INLINE void slopes(const float *before, const float *after, int64_t height, int64_t width, double *restrict mean,
                   double *restrict downwards, double *restrict rightwards, double *restrict changes) {
    const int64_t count = height * width;
    for (int64_t k = 0; k < count; k++) {
        mean[k] = ((double)after[k] + (double)before[k]) / 2;
        changes[k] = (double)after[k] - (double)before[k];
        downwards[k] = rightwards[k] = after[k];
    }
    if (least(height, width) < 2) return;
    for (int64_t i = 0; i < height; i++) {
        const double *above = mean + most(i - 1, 0) * width, *below = mean + least(i + 1, height - 1) * width;
        const double *here = mean + i * width, by = i > 0 && i < height - 1 ? 2 : 1;
        double *down = downwards + i * width, *right = rightwards + i * width;
        for (int64_t j = 0; j < width; j++) down[j] = (below[j] - above[j]) / by;
        right[0] = here[1] - here[0], right[width - 1] = here[width - 1] - here[width - 2];
        for (int64_t j = 1; j < width - 1; j++) right[j] = (here[j + 1] - here[j - 1]) / 2;
    }
}

/* How far each region of each step moves (see `displacements` in shake.py): from pictures, one more than there are steps,
 * with `faint` added to a gradient's square; `moves` are steps × down × across × 2, and `room` is for seven pictures. */
EXPORT WIDE void region_moves(const float *pictures, int64_t steps, int64_t height, int64_t width, int64_t down,
                              int64_t across, double faint, double *room, double *moves) {
    const int64_t tall = height / down, wide = width / across, count = tall * wide, whole = height * width;
    double *downwards = room, *rightwards = room + whole, *changes = room + 2 * whole, *scratch = room + 3 * whole;
    double *g = room + 4 * whole, *h = g + whole, *e = h + whole;
    const double added = (double)count * faint;
    for (int64_t step = 0; step < steps; step++, pictures += whole) {
        slopes(pictures, pictures + whole, height, width, scratch, downwards, rightwards, changes);
        for (int64_t y = 0; y < down; y++)
            for (int64_t x = 0; x < across; x++, moves += 2) {
                const int64_t place = y * tall * width + x * wide;
                gathered(downwards + place, width, tall, wide, scratch, g);
                gathered(rightwards + place, width, tall, wide, scratch, h);
                gathered(changes + place, width, tall, wide, scratch, e);
                const double gg = product_sum(g, g, count) + added, hh = product_sum(h, h, count) + added;
                const double gh = product_sum(g, h, count);
                const double ge = product_sum(g, e, count), he = product_sum(h, e, count);
                const double scale = gg * hh - gh * gh;
                moves[0] = (gh * he - hh * ge) / scale;
                moves[1] = (gh * ge - gg * he) / scale;
            }
    }
}

/* Mean of the products of all values of one series of rows with those of another, so many rows later: for lags from `first`
 * on. */
EXPORT WIDE void lagged_means(const double *one, const double *other, int64_t rows, int64_t count, int64_t first,
                              int64_t lags, double *found) {
    for (int64_t k = 0; k < lags; k++) {
        const int64_t values = (rows - first - k) * count;
        found[k] = product_sum(one, other + (first + k) * count, values) / (double)values;
    }
}
