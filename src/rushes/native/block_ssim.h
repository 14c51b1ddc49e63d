/* Σ over the blocks of 8 × 8, 4 apart, in whole numbers of KIND; included once for each depth (see ssim.c). `room`: 4 × 4 ·
 * columns of KIND for a row of blocks, 8 × columns for this row's and the last one's; `sums`: columns, of 0 at first. */
EXPORT WIDE double NAME(const CODE *restrict a, int64_t a_line, const CODE *restrict b, int64_t b_line, int64_t rows, int64_t columns,
                        int64_t first_constant, int64_t second_constant, KIND *room, double *restrict sums) {
    const KIND c1 = (KIND)first_constant, c2 = (KIND)second_constant;
    const int64_t width = 4 * columns;
    KIND *restrict work = room, *restrict blocks = room + 4 * width;
    for (int64_t row = 0; row < rows; row++) {
        const CODE *restrict line = a + 4 * row * a_line, *restrict other = b + 4 * row * b_line;
        /* one sum a column over the four rows of a block, then over its four columns */
        INDEPENDENT
        for (int64_t j = 0; j < width; j++) {
            KIND sa = 0, sb = 0, ss = 0, sab = 0;
            for (int64_t k = 0; k < 4; k++) {
                const KIND x = line[k * a_line + j], y = other[k * b_line + j];
                sa += x, sb += y, ss += x * x + y * y, sab += x * y;
            }
            work[j] = sa, work[width + j] = sb, work[2 * width + j] = ss, work[3 * width + j] = sab;
        }
        KIND *restrict now = blocks + row % 2 * width;
        const KIND *restrict old = blocks + (1 - row % 2) * width;
        for (int64_t c = 0; c < 4; c++)
            for (int64_t i = 0; i < columns; i++) {
                const KIND *four = work + c * width + 4 * i;
                now[c * columns + i] = four[0] + four[1] + four[2] + four[3];
            }
        if (row == 0) continue;
        INDEPENDENT
        for (int64_t i = 0; i < columns - 1; i++) {
            const KIND fs1 = FOUR(i), fs2 = FOUR(columns + i), fss = FOUR(2 * columns + i), fs12 = FOUR(3 * columns + i);
            const KIND squares = fs1 * fs1 + fs2 * fs2, variances = 64 * fss - squares;
            const KIND product = fs1 * fs2, covariance = 64 * fs12 - product;
            const float top = (float)(2 * product + c1) * (float)(2 * covariance + c2);
            const float found = top / ((float)(squares + c1) * (float)(variances + c2));
            sums[i] += found;
        }
    }
    double total = 0;
    for (int64_t i = 0; i < columns - 1; i++) total += sums[i];
    return total;
}
