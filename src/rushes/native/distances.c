/* Squared distances between points (see instruments/distribution/distances/formulas.py). */
#include "loops.h"

enum { TOGETHER = 32 };

/* Points whose distances to one point are added up side by side; `room` has a row of them for each coordinate. */
static inline __attribute__((always_inline)) void side_by_side(const double *restrict point, int64_t width,
                                                               const double *restrict room, double *restrict sums) {
    for (int64_t j = 0; j < TOGETHER; j++) sums[j] = 0.0;
    for (int64_t d = 0; d < width; d++) {
        const double here = point[d], *restrict there = room + d * TOGETHER;
        for (int64_t j = 0; j < TOGETHER; j++) sums[j] += (here - there[j]) * (here - there[j]);
    }
}

/* found[i][j] = Σ (points[i] − others[j])², added up along the coordinates in their order. `room`: width × TOGETHER. */
EXPORT WIDE void squared_distances(const double *points, int64_t n, const double *others, int64_t m, int64_t width,
                                   double *room, double *found) {
    double sums[TOGETHER];
    for (int64_t first = 0; first < m; first += TOGETHER) {
        const int64_t together = m - first < TOGETHER ? m - first : TOGETHER;
        for (int64_t j = 0; j < TOGETHER; j++)
            for (int64_t d = 0; d < width; d++)
                room[d * TOGETHER + j] = j < together ? others[(first + j) * width + d] : 0.0;
        for (int64_t i = 0; i < n; i++) {
            side_by_side(points + i * width, width, room, sums);
            for (int64_t j = 0; j < together; j++) found[i * m + first + j] = sums[j];
        }
    }
}
