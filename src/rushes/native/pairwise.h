/* NumPy's sum of values side by side: eight lanes up to 128 values, and beyond that the sums of two halves. */
#ifndef RUSHES_PAIRWISE_H
#define RUSHES_PAIRWISE_H

#include "loops.h"

#define PAIRWISE(NAME, NUMBER)                                                                        \
    static NUMBER NAME(const NUMBER *values, int64_t count) {                                         \
        if (count > 128) {                                                                            \
            const int64_t half = count / 2 - count / 2 % 8;                                           \
            return NAME(values, half) + NAME(values + half, count - half);                            \
        }                                                                                             \
        NUMBER total = 0, r[8];                                                                       \
        int64_t i = 0;                                                                                \
        if (count >= 8) {                                                                             \
            for (; i < 8; i++) r[i] = values[i];                                                      \
            for (; i < count - count % 8; i += 8)                                                     \
                for (int64_t k = 0; k < 8; k++) r[k] += values[i + k];                                \
            total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));                \
        }                                                                                             \
        for (; i < count; i++) total += values[i];                                                    \
        return total;                                                                                 \
    }

#endif
