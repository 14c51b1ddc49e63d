/* What every file of loops shares. */
#ifndef RUSHES_LOOPS_H
#define RUSHES_LOOPS_H

#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
/* For a function that a WIDE one calls: it gets the same vectors. */
#define INLINE static inline __attribute__((always_inline))

/* The same loop for wider vectors, chosen when the library is loaded. Whole numbers and element-wise arithmetic come out
 * the same in every one: nothing is reordered or fused (see OPTIONS in hatch_build.py). An `arch=` that names a level, not
 * a processor, is chosen by what the processor can do, whoever made it; GCC knows levels from version 12 on, and Clang's
 * choice does not link into a library (zig 0.17). */
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && !defined(__clang__) && __GNUC__ >= 12
#define WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WIDE
#endif

/* Before a loop: no turn of it writes what another reads. */
#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
INLINE int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

#endif
