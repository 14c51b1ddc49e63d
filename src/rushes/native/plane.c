/* Sums over planes and whole frames (see instruments/clip/frames/luma_sums.py and compiled/frame.py).
 *
 * Lines are `line` values apart, downwards or upwards. Blocks begin at `rows` and `columns`, which have an entry more than
 * there are blocks; together they are the whole plane. */
#include "loops.h"

#include <string.h>

/* Rows whose 8-bit values add up to less than 2^16, and columns of two rows whose squares (at most 1020²) to less than
 * 2^32. */
enum { LINES = 256, SPAN = 2048 };

#define NAME(what) what##_8
#define CODE uint8_t
#define COLUMN uint16_t
#define STEP int16_t
#define SQUARES uint32_t
#define PRODUCT int32_t
#define TOTAL uint32_t
#include "plane.h"
#undef NAME
#undef CODE
#undef COLUMN
#undef STEP
#undef SQUARES
#undef PRODUCT
#undef TOTAL

#define NAME(what) what##_16
#define CODE uint16_t
#define COLUMN uint32_t
#define STEP int32_t
#define SQUARES int64_t
#define PRODUCT int64_t
#define TOTAL int64_t
#include "plane.h"

EXPORT WIDE void plane_sums_8(const uint8_t *plane, int64_t line, const uint8_t *before, int64_t before_line, int64_t h,
                              int64_t w, const int64_t *rows, int64_t n, const int64_t *columns, int64_t m, void *room,
                              int64_t *blocks, int64_t *sums, int64_t textured) {
    plane_8(plane, line, before, before_line, h, w, rows, n, columns, m, room, blocks, sums, textured != 0);
}

EXPORT WIDE void plane_sums_16(const uint16_t *plane, int64_t line, const uint16_t *before, int64_t before_line,
                               int64_t h, int64_t w, const int64_t *rows, int64_t n, const int64_t *columns, int64_t m,
                               void *room, int64_t *blocks, int64_t *sums, int64_t textured) {
    plane_16(plane, line, before, before_line, h, w, rows, n, columns, m, room, blocks, sums, textured != 0);
}

EXPORT WIDE void block_sums_8(const uint8_t *plane, int64_t line, const int64_t *rows, int64_t n,
                              const int64_t *columns, int64_t m, void *room, int64_t *blocks) {
    block_8(plane, line, rows, n, columns, m, room, blocks);
}

EXPORT WIDE void block_sums_16(const uint16_t *plane, int64_t line, const int64_t *rows, int64_t n,
                               const int64_t *columns, int64_t m, void *room, int64_t *blocks) {
    block_16(plane, line, rows, n, columns, m, room, blocks);
}

INLINE void means_of(const int64_t *blocks, const int64_t *rows, int64_t n, const int64_t *columns, int64_t m,
                     float *means) {
    for (int64_t b = 0; b < n; b++)
        for (int64_t c = 0; c < m; c++) {
            const double size = (double)((rows[b + 1] - rows[b]) * (columns[c + 1] - columns[c]));
            means[b * m + c] = (float)((double)blocks[b * m + c] / size);
        }
}

/* All of a frame of 8-bit planar YUV in one call. `plan`: height, width, rows and columns of blocks, every how many chroma
 * lines; then the edges of luma's rows and columns of blocks, and of chroma's. `room`: 3 × n × m whole numbers of 64
 * bits, and then as `plane_sums_8` has it. `means`: 4 × n × m. `texture`: n × m, or a null pointer. */
EXPORT WIDE void frame_sums(const uint8_t *luma, int64_t line, const uint8_t *blue, const uint8_t *red,
                            int64_t chroma_line, const uint8_t *before, int64_t before_line, const int64_t *plan,
                            int64_t *room, float *means, int64_t *sums, float *texture) {
    const int64_t h = plan[0], w = plan[1], n = plan[2], m = plan[3], every = plan[4], all = n * m;
    const int64_t *rows = plan + 5, *columns = rows + n + 1;
    const int64_t *chroma_rows = columns + m + 1, *chroma_columns = chroma_rows + n + 1;
    int64_t *blocks = room, *lines = room + 3 * all;
    memset(blocks, 0, 3 * all * sizeof *blocks);
    plane_8(luma, line, before, before_line, h, w, rows, n, columns, m, lines, blocks, sums, texture != NULL);
    means_of(blocks, rows, n, columns, m, means);
    means_of(blocks + all, rows, n, columns, m, means + all);
    if (texture) means_of(blocks + 2 * all, rows, n, columns, m, texture);
    memset(blocks, 0, 2 * all * sizeof *blocks);
    block_8(blue, every * chroma_line, chroma_rows, n, chroma_columns, m, lines, blocks);
    block_8(red, every * chroma_line, chroma_rows, n, chroma_columns, m, lines, blocks + all);
    means_of(blocks, chroma_rows, n, chroma_columns, m, means + 2 * all);
    means_of(blocks + all, chroma_rows, n, chroma_columns, m, means + 3 * all);
}
