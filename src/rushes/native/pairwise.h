/* NumPy's sum of values side by side: eight lanes up to 128 values, and beyond that the sums of two halves. */
#ifndef RUSHES_PAIRWISE_H
#define RUSHES_PAIRWISE_H

#include "loops.h"

/* The sum over i = from … from + count − 1 of VALUE, which is made of `one`, `other` and i. Up to 512 values, as many as a
 * picture has blocks, are added up in place, with the vectors of the function that calls. */
#define PAIRWISE(NAME, NUMBER, VALUE)                                                                            \
    INLINE NUMBER NAME##_few(const NUMBER *one, const NUMBER *other, int64_t from, int64_t count) {              \
        NUMBER total = 0, r[8];                                                                                  \
        int64_t i = from, k = 0;                                                                                 \
        (void)other;                                                                                             \
        if (count >= 8) {                                                                                        \
            for (; k < 8; k++, i++) r[k] = VALUE;                                                                \
            for (; i < from + count - count % 8;)                                                                \
                for (k = 0; k < 8; k++, i++) r[k] += VALUE;                                                      \
            total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));                           \
        }                                                                                                        \
        for (; i < from + count; i++) total += VALUE;                                                            \
        return total;                                                                                            \
    }                                                                                                            \
    static NUMBER NAME##_many(const NUMBER *one, const NUMBER *other, int64_t from, int64_t count) {             \
        if (count <= 128) return NAME##_few(one, other, from, count);                                            \
        const int64_t half = count / 2 - count / 2 % 8;                                                          \
        return NAME##_many(one, other, from, half) + NAME##_many(one, other, from + half, count - half);         \
    }                                                                                                            \
    INLINE NUMBER NAME##_halves(const NUMBER *one, const NUMBER *other, int64_t from, int64_t count) {           \
        const int64_t half = count / 2 - count / 2 % 8;                                                          \
        if (count <= 128) return NAME##_few(one, other, from, count);                                            \
        if (count - half > 128) return NAME##_many(one, other, from, count);                                     \
        return NAME##_few(one, other, from, half) + NAME##_few(one, other, from + half, count - half);           \
    }                                                                                                            \
    INLINE NUMBER NAME(const NUMBER *one, const NUMBER *other, int64_t count) {                                  \
        const int64_t half = count / 2 - count / 2 % 8;                                                          \
        if (count <= 128) return NAME##_few(one, other, 0, count);                                               \
        if (count > 512) return NAME##_many(one, other, 0, count);                                               \
        return NAME##_halves(one, other, 0, half) + NAME##_halves(one, other, half, count - half);               \
    }

#endif
