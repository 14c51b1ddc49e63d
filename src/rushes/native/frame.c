/* All sums of one frame (see instruments/clip/frames/compiled/frame.py). */
#include "loops.h"

#include <string.h>

/* Rows whose 8-bit values add up to less than 2^16. */
enum { LINES = 256 };

static inline uint8_t apart(uint8_t a, uint8_t b) { return a > b ? a - b : b - a; }

/* Block b's sums from those of its columns, added to `block`. */
static inline __attribute__((always_inline)) void gather(const uint16_t *columns, const int64_t *edges, int64_t m, int64_t *block) {
    for (int64_t c = 0; c < m; c++) {
        uint32_t sum = 0;
        for (int64_t j = edges[c]; j < edges[c + 1]; j++) sum += columns[j];
        block[c] += sum;
    }
}

/* `plan`: height, width, rows and columns of blocks, width of chroma, every how many chroma lines, 0; then the edges of
 * luma's rows and columns of blocks, and of chroma's. `lines`: room for three lines. */
EXPORT WIDE void frame_sums(const uint8_t *luma, int64_t luma_line, const uint8_t *blue, const uint8_t *red,
                            int64_t chroma_line, const uint8_t *before, int64_t before_line, const int64_t *plan,
                            uint16_t *lines, float *means, int64_t *sums, float *texture, int64_t textured) {
    const int64_t h = plan[0], w = plan[1], n = plan[2], m = plan[3], cw = plan[4], every = plan[5];
    const int64_t *rows = plan + 7, *columns = rows + n + 1;
    const int64_t *chroma_rows = columns + m + 1, *chroma_columns = chroma_rows + n + 1;
    const int64_t room = w > cw ? w : cw;
    uint16_t *restrict light = lines, *restrict change = lines + room, *restrict across = lines + 2 * room;
    int64_t total = 0, difference = 0, laplacian = 0, squared = 0;
    int64_t block[3 * m];
    for (int64_t b = 0; b < n; b++) {
        const int64_t first = rows[b], last = rows[b + 1];
        memset(block, 0, sizeof block);
        for (int64_t start = first; start < last; start += LINES) {
            const int64_t stop = start + LINES < last ? start + LINES : last;
            memset(lines, 0, 3 * room * sizeof *lines);
            for (int64_t i = start; i < stop; i++) {
                const uint8_t *here = luma + i * luma_line, *then = before + i * before_line;
                const uint8_t *up = luma + (i > 0 ? i - 1 : 1) * luma_line;
                const uint8_t *down = luma + (i < h - 1 ? i + 1 : h - 2) * luma_line;
                for (int64_t j = 0; j < w; j++) {
                    light[j] += here[j];
                    change[j] += apart(here[j], then[j]);
                }
                if (textured)
                    for (int64_t j = 0; j < w - 1; j++) across[j] += apart(here[j + 1], here[j]);
                /* Second differences telescope, so the sum of L needs only the outermost two lines of each side. */
                const int64_t weight = (i == 1) - (i == 0) + (i == h - 2) - (i == h - 1);
                if (weight != 0) {
                    uint32_t row_total = 0;
                    for (int64_t j = 0; j < w; j++) row_total += here[j];
                    laplacian += weight * (int64_t)row_total;
                }
                laplacian += (int64_t)here[1] - here[0] + here[w - 2] - here[w - 1];
                int32_t row_squared = 0;
                for (int64_t j = 1; j < w - 1; j++) {
                    const int16_t value = (int16_t)(up[j] + down[j] + here[j - 1] + here[j + 1] - 4 * here[j]);
                    row_squared += (int32_t)value * value;
                }
                squared += (uint32_t)row_squared;
                const int64_t left = (int64_t)up[0] + down[0] + 2 * here[1] - 4 * here[0];
                const int64_t right = (int64_t)up[w - 1] + down[w - 1] + 2 * here[w - 2] - 4 * here[w - 1];
                squared += left * left + right * right;
            }
            gather(light, columns, m, block);
            gather(change, columns, m, block + m);
            if (textured) gather(across, columns, m, block + 2 * m);
        }
        for (int64_t c = 0; c < m; c++) {
            const double size = (double)((last - first) * (columns[c + 1] - columns[c]));
            means[b * m + c] = (float)((double)block[c] / size);
            means[(n + b) * m + c] = (float)((double)block[m + c] / size);
            if (textured) texture[b * m + c] = (float)((double)block[2 * m + c] / size);
            total += block[c];
            difference += block[m + c];
        }
    }
    sums[0] = total, sums[1] = difference, sums[2] = laplacian, sums[3] = squared;
    for (int64_t b = 0; b < n; b++) {
        const int64_t first = chroma_rows[b], last = chroma_rows[b + 1];
        memset(block, 0, sizeof block);
        for (int64_t start = first; start < last; start += LINES) {
            const int64_t stop = start + LINES < last ? start + LINES : last;
            memset(lines, 0, 2 * room * sizeof *lines);
            for (int64_t i = start; i < stop; i++) {
                const uint8_t *bluer = blue + i * every * chroma_line, *redder = red + i * every * chroma_line;
                for (int64_t j = 0; j < cw; j++) {
                    light[j] += bluer[j];
                    change[j] += redder[j];
                }
            }
            gather(light, chroma_columns, m, block);
            gather(change, chroma_columns, m, block + m);
        }
        for (int64_t c = 0; c < m; c++) {
            const double size = (double)((last - first) * (chroma_columns[c + 1] - chroma_columns[c]));
            means[(2 * n + b) * m + c] = (float)((double)block[c] / size);
            means[(3 * n + b) * m + c] = (float)((double)block[m + c] / size);
        }
    }
}
