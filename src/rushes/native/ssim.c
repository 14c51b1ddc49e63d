/* SSIM over blocks and over boxes (see blocks.py and boxes.py of instruments/fidelity/kernels). */
#include "loops.h"

/* Of the four blocks of 4 × 4 in one of 8 × 8. */
#define FOUR(j) (old[j] + old[(j) + 1] + now[j] + now[(j) + 1])

#define NAME block_ssim_8
#define CODE uint8_t
#define KIND int32_t
#include "block_ssim.h"
#undef NAME
#undef CODE
#undef KIND

#define NAME block_ssim_16
#define CODE uint16_t
#define KIND int64_t
#include "block_ssim.h"

INLINE int32_t seven(const int32_t *p) { return p[0] + p[1] + p[2] + p[3] + p[4] + p[5] + p[6]; }

/* Σ over the windows of 7 × 7. `room`: 4 × width whole numbers of 32 bits (Σ a, Σ b, Σ a² + b² and Σ ab over the seven rows
 * of a window, a column each), `sums`: width − 6; both of 0 at first. */
EXPORT WIDE double box_ssim(const uint8_t *a, int64_t a_line, const uint8_t *b, int64_t b_line, int64_t height,
                            int64_t width, double c1, double c2, int32_t *room, double *restrict sums) {
    int32_t *restrict first = room, *restrict second = room + width;
    int32_t *restrict squares = second + width, *restrict products = squares + width;
    const double area = 49, norm = 49.0 * 48.0;
    for (int64_t i = 0; i < height; i++) {
        const uint8_t *in_a = a + i * a_line, *in_b = b + i * b_line;
        INDEPENDENT
        for (int64_t j = 0; j < width; j++) {
            const int32_t x = in_a[j], y = in_b[j];
            first[j] += x, second[j] += y, squares[j] += x * x + y * y, products[j] += x * y;
        }
        if (i >= 7) {
            const uint8_t *out_a = in_a - 7 * a_line, *out_b = in_b - 7 * b_line;
            INDEPENDENT
            for (int64_t j = 0; j < width; j++) {
                const int32_t x = out_a[j], y = out_b[j];
                first[j] -= x, second[j] -= y, squares[j] -= x * x + y * y, products[j] -= x * y;
            }
        }
        if (i < 6) continue;
        for (int64_t j = 0; j < width - 6; j++) {
            const int32_t ss = seven(squares + j), sab = seven(products + j);
            const double fa = seven(first + j), fb = seven(second + j);
            const double covariance = (area * sab - fa * fb) / norm;
            const double variances = (area * ss - fa * fa - fb * fb) / norm;
            const double ma = fa / area, mb = fb / area;
            const double top = (2.0 * ma * mb + c1) * (2.0 * covariance + c2);
            sums[j] += top / ((ma * ma + mb * mb + c1) * (variances + c2));
        }
    }
    double total = 0;
    for (int64_t j = 0; j < width - 6; j++) total += sums[j];
    return total;
}
