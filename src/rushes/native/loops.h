/* What every file of loops shares. */
#ifndef RUSHES_LOOPS_H
#define RUSHES_LOOPS_H

#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

/* The same loop for wider vectors, chosen when the library is loaded. Whole numbers and element-wise arithmetic come out
 * the same in every one: nothing is reordered or fused (see OPTIONS in hatch_build.py). */
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && !defined(RUSHES_ONE_PATH)
#define WIDE __attribute__((target_clones("arch=skylake-avx512", "avx2", "default")))
#else
#define WIDE
#endif

#endif
