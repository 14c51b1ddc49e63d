/* What a few frames look like in detail (see instruments/clip/frames/picture_samples.py). Blocks are added up as NumPy does
 * it: the values of a row in eight lanes, and the rows one after another. */
#include "pairwise.h"

#include <math.h>
#include <string.h>

INLINE float of_lanes(const float *r) { return ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7])); }

PAIRWISE(sum_of, float, one[i])

INLINE float higher(float a, float b) { return a > b ? a : b; }

/* (Y − offset) · scale of every so many values of a line. */
#define LEVELS(NAME, CODE)                                                                                              \
    INLINE void NAME(const CODE *line, int64_t every, int64_t count, float scale, float offset, float *restrict found) { \
        for (int64_t j = 0; j < count; j++) found[j] = ((float)line[every * j] - offset) * scale;                       \
    }
LEVELS(levels_8, uint8_t)
LEVELS(levels_16, uint16_t)

/* Weighted sums around points `across` columns and `down` rows apart, the first at (`reach`, `reach`), times `scale`.
 * `weights` are 2 · reach + 1 whole numbers, the same along both axes; `room` is for a line of `columns` values. */
#define SMALL(NAME, CODE)                                                                                            \
    EXPORT WIDE void NAME(const CODE *plane, int64_t line, int64_t columns, int64_t rows_found, int64_t columns_found, \
                          int64_t down, int64_t across, const int32_t *weights, int64_t reach, int32_t *restrict room, \
                          float scale, float *restrict found) {                                                      \
        for (int64_t i = 0; i < rows_found; i++) {                                                                   \
            memset(room, 0, sizeof(int32_t) * columns);                                                              \
            for (int64_t k = 0; k <= 2 * reach; k++) {                                                               \
                const CODE *here = plane + (i * down + k) * line;                                                    \
                const int32_t weight = weights[k];                                                                   \
                for (int64_t j = 0; j < columns; j++) room[j] += weight * here[j];                                   \
            }                                                                                                        \
            for (int64_t j = 0; j < columns_found; j++) {                                                            \
                int64_t total = 0;                                                                                   \
                for (int64_t k = 0; k <= 2 * reach; k++) total += (int64_t)weights[k] * room[j * across + k];        \
                found[i * columns_found + j] = (float)total * scale;                                                 \
            }                                                                                                        \
        }                                                                                                            \
    }
SMALL(small_8, uint8_t)
SMALL(small_16, uint16_t)

/* Rows that are looked at together: two blocks of noise, one of anything else, and two rows more, which belong to the next
 * ones. */
enum { BAND = 16, BESIDE = 2 };

/* What is found of a picture so many rows and columns large, band by band (see `Middle` in sample_kernels.py). */
typedef struct {
    int64_t rows, columns;
    float spread, share, moves;
    float *right, *below, *response, *light, *ratios;
    int64_t *counts;
} Middle;

/* Σ |Y − its right neighbour| of each column, row after row, and Σ |Y − the one below| of each row; `lane` is for a row. */
INLINE void neighbour_steps(const Middle *of, const float *band, int64_t first, float *restrict lane) {
    const int64_t columns = of->columns;
    float *restrict right = of->right;
    for (int64_t i = first; i < least(first + BAND, of->rows); i++) {
        const float *here = band + (i - first) * columns;
        for (int64_t j = 0; j < columns - 1; j++) right[j] += fabsf(here[j + 1] - here[j]);
        if (i + 1 == of->rows) break;
        for (int64_t j = 0; j < columns; j++) lane[j] = fabsf(here[columns + j] - here[j]);
        of->below[i] = sum_of(lane, lane, columns);
    }
}

