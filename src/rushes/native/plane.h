/* Sums over a plane of CODE, which is included once for each depth (see plane.c). Lanes are as narrow as the values allow:
 * COLUMN holds LINES values, STEP a Laplacian, and SQUARES the squares of 2 · SPAN of them. */

/* Blocks' sums from those of their columns. */
INLINE void NAME(gather)(const COLUMN *columns, const int64_t *edges, int64_t m, int64_t *blocks) {
    for (int64_t c = 0; c < m; c++) {
        TOTAL sum = 0;
        for (int64_t j = edges[c]; j < edges[c + 1]; j++) sum += columns[j];
        blocks[c] += sum;
    }
}

INLINE CODE NAME(apart)(CODE a, CODE b) { return (CODE)((a > b ? a : b) - (a > b ? b : a)); }

/* Line i of the plane as STEPs in its place among four, with a column more on either side: borders are reflected. */
INLINE void NAME(widen)(const CODE *restrict line, STEP *restrict to, int64_t w) {
    for (int64_t j = 0; j < w; j++) to[j] = (STEP)line[j];
    to[-1] = to[w > 1], to[w] = to[w > 1 ? w - 2 : 0];
}

/* Values of two lines, or of one (`b` is the same line again, `twice` 0): sums of columns, and the squares of L. */
INLINE int64_t NAME(two_lines)(const STEP *restrict up, const STEP *restrict a, const STEP *restrict b,
                               const STEP *restrict down, COLUMN *restrict light, COLUMN *restrict across, int64_t w,
                               int twice, int textured) {
    int64_t squared = 0;
    for (int64_t start = 0; start < w; start += SPAN) {
        const int64_t stop = least(w, start + SPAN);
        SQUARES found = 0;
        INDEPENDENT
        for (int64_t j = start; j < stop; j++) {
            const STEP one = (STEP)(up[j] + (twice ? b : down)[j] + a[j - 1] + a[j + 1] - 4 * a[j]);
            const STEP other = twice ? (STEP)(a[j] + down[j] + b[j - 1] + b[j + 1] - 4 * b[j]) : 0;
            found += (SQUARES)((PRODUCT)one * one) + (SQUARES)((PRODUCT)other * other);
            light[j] += (COLUMN)(a[j] + (twice ? b[j] : 0));
            if (textured) {
                const STEP right = (STEP)(a[j + 1] - a[j]), next = twice ? (STEP)(b[j + 1] - b[j]) : 0;
                across[j] += (COLUMN)((right < 0 ? -right : right) + (next < 0 ? -next : next));
            }
        }
        squared += (int64_t)found;
    }
    return squared;
}

INLINE int64_t NAME(total)(const CODE *line, int64_t w) {
    int64_t total = 0;
    for (int64_t j = 0; j < w; j++) total += line[j];
    return total;
}

/* Added to `blocks` (3 × n × m): Σ Y, Σ |Y − Y_before| and, if textured, Σ |Y − its right neighbour|. To `sums`: Σ Y,
 * Σ |Y − Y_before|, Σ L and Σ L². `room` is for 3 lines of COLUMN and 4 of STEP of w + 96 values
 * each, and 64 bytes before the first: aligned, they take a fifth less time. */
