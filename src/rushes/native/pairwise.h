/* NumPy's sum of values side by side: eight lanes up to 128 values, and beyond that the sums of two halves. */
#ifndef RUSHES_PAIRWISE_H
#define RUSHES_PAIRWISE_H

#include "loops.h"

/* Up to 512 values are added up in place, with the vectors of the function that calls; the blocks of a picture are that
 * many, or fewer. */
#define PAIRWISE(NAME, NUMBER)                                                                                   \
    INLINE NUMBER NAME##_few(const NUMBER *values, int64_t count) {                                              \
        NUMBER total = 0, r[8];                                                                                  \
        int64_t i = 0;                                                                                           \
        if (count >= 8) {                                                                                        \
            for (; i < 8; i++) r[i] = values[i];                                                                 \
            for (; i < count - count % 8; i += 8)                                                                \
                for (int64_t k = 0; k < 8; k++) r[k] += values[i + k];                                           \
            total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));                           \
        }                                                                                                        \
        for (; i < count; i++) total += values[i];                                                               \
        return total;                                                                                            \
    }                                                                                                            \
    static NUMBER NAME##_many(const NUMBER *values, int64_t count) {                                             \
        if (count <= 128) return NAME##_few(values, count);                                                      \
        const int64_t half = count / 2 - count / 2 % 8;                                                          \
        return NAME##_many(values, half) + NAME##_many(values + half, count - half);                             \
    }                                                                                                            \
    INLINE NUMBER NAME##_halves(const NUMBER *values, int64_t count) {                                           \
        const int64_t half = count / 2 - count / 2 % 8;                                                          \
        if (count - half > 128) return NAME##_many(values, count);                                               \
        return count <= 128 ? NAME##_few(values, count)                                                          \
                            : NAME##_few(values, half) + NAME##_few(values + half, count - half);                \
    }                                                                                                            \
    INLINE NUMBER NAME(const NUMBER *values, int64_t count) {                                                    \
        if (count <= 128 || count > 512) return NAME##_many(values, count);                                      \
        const int64_t half = count / 2 - count / 2 % 8;                                                          \
        return NAME##_halves(values, half) + NAME##_halves(values + half, count - half);                         \
    }

#endif