/* Sums over 8 × 8 of |Y ∗ M| and of Y, without the outermost pixels. */
INLINE void noise_blocks(const Middle *of, const float *band, int64_t first, float *restrict lane) {
    const int64_t blocks = most(of->columns - 2, 0) / 8, last = most(of->rows - 2, 0) / 8 * 8;
    for (int64_t row = first; row < least(first + BAND, last); row++) {
        const float *up = band + (row - first) * of->columns, *here = up + of->columns, *down = here + of->columns;
        for (int64_t j = 0; j < 8 * blocks; j++) { /* the order of OpenCV's filter: row by row, left to right */
            float value = up[j] - 2 * up[j + 1] + up[j + 2] - 2 * here[j] + 4 * here[j + 1] - 2 * here[j + 2];
            value = value + down[j] - 2 * down[j + 1] + down[j + 2];
            lane[j] = fabsf(value);
        }
        float *response = of->response + row / 8 * blocks, *light = of->light + row / 8 * blocks;
        for (int64_t block = 0; block < blocks; block++) {
            response[block] += of_lanes(lane + 8 * block);
            light[block] += of_lanes(here + 8 * block + 1);
        }
    }
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
INLINE void static_blocks(const Middle *of, const float *band, int64_t first) {
    const int64_t line = of->columns;
    if (first + BAND >= of->rows) return;
    for (int64_t x = 0; x < (line - 1) / BAND; x++) {
        const float *here = band + BAND * x, *right = here + 1, *below = here + line;
        const float middle = mean_value(here, line);
        const float variance = mean_product(here, here, line) - middle * middle;
        if (!(variance >= of->spread)) continue;
        if (!(mean_product(here, right, line) - middle * mean_value(right, line) <= of->share * variance)) continue;
        of->counts[0] += mean_product(here, below, line) - middle * mean_value(below, line) <= of->share * variance;
    }
}

/* Of blocks of 16 × 16 that differ by `moves` or more: distance of lines over distance of the lines around them. */
INLINE void comb_ratios(const Middle *of, const float *band, const float *before, int64_t first) {
    const int64_t line = of->columns;
    if (first + BAND + BESIDE > of->rows) return;
    for (int64_t x = 0; x < line / BAND; x++) {
        const float *up = band + BAND * x, *then = before + BAND * x + line;
        float moved = 0, lines = 0, fields = 0, r[8], q[8];
        for (int64_t i = 0; i < BAND; i++) {
            const float *now = up + (i + 1) * line, *was = then + i * line;
            for (int64_t k = 0; k < 8; k++) r[k] = fabsf(now[k] - was[k]) + fabsf(now[k + 8] - was[k + 8]);
            moved += of_lanes(r);
        }
        if (moved / 256 < of->moves) continue;
        for (int64_t i = 0; i < BAND; i++) {
            const float *a = up + i * line, *now = a + line, *b = now + line;
            for (int64_t k = 0; k < 8; k++) {
                r[k] = fabsf(now[k] - (a[k] + b[k]) / 2) + fabsf(now[k + 8] - (a[k + 8] + b[k + 8]) / 2);
                q[k] = fabsf(b[k] - a[k]) + fabsf(b[k + 8] - a[k + 8]);
            }
            lines += of_lanes(r), fields += of_lanes(q);
        }
        of->ratios[of->counts[1]++] = (lines / 256) / (fields / 256 + 1);
    }
}

/* All of these in one walk; `before` may be a null pointer. `found` is of 0 at first: means of |Y − its right neighbour| (a
 * column less), of |Y − the one below| (a row less), of noise and of light of blocks, and ratios of combs; `counts`: static
 * blocks, and ratios. `room` is for two bands and a row. */
#define MIDDLE(NAME, CODE, LEVELS_OF)                                                                               \
    EXPORT WIDE void NAME(const CODE *plane, int64_t line, const CODE *before, int64_t before_line, int64_t rows,   \
                          int64_t columns, float scale, float offset, float before_scale, float before_offset,      \
                          float spread, float share, float moves, float *restrict room, float *found,               \
                          int64_t *counts) {                                                                        \
        const int64_t blocks = (most(rows - 2, 0) / 8) * (most(columns - 2, 0) / 8);                                \
        float *below = found + columns - 1, *response = below + rows - 1, *light = response + blocks;               \
        const Middle of = {rows, columns, spread, share, moves, found, below, response, light, light + blocks, counts}; \
        float *band = room, *then = band + (BAND + BESIDE) * columns, *lane = then + (BAND + BESIDE) * columns;     \
        for (int64_t first = 0; first < rows; first += BAND) {                                                      \
            for (int64_t i = first; i < least(first + BAND + BESIDE, rows); i++)                                    \
                LEVELS_OF(plane + i * line, 1, columns, scale, offset, band + (i - first) * columns);               \
            neighbour_steps(&of, band, first, lane);                                                                \
            noise_blocks(&of, band, first, lane);                                                                   \
            static_blocks(&of, band, first);                                                                        \
            if (!before) continue;                                                                                  \
            for (int64_t i = first; i < least(first + BAND + BESIDE, rows); i++)                                    \
                LEVELS_OF(before + i * before_line, 1, columns, before_scale, before_offset, then + (i - first) * columns); \
            comb_ratios(&of, band, then, first);                                                                    \
        }                                                                                                           \
        for (int64_t j = 0; j < columns - 1; j++) found[j] /= (float)rows;                                          \
        for (int64_t i = 0; i < rows - 1; i++) below[i] /= (float)columns;                                          \
        for (int64_t k = 0; k < 2 * blocks; k++) response[k] /= 64;                                                 \
    }
MIDDLE(middle_8, uint8_t, levels_8)
MIDDLE(middle_16, uint16_t, levels_16)

INLINE int32_t stands_out(float a, float b, float c, float d, float e, float f, float by) {
    const float beside = higher(higher(fabsf(b - a), fabsf(c - b)), higher(fabsf(e - d), fabsf(f - e)));
    return fabsf(d - c) - beside > by;
}

/* Of every third row, and of every third column, the places at which the step to the next stands out from the two beside it:
 * how many in each column but two on either side (`down`, of 0 at first), and in each row (`across`). `room` is for a row,
 * and for six thirds of one. */
#define SEAMS(NAME, CODE, LEVELS_OF)                                                                                  \
    EXPORT WIDE void NAME(const CODE *plane, int64_t line, int64_t rows, int64_t columns, float scale, float offset,  \
                          float by, float *restrict room, int32_t *restrict down, int32_t *across) {                  \
        const int64_t third = (columns + 2) / 3;                                                                      \
        for (int64_t i = 0; i < rows; i += 3) {                                                                       \
            LEVELS_OF(plane + i * line, 1, columns, scale, offset, room);                                             \
            for (int64_t j = 0; j < columns - 5; j++)                                                                 \
                down[j] += stands_out(room[j], room[j + 1], room[j + 2], room[j + 3], room[j + 4], room[j + 5], by);  \
        }                                                                                                             \
        float *kept = room + columns;                                                                                 \
        for (int64_t i = 0; i < rows; i++) {                                                                          \
            LEVELS_OF(plane + i * line, 3, third, scale, offset, kept + i % 6 * third);                               \
            if (i < 5) continue;                                                                                      \
            const float *v[6];                                                                                        \
            for (int64_t k = 0; k < 6; k++) v[k] = kept + (i + 1 + k) % 6 * third;                                    \
            int32_t found = 0;                                                                                        \
            for (int64_t j = 0; j < third; j++)                                                                       \
                found += stands_out(v[0][j], v[1][j], v[2][j], v[3][j], v[4][j], v[5][j], by);                        \
            across[i - 5] = found;                                                                                    \
        }                                                                                                             \
    }
SEAMS(seams_8, uint8_t, levels_8)
SEAMS(seams_16, uint16_t, levels_16)

/* How often red, green and blue have each level, in even and odd rows, and there in even and odd columns: waiting for the last
 * count to be written would take the time, and the even ones of both are one pixel of four. */
typedef uint32_t Colours[2][2][3][256];

/* Counts a row of pixels; returns how many are burnt, with a channel at 250 or more and another at 8 or less. */
INLINE int64_t count_row(Colours of, int64_t i, const uint8_t *restrict r, const uint8_t *restrict g,
                         const uint8_t *restrict b, int64_t columns) {
    uint32_t(*even)[256] = of[i % 2][0], (*odd)[256] = of[i % 2][1];
    uint32_t burnt = 0;
    for (int64_t j = 0; j < columns; j++) {
        const uint8_t top = r[j] > g[j] ? (r[j] > b[j] ? r[j] : b[j]) : (g[j] > b[j] ? g[j] : b[j]);
        const uint8_t bottom = r[j] < g[j] ? (r[j] < b[j] ? r[j] : b[j]) : (g[j] < b[j] ? g[j] : b[j]);
        burnt += (top >= 250) & (bottom <= 8);
    }
    for (int64_t j = 0; j < columns; j++) {
        uint32_t(*turn)[256] = j % 2 ? odd : even;
        turn[0][r[j]]++, turn[1][g[j]]++, turn[2][b[j]]++;
    }
    return burnt;
}

/* `counts`, 2 × 3 × 256: of all pixels, and of one of four. */
INLINE void add_up(Colours of, int64_t *counts) {
    for (int64_t c = 0; c < 3; c++)
        for (int64_t v = 0; v < 256; v++) {
            counts[(3 + c) * 256 + v] = of[0][0][c][v];
            counts[c * 256 + v] = (int64_t)of[0][0][c][v] + of[0][1][c][v] + of[1][0][c][v] + of[1][1][c][v];
        }
}

/* Of every second row and column of a picture: pixels are `step` bytes apart, channels `next`. Returns how many are burnt.
 * `room` is for three rows of what is counted. */
EXPORT WIDE int64_t rgb_counts(const uint8_t *rgb, int64_t line, int64_t step, int64_t next, int64_t rows,
                               int64_t columns, uint8_t *restrict room, int64_t *counts) {
    const int64_t width = (columns + 1) / 2;
    uint8_t *restrict r = room, *restrict g = room + width, *restrict b = room + 2 * width;
    int64_t burnt = 0;
    Colours of;
    memset(of, 0, sizeof of);
    for (int64_t i = 0; 2 * i < rows; i++) {
        const uint8_t *pixel = rgb + 2 * i * line;
        for (int64_t j = 0; j < width; j++, pixel += 2 * step)
            r[j] = pixel[0], g[j] = pixel[next], b[j] = pixel[2 * next];
        burnt += count_row(of, i, r, g, b, width);
    }
    add_up(of, counts);
    return burnt;
}

INLINE uint8_t cut(int32_t level) { return (uint8_t)(level < 0 ? 0 : level > 255 ? 255 : level); }

/* The same of planes with twice as many rows and columns of light as of colour, without the picture being made; `factors`
 * and arithmetic as in media/yuv.py. `room` is for three rows of colour. */
EXPORT WIDE int64_t yuv_counts(const uint8_t *light, int64_t light_line, const uint8_t *blue, int64_t blue_line,
                               const uint8_t *red, int64_t red_line, int64_t rows, int64_t columns,
                               const int64_t *factors, uint8_t *restrict room, int64_t *counts) {
    const int32_t y_scale = (int32_t)factors[0], y_offset = (int32_t)factors[1], v_red = (int32_t)factors[2];
    const int32_t u_blue = (int32_t)factors[3], u_green = (int32_t)factors[4], v_green = (int32_t)factors[5];
    uint8_t *restrict r = room, *restrict g = room + columns, *restrict b = room + 2 * columns;
    int64_t burnt = 0;
    Colours of;
    memset(of, 0, sizeof of);
    for (int64_t i = 0; i < rows; i++) {
        const uint8_t *y = light + 2 * i * light_line, *u = blue + i * blue_line, *v = red + i * red_line;
        for (int64_t j = 0; j < columns; j++) {
            const int32_t grey = (8 * y[2 * j] - y_offset) * y_scale >> 16, cb = 8 * u[j] - 1024, cr = 8 * v[j] - 1024;
            r[j] = cut(grey + (cr * v_red >> 16));
            g[j] = cut(grey + ((cb * u_green >> 16) + (cr * v_green >> 16)));
            b[j] = cut(grey + (cb * u_blue >> 16));
        }
        burnt += count_row(of, i, r, g, b, columns);
    }
    add_up(of, counts);
    return burnt;
}
