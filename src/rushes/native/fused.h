/* a · b + c in floats with one rounding, the same on every processor: as IEEE 754 defines it. */
#ifndef RUSHES_FUSED_H
#define RUSHES_FUSED_H

#include "loops.h"

#include <string.h>

/* Where there is no instruction for it. The product of two floats is exact in doubles; the sum is rounded there to an odd last
 * digit wherever it is not exact, and so the second rounding, to a float, is that of the exact sum (Boldo and Melquiond 2008). */
INLINE float fused_by_hand(float a, float b, float c) {
    const double product = (double)a * b, other = c, sum = product + other;
    const double part = sum - product, lost = (product - (sum - part)) + (other - part);
    int64_t digits;
    memcpy(&digits, &sum, sizeof digits);
    const int64_t outwards = ((lost > 0) == (sum > 0)) ? 1 : -1;
    digits += (lost != 0 && digits % 2 == 0) ? outwards : 0;
    double odd;
    memcpy(&odd, &digits, sizeof odd);
    return (float)odd;
}

INLINE float fused(float a, float b, float c, int hardware) {
    return hardware ? __builtin_fmaf(a, b, c) : fused_by_hand(a, b, c);
}

/* How wide the vectors are that come with the instruction: 0 without it, 1 of 256 bits, 2 of 512. */
#if defined(__x86_64__)
#include <cpuid.h>
#define FUSED_OF_256 __attribute__((target("avx2,fma")))
#define FUSED_OF_512 __attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")))
enum { FUSED_BASELINE = 0 };

static int fused_vectors(void) {
    const unsigned first = bit_FMA | bit_OSXSAVE, wide = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & first) != first) return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2)) return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0)); /* which registers the system keeps for a process */
    if ((low & 0x06) != 0x06) return 0;
    return (b & wide) == wide && (low & 0xe6) == 0xe6 ? 2 : 1;
}
#else
#define FUSED_OF_256
#define FUSED_OF_512
#ifdef __FP_FAST_FMAF
enum { FUSED_BASELINE = 1 };
#else
enum { FUSED_BASELINE = 0 };
#endif

static int fused_vectors(void) { return 0; }
#endif
#endif
