/* Which sources the library is made of (see sources.py). */
#include "loops.h"

EXPORT const char *sources_digest(void) { return RUSHES_SOURCES; }