INLINE void NAME(plane)(const CODE *plane, int64_t line, const CODE *before, int64_t before_line, int64_t h, int64_t w,
                        const int64_t *rows, int64_t n, const int64_t *columns, int64_t m, void *room, int64_t *blocks,
                        int64_t *sums, int textured) {
    const int64_t pitch = (w + 95) / 32 * 32;
    COLUMN *restrict light = (COLUMN *)(((uintptr_t)room + 63) / 64 * 64), *restrict change = light + pitch, *restrict across = change + pitch;
    STEP *wide = (STEP *)(change + 2 * pitch) + 32;
    int64_t ready = least(h, 2), laplacian = 0, squared = 0;
    for (int64_t i = 0; i < ready; i++) NAME(widen)(plane + i * line, wide + i * pitch, w);
    for (int64_t b = 0; b < n; b++) {
        for (int64_t start = rows[b]; start < rows[b + 1]; start += LINES) {
            const int64_t stop = least(start + LINES, rows[b + 1]);
            memset(light, 0, (textured ? 3 : 2) * pitch * sizeof *light);
            for (int64_t i = start, next; i < stop; i = next) {
                next = least(i + 2, stop);
                for (; ready <= next && ready < h; ready++)
                    NAME(widen)(plane + ready * line, wide + ready % 4 * pitch, w);
                /* The line above the first is the second, and the one below the last is the last but one. */
                const STEP *up = wide + (i > 0 ? i - 1 : h > 1) % 4 * pitch;
                const STEP *down = wide + (next < h ? next : most(h - 2, 0)) % 4 * pitch;
                const STEP *here = wide + i % 4 * pitch, *there = wide + (next - 1) % 4 * pitch;
                const CODE *restrict p = plane + i * line, *restrict q = before + i * before_line;
                if (next == i + 2) {
                    const CODE *restrict p1 = p + line, *restrict q1 = q + before_line;
                    INDEPENDENT
                    for (int64_t j = 0; j < w; j++)
                        change[j] += (COLUMN)(NAME(apart)(p[j], q[j]) + NAME(apart)(p1[j], q1[j]));
                    squared += textured ? NAME(two_lines)(up, here, there, down, light, across, w, 1, 1)
                                        : NAME(two_lines)(up, here, there, down, light, across, w, 1, 0);
                } else {
                    for (int64_t j = 0; j < w; j++) change[j] += NAME(apart)(p[j], q[j]);
                    squared += textured ? NAME(two_lines)(up, here, here, down, light, across, w, 0, 1)
                                        : NAME(two_lines)(up, here, here, down, light, across, w, 0, 0);
                }
            }
            /* Second differences telescope, so Σ L needs only the outermost two lines of each side. */
            if (w > 1) laplacian += (int64_t)light[1] - light[0] + light[w - 2] - light[w - 1];
            NAME(gather)(light, columns, m, blocks + b * m);
            NAME(gather)(change, columns, m, blocks + (n + b) * m);
            if (textured) {
                across[w - 1] = 0;
                NAME(gather)(across, columns, m, blocks + (2 * n + b) * m);
            }
        }
    }
    if (h > 1) {
        laplacian += NAME(total)(plane + line, w) - NAME(total)(plane, w);
        laplacian += NAME(total)(plane + (h - 2) * line, w) - NAME(total)(plane + (h - 1) * line, w);
    }
    int64_t total = 0, difference = 0;
    for (int64_t k = 0; k < n * m; k++) total += blocks[k], difference += blocks[n * m + k];
    const int has_laplacian = h > 1 && w > 1;
    sums[0] = total, sums[1] = difference;
    sums[2] = has_laplacian ? laplacian : 0, sums[3] = has_laplacian ? squared : 0;
}

/* Added to `blocks` (n × m): Σ of the plane. `room` is for a line of COLUMN. */
INLINE void NAME(block)(const CODE *plane, int64_t line, const int64_t *rows, int64_t n, const int64_t *columns,
                        int64_t m, void *room, int64_t *blocks) {
    COLUMN *restrict light = room;
    const int64_t w = columns[m];
    for (int64_t b = 0; b < n; b++)
        for (int64_t start = rows[b]; start < rows[b + 1]; start += LINES) {
            const int64_t stop = least(start + LINES, rows[b + 1]);
            memset(light, 0, w * sizeof *light);
            for (int64_t i = start; i < stop; i++) {
                const CODE *restrict here = plane + i * line;
                for (int64_t j = 0; j < w; j++) light[j] += here[j];
            }
            NAME(gather)(light, columns, m, blocks + b * m);
        }
}
