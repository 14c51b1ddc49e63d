"""Inner loops over two pictures: exact integers first, floats in a fixed order, one walk over the memory.

Each is compiled by numba on first use and kept in its cache. None of them allows the compiler to reorder floating-point
arithmetic, so the same pictures give the same bits on every processor.
"""
